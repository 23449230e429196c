"""What holds the keys of a test: fakeredis, the embedded Valkey, or a Redis."""

from dataclasses import dataclass
from typing import Any

import pytest
from fakeredis import FakeAsyncRedis, FakeRedis, FakeServer
from redis import Redis as BlockingRedis

from receiver.store.client import Client, connect
from receiver.store.scripts import Argument, load, names
from tests.servers import Server

BACKENDS = ("fakeredis", "valkey", "redis")
on_real_servers = pytest.mark.parametrize("backend", ["valkey", "redis"], indirect=True)


@dataclass(frozen=True)
class Backend:
    """``server`` is that of a real one, None for fakeredis."""

    name: str
    server: Server | None

    def connect(self) -> tuple[Any, Any]:
        """A client for the event loop and a blocking one, on the same empty keyspace."""
        if self.server is None:
            fake = FakeServer()
            return FakeAsyncRedis(server=fake), FakeRedis(server=fake)
        blocking = BlockingRedis.from_url(self.server.url)
        blocking.flushall()
        for name in names():
            for admitted in (False, True):
                blocking.script_load(load(name, admitted=admitted).source)
        return connect(self.server.url), blocking


class TwiceClient(Client):
    """Evaluates everything twice, as if each first reply were lost; for where there is no connection to cut."""

    def with_patience(self, patience: float | None) -> "TwiceClient":
        return TwiceClient(self.redis, self.keys, patience=patience, with_flags=False)

    async def evaluate(self, name: str, *arguments: Argument, admitted: bool = False) -> Any:
        await super().evaluate(name, *arguments, admitted=admitted)
        return await super().evaluate(name, *arguments, admitted=admitted)
