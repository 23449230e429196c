"""What the handlers work with: one set in every API process."""

from dataclasses import dataclass
from functools import cached_property

from receiver.dispatch import Call
from receiver.protocol.cursor import Cursors
from receiver.protocol.ttl import TtlBounds
from receiver.receiver import Receiver
from receiver.settings import Settings
from receiver.store.tasks import TaskStore
from receiver.waiter import Waiter


@dataclass(frozen=True)
class Services:
    """``identifies``: whether requestors can be told apart, without which there is no tasks/list (T-88)."""

    app: Receiver
    settings: Settings
    tasks: TaskStore
    waiter: Waiter
    cursors: Cursors
    identifies: bool

    @cached_property
    def ttl_bounds(self) -> TtlBounds:
        """What this deployment grants."""
        return TtlBounds(self.settings.default_ttl, self.settings.min_ttl, self.settings.max_ttl)


ServerCall = Call[Services]
