"""An operator at a terminal: runs commands on the store of a deployment.

Redis lets this one do nothing that walks the keyspace, so no command that passes here does.
"""

import asyncio
import json
import os
import pty
import subprocess
from typing import Any

from redis import Redis

from tests.acceptance.commands import RECEIVER, run
from tests.processes import ROOT, Child

ALLOWED = ("+@all", "-@dangerous", "-scan", "-randomkey", "+info", "+config|get")  # KEYS is among the dangerous


class Operator:
    """Uses the store at ``socket``; ``variables`` are those of all commands."""

    def __init__(self, socket: str, **variables: str) -> None:
        with Redis(unix_socket_path=socket) as redis:
            redis.execute_command("ACL", "SETUSER", "operator", "reset", "on", ">secret", "~*", "&*", *ALLOWED)
        self.env = {
            "RECEIVER_REDIS_URL": f"unix://operator:secret@{socket}",
            "RECEIVER_LOG_FORMAT": "json",
            **variables,
        }

    async def say(self, *words: str, code: int = 0) -> str:
        """What a command prints, that ends with ``code``."""
        ended = await asyncio.to_thread(run, *words, env=self.env)
        assert ended.returncode == code, ended.stderr + ended.stdout
        assert "Traceback" not in ended.stderr
        return ended.stdout

    async def complain(self, *words: str, code: int) -> str:
        """The one line that a command prints to stderr."""
        ended = await asyncio.to_thread(run, *words, env=self.env)
        assert ended.returncode == code, ended.stderr + ended.stdout
        assert ended.stdout == ""
        (line,) = ended.stderr.splitlines()
        return line

    async def ask(self, *words: str, code: int = 0) -> Any:
        """The JSON document that a command prints."""
        return json.loads(await self.say(*words, "--json", code=code))

    def follow(self, *words: str) -> Child:
        """A command that goes on."""
        return Child([*RECEIVER, *words], env=self.env)

    async def answer(self, answer: str, *words: str) -> tuple[int, str]:
        """Runs a command at a terminal, where ``answer`` is typed; its exit code, and what it asked."""
        return await asyncio.to_thread(self._answer, answer, *words)

    def _answer(self, answer: str, *words: str) -> tuple[int, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("RECEIVER_")}
        keyboard, terminal = pty.openpty()
        try:
            os.write(keyboard, f"{answer}\n".encode())
            ended = subprocess.run(
                [*RECEIVER, *words],
                cwd=ROOT,
                env={**inherited, **self.env},
                stdin=terminal,
                capture_output=True,
                text=True,
                timeout=30,
            )
        finally:
            os.close(keyboard)
            os.close(terminal)
        return ended.returncode, ended.stderr
