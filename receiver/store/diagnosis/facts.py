"""What there is to know of a store before anything is said about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from receiver.settings import Durability
from receiver.store.census import NodeView, WorkerView
from receiver.store.checks import Manners


@dataclass(frozen=True, slots=True)
class Replica:
    """A replica as its master sees it.  ``lag``: seconds since it was heard."""

    address: str
    state: str
    lag: int


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """The server.  ``refusal``: why it takes no writes now, if it does not; ``ping`` in ms.

    ``total``: the memory of its machine in bytes, 0 if it does not tell.  ``failures``: the fields of INFO that tell of
    a write to disk that failed.
    """

    manners: Manners
    total: int
    is_replica: bool
    is_linked: bool
    replicas: tuple[Replica, ...]
    failures: tuple[str, ...]
    refusal: str | None
    ping: float


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """A task from the index of ``indexed`` status, and where else it stands.  ``pttl`` as Redis says it, in ms."""

    id: str
    indexed: str
    pttl: int
    status: str
    queue: str
    worker: str
    is_parked: bool
    is_queued: bool
    is_leased: bool
    is_later: bool
    is_owned: bool
    is_swept: bool
    is_asking: bool


@dataclass(frozen=True, slots=True)
class Facts:
    """All of it, or where ``is_partial``, what the server says of itself alone.

    ``strays``: keys without a TTL that should have one.  ``queues``: how many tasks wait in each.
    ``unswept``, ``overdue`` and ``late``: tasks that expired, leases that ended, and times that tasks waited for, all
    of it longer than ``long_ago`` ms ago.
    """

    durability: Durability | None
    server: ServerFacts
    is_partial: bool = False
    nodes: tuple[NodeView, ...] = ()
    workers: tuple[WorkerView, ...] = ()
    tasks: tuple[TaskFacts, ...] = ()
    queues: Mapping[str, int] = field(default_factory=dict)
    strays: tuple[str, ...] = ()
    unswept: int = 0
    overdue: int = 0
    late: int = 0
    long_ago: int = 0
