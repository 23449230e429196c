"""A Redis that Sentinels watch over: each new connection asks them which server is the master now.

redis-py has connections for this too, but in a pool that refuses where ours waits, and they believe a late Sentinel.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from redis.asyncio import Redis
from redis.asyncio.connection import Connection, SSLConnection, parse_url
from redis.exceptions import ConnectionError, RedisError, ResponseError

SCHEMES = {"redis+sentinel": "redis", "rediss+sentinel": "rediss"}
PORT = 26379
ASK_SECONDS = 1.0
OWN_PREFIX = "sentinel_"  # of options that are for the Sentinels, not for the server


@dataclass(frozen=True)
class Sentinels:
    """Who may know the master of ``service``.  ``options`` are for connections to it, ``own`` to the Sentinels."""

    hosts: tuple[tuple[str, int], ...]
    service: str
    options: dict[str, Any] = field(default_factory=dict, repr=False)
    own: dict[str, Any] = field(default_factory=dict, repr=False)
    with_tls: bool = False

    async def find_master(self) -> tuple[str, int]:
        """Where the master is: the answer of the first Sentinel that has one.  Raises ConnectionError."""
        faults = []
        for host, port in self.hosts:
            try:
                answer = await self._ask(host, port)
            except (RedisError, OSError, TimeoutError) as error:
                faults.append(f"{host}:{port}: {type(error).__name__}")
                continue
            if answer is not None:
                return answer[0].decode(), int(answer[1])
            faults.append(f"{host}:{port}: unknown there")
        raise ConnectionError(f"no Sentinel knows the master of {self.service!r} ({', '.join(faults)})")

    async def _ask(self, host: str, port: int) -> tuple[bytes, bytes] | None:
        async with asyncio.timeout(ASK_SECONDS), Redis(host=host, port=port, **self.own) as sentinel:
            answer: tuple[bytes, bytes] | None = await sentinel.execute_command(
                "SENTINEL", "GET-MASTER-ADDR-BY-NAME", self.service
            )
            return answer


def parse_sentinel_url(url: str) -> Sentinels | None:
    """``redis+sentinel://[user:password@]host[:port],…/service[/db][?options]``; None for a URL of another scheme.

    ``rediss+sentinel`` is with TLS.  The credentials are the server's; those of the Sentinels are the options
    ``sentinel_username`` and ``sentinel_password``.  Raises ValueError.
    """
    scheme, _, rest = url.partition("://")
    if scheme not in SCHEMES:
        return None
    parts = urlsplit(f"//{rest}")
    credentials, _, places = parts.netloc.rpartition("@")
    service, _, database = parts.path.removeprefix("/").partition("/")
    if not places or not service:
        raise ValueError(f"{scheme}:// needs hosts and the name of a master: {scheme}://host:{PORT}/name")
    at = f"{credentials}@" if credentials else ""
    given: dict[str, Any] = dict(parse_url(f"{SCHEMES[scheme]}://{at}host/{database}?{parts.query}"))
    given.pop("host")
    given.pop("connection_class", None)
    own = {name.removeprefix(OWN_PREFIX): given.pop(name) for name in list(given) if name.startswith(OWN_PREFIX)}
    with_tls = SCHEMES[scheme] == "rediss"
    hosts = tuple(map(_parse_host, places.split(",")))
    return Sentinels(hosts, unquote(service), given, own | ({"ssl": True} if with_tls else {}), with_tls)


def _parse_host(place: str) -> tuple[str, int]:
    parts = urlsplit(f"//{place.strip()}")
    if not parts.hostname:
        raise ValueError(f"{place!r} is not a host of a Sentinel")
    return parts.hostname, parts.port or PORT


class MasterConnection(Connection):
    """Goes to whatever server is the master when it connects."""

    def __init__(self, *, sentinels: Sentinels, **options: Any) -> None:
        self._sentinels = sentinels
        super().__init__(**options)

    async def _connect(self) -> None:
        self.host, self.port = await self._sentinels.find_master()
        await super()._connect()  # type: ignore[no-untyped-call] # it has no annotations

    async def on_connect(self) -> None:
        """A Sentinel may be late: who was the master may be a replica by now, and would serve old data."""
        await super().on_connect()
        await self.send_command("ROLE")
        try:
            role = await self.read_response()
        except ResponseError:
            return  # not permitted: a write will tell
        if role[0] != b"master":
            raise ConnectionError(f"{self.host}:{self.port} is no master any more")


class MasterTlsConnection(MasterConnection, SSLConnection):
    """The same with TLS."""
