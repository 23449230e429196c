"""The server that ``receiver dev`` brings along: a Valkey that keeps data in a folder and listens on a socket there.

One data directory has one owner at a time, by a lock.  A server that answers at its socket all the same was left by
an owner that was killed; the next owner ends it, which loses nothing, and starts one that is its own child.
"""

import errno
import fcntl
import hashlib
import os
import re
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import IO
from urllib.parse import quote

from redis import Redis
from redis.exceptions import RedisError

from ops.binary import find_binary
from receiver.protocol.errors import StartupError
from receiver.tether import tether

LONGEST_SOCKET_PATH = 100  # bytes; systems allow 103 to 107
LOOK_SECONDS = 0.02
STOP_SECONDS = 5.0
LEFTOVER_SECONDS = 30.0
PREFIX = re.compile(r"^\d+:\w \d+ \w+ \d+ [\d:.]+ [-.*#] ")  # of a line of the server's log


class EmbeddedServer:
    """Keeps its files in ``data_dir``.  ``binary``: the server program; by default the best there is.

    ``start`` and ``stop`` are for those who just want one.  A supervisor takes ``prepare``, runs the command by itself,
    and waits for ``is_ready``.
    """

    def __init__(self, data_dir: Path, *, binary: Path | None = None) -> None:
        self.data_dir = data_dir.resolve()
        self.binary = binary
        self.socket_path = _choose_socket_path(self.data_dir)
        self.url = f"unix://{quote(str(self.socket_path))}"
        self.log = self.data_dir / "server.log"
        self.process: subprocess.Popen[bytes] | None = None
        self._lock: IO[str] | None = None
        self._log_start = 0

    def start(self) -> None:
        """Starts the server and waits until it answers, however much it has to load; it ends with this thread."""
        command = self.prepare()
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(  # noqa: S603 - our own command
                tether(command), stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )
        while not self.is_ready():
            if self.process.poll() is not None:
                self.release()
                raise StartupError(self.describe_failure())
            time.sleep(LOOK_SECONDS)

    def stop(self) -> None:
        """Ends the server in order; its data stay."""
        if self.process is not None:
            self.process.terminate()
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None
        self.release()

    def prepare(self) -> list[str]:
        """Takes the data directory and returns the command to run.  Raises StartupError if it is taken."""
        binary = self.binary or find_binary()
        self._take_folder()
        self._end_leftover()
        self._log_start = self.log.stat().st_size if self.log.exists() else 0
        # A write is answered when it is in the append-only file, which reaches the disk within a second.
        return [
            *(str(binary), "--dir", str(self.data_dir), "--port", "0"),
            *("--unixsocket", str(self.socket_path), "--unixsocketperm", "700"),
            *("--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
            *("--maxmemory-policy", "noeviction", "--daemonize", "no"),
        ]

    def release(self) -> None:
        """Lets others have the data directory."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def is_ready(self) -> bool:
        """Whether the server answers, and has loaded its data."""
        with self._connect() as redis:
            try:
                return bool(redis.ping())
            except (RedisError, OSError):
                return False

    def describe_failure(self) -> str:
        """Why the server that was just started ended, from the last line of its log."""
        with self.log.open("rb") as file:
            file.seek(self._log_start)
            lines = file.read().decode(errors="replace").split("\n")
        reason = next((PREFIX.sub("", line) for line in reversed(lines) if line.strip()), "it said nothing")
        return f"the embedded server ended at its start: {reason} (its log: {self.log})"

    def _connect(self) -> Redis:
        return Redis(unix_socket_path=str(self.socket_path), socket_timeout=1.0)

    def _take_folder(self) -> None:
        try:
            self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            (self.data_dir / ".gitignore").write_text("*\n")  # it is of no interest to the project that it lies in
            if self.socket_path.parent != self.data_dir:
                _make_private(self.socket_path.parent)
            lock = (self.data_dir / "lock").open("a+")
        except OSError as error:
            raise StartupError(f"can't keep data in {self.data_dir}: {error.strerror}") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            raise StartupError(
                f"another `receiver dev` uses {self.data_dir}; end it, or set RECEIVER_DATA_DIR to another folder"
            ) from None
        self._lock = lock

    def _end_leftover(self) -> None:
        """Ends a server that outlived its owner, and waits until it listens no more: then its data are written."""
        deadline = time.monotonic() + LEFTOVER_SECONDS
        while self._is_listening():
            if time.monotonic() > deadline:
                self.release()
                raise StartupError(f"a server that was left at {self.socket_path} does not end")
            with self._connect() as redis, suppress(RedisError):
                redis.shutdown()
            time.sleep(LOOK_SECONDS)

    def _is_listening(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(str(self.socket_path)) == 0


def _choose_socket_path(data_dir: Path) -> Path:
    """In the data directory, or in a private one where that path would be too long for a socket."""
    path = data_dir / "server.sock"
    if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
        return path
    name = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:16]  # the same each time, to be found again
    for folder in (tempfile.gettempdir(), "/tmp"):  # noqa: S108 - what is made there is private
        path = Path(folder) / f"receiver-{os.getuid()}-{name}" / "server.sock"
        if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
            break
    return path


def _make_private(folder: Path) -> None:
    """Makes a folder for this user alone; PermissionError if another user made it before."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise PermissionError(errno.EPERM, f"{folder} belongs to somebody else")
