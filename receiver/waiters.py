"""Who waits at this node: requests that are blocked until a task is over, and streams of sessions."""

import itertools
import time
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, eq=False)
class Waiter:
    """A request that waits for a task, or plain call, since ``since`` of ``time.monotonic()``."""

    task_id: str
    kind: str
    session: str
    owner: str
    since: float = field(default_factory=time.monotonic)


class Waiters:
    """Kept by the feeds: a request that waits costs a dictionary entry.  ``streams``: open GET streams."""

    def __init__(self) -> None:
        self.streams = 0
        self.calls = 0
        self._waiting: dict[Waiter, None] = {}  # in the order in which they came

    @property
    def results(self) -> int:
        """How many ``tasks/result`` wait; ``calls`` is how many plain calls do."""
        return len(self._waiting) - self.calls

    def begin(self, task_id: str, kind: str, session: str, owner: str) -> Waiter:
        """A request begins to wait; what this returns goes to ``end``."""
        waiter = Waiter(task_id, kind, session, owner)
        self._waiting[waiter] = None
        self.calls += kind == "call"
        return waiter

    def end(self, waiter: Waiter) -> None:
        """A request waits no longer."""
        del self._waiting[waiter]
        self.calls -= waiter.kind == "call"

    def longest(self, count: int) -> list[Waiter]:
        """Those that wait longest, up to ``count`` of them, the longest first."""
        return list(itertools.islice(self._waiting, count))
