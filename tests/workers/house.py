"""An app whose tools wait at gates, and what workers leave in the store."""

from receiver import Context, Receiver
from tests.workers.scene import Gate
from tests.workers.stage import Stage
from workers.worker import ReceiverWorker


class House:
    """``app`` has the tools ``greet``, which ends at once, and ``wait``, which says in the end which run it was."""

    def __init__(self) -> None:
        self.app = Receiver("house")
        self._gates: dict[str, Gate] = {}
        self.app.tool(name="greet")(self._greet)
        self.app.tool(name="wait")(self._wait)

    def gate(self, label: str) -> Gate:
        """Where ``wait(label)`` waits."""
        return self._gates.setdefault(label, Gate())

    async def _greet(self, name: str = "you") -> str:
        return f"Hello, {name}"

    async def _wait(self, label: str, ctx: Context) -> dict[str, int]:
        await self.gate(label).wait()
        return {"run": ctx.run, "attempt": ctx.attempt}


def worker_keys(stage: Stage, worker: ReceiverWorker) -> list[str]:
    """What stands in the store for this worker alone."""
    name, keys = worker.equipment.worker, stage.keys
    found = [key for key in (keys.worker(name), keys.held(name), keys.own_bell(name)) if stage.blocking.exists(key)]
    return found if stage.blocking.zscore(keys.workers(), name) is None else [*found, keys.workers()]
