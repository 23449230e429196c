"""The process of one isolated run: ``python -m workers.isolated PARENT_PID DESCRIPTOR LIMIT LOG_FORMAT LOG_LEVEL APP``.

It finds the tool in the app, calls it, and sends back the outcome; ``isolation`` is the worker's side.  It has no
connection to Redis: what the tool asks its Context for is done by the worker.
"""

import asyncio
import faulthandler
import os
import signal
import socket
import sys
from contextlib import AsyncExitStack
from dataclasses import asdict
from functools import partial
from typing import Any

from receiver.loading import load_app
from receiver.operation import Operation
from receiver.protocol.errors import Retry, StartupError, ToolError
from receiver.protocol.outcome import Outcome
from receiver.receiver import Receiver
from receiver.store.record import ClaimedRun
from receiver.telemetry.logs import configure_logs
from receiver.telemetry.provider import open_tracing
from receiver.tether import end_with
from workers.account import account_elsewhere
from workers.channel import Channel, Message
from workers.conclusion import conclude, name_of, params_of
from workers.ending import Ending, await_ending
from workers.lifespan import enter_lifespan
from workers.memory import bound_memory
from workers.remote import Caller, RemoteContext
from workers.threads import Threads


class Errand:
    """One run of ``operation``."""

    def __init__(self, app: Receiver, operation: Operation, claim: ClaimedRun, caller: Caller) -> None:
        self._app = app
        self._operation = operation
        self._claim = claim
        self._caller = caller
        self._threads = Threads(lambda: None)
        bounds = operation.isolation
        self._memory = None if bounds is None else bounds.memory_bytes

    async def run(self, stack: AsyncExitStack) -> Ending:
        """Runs it in the app's lifespan, which ends with the stack."""
        try:
            state = await enter_lifespan(self._app, stack)
            ending = await self._perform(self._bind(state))
        except StartupError as error:
            return Ending(error=error)
        if isinstance(ending.error, MemoryError) and self._memory is not None:
            what = f"{name_of(self._operation)} needs more memory than it may have: {self._memory:,} bytes"
            return Ending(error=ToolError(what))
        return ending

    def _bind(self, state: Any) -> dict[str, Any]:
        arguments = self._operation.bind(params_of(self._claim))
        if self._operation.context_parameter is not None:
            context = RemoteContext(self._caller, self._claim, state, self._threads)
            arguments[self._operation.context_parameter] = context
        return arguments

    async def _perform(self, arguments: dict[str, Any]) -> Ending:
        work = partial(self._operation.function, **arguments)

        async def await_work() -> Any:
            with bound_memory(self._memory):
                return await work()

        def do_work() -> Any:
            with bound_memory(self._memory):
                return work()

        if not self._operation.is_async:
            return await self._threads.run(self._claim.task_id, do_work)
        running = asyncio.create_task(await_ending(await_work))
        self._caller.on_stop = running.cancel
        return await running


async def serve(app: Receiver, channel: Channel) -> None:
    """Takes the run from the worker, and ends with it."""
    channel.send({"ready": True})
    message = await channel.receive()
    if message is None:
        return
    run = message["run"]
    claim = _read_claim(run)
    with account_elsewhere(claim, run["trace"]):
        await _perform(app, claim, channel, run["limit"])


async def _perform(app: Receiver, claim: ClaimedRun, channel: Channel, limit: int) -> None:
    operation = app.find_operation(claim.text("method"), claim.text("tool"))
    if operation is None:
        raise StartupError(f"the app has no {claim.text('tool')!r}")
    caller = Caller(channel)
    listening = asyncio.create_task(caller.listen())
    async with AsyncExitStack() as stack:
        ending = await Errand(app, operation, claim, caller).run(stack)
        caller.is_done = True
        if not caller.is_stopped:  # else nobody will hear of it
            channel.send(_write(conclude(operation, claim, ending, limit)))
        await channel.drain()
        sys.stdout.flush()
    if caller.is_stopped:
        listening.cancel()
    await asyncio.wait({listening})  # the worker hangs up: what it says to who is gone would cost it the outcome


def _read_claim(run: Message) -> ClaimedRun:
    fields = {name: value.encode() for name, value in run["fields"].items()}
    return ClaimedRun(run["task_id"], run["run"], b"", fields, run["claimed_at"])


def _write(end: Outcome | Retry) -> Message:
    if isinstance(end, Retry):
        return {"retry": end.after}
    return {"outcome": {**asdict(end), "payload": end.payload.decode()}}


async def _main(descriptor: int, limit: int, app: Receiver) -> None:
    channel = await Channel.open(socket.socket(fileno=descriptor), limit)
    try:
        await serve(app, channel)
    finally:
        channel.close()


def main(parent: int, descriptor: int, limit: int, logs: tuple[str, str], app: str) -> None:
    """Runs one run, for the worker ``parent``, which listens at the other end of ``descriptor``."""
    end_with(parent)
    os.set_inheritable(descriptor, False)  # what the tool starts is not heard there
    faulthandler.enable()
    signal.signal(signal.SIGTERM, lambda number, frame: None)  # the worker says when; and this one is not inherited
    configure_logs(*logs)
    try:
        loaded = load_app(app)
        open_tracing(loaded.name)
        asyncio.run(_main(descriptor, limit, loaded))
    except StartupError as error:
        print(f"receiver: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), (sys.argv[4], sys.argv[5]), sys.argv[6])
