"""Keeps child processes running, and ends them in order.

::

    Supervisor ─┬─ server          embedded, if there is one: first to start, last to end
                └─ children        API processes and workers

Whoever ends unasked is started again, after a pause that grows while it keeps ending.  A child whose first start
fails with exit code 2 (a bad app, a bad setting) ends everything.
"""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from ops.child import Child
from ops.embedded import LOOK_SECONDS, STOP_SECONDS, EmbeddedServer
from ops.report import Reports
from receiver.protocol.errors import StartupError

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CANT_START = 2
SIGNALLED = 128  # what a shell adds to the number of a signal
FORCED = SIGNALLED + signal.SIGINT
KILLED = SIGNALLED + signal.SIGKILL
FIRST_PAUSE = 0.1  # seconds
LONGEST_PAUSE = 5.0
SAME_SIGNAL_SECONDS = 0.5  # timeout(1), for one, signals its child and then its group, which the child is in
STEADY_SECONDS = 10.0  # whoever ran that long has no failures behind it


Duty = Callable[[], Coroutine[Any, Any, None]]


class StartFailed(Exception):
    """A child can't start; its reason was shown."""


class Supervisor:
    """Runs ``children``, each in a process, with ``server`` under them.  ``reports``: what they say when they can't."""

    def __init__(self, children: Sequence[Child], reports: Reports, server: EmbeddedServer | None = None) -> None:
        self._children = children
        self._reports = reports
        self._server = server
        self._server_child: Child | None = None
        self._server_answered = False
        self._ending: float | None = None  # since when
        self._task: asyncio.Task[Any] | None = None

    def run(self, *duties: Duty) -> int:
        """Runs until SIGINT, SIGTERM or SIGHUP.  ``duties`` run beside, once the server does.

        Returns 0, or the worst exit code of a child that was asked to end, as a shell has it.
        Raises StartupError if the server can't start.  A second signal ends everything at once.
        """
        if self._server is not None:
            command = self._server.prepare()
            self._server_child = Child("the server", command, patience=STOP_SECONDS, log=self._server.log)
        return asyncio.run(self._run(duties))

    async def restart(self) -> None:
        """Ends all children in order; they are started again at once."""
        self._reports.forget()
        await asyncio.gather(*(child.end() for child in self._children))

    async def _run(self, duties: Sequence[Duty]) -> int:
        self._task = asyncio.current_task()
        for number in STOP_SIGNALS:
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup(1) ignores it
                asyncio.get_running_loop().add_signal_handler(number, self._stop)
        try:
            async with asyncio.TaskGroup() as group:
                await self._start(group, duties)
        except asyncio.CancelledError:
            code = 0
        except ExceptionGroup as failures:
            if not isinstance(failures.exceptions[0], StartFailed):
                raise failures.exceptions[0] from None
            code = CANT_START
        finally:
            worst = await self._end()
        return code or worst

    async def _start(self, group: asyncio.TaskGroup, duties: Sequence[Duty]) -> None:
        if self._server is not None and self._server_child is not None:
            group.create_task(self._keep(self._server_child))
            while not self._server.is_ready():  # noqa: ASYNC110 - another process, which tells nobody
                await asyncio.sleep(LOOK_SECONDS)
            self._server_answered = True
        for child in self._children:
            group.create_task(self._keep(child))
        for duty in duties:
            group.create_task(duty())

    async def _keep(self, child: Child) -> None:
        """Starts ``child`` whenever it is not running."""
        loop = asyncio.get_running_loop()
        failures = 0
        while True:
            started = loop.time()
            code = await child.run()
            self._reports.show()
            if child.is_asked_to_end:
                failures = 0
                continue
            self._judge(child, code)
            failures = 0 if loop.time() - started > STEADY_SECONDS else failures + 1
            await child.rest(min(FIRST_PAUSE * 2**failures, LONGEST_PAUSE))

    def _judge(self, child: Child, code: int) -> None:
        """Raises what ends everything; for all else, says what happened."""
        if child is self._server_child and self._server and not self._server_answered:
            raise StartupError(self._server.describe_failure())
        if code != CANT_START:
            say(f"{child.name} ended unasked ({_describe(code)}) and is started again")
        elif child.starts == 1:
            raise StartFailed

    def _stop(self) -> None:
        """The first signal ends all in order, the second at once."""
        now = time.monotonic()
        if self._ending is None and self._task is not None:
            self._ending = now
            self._task.cancel()
        elif self._ending is not None and now > self._ending + SAME_SIGNAL_SECONDS:
            for child in (*self._children, *filter(None, [self._server_child])):
                child.kill()
            os._exit(FORCED)

    async def _end(self) -> int:
        """The server goes last: those that stop have something to write down."""
        self._ending = self._ending or time.monotonic()
        codes = await asyncio.gather(*(child.end() for child in self._children))
        if self._server is not None and self._server_child is not None:
            await self._server_child.end()
            self._server.release()
        return max((code if code >= 0 else SIGNALLED - code for code in codes), default=0)


def say(text: str) -> None:
    """Tells whoever watches."""
    print(f"receiver: {text}", file=sys.stderr, flush=True)


def _describe(code: int) -> str:
    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name
