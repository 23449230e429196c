"""A child process of a supervisor."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from receiver.tether import tether

MARGIN_SECONDS = 5.0  # on top of the grace, until a child is killed


class Child:
    """A command that may be run again and again.  ``fds`` are what it inherits, ``log`` takes its output, if given.

    It runs in a session of its own: a terminal's Ctrl-C reaches the supervisor alone, which ends all in order.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        patience: float,
        env: Mapping[str, str] | None = None,
        fds: Sequence[int] = (),
        log: Path | None = None,
    ) -> None:
        self.name = name
        self.starts = 0
        self.is_asked_to_end = False
        self._command = command
        self._patience = patience
        self._env = env
        self._fds = fds
        self._log = log
        self._process: asyncio.subprocess.Process | None = None
        self._hurry = asyncio.Event()

    async def run(self) -> int:
        """Starts it and waits for its end.  Returns its exit code, negative for a signal."""
        self.starts += 1
        self.is_asked_to_end = False
        output = None if self._log is None else self._log.open("ab")
        try:
            self._process = await asyncio.create_subprocess_exec(
                *tether(self._command),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=self._env,
                pass_fds=self._fds,
                start_new_session=True,
            )
        finally:
            if output is not None:
                output.close()
        return await self._process.wait()

    async def rest(self, seconds: float) -> None:
        """Waits between two runs; whoever asks it to end meanwhile ends the wait."""
        self._hurry.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._hurry.wait(), seconds)

    async def end(self) -> int:
        """Asks it to end, and waits; after ``patience`` seconds it is killed.

        Returns the exit code that came of it: 0 if nothing ran, or if it took SIGTERM for its end.
        """
        self.is_asked_to_end = True
        self._hurry.set()
        if self._process is None or self._process.returncode is not None:
            return 0
        self._send(signal.SIGTERM)
        try:
            await asyncio.wait_for(self._process.wait(), self._patience)
        except TimeoutError:
            self.kill()
        code = await self._process.wait()
        return 0 if code == -signal.SIGTERM else code

    def kill(self) -> None:
        """Ends it at once."""
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        # Not Process.send_signal: it would look for the end of the process by itself, and might take the exit code
        # away from asyncio, which waits for it in a thread.
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, number)


def receiver_command(*arguments: str) -> list[str]:
    """The command line, by this same Python.

    Without -P, a folder ``ops`` in the current directory would be taken for ours; it is ours in a checkout.
    """
    is_checkout = Path(__file__).resolve().parents[1] == Path.cwd()
    return [sys.executable, *([] if is_checkout else ["-P"]), "-m", "ops.cli", *arguments]
