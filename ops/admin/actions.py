"""What operators do to one task: cancel it, run it again, purge it.  Each act is an event of the audit trail."""

import getpass
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from receiver.protocol.lifecycle import STATUSES, TERMINAL, Status
from receiver.protocol.task_id import new_task_id
from receiver.queue import encode_job
from receiver.store.audit import AuditTrail
from receiver.store.client import Client
from receiver.store.inspect import Dossier, Inspector
from receiver.store.interventions import Interventions
from receiver.telemetry import audit
from receiver.telemetry.audit import Caller, Outcome

Action = Literal["cancel", "retry", "purge"]
Word = Literal["cancelled", "retried", "purged", "finished", "unfinished", "call", "once", "gone"]

DONE: dict[Action, Word] = {"cancel": "cancelled", "retry": "retried", "purge": "purged"}
ACTS_ON: dict[Action, tuple[Status, ...]] = {
    "cancel": tuple(status for status in STATUSES if status not in TERMINAL),
    "retry": tuple(status for status in STATUSES if status in TERMINAL),
    "purge": tuple(status for status in STATUSES if status in TERMINAL),
}
REASONS: dict[Word, str] = {
    "finished": "it is finished already",
    "unfinished": "it is not finished",
    "call": "it is a plain call, whose caller waits for it",
    "once": "its tool may be run only once; forced, it is run all the same",
    "gone": "there is no such task: its time may be over",
}
CANCELLED = "Cancelled by an operator"
NOTED = {*DONE.values(), "finished"}  # in the audit trail, by the scripts


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of an act on ``task_id``: ``word`` is what was done, or one of REASONS; ``new_id`` that of a retry."""

    task_id: str
    word: Word
    new_id: str | None = None

    @property
    def is_done(self) -> bool:
        return self.word in DONE.values()


class Actions:
    """Acts in the name of ``who``, an operator; ``address`` is where that one sits, if it is known."""

    def __init__(self, client: Client, who: str, address: str = "") -> None:
        self._inspector = Inspector(client)
        self._interventions = Interventions(client)
        self._trail = AuditTrail(client)
        self._who = who
        self._address = address

    async def cancel(self, task_id: str, message: str = CANCELLED) -> Verdict:
        """Cancels an unfinished task; its requestor reads ``message``."""
        caller = self._call("cancel")
        verdict = Verdict(task_id, await self._interventions.cancel(task_id, message, caller))
        await self._record(caller, [verdict])
        return verdict

    async def retry(self, task_id: str, *, force: bool = False) -> Verdict:
        """Makes another task that runs what a finished one ran; that one stays as it is (T-34).

        A tool that may be run only once, since it declares so, is run again only with ``force``.
        """
        caller, dossier = self._call("retry"), await self._inspector.examine(task_id)
        word = "gone" if dossier is None else _find_obstacle(dossier, force=force)
        verdict = Verdict(task_id, word or "gone")
        if dossier is not None and word is None:
            new_id = new_task_id(task_id.partition("-")[0])
            await self._interventions.repeat(dossier, new_id, encode_job(new_id), caller)
            verdict = Verdict(task_id, "retried", new_id)
        await self._record(caller, [verdict])
        return verdict

    async def purge(self, task_ids: Sequence[str]) -> list[Verdict]:
        """Removes finished tasks; their requestors get "not found" before the ttl that they were granted."""
        caller = self._call("purge")
        words = await self._interventions.purge(task_ids, caller)
        verdicts = [Verdict(task_id, word) for task_id, word in words.items()]
        await self._record(caller, verdicts)
        return verdicts

    def _call(self, action: Action) -> Caller:
        return audit.operator(self._who, action, self._address)

    async def _record(self, caller: Caller, verdicts: Sequence[Verdict]) -> None:
        """Logs each act.  What was done is in the audit trail already, by the step that did it; the rest is not."""
        events = []
        for verdict in verdicts:
            outcome: Outcome = "success" if verdict.is_done else "failure"
            about = {"task_id": verdict.task_id, "outcome": outcome, "detail": verdict.new_id or verdict.word}
            audit.log.info(f"operator_{caller.operation}", operator=caller.who, address=caller.address, **about)
            if verdict.word not in NOTED:
                event = audit.event_of(caller, "failure", verdict.word, audit.clean(verdict.task_id))
                events.append((*event, 1, 0))
        if events:
            await self._trail.append(caller.mark, 1, events)


def find_user() -> str:
    """Who sits at this terminal, as user@host."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user id without a name, as in containers
        user = "unknown"
    return f"{user}@{socket.gethostname()}"


def _find_obstacle(dossier: Dossier, *, force: bool) -> Word | None:
    record = dossier.record
    if record.get("kind") != b"task":
        return "call"
    if record.get("status", b"").decode() not in TERMINAL:
        return "unfinished"
    if record.get("max_attempts") == b"1" and not force:
        return "once"
    return None
