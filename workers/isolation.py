"""Runs isolated tools, each run in a process of its own: ``isolated`` is what it executes.

Whatever the tool does to that process, a segmentation fault, an endless loop in C, more memory than there is, no other
run is hurt.  It is a new process, not a fork of this one, whose threads would not be there; so it costs the time that
it takes to import the app.
"""

import asyncio
import os
import signal
import socket
import sys
from contextlib import suppress

import structlog

from receiver.cancellation import cancel_all
from receiver.protocol.errors import StartupError
from receiver.receiver import Receiver
from workers.attendant import Attendant
from workers.channel import Channel
from workers.ending import Ending

GRACE_SECONDS = 0.5  # from being told to stop to being killed
LEAVE_SECONDS = 5.0  # from its outcome to its end: a lifespan ends in between
LAST_SECONDS = 1.0  # what the process said last is on its way, or, if it hung up, its end is

log = structlog.get_logger(__name__)


class ProcessEnded(Exception):
    """The process of a run ended before the run; the text says how."""


class Processes:
    """The processes of one worker.

    ``app`` is its name, MODULE:attribute; ``limit``: bytes of a message; ``logs``: format and level.
    """

    def __init__(self, app: str | None, limit: int, logs: tuple[str, str]) -> None:
        self._app = app
        self._limit = limit
        self._logs = logs
        self._leaving: set[asyncio.Task[None]] = set()

    def check(self, app: Receiver) -> None:
        """StartupError if the tools of ``app`` need processes, and none could find it."""
        if self._app is None and any(tool.isolation for tool in app.tools):
            raise StartupError("tools with isolate=True need the app's name: set RECEIVER_APP, as MODULE:attribute")

    def run(self, name: str, attendant: Attendant) -> "IsolatedWork":
        """Starts a process for the run that ``attendant`` attends to."""
        return IsolatedWork(name, self, attendant)

    async def close(self) -> None:
        """Returns when all have ended that were about to."""
        if self._leaving:
            await asyncio.wait(self._leaving)

    async def start(self) -> "Process":
        """A new process.  Raises OSError."""
        near, far = socket.socketpair()
        with far:
            try:
                process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "workers.isolated"),
                    *(str(os.getpid()), str(far.fileno()), str(self._limit), *self._logs, str(self._app)),
                    stdin=asyncio.subprocess.DEVNULL,  # its output goes where this worker's log goes
                    pass_fds=[far.fileno()],
                    start_new_session=True,  # it is killed with all that it starts
                )
            except BaseException:
                near.close()
                raise
        return Process(process, await Channel.open(near, self._limit))

    def let_leave(self, process: "Process") -> None:
        """Lets a process end whose run is over."""
        leaving = asyncio.create_task(process.end(LEAVE_SECONDS))
        self._leaving.add(leaving)
        leaving.add_done_callback(self._leaving.discard)


class Process:
    """A process on its way, and the channel to it."""

    def __init__(self, process: asyncio.subprocess.Process, channel: Channel) -> None:
        self._process = process
        self.channel = channel
        self.ended = asyncio.ensure_future(process.wait())

    def describe_end(self) -> str:
        """How it ended, as a predicate."""
        code = self.ended.result()
        return f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"

    async def stop(self) -> None:
        """Tells it to stop, and kills it a moment later.

        It is told over its channel: SIGTERM it ignores, since a service manager may send that to all processes of a
        worker, whose runs then have a grace period.
        """
        self.channel.send({"stop": True})
        await self.end(GRACE_SECONDS)
        self.kill()

    async def end(self, seconds: float) -> None:
        """Waits for its end, and kills it after ``seconds``."""
        try:
            await asyncio.wait({self.ended}, timeout=seconds)
        finally:
            if not self.ended.done():
                self.kill()
            self.channel.close()
        await asyncio.wait({self.ended})

    def kill(self) -> None:
        """Kills it, and all that it started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


class IsolatedWork:
    """A function, async or not, in a process of its own."""

    def __init__(self, name: str, processes: Processes, attendant: Attendant) -> None:
        self._processes = processes
        self._attendant = attendant
        self.ending: asyncio.Future[Ending] = asyncio.create_task(self._run(), name=name)

    async def stop(self, seconds: float, *, is_awaited: bool) -> bool:
        """Stops it within moments, whatever it does."""
        self.ending.cancel()
        await asyncio.wait({self.ending})
        return True

    async def _run(self) -> Ending:
        try:
            process = await self._processes.start()
        except OSError as error:
            log.error("process_not_started", error=str(error))
            return Ending(error=ProcessEnded("could not be started"))
        try:
            ending = await self._attend(process)
        except asyncio.CancelledError:
            await process.stop()
            raise
        if ending is not None:
            process.channel.close()  # which it waits for
            self._processes.let_leave(process)
            return ending
        await process.end(LAST_SECONDS)
        process.kill()  # what it started
        return Ending(error=ProcessEnded(process.describe_end()))

    async def _attend(self, process: Process) -> Ending | None:
        serving = asyncio.ensure_future(self._attendant.serve(process.channel))
        try:
            await asyncio.wait({serving, process.ended}, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({serving}, timeout=LAST_SECONDS)  # a process that it started may hold the channel
            return serving.result() if serving.done() else None
        finally:
            await cancel_all([serving])
