"""An app with a runner for it, and gates at which its tools wait for their test."""

import asyncio
import threading
from typing import Any

import orjson

from receiver import Receiver
from tests.workers.stage import Stage
from workers.roster import ActiveRun
from workers.runner import Runner
from workers.threads import Threads


class Gate:
    """Where an async tool waits, and the test for the tool."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()
        self.stopped = asyncio.Event()

    async def wait(self) -> None:
        """The tool's part."""
        self.reached.set()
        try:
            await self.opened.wait()
        except asyncio.CancelledError:
            self.stopped.set()
            raise


class ThreadGate:
    """The same for a plain function; ``reached`` is set on the loop that made the gate."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.opened = threading.Event()
        self._loop = asyncio.get_running_loop()

    def wait(self) -> None:
        """The function's part."""
        self._loop.call_soon_threadsafe(self.reached.set)
        self.opened.wait()


class Record:
    """What the store holds of a task."""

    def __init__(self, fields: dict[str, str]) -> None:
        self.fields = fields
        self.status = fields["status"]
        self.message = fields.get("status_message")
        self.outcome = fields.get("outcome")
        self.payload: Any = orjson.loads(fields["payload"]) if "payload" in fields else None

    @property
    def text(self) -> str:
        """The first text of the result."""
        text: str = self.payload["content"][0]["text"]
        return text


class Scene:
    """``app`` is empty; ``runner`` runs what a test puts into it."""

    def __init__(self, stage: Stage, **settings: Any) -> None:
        self.stage = stage
        self.app = Receiver("scene")
        self.threads = Threads(lambda: None)
        kit, chosen = stage.kit, stage.settings(**settings)
        self.runner = Runner(self.app, kit, chosen, self.threads, state="the state")

    async def claim(self, tool: str, **options: Any) -> ActiveRun:
        """A run of a new task of the tool."""
        await self.stage.create(self.app, tool, **options)
        (active,) = await self.stage.claim(self.app)
        return active

    async def execute(self, active: ActiveRun) -> Record:
        """Runs it; returns the record of its task after that."""
        await self.runner.execute(active)
        assert active.is_settled
        return await self.record(active)

    async def run(self, tool: str, **options: Any) -> Record:
        """The record of a new task of the tool, when its run is over."""
        return await self.execute(await self.claim(tool, **options))

    async def record(self, active: ActiveRun) -> Record:
        """The record as it is now."""
        return Record(await self.stage.record(active.claim.task_id))

    async def claim_again(self) -> list[ActiveRun]:
        """What another worker would get now."""
        return await self.stage.claim(self.app, count=10, worker="another:1:ab")

    async def pause_of(self, active: ActiveRun) -> float:
        """Milliseconds from the claim until the task is due again."""
        due: float = await self.stage.redis.zscore(self.stage.keys.later(), active.claim.task_id)
        return due - active.claim.claimed_at
