"""Connections of one process to the store: bounded, given up where they are silent, made anew after a failover."""

import asyncio
from typing import Any
from weakref import WeakSet

from redis import Redis as BlockingRedis
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ReadOnlyError, TimeoutError
from redis.sentinel import Sentinel

from receiver.store.sentinel import MasterConnection, MasterTlsConnection, parse_sentinel_url

CONNECT_SECONDS = 1.0
WAIT_SECONDS = 5.0  # for a connection that another call has


class Pool(BlockingConnectionPool):
    """Who finds no connection free waits for one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._distrusted: WeakSet[AbstractConnection] = WeakSet()

    def distrust(self) -> None:
        """Makes each idle connection be opened anew before it is used again."""
        self._distrusted.update(self._available_connections)

    async def ensure_connection(self, connection: AbstractConnection) -> None:
        """Called for each connection that is taken from the pool."""
        if connection in self._distrusted:
            self._distrusted.discard(connection)
            await connection.disconnect(nowait=True)
        await super().ensure_connection(connection)


def open_pool(url: str, *, connections: int) -> Redis:
    """A client with a bounded pool, for one server or for the master that Sentinels know.  Raises ValueError."""
    options: dict[str, Any] = {
        "max_connections": connections,
        "timeout": WAIT_SECONDS,
        "socket_timeout": None,
        "socket_connect_timeout": CONNECT_SECONDS,
    }
    sentinels = parse_sentinel_url(url)
    if sentinels is None:
        return Redis(connection_pool=Pool.from_url(url, **options))
    kind = MasterTlsConnection if sentinels.with_tls else MasterConnection
    return Redis(connection_pool=Pool(connection_class=kind, sentinels=sentinels, **sentinels.options, **options))


def connect_blocking(url: str, *, seconds: float) -> BlockingRedis:
    """A client for a thread; no answer takes longer than ``seconds``.  Raises ValueError."""
    patience = {"socket_timeout": seconds, "socket_connect_timeout": CONNECT_SECONDS}
    sentinels = parse_sentinel_url(url)
    if sentinels is None:
        return BlockingRedis.from_url(url, **patience)
    found = Sentinel(sentinels.hosts, sentinel_kwargs={**sentinels.own, **patience})
    tls = {"ssl": True} if sentinels.with_tls else {}
    master: BlockingRedis = found.master_for(sentinels.service, **{**sentinels.options, **tls, **patience})
    return master


def note_failure(redis: Redis, error: BaseException) -> None:
    """After an error that tells of the connection more than of the call: what is idle may be as bad.

    That is one to a server that takes no writes any more, so that another must be the master, and one that is silent.
    """
    if isinstance(error, ReadOnlyError | TimeoutError | asyncio.TimeoutError):
        pool = redis.connection_pool
        if isinstance(pool, Pool):
            pool.distrust()
