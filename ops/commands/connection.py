"""The connection of a command to the store, and what becomes of a command whose store is away."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NoReturn

import typer
from redis.asyncio import Redis
from redis.exceptions import RedisError

from ops import report
from ops.admin.filters import BadFilter
from ops.commands.store import locate_store
from receiver.protocol.errors import Refused, StartupError, Unavailable
from receiver.settings import Settings, load_settings
from receiver.store.census import Census
from receiver.store.client import Client, connect
from receiver.store.inspect import Inspector
from receiver.store.keys import Keys

PATIENCE_SECONDS = 3.0
CONNECTIONS = 32  # a bulk act has so many under way

REFUSED = 1
AWAY = 5
INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Place:
    """Which store is meant, as on the command line; None: as the settings say."""

    redis: str | None = None
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class Store:
    """An open connection, at ``url``."""

    url: str
    settings: Settings
    client: Client

    @property
    def redis(self) -> Redis:
        return self.client.redis

    @property
    def keys(self) -> Keys:
        return self.client.keys

    @property
    def inspector(self) -> Inspector:
        return Inspector(self.client, lease=self.settings.lease_ms)

    @property
    def census(self) -> Census:
        return Census(self.client)

    async def read_time(self) -> int:
        """The time in ms by the store's clock, which is that of all tasks."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            seconds, microseconds = await self.redis.time()
        return int(seconds) * 1000 + int(microseconds) // 1000


Command = Callable[[Store], Awaitable[int]]


def run(place: Place, command: Command) -> NoReturn:
    """Runs a command on the store and exits with the code that it returns, or with that of what went wrong.

    Raises StartupError where no store is named, or a filter means nothing.
    """
    given = {"redis_url": place.redis, "namespace": place.namespace}
    settings = load_settings(**{name: value for name, value in given.items() if value is not None})
    try:
        raise typer.Exit(asyncio.run(_run(settings, command)))
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except BadFilter as error:
        raise StartupError(str(error)) from None
    except Refused as error:
        _give_up(error.message, REFUSED)
    except (Unavailable, RedisError, OSError, TimeoutError) as error:
        from receiver.store.condition import describe

        cause = error.__cause__ if isinstance(error, Unavailable) else error
        _give_up(describe(cause if isinstance(cause, Exception) else error), AWAY)


async def _run(settings: Settings, command: Command) -> int:
    url = locate_store(settings)
    try:
        redis = connect(url, connections=CONNECTIONS)
    except ValueError as error:
        raise StartupError(f"this is not the URL of a Redis: {error}") from None
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await redis.ping()  # a person does not want to wait until it is clear that nobody answers
        keys, events = Keys(settings.namespace), settings.audit_events
        client = Client(redis, keys, patience=PATIENCE_SECONDS, audit_events=events)
        return await command(Store(url, settings, client))
    finally:
        await redis.aclose(close_connection_pool=True)


def _give_up(reason: str, code: int) -> NoReturn:
    report.complain(reason)
    raise typer.Exit(code)
