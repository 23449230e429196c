"""The processes of a deployment, as children of a test: the server of the store, API nodes, workers.

Each is ready when its constructor returns, keeps what it logs, and does not outlive the test run.  Make them in the
main thread: on Linux a child dies with the thread that starts it.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from types import TracebackType
from typing import Self

from receiver.tether import tether
from tests.servers import find_valkey

ROOT = Path(__file__).resolve().parents[1]
HOST = "127.0.0.1"
START_SECONDS = 30.0
STOP_SECONDS = 30.0


def find_free_port() -> int:
    """A port that nothing listens on just now."""
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        port: int = listener.getsockname()[1]
        return port


class Child:
    """A running command.  ``env`` is added to this process's environment, without its own RECEIVER_* variables."""

    def __init__(self, command: Sequence[str | Path], *, env: Mapping[str, str] | None = None) -> None:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("RECEIVER_")}
        self._process = subprocess.Popen(
            tether([str(word) for word in command]),
            cwd=ROOT,
            env={**inherited, "PYTHONUNBUFFERED": "1", **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self._lines: list[str] = []
        self._said = threading.Condition()
        self._ended = False
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._process.poll()

    @property
    def log(self) -> str:
        """All that it wrote so far, to stdout and stderr."""
        with self._said:
            return "".join(self._lines)

    def wait_for_log(self, text: str, seconds: float = START_SECONDS) -> None:
        """Returns when a line with ``text`` is there; AssertionError if the process ends, or is silent, before."""
        with self._said:
            self._said.wait_for(lambda: self._ended or self._has_said(text), seconds)
            found = self._has_said(text)
        if not found:
            self.kill()
        assert found, f"no {text!r} in the log of {self._process.args!r}:\n{self.log}"

    def wait(self, seconds: float = STOP_SECONDS) -> int:
        """The exit code, when the process has ended by itself."""
        code = self._process.wait(seconds)
        self._listener.join(seconds)
        return code

    def kill(self) -> None:
        """SIGKILL: it gets no chance to clean up."""
        self._process.kill()
        self.wait()

    def terminate(self, seconds: float = STOP_SECONDS) -> int:
        """SIGTERM; returns the exit code."""
        self._process.terminate()
        return self.wait(seconds)

    def interrupt(self) -> None:
        """SIGINT, as Ctrl-C sends it."""
        self._process.send_signal(signal.SIGINT)

    def ask_to_end(self) -> None:
        """SIGTERM, without waiting for its end."""
        self._process.terminate()

    def pause(self) -> None:
        """SIGSTOP: it hangs, with all its connections open."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT, after ``pause``."""
        self._process.send_signal(signal.SIGCONT)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.kill()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            for line in output:
                with self._said:
                    self._lines.append(line)
                    self._said.notify_all()
        with self._said:
            self._ended = True
            self._said.notify_all()

    def _has_said(self, text: str) -> bool:
        return any(text in line for line in self._lines)


class Valkey(Child):
    """The embedded server.  With ``durable`` it writes each command to disk, and its data survives SIGKILL.

    A second one on the same ``folder`` and ``port`` is the first one restarted.
    """

    def __init__(self, folder: Path, *, port: int | None = None, durable: bool = False) -> None:
        self.port = port or find_free_port()
        self.url = f"redis://{HOST}:{self.port}/0"
        options = {
            "bind": HOST,
            "port": self.port,
            "dir": folder,
            "save": "",
            "appendonly": "yes" if durable else "no",
            "appendfsync": "always" if durable else "no",
        }
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        super().__init__([find_valkey(), *words])
        self.wait_for_log("Ready to accept connections")


class Site(Child):
    """A web server, started by ``command``, on ``port``; it is ready when ``path`` answers with HTTP 200."""

    def __init__(self, command: Sequence[str], port: int, *, path: str, env: Mapping[str, str]) -> None:
        self.port = port
        self.url = f"http://{HOST}:{port}"
        super().__init__(command, env=env)
        deadline = time.monotonic() + START_SECONDS
        while not self._answers(path):
            if self.returncode is not None or time.monotonic() > deadline:
                self.kill()
                raise AssertionError(f"{command!r} does not answer:\n{self.log}")
            time.sleep(0.02)

    def _answers(self, path: str) -> bool:
        connection = HTTPConnection(HOST, self.port, timeout=START_SECONDS)
        try:
            connection.request("GET", path)
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()


class Api(Site):
    """``receiver serve``.  ``settings`` are those of ``receiver.settings`` by name, as values that JSON can write."""

    def __init__(
        self,
        app: str,
        redis_url: str,
        *,
        host: str = HOST,
        port: int | None = None,
        env: Mapping[str, str] | None = None,
        **settings: object,
    ) -> None:
        port = port or find_free_port()
        command = _receiver("serve", app, "--host", host, "--port", str(port))
        super().__init__(command, port, path="/livez", env={**variables(redis_url, settings), **(env or {})})


class Worker(Child):
    """``receiver work``; ``settings`` as those of Api."""

    def __init__(self, app: str, redis_url: str, *, env: Mapping[str, str] | None = None, **settings: object) -> None:
        super().__init__(_receiver("work", app), env={**variables(redis_url, settings), **(env or {})})
        self.wait_for_log("worker_started")


def _receiver(*words: str) -> list[str]:
    return [sys.executable, "-m", "ops.cli", *words]


def variables(redis_url: str, settings: Mapping[str, object]) -> dict[str, str]:
    """The environment variables of settings."""
    given = {"redis_url": redis_url, "log_format": "json", "log_level": "debug", **settings}
    return {
        f"RECEIVER_{name.upper()}": value if isinstance(value, str) else json.dumps(value)
        for name, value in given.items()
    }
