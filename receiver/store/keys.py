"""Every key and channel of the store, each named by one method of ``Keys``.

All keys of a namespace and shard share one hash tag, so that whatever a script touches sits in one Cluster slot.
The scripts name keys by the same methods: ``lua_function`` turns one into Lua.  ``docs/keys.md`` is made from here.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

_Method = TypeVar("_Method", bound=Callable[..., str])


@dataclass(frozen=True)
class KeySpec:
    """What a key is: its Redis type (or ``channel``), when it goes away, and what it holds."""

    name: str
    type: str
    expiry: str
    holds: str

    @property
    def is_permanent(self) -> bool:
        """Whether the key may stand without a TTL: it then empties itself, or is of bounded size."""
        return self.expiry.startswith("permanent")


SPECS: dict[str, KeySpec] = {}


def _key(type_: str, expiry: str, holds: str) -> Callable[[_Method], _Method]:
    def register(method: _Method) -> _Method:
        SPECS[method.__name__] = KeySpec(method.__name__, type_, expiry, holds)
        return method

    return register


class Keys:
    """Names the keys of one shard of one namespace."""

    def __init__(self, namespace: str = "mcp", shard: str = "0") -> None:
        self.namespace = namespace
        self.shard = shard
        self.prefix = f"{namespace}:{{{shard}}}:"
        self.job_prefix = f"{{{shard}}}{namespace}."

    def job_id(self, task_id: str) -> str:
        """The id under which arq knows a task: it carries the tag, and the namespace."""
        return self.job_prefix + task_id

    @_key("hash", "created_at + ttl", "the record of a task, or of a plain call")
    def task(self, task_id: str) -> str:
        return f"{self.prefix}task:{task_id}"

    @_key("zset", "with its last task", "the tasks of an owner by created_at: what tasks/list pages through")
    def owner(self, owner: str) -> str:
        return f"{self.prefix}owner:{owner}"

    @_key("zset", "with its last task", "the unfinished tasks of an owner by expires_at: what the limit counts")
    def active(self, owner: str) -> str:
        return f"{self.prefix}active:{owner}"

    @_key(
        "zset",
        "permanent, swept",
        "the tasks of a label (`task:<tool>` or `call:<tool>`) in a status by updated_at: what operators filter by",
    )
    def status(self, status: str, label: str) -> str:
        return f"{self.prefix}status:{status}:{label}"

    @_key("zset", "permanent, swept", "the labels that there are, by when their last task expires")
    def labels(self) -> str:
        return f"{self.prefix}labels"

    @_key("hash", "1 day", "what was created and what ended in one minute, and how long it ran: by label")
    def tally(self, minute: str) -> str:
        return f"{self.prefix}tally:{minute}"

    @_key("zset", "permanent, swept", "all tasks by expires_at, as owner/id/queue/label: what the janitor sweeps")
    def expiry(self) -> str:
        return f"{self.prefix}expiry"

    @_key("zset", "permanent, empties itself", "arq's queue of a lane: job ids by their fair tag")
    def queue(self, queue: str) -> str:
        return f"{self.prefix}queue:{queue}"

    @_key(
        "zset",
        "permanent, empties itself",
        "the last fair tag of each owner in a queue, while ahead of what was served",
    )
    def fair(self, queue: str) -> str:
        return f"{self.prefix}fair:{queue}"

    @_key("hash", "permanent, a field a queue", "the fair tag last claimed from each queue")
    def served(self) -> str:
        return f"{self.prefix}served"

    @_key("zset", "permanent, empties itself", "running tasks by the end of their lease")
    def leases(self) -> str:
        return f"{self.prefix}leases"

    @_key("zset", "permanent, empties itself", "tasks that wait for a time (retries, parked sleeps), by that time")
    def later(self) -> str:
        return f"{self.prefix}later"

    @_key("set", "permanent, empties itself", "what runs of a tool that has a max_running")
    def running(self, tool: str) -> str:
        return f"{self.prefix}running:{tool}"

    @_key("list", "1 minute", "the doorbell of a queue: an element wakes one worker")
    def bell(self, queue: str) -> str:
        return f"{self.prefix}bell:{queue}"

    @_key("list", "1 minute", "a doorbell that one worker rings for itself, to listen to other bells")
    def own_bell(self, worker: str) -> str:
        return f"{self.prefix}own-bell:{worker}"

    @_key("hash", "permanent, two fields", "when any worker was last seen, and until when no lease is taken over")
    def clock(self) -> str:
        return f"{self.prefix}clock"

    @_key("zset", "permanent, swept", "workers by their last heartbeat")
    def workers(self) -> str:
        return f"{self.prefix}workers"

    @_key("hash", "10 leases after the last heartbeat", "a worker: host, pid, version, lanes, what it runs")
    def worker(self, worker: str) -> str:
        return f"{self.prefix}worker:{worker}"

    @_key("hash", "10 leases after the last claim or heartbeat", "the tasks that a worker holds, by number of claim")
    def held(self, worker: str) -> str:
        return f"{self.prefix}held:{worker}"

    @_key("zset", "permanent, swept", "API nodes by their last beat")
    def nodes(self) -> str:
        return f"{self.prefix}nodes"

    @_key("hash", "20 s after its last beat", "an API node: host, pid, version, where it listens, who waits at it")
    def node(self, node: str) -> str:
        return f"{self.prefix}node:{node}"

    @_key("string", "permanent, one value", "the secret that signs cursors, where RECEIVER_SECRETS is not set")
    def secret(self) -> str:
        return f"{self.prefix}secret"

    @_key("hash", "with its task", "what a task asked its requestor, and the answers")
    def inputs(self, task_id: str) -> str:
        return f"{self.prefix}task:{task_id}:inputs"

    @_key("hash", "with its task", "what steps of a task returned, and until when its sleeps last: for its later runs")
    def steps(self, task_id: str) -> str:
        return f"{self.prefix}task:{task_id}:steps"

    @_key("list", "with its task", "what happened to a task besides what its record says: time, event, detail")
    def history(self, task_id: str) -> str:
        return f"{self.prefix}task:{task_id}:history"

    @_key("list", "with its task", "the tasks that operators made of it once more")
    def retries(self, task_id: str) -> str:
        return f"{self.prefix}task:{task_id}:retries"

    @_key("list", "a minute, with its task at most", "messages of a task that no stream has taken yet")
    def outbox(self, task_id: str) -> str:
        return f"{self.prefix}task:{task_id}:outbox"

    @_key("zset", "a stream's lease", "the open streams that hear one task, by the end of their lease")
    def listeners(self, task_id: str) -> str:
        return f"{self.prefix}task:{task_id}:listeners"

    @_key("hash", "an hour after its task", "a request of ours to a client: its task and question, and who was asked")
    def ask(self, request: str) -> str:
        return f"{self.prefix}ask:{request}"

    @_key("hash", "its idle time", "a session: owner, protocol revision, capabilities, log level, lists it was shown")
    def session(self, session: str) -> str:
        return f"{self.prefix}session:{session}"

    @_key("zset", "with its last session", "the sessions of an owner by when they were last heard of")
    def sessions(self, owner: str) -> str:
        return f"{self.prefix}sessions:{owner}"

    @_key("zset", "permanent, swept", "all sessions by when they end at the earliest, as last known")
    def all_sessions(self) -> str:
        return f"{self.prefix}all-sessions"

    @_key(
        "hash",
        "with its session",
        "requests of a session that are under way: the stream that answers each, and its task",
    )
    def requests(self, session: str) -> str:
        return f"{self.prefix}session:{session}:requests"

    @_key("set", "with its session", "the tasks of a session that have something to say")
    def talking(self, session: str) -> str:
        return f"{self.prefix}session:{session}:talking"

    @_key("zset", "a stream's lease", "the open GET streams of a session, by the end of their lease")
    def hearers(self, session: str) -> str:
        return f"{self.prefix}session:{session}:hearers"

    @_key(
        "list", "with its session", "messages for a session alone that no stream took yet, each behind its task, if any"
    )
    def session_outbox(self, session: str) -> str:
        return f"{self.prefix}session:{session}:outbox"

    @_key("set", "with its session", "the URIs of the resources that a session subscribed to")
    def subscribed(self, session: str) -> str:
        return f"{self.prefix}session:{session}:subscribed"

    @_key("zset", "with its last session", "the sessions that subscribed to a resource, by when they end")
    def subscribers(self, uri: str) -> str:
        return f"{self.prefix}subscribers:{uri}"

    @_key("set", "1 minute", "the sessions that were told by one announcement, so that none is told twice")
    def announced(self, nonce: str) -> str:
        return f"{self.prefix}announced:{nonce}"

    @_key("hash", "a stream's lease, 10 once cancelled or taken over", "an open stream: the connection that has it")
    def stream(self, stream: str) -> str:
        return f"{self.prefix}stream:{stream}"

    @_key("stream", "10 leases of a stream", "what a stream was given, for a client that lost it")
    def replay(self, stream: str) -> str:
        return f"{self.prefix}stream:{stream}:replay"

    @_key("string", "two windows", "how many requests of a kind a requestor made in one window of time")
    def rate(self, window: str) -> str:
        return f"{self.prefix}rate:{window}"

    @_key("stream", "permanent, of bounded length", "the audit trail: what was done and denied, by whom")
    def audit(self) -> str:
        return f"{self.prefix}audit"

    @_key("string", "a minute, an hour for a process", "a denial that was noted, or the last batch of a process")
    def audited(self, mark: str) -> str:
        return f"{self.prefix}audited:{mark}"

    @_key("channel", "", "a task changed: look again")
    def events(self, task_id: str) -> str:
        return f"{self.prefix}events:{task_id}"

    @_key("channel", "", "there is something to say to this session, or it ended: look again")
    def session_events(self, session: str) -> str:
        return f"{self.prefix}session-events:{session}"

    @_key("channel", "", "a run of this worker was cancelled, or answered: its task id")
    def signals(self, worker: str) -> str:
        return f"{self.prefix}signals:{worker}"

    @_key("string", "created_at + ttl", "arq's job: the function and its one argument, the task id")
    def arq_job(self, task_id: str) -> str:
        return f"arq:job:{self.job_prefix}{task_id}"

    @_key("string", "never written here", "arq's try counter; removed with the job, in case a stock worker wrote it")
    def arq_retry(self, task_id: str) -> str:
        return f"arq:retry:{self.job_prefix}{task_id}"

    @_key("string", "never written here", "arq's lock; removed with the job, in case a stock worker wrote it")
    def arq_in_progress(self, task_id: str) -> str:
        return f"arq:in-progress:{self.job_prefix}{task_id}"


_PREFIX, _JOB_PREFIX, _FIRST, _SECOND = "\x01", "\x02", "\x03", "\x04"
_SYMBOLS = {_PREFIX: "P", _JOB_PREFIX: "J", _FIRST: "x", _SECOND: "y"}


def lua_function(name: str) -> str:
    """The method ``name`` of ``Keys`` as a Lua function ``key_<name>``; P and J stand for the two prefixes."""
    keys = Keys()
    keys.prefix, keys.job_prefix = _PREFIX, _JOB_PREFIX
    method = getattr(keys, name)
    arguments = (_FIRST, _SECOND)[: method.__code__.co_argcount - 1]
    parts = [part for part in re.split(r"([\x01-\x04])", method(*arguments)) if part]
    expression = " .. ".join(_SYMBOLS.get(part, f"'{part}'") for part in parts)
    return f"local function key_{name}({', '.join(map(_SYMBOLS.__getitem__, arguments))}) return {expression} end"
