"""Where ``receiver demo`` plays: a server, an API and workers of its own, in a folder that goes with them."""

import asyncio
import os
import shutil
import subprocess
import tempfile
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from redis import Redis

from ops.child import receiver_command
from ops.embedded import LOOK_SECONDS, EmbeddedServer
from ops.hints import DEMO
from ops.listener import address_of, answers, open_listener, url_of
from receiver.protocol.errors import StartupError
from receiver.settings import Settings
from receiver.store.keys import Keys
from receiver.tether import tether

LEASE_SECONDS = "1"  # how long a task stays with a worker of which nothing is heard
START_SECONDS = 30.0
STOP_SECONDS = 10.0


class Stage:
    """``url`` is the endpoint.  What is on it ends with the stage, and is gone."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="receiver-demo-")))
        self._server = EmbeddedServer(self._folder / "data")
        self._listener = self._stack.enter_context(open_listener("127.0.0.1", 0))
        self._log = self._stack.enter_context((self._folder / "log").open("ab"))
        self._worker: subprocess.Popen[bytes] | None = None
        self.url = f"{url_of(self._listener)}/mcp"

    def __enter__(self) -> Self:
        try:
            self._stack.callback(self._forget_socket)
            self._server.start()
            self._stack.callback(self._server.stop)
            fd = self._listener.fileno()
            self._start("serve", DEMO, "--fd", str(fd), fds=(fd,))
            self.start_worker()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()

    def start_worker(self) -> int:
        """Starts a worker; returns the id of its process."""
        self._worker = self._start("work", DEMO)
        return self._worker.pid

    def kill_worker(self) -> int:
        """SIGKILL: the worker gets no chance to say anything."""
        if self._worker is None:
            raise RuntimeError("no worker")
        self._worker.kill()
        self._worker.wait()
        return self._worker.pid

    async def wait_until_ready(self) -> None:
        """Returns when the API answers.  Raises StartupError if it never does."""
        try:
            async with asyncio.timeout(START_SECONDS):
                while not await answers(*address_of(self._listener)):  # noqa: ASYNC110 - another process
                    await asyncio.sleep(LOOK_SECONDS)
        except TimeoutError:
            lines = (self._folder / "log").read_text(errors="replace").splitlines()
            raise StartupError(f"the demo does not start: {lines[-1] if lines else 'it says nothing'}") from None

    def read_record(self, task_id: str) -> tuple[str, dict[str, str]]:
        """The key of a task, and all that stands there."""
        key = Keys(Settings.model_fields["namespace"].default).task(task_id)
        with Redis.from_url(self._server.url, decode_responses=True) as redis:
            return key, dict(redis.hgetall(key))

    def _forget_socket(self) -> None:
        """Its folder may be another one, where the path of ours would be too long."""
        shutil.rmtree(self._server.socket_path.parent, ignore_errors=True)

    def _start(self, *words: str, fds: tuple[int, ...] = ()) -> "subprocess.Popen[bytes]":
        """A child with the settings of the stage and no others."""
        env = {name: value for name, value in os.environ.items() if not name.startswith("RECEIVER_")}
        env |= {
            "RECEIVER_REDIS_URL": self._server.url,
            "RECEIVER_LEASE_SECONDS": LEASE_SECONDS,
            "RECEIVER_SHUTDOWN_GRACE_SECONDS": "1",
            "RECEIVER_LOG_FORMAT": "json",
        }
        child = subprocess.Popen(  # noqa: S603 - our own command
            tether(receiver_command(*words)),
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            pass_fds=fds,
            start_new_session=True,  # Ctrl-C is for the demo alone
        )
        self._stack.callback(_end, child)
        return child


def _end(child: "subprocess.Popen[bytes]") -> None:
    child.terminate()
    try:
        child.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
