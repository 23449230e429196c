"""What runs record for later runs of their task: what steps returned, and until when sleeps last."""

from dataclasses import dataclass

from receiver.store.client import Client
from receiver.store.runs import Verdict


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a step returned, as JSON; ``digest`` is that of its arguments."""

    digest: str
    value: bytes


class StepStore:
    """The steps and sleeps of all tasks, each known by its name and number."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def recall(self, task_id: str, run: int, step: str) -> Recorded | Verdict:
        """What an earlier run recorded of a step; DONE if none has, so that this run is to do it."""
        code, *found = await self._client.call("recall", task_id, run, step)
        return Recorded(found[0].decode(), bytes(found[1])) if found else Verdict(code)

    async def remember(self, task_id: str, run: int, step: str, recorded: Recorded) -> Verdict:
        """Records what a step returned.  Raises Refused where the store is full."""
        return Verdict(await self._client.call("remember", task_id, run, step, recorded.digest, recorded.value))

    async def sleep(self, task_id: str, run: int, sleep: str, duration: int) -> int | Verdict:
        """The ms that are left of a sleep, which ends ``duration`` ms after the first run that came to it."""
        code, *rest = await self._client.call("sleep", task_id, run, sleep, duration)
        return max(0, int(rest[0])) if code == 1 else Verdict(code)
