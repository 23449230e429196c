"""Every bound of the server: where its number stands in the code, and what happens beyond it."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

Unit = Literal["", "bytes", "characters", "ms", "s"]


class Bound(NamedTuple):
    """``source``: the name of a setting, or ``file:NAME`` of a constant in Python or Lua."""

    what: str
    source: str
    unit: Unit
    beyond: str


_TTL = "granted is the nearest ttl within the bounds, and every answer says which"

BOUNDS: Mapping[str, tuple[Bound, ...]] = {
    "Requests": (
        Bound("a request body", "max_body_bytes", "bytes", "HTTP 413"),
        Bound("the arrival of a request", "receive_seconds", "s", "HTTP 408, or the connection is closed"),
        Bound("an idle connection", "keep_alive_seconds", "s", "the connection is closed"),
        Bound("nesting of JSON", "receiver/protocol/jsonrpc.py:DEPTH_LIMIT", "", "-32700, HTTP 400"),
        Bound("Host and Origin together", "receiver/http/origins.py:_LONGEST", "bytes", "HTTP 400"),
        Bound("a bearer JWT", "receiver/http/access_token.py:MAX_TOKEN_BYTES", "bytes", "HTTP 401"),
        Bound("a cursor", "receiver/protocol/cursor.py:_LENGTH_LIMIT", "characters", '-32602 "Invalid cursor"'),
        Bound("a Last-Event-ID", "receiver/protocol/event_id.py:_LENGTH_LIMIT", "characters", "HTTP 400"),
        Bound("a URI to subscribe to", "receiver/methods/subscriptions.py:URI_LENGTH_LIMIT", "characters", "-32602"),
        Bound(
            "the URI of a resource or a template",
            "receiver/resources/template.py:LENGTH_LIMIT",
            "characters",
            "ValueError where the app declares it",
        ),
        Bound(
            "faults named in one text",
            "receiver/tools/schema.py:FAULTS_NAMED",
            "",
            "the others are left out",
        ),
    ),
    "One requestor": (
        Bound("requests of one kind", "rate_limit", "", "-32603 `rate_limited`, with `Retry-After`"),
        Bound("look-ups of tasks that don't exist", "miss_limit", "", "-32603 `rate_limited`"),
        Bound("unfinished tasks and calls", "max_tasks_per_principal", "", "-32603 `too_many_tasks`"),
        Bound(
            "open streams and blocked results, on one node",
            "max_streams_per_principal",
            "",
            "-32603 `too_many_streams`; HTTP 429 for a GET",
        ),
        Bound("sessions", "max_sessions_per_principal", "", "the one that was silent longest ends"),
        Bound("the silence of a session", "session_idle_seconds", "s", "it ends: HTTP 404; its tasks go on"),
        Bound("subscriptions of a session", "max_subscriptions", "", "-32603 `too_many_subscriptions`"),
        Bound(
            "doublings of the pollInterval of who polls too often",
            "receiver/methods/pacing.py:MOST_DOUBLINGS",
            "",
            "it grows no further",
        ),
    ),
    "Tasks": (
        Bound("the shortest ttl", "min_ttl", "ms", _TTL),
        Bound("the longest ttl", "max_ttl", "ms", f"{_TTL}; only a tool's `timeout` or `min_ttl` may exceed it"),
        Bound("the ttl of who asks for none", "default_ttl", "ms", "the record goes, and the id is unknown"),
        Bound("tasks on a page of `tasks/list`", "page_size", "", "`nextCursor`"),
        Bound("tools, resources, prompts on a page", "list_page_size", "", "`nextCursor`"),
        Bound("waiting tasks of a queue", "queue_limit", "", "-32603 `queue_full`"),
        Bound("a status message", "receiver/protocol/outcome.py:DIAGNOSIS_LENGTH", "characters", "it is cut"),
    ),
    "Runs": (
        Bound("attempts", "max_attempts", "", "the task has failed; a tool may declare another number"),
        Bound("a result", "max_result_bytes", "bytes", "the task has failed, and says so"),
        Bound("what one `ctx.step` returns", "max_step_bytes", "bytes", "ToolError in the tool"),
        Bound("runs at the same time in a worker", "worker_concurrency", "", "tasks wait in their queue"),
        Bound("slots of a worker for plain calls alone", "plain_reserved_slots", "", "tasks wait"),
        Bound("a waiting run of a `replay` tool in memory", "park_after_seconds", "s", "it is parked"),
        Bound(
            "a plain call whose tool declares no `timeout`",
            "receiver/methods/calls.py:PLAIN_TIMEOUT",
            "ms",
            "it is stopped; a task without `timeout` runs until its ttl ends",
        ),
        Bound("the silence of a worker", "lease_seconds", "s", "its tasks are given to another one"),
        Bound("a stopped run that goes on", "workers/runner.py:STOP_SECONDS", "s", "it is given up; its slot is free"),
        Bound(
            "given-up threads of a worker",
            "workers/threads.py:ABANDONED_LIMIT",
            "",
            "the worker ends with exit code 70",
        ),
        Bound("a stalled event loop of a worker", "stall_seconds", "s", "the worker ends with exit code 70"),
        Bound("runs that go on at a shutdown", "shutdown_grace_seconds", "s", "they are stopped, and handed back"),
        Bound("the pause before a retry", "workers/retries.py:LONGEST_SECONDS", "s", "it grows no further"),
    ),
    "Messages and streams": (
        Bound(
            "progress notifications of a run that wait to be written",
            "workers/progress.py:MOST_WAITING",
            "",
            "the oldest are left out",
        ),
        Bound("log messages of a run, likewise", "workers/reporter.py:MOST_NOTICES", "", "the oldest are left out"),
        Bound(
            "messages of a task that no stream has taken",
            "receiver/store/lua/_outbox.lua:OUTBOX",
            "",
            "the oldest are left out",
        ),
        Bound(
            "how long they wait", "receiver/store/lua/_outbox.lua:OUTBOX_MS", "ms", "they are gone; the record stays"
        ),
        Bound(
            "the connection of a stream",
            "receiver/http/reply.py:LONGEST_STREAM_SECONDS",
            "s",
            "it is closed, and the client goes on with another",
        ),
        Bound("values of one completion", "receiver/completion.py:MOST_SENT", "", "`hasMore`"),
        Bound("values of one completion that are counted", "receiver/completion.py:MOST_COUNTED", "", "no `total`"),
    ),
    "The node": (
        Bound(
            "how long a request waits for Redis",
            "redis_patience_seconds",
            "s",
            "-32603 `unavailable`; a worker waits for ever",
        ),
        Bound("keys of an issuer", "receiver/http/jwks.py:MAX_KEYS", "", "the others are not looked at"),
        Bound("a document of an issuer", "receiver/http/jwks.py:MAX_DOCUMENT_BYTES", "bytes", "it is not taken"),
    ),
    "Operators": (
        Bound("minutes of counts", "receiver/store/inspect.py:LONGEST_TALLY", "", "they are forgotten after a day"),
        Bound("nodes or workers of one answer", "receiver/store/census.py:MOST", "", "the others are left out"),
        Bound("events of the audit trail", "audit_events", "", "the oldest go"),
        Bound("a name in an event", "receiver/telemetry/audit.py:LONGEST", "characters", "the rest is left out"),
        Bound(
            "a traceparent or a tracestate",
            "receiver/telemetry/traceparent.py:LONGEST",
            "characters",
            "it is not taken",
        ),
    ),
}
