"""Every metric: its name, its labels, and what it says.  ``docs/reference/metrics.md`` is made from here.

A label never names a task, a session or an owner, and takes no value that a client made up: tools are those that
were registered, all other values are listed here.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily

OTHER = "other"

STATUSES = ("working", "input_required", "completed", "failed", "cancelled")
ENDS = STATUSES[2:]
RUN_ENDS = ("retried", "handed_back", "parked", "timeout", "expired", "superseded", "finished")  # beside ENDS
OBSTACLES = ("terminal", "superseded", "handed_back", "gone")  # why a run may not write, beside ENDS
LIMITS = ("rate_limited", "too_many_tasks", "queue_full", "storage_full", "too_many_streams", "too_many_subscriptions")
CODES = ("-32700", "-32600", "-32601", "-32602", "-32603", "-32002", "-32042")  # those that this server has by itself
UNANSWERED = "unanswered"

OPERATION_BUCKETS = (
    0.01,
    0.02,
    0.05,
    0.1,
    0.2,
    0.5,
    1,
    2,
    5,
    10,
    30,
    60,
    120,
    300,
)  # as OpenTelemetry has them for MCP
TASK_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 1800, 3600, 14400)
SCRIPT_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5)

REGISTRY = CollectorRegistry()
"""The metrics of this process: one registry, however many nodes there are in it."""

Label = tuple[str, tuple[str, ...]]
Tier = Literal["API", "worker", "both"]


@dataclass(frozen=True, slots=True)
class Spec:
    """What a metric is.  ``labels``: each with its values, () for the names of tools, queues and the like."""

    name: str
    type: Literal["counter", "gauge", "histogram"]
    tier: Tier
    says: str
    labels: tuple[Label, ...]

    @property
    def label_names(self) -> tuple[str, ...]:
        """The names of its labels."""
        return tuple(name for name, _ in self.labels)

    def family(self, rows: Iterable[tuple[tuple[str, ...], float]]) -> GaugeMetricFamily:
        """The values of a gauge that is read when it is asked for: labels and number of each."""
        family = GaugeMetricFamily(self.name, self.says, labels=self.label_names)
        for labels, number in rows:
            family.add_metric(labels, number)
        return family


SPECS: dict[str, Spec] = {}


def _spec(type: Literal["counter", "gauge", "histogram"], name: str, tier: Tier, says: str, *labels: Label) -> Spec:
    SPECS[name] = Spec(name, type, tier, says, labels)
    return SPECS[name]


def _counter(name: str, tier: Tier, says: str, *labels: Label) -> Counter:
    """A counter; one whose values are all known is there from the start, so that its first increase can be seen."""
    spec = _spec("counter", name, tier, says, *labels)
    counter = Counter(name, says, spec.label_names, registry=REGISTRY)
    if len(labels) == 1:
        for value in labels[0][1]:
            counter.labels(value)
    return counter


def _histogram(name: str, tier: Tier, buckets: tuple[float, ...], says: str, *labels: Label) -> Histogram:
    spec = _spec("histogram", name, tier, says, *labels)
    return Histogram(name, says, spec.label_names, buckets=buckets, registry=REGISTRY)


def _gauge(name: str, tier: Tier, says: str, *labels: Label) -> Gauge:
    return Gauge(name, says, _spec("gauge", name, tier, says, *labels).label_names, registry=REGISTRY)


_TOOL: Label = ("tool", ())
_QUEUE: Label = ("queue", ())

# Tasks.  Plain calls, which are no tasks to their callers, are operations below.

CREATED = _counter("mcp_tasks_created_total", "API", "Tasks that were created.", _TOOL)
FINISHED = _counter(
    "mcp_tasks_finished_total",
    "both",
    "Tasks that became terminal: where the last run ended, where it was cancelled, or where a lost worker was noticed.",
    _TOOL,
    ("status", ENDS),
)
RUN_SECONDS = _histogram(
    "mcp_tasks_run_duration_seconds",
    "worker",
    TASK_BUCKETS,
    "How long runs of tasks took, what they waited for included; with the task's status, or what else became of it.",
    _TOOL,
    ("status", (*ENDS, *RUN_ENDS)),
)
QUEUE_WAIT_SECONDS = _histogram(
    "mcp_tasks_queue_wait_seconds", "worker", TASK_BUCKETS, "From the creation of a task to its first run.", _TOOL
)
CANCELLED = _counter(
    "mcp_tasks_cancelled_total",
    "API",
    "Tasks that were cancelled: before their first run, in a run, or between two runs.",
    ("phase", ("queued", "running", "paused")),
)
REJECTED = _counter(
    "mcp_tasks_transitions_rejected_total",
    "both",
    "Changes of status that the store refused; `from` is the status that stood in the way, or why a run may not write.",
    ("from", (*ENDS, *OBSTACLES)),
    ("to", STATUSES[1:]),
)
EXPIRED = _counter(
    "mcp_tasks_expired_total",
    "worker",
    "Tasks, and plain calls, that went away with their ttl, by their last status.",
    ("status", (*STATUSES, "unknown")),
)
RECOVERED = _counter(
    "mcp_tasks_recovered_total",
    "worker",
    "Runs that were lost and put back into their queue (`worker_lost`, `process_died`), or failed for it "
    "(`attempts_spent`).",
    ("reason", ("worker_lost", "process_died", "attempts_spent")),
)
QUESTIONS = _counter(
    "mcp_tasks_input_requests_total",
    "both",
    "Questions to clients. Workers count `asked`, once more in each later run that still waits, and `withdrawn`; "
    "the API what was answered, `task` for an answer by a task of the client's, and `ignored`: late, or unfit.",
    ("kind", ("elicitation", "sampling", OTHER)),
    ("outcome", ("asked", "withdrawn", "accept", "decline", "cancel", "answered", "error", "task", "ignored")),
)

# Whoever waits

RESULT_WAITERS = _gauge("mcp_tasks_result_waiters", "API", "Open tasks/result that wait for their task.")
RESULT_WAIT_SECONDS = _histogram(
    "mcp_tasks_result_wait_seconds",
    "API",
    TASK_BUCKETS,
    "How long a tasks/result waited on one connection; `left`: its client went away, or goes on with another one.",
    ("outcome", (*ENDS, "expired", "left")),
)
WAKEUPS = _counter(
    "mcp_tasks_wakeups_total",
    "both",
    "Waiters that were told to look again: by a message, by the safety re-read, or after a reconnect. Many re-reads "
    "say that messages get lost.",
    ("source", ("message", "reread", "reconnect")),
)
RECONNECTS = _counter(
    "mcp_tasks_pubsub_reconnects_total", "both", "Connections for messages that were made anew after one was lost."
)

# Requestors

OPERATION_DURATION = _histogram(
    "mcp_server_operation_duration_seconds",
    "API",
    OPERATION_BUCKETS,
    "Duration of MCP requests, as the semantic conventions of OpenTelemetry have it. `error_type` is empty where all "
    "went well; `tool_error` for a result with isError; else the JSON-RPC error code, `refused` for an HTTP error, or "
    "`unanswered`: the client went away, or goes on with another connection.",
    ("mcp_method_name", ()),
    ("error_type", ("", "tool_error", *CODES, "refused", UNANSWERED, OTHER)),
)
LIMITED = _counter(
    "mcp_tasks_rate_limited_total",
    "API",
    "Requests that were refused for a limit.",
    ("reason", (*LIMITS, OTHER)),
)
AUTH_FAILURES = _counter(
    "mcp_tasks_auth_failures_total",
    "API",
    "Requests that were refused for their credentials; what was wrong with a token is in the log.",
    ("reason", ("missing", "invalid_token", "invalid_request", "insufficient_scope")),
)
MISSES = _counter(
    "mcp_tasks_lookup_misses_total", "API", "Look-ups of tasks that don't exist, or are another requestor's (T-100)."
)

# The store

SCRIPT_TIMES = _histogram(
    "mcp_tasks_store_script_seconds",
    "both",
    SCRIPT_BUCKETS,
    "Round trips to Redis that were answered, by script, as this process sees them.",
    ("script", ()),
)
STORE_ERRORS = _counter(
    "mcp_tasks_store_errors_total",
    "both",
    "Scripts that failed. All but `full`, `script` and `other` are sent again while there is patience.",
    ("kind", ("connection", "timeout", "loading", "read_only", "busy", "full", "script", OTHER)),
)
BUILD_INFO = _gauge("mcp_tasks_build_info", "both", "Always 1.", ("version", ()))

# Read from the store when they are asked for.  Every API node says the same: take their maximum, not their sum.

ACTIVE = _spec(
    "gauge",
    "mcp_tasks_active",
    "API",
    "Tasks that stand in the store, by status.",
    ("status", STATUSES),
)
QUEUE_SIZE = _spec(
    "gauge",
    "mcp_tasks_queue_size",
    "API",
    "What is in a queue: `ready` to be run, `leased` by a worker, or set for `later` (retries, parked sleeps). Where "
    "more than 1000 are leased or set for later, their shares of the queues are estimated from 1000 of them.",
    _QUEUE,
    ("state", ("ready", "leased", "later")),
)
QUEUE_OLDEST = _spec(
    "gauge",
    "mcp_tasks_queue_oldest_seconds",
    "API",
    "The age, since creation, of the oldest of the first 100 that are ready in a queue; 0 for an empty one.",
    _QUEUE,
)
WORKERS_UP = _spec(
    "gauge",
    "mcp_tasks_workers_up",
    "API",
    "Workers that serve a queue and were heard of within one lease.",
    _QUEUE,
)
