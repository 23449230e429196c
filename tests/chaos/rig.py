"""The processes of a campaign: one store, API nodes and workers, each behind a link of its own.

All of them are children that die with the driver.  Who ends is started again, as a supervisor would.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from redis.asyncio import Redis

from tests.chaos.network import Link
from tests.processes import Child, find_free_port, variables
from tests.servers import find_redis, find_valkey

APP = "tests.chaos.app:app"
TOKENS = {"canary-4f1d-alice": {"subject": "alice"}, "canary-9b27-bob": {"subject": "bob"}}
PATIENCE_SECONDS = 120.0
LOOK_SECONDS = 0.05
RESTART_SECONDS = 0.2
SERVERS = {"valkey": find_valkey, "redis": find_redis}


class Member:
    """A place for one process, which is started again whenever it ends; ``link`` is its way to the store.

    ``failpoint`` and ``clock`` are for the next process: where it dies, and by how many seconds its time is wrong.
    """

    def __init__(self, name: str, command: Sequence[str], env: dict[str, str], link: Link | None = None) -> None:
        self.name = name
        self.link = link
        self.logs: list[Child] = []
        self.failpoint = ""
        self.clock = 0.0
        self.is_wanted = True
        self._command = command
        self._env = env
        self.process = self._start()

    @property
    def is_running(self) -> bool:
        """Whether there is a process now."""
        return self.process.returncode is None

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal, if there is anybody to take it."""
        if self.is_running:
            os.kill(self.process.pid, number)

    def revive(self) -> None:
        """Starts the process again if it has ended and is wanted."""
        if self.is_wanted and not self.is_running:
            self.process = self._start()

    def _start(self) -> Child:
        once = {"CHAOS_FAILPOINT": self.failpoint, "CHAOS_CLOCK": str(self.clock)}
        self.failpoint, self.clock = "", 0.0
        process = Child(self._command, env={**self._env, **once})
        self.logs.append(process)
        return process


class Rig:
    """An async context manager.  ``bug``: the seeded bug that all processes have."""

    def __init__(
        self, folder: Path, *, bug: str = "", server: str = "valkey", fsync: str = "always", lease: float = 2.0
    ) -> None:
        self.folder = folder
        self.lease = lease
        self._bug = bug
        self._fsync = fsync
        self._binary = SERVERS[server]()
        self._store_port = find_free_port()
        self._supervisor: asyncio.Task[None] | None = None
        self.store: Member
        self.apis: list[Member] = []
        self.workers: list[Member] = []
        self.urls: list[str] = []
        self.redis = Redis.from_url(f"redis://127.0.0.1:{self._store_port}/0", decode_responses=True)

    @property
    def members(self) -> list[Member]:
        """All places, by who needs whom."""
        return [self.store, *self.apis, *self.workers]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._supervisor is not None:
            self._supervisor.cancel()
        for member in reversed(self.members):
            member.is_wanted = False
            member.process.kill()
        for member in self.members:
            text = "".join(f"--- {process.pid}\n{process.log}" for process in member.logs)
            (self.folder / f"{member.name}.log").write_text(text)
            if member.link is not None:
                await member.link.close()
        await self.redis.aclose()

    async def start(self, *, nodes: int = 2, workers: int = 3) -> None:
        """Starts everything, and returns when all of it is ready."""
        self.store = self._add_store()
        await self.store_is_up()
        for number in range(nodes):
            port = find_free_port()
            self.urls.append(f"http://127.0.0.1:{port}")
            self.apis.append(await self._add(f"api{number}", "serve", APP, "--port", str(port)))
        for number in range(workers):
            self.workers.append(await self._add(f"worker{number}", "work", APP))
        self._supervisor = asyncio.create_task(self._supervise())
        await self.all_are_ready()

    async def store_is_up(self) -> None:
        """Returns when the store answers."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not await self._store_answers():  # noqa: ASYNC110 - it waits for another process
                await asyncio.sleep(LOOK_SECONDS)

    async def all_are_ready(self) -> None:
        """Returns when every process has said that it serves."""
        await self.store_is_up()
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not all(map(_is_ready, (*self.apis, *self.workers))):  # noqa: ASYNC110 - likewise
                await asyncio.sleep(LOOK_SECONDS)

    async def heal(self) -> None:
        """Ends all faults; returns when everything works again."""
        for member in self.members:
            member.is_wanted = True
            member.signal(signal.SIGCONT)
            if member.link is not None:
                member.link.heal()
        await self.store_is_up()
        await self.redis.config_set("maxmemory", 0)
        await self.all_are_ready()

    def logs(self) -> str:
        """All that all processes wrote."""
        return "".join(process.log for member in self.members for process in member.logs)

    async def _store_answers(self) -> bool:
        try:
            async with asyncio.timeout(1):
                return bool(await self.redis.ping())
        except Exception:
            return False

    async def _supervise(self) -> None:
        while True:
            for member in self.members:
                member.revive()
            await asyncio.sleep(RESTART_SECONDS)

    def _add_store(self) -> Member:
        folder = self.folder / "store"
        folder.mkdir()
        options = {
            "bind": "127.0.0.1",
            "port": self._store_port,
            "dir": folder,
            "save": "",
            "appendonly": "yes",
            "appendfsync": self._fsync,
            "maxmemory-policy": "noeviction",
            "enable-debug-command": "yes",
        }
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        return Member("store", [str(self._binary), *words], {})

    async def _add(self, name: str, *words: str) -> Member:
        link = Link(self._store_port)
        await link.open()
        settings: dict[str, Any] = {
            "auth_tokens": TOKENS,
            "lease_seconds": self.lease,
            "rate_limit": "",
            "miss_limit": "",
            "max_tasks_per_principal": 100_000,
            "page_size": 20,
            "shutdown_grace_seconds": 1,
            "redis_patience_seconds": 2,
            "park_after_seconds": 0.3,
        }
        env = variables(link.url, settings) | {"CHAOS_FOLDER": str(self.folder), "CHAOS_BUG": self._bug}
        return Member(name, [sys.executable, "-m", "tests.chaos.entry", *words], env, link)


def _is_ready(member: Member) -> bool:
    said = member.process.log
    return member.is_running and ("worker_started" in said or "Serving " in said)  # its socket is open by then
