"""What a request must be to be served: of a living session, and not one too many."""

from collections.abc import Sequence
from dataclasses import dataclass

from receiver.protocol.errors import Refused, SessionEnded
from receiver.store.scripts import Argument
from receiver.telemetry.audit import Caller


@dataclass(frozen=True, slots=True)
class RateLimit:
    """``count`` requests of one kind in ``window`` ms; a count of 0 allows any number."""

    count: int
    window: int


ANY_RATE = RateLimit(0, 1)


@dataclass(frozen=True, slots=True)
class Admission:
    """A request's claim to be served.  ``session`` is ``""`` for one that needs none; ``session_idle`` in ms.

    ``requestor`` is whose requests are counted, ``operation`` which of them; ``caller`` is who the audit trail names.
    """

    owner: str
    session: str
    requestor: str
    operation: str
    session_idle: int
    limit: RateLimit
    caller: Caller | None = None

    def to_arguments(self, *, is_repeated: bool) -> tuple[Argument, ...]:
        """What the prologue of a script takes.  A call that is sent again may have been counted, and is not refused."""
        head = (self.session, self.owner, self.session_idle, self.requestor, self.operation)
        note = "" if self.caller is None else self.caller.to_note()
        return (*head, 0 if is_repeated else self.limit.count, self.limit.window, note)


def to_refusal(answer: Sequence[bytes]) -> Exception:
    """The error that a refused admission is."""
    reason = answer[1].decode()
    if reason == "session":
        return SessionEnded()
    return Refused(reason, "Too many requests; try again later", retry_after_ms=int(answer[2]))
