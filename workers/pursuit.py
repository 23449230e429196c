"""The pursuit of a task by which a client answers a question: polled at its pace, and its result fetched in the end.

All that is known of it stands in the store: any run of the task that asked goes on where another left off.
"""

from typing import Any, Literal

import orjson

from receiver.protocol.lifecycle import is_terminal
from receiver.store.inputs import InputStore, Standing
from receiver.store.record import ClaimedRun
from receiver.store.runs import Verdict

_UNKNOWN = -32602  # what a client answers for a task that it has no more (T-76)

_EXPIRED: dict[str, Any] = {"failure": "The client's task expired before it gave an answer"}
_UNREACHABLE: dict[str, Any] = {"failure": "The client ended its session before its task gave an answer"}
_CANCELLED: dict[str, Any] = {"failure": "The client cancelled the task that was to give the answer"}
_DISMISSED: dict[str, Any] = {"result": {"action": "cancel"}}


class Pursuit:
    """The client's tasks of one run."""

    def __init__(self, inputs: InputStore, claim: ClaimedRun) -> None:
        self._inputs = inputs
        self._claim = claim

    async def advance(self, question: str, standing: Standing) -> float | None:
        """Does what is to be done next about a question, if anything.

        Returns the seconds after which to look again, None for when there is news.
        """
        if standing.state != "accepted":
            return None
        if standing.rest is not None and standing.rest <= 0:
            return await self._resolve(question, _EXPIRED)
        if not standing.is_reachable:
            return await self._resolve(question, _UNREACHABLE)  # no other session knows the task
        early = None if standing.is_polled else await self._poll(question, standing)
        pauses = [pause for pause in (standing.rest, early) if pause is not None]
        return min(pauses) / 1000 if pauses else None

    async def _poll(self, question: str, standing: Standing) -> int | None:
        said = orjson.loads(standing.said or b"{}")
        status = said.get("result", {}).get("status", "working")
        if _is_unknown(said):
            return await self._resolve(question, _EXPIRED)
        if status == "cancelled":
            answer = _DISMISSED if question.startswith("elicitation/") else _CANCELLED
            return await self._resolve(question, answer)
        is_ready = status == "input_required" or is_terminal(status)  # T-19, T-39
        method: Literal["tasks/get", "tasks/result"] = "tasks/result" if is_ready else "tasks/get"
        return await self._inputs.poll(self._claim.task_id, self._claim.run, question, method, standing.client_task)

    async def _resolve(self, question: str, answer: dict[str, Any]) -> int | None:
        verdict = await self._inputs.withdraw(self._claim.task_id, self._claim.run, question, orjson.dumps(answer))
        return 0 if verdict is Verdict.DONE else None


def _is_unknown(said: dict[str, Any]) -> bool:
    error = said.get("error")
    return isinstance(error, dict) and error.get("code") == _UNKNOWN
