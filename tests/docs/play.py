"""Does what a page says, in a folder of its own: writes its files, runs its commands, and looks at what they say.

A Python block whose first line is a comment with a name, ``# reports.py``, is that file.  In a console block a line
with ``$`` in front is a command, and what follows is what it says: ``…`` stands for anything within a line, and alone
on a line for any number of lines.  A command that serves goes on beside the others, until ``^C`` ends the newest of
them.  The ports that pages name are free ones here.
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from tests.docs.markdown import Block
from tests.processes import ROOT, Child, find_free_port
from tests.servers import find_redis, find_valkey

INTERRUPT = "^C"
SERVES = re.compile(r"(?:\w+=(?:'[^']*'|\S*) )*(receiver (?:dev|serve|work)\b|redis-server\b)")
PORTS = re.compile(r"\b(?:8000|8001|6379)\b")
COMMAND_SECONDS = 50


class Command(NamedTuple):
    """``says``: the lines that are expected."""

    text: str
    says: list[str]


def read_commands(block: Block) -> Iterator[Command]:
    """The commands of a console block."""
    first, *parts = re.split(r"^\$ |^(?=\^C$)", block.text, flags=re.MULTILINE)
    assert not first, f"line {block.line}: what a command says stands behind it"
    for part in parts:
        text, *says = part.splitlines()
        while text.endswith("\\"):
            text = f"{text[:-1]}{says.pop(0).lstrip()}"
        yield Command(text, says)


def file_name(block: Block) -> str | None:
    """The file that a block is, by its first line."""
    found = re.match(r"# ([\w.-]+\.py)\n", block.text)
    return found[1] if found and block.language == "python" else None


class Play:
    """Plays the blocks of one page in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ports = {port: str(find_free_port()) for port in ("8000", "8001", "6379")}
        self._env = {name: value for name, value in os.environ.items() if not name.startswith(("RECEIVER_", "PIP_"))}
        self._env |= {"PATH": f"{self._make_programs()}:{self._env['PATH']}", "PYTHONPATH": str(ROOT)}
        self._env |= {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "RECEIVER_LOG_FORMAT": "json"}
        self._exports: list[str] = []
        self._children: list[Child] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for child in reversed(self._children):
            child.kill()

    def play(self, block: Block) -> None:
        """Writes a file, or runs commands; AssertionError for what does not come out as the page says."""
        if name := file_name(block):
            (self.folder / name).write_text(self._with_ports(block.text), encoding="utf-8")
            return
        assert block.language == "console", f"line {block.line}: a block that is neither a file nor commands"
        for command in read_commands(block):
            self._run(Command(self._with_ports(command.text), [self._with_ports(line) for line in command.says]))

    def _run(self, command: Command) -> None:
        if command.text == INTERRUPT:
            self._interrupt()
        elif command.text.startswith("export "):
            self._exports.append(command.text)
        elif SERVES.match(command.text):
            self._serve(command)
        else:
            self._finish(command)

    def _finish(self, command: Command) -> None:
        done = subprocess.run(
            ["/bin/sh", "-c", self._script(command.text)],
            cwd=self.folder,
            env=self._env,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
        )
        assert says(command.says, done.stdout), f"$ {command.text}\n{done.stdout}{done.stderr}{self._logs()}"
        done.check_returncode()

    def _serve(self, command: Command) -> None:
        text = command.text
        if "receiver dev" in text or ("receiver serve" in text and "--port" not in text):
            text += f" --port {self._ports['8000']}"
        where = ["env", "-C", str(self.folder), "/bin/sh", "-c", self._script(f"exec env {text}")]
        child = Child(where, env=self._env)
        self._children.append(child)
        for line in command.says:
            if line != "…":
                child.wait_for_log(max(line.split("…"), key=len))

    def _interrupt(self) -> None:
        child = self._children.pop()
        os.kill(child.pid, signal.SIGINT)
        child.wait()

    def _script(self, text: str) -> str:
        return "\n".join([*self._exports, text])

    def _logs(self) -> str:
        return "".join(f"\n--\n{child.log}" for child in self._children)

    def _with_ports(self, text: str) -> str:
        return PORTS.sub(lambda found: self._ports[found[0]], text)

    def _make_programs(self) -> Path:
        """A folder with what a reader has on PATH."""
        programs = self.folder.parent / f"{self.folder.name}-bin"
        programs.mkdir()
        lines = {
            "receiver": f"{sys.executable} -P -m ops.cli",
            "python": sys.executable,
            "pip": f"{sys.executable} -m pip",
            "redis-server": str(find_redis() or find_valkey()),
        }
        for name, line in lines.items():
            (programs / name).write_text(f'#!/bin/sh\nexec {line} "$@"\n')
            (programs / name).chmod(0o755)
        return programs


def says(expected: list[str], output: str) -> bool:
    """Whether a command said what a page shows; a page that shows nothing does not say."""
    if not expected:
        return True
    parts = [".*" if line == "…" else re.escape(line).replace("…", "[^\n]*") + "\n" for line in expected]
    return re.fullmatch("".join(parts), output.rstrip("\n") + "\n", re.DOTALL) is not None
