"""What a Redis must be to serve as the store, asked at start; ``condition`` asks again while it serves."""

import asyncio
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, RedisError, ResponseError

from receiver.protocol.errors import StartupError
from receiver.settings import Durability
from receiver.store.client import ATTEMPT_SECONDS

OLDEST = (7, 0)
ENOUGH = {"everysec": ("everysec", "always"), "always": ("always",)}  # of appendfsync, for a durability


@dataclass(frozen=True)
class Manners:
    """How a server treats its data; None for what it does not tell."""

    version: str
    policy: str | None
    has_aof: bool | None
    fsync: str | None
    used: int  # bytes
    most: int  # bytes; 0 for any number


async def check_server(redis: Redis, url: str, durability: Durability | None = None) -> str | None:
    """Returns a warning, or None.

    Raises StartupError: not reachable, too old, one that evicts keys, or that keeps less than ``durability`` demands.
    """
    try:
        async with asyncio.timeout(ATTEMPT_SECONDS):
            manners = await read_manners(redis)
    except (RedisError, OSError) as error:
        cause = error.__cause__ or error  # redis-py wraps what goes wrong while it connects
        fault = "refuses the credentials" if isinstance(cause, AuthenticationError) else "can't be reached"
        raise StartupError(f"Redis at {hide_password(url)} {fault}: {error}") from None
    if is_too_old(manners.version):
        raise StartupError(f"Redis {manners.version} is too old: 7.0 or newer is needed")
    if careless := find_careless(manners, durability):
        raise StartupError(careless)
    return "; ".join(_list_doubts(manners, durability)) or None


async def read_manners(redis: Redis) -> Manners:
    """Asks a server; managed services may refuse CONFIG, and tell most of it in INFO."""
    async with redis.pipeline(transaction=False) as pipe:
        pipe.execute_command("INFO", "server", "memory", "persistence")
        pipe.execute_command("CONFIG GET", "maxmemory-policy", "appendfsync")
        info, config = await pipe.execute(raise_on_error=False)
    if isinstance(info, Exception):
        raise info
    told: dict[str, Any] = {} if isinstance(config, ResponseError) else config
    if isinstance(told, Exception):
        raise told
    enabled = info.get("aof_enabled")
    return Manners(
        version=str(info.get("redis_version", "0")),
        policy=_to_text(told.get("maxmemory-policy") or info.get("maxmemory_policy")),
        has_aof=None if enabled is None else bool(enabled),
        fsync=_to_text(told.get("appendfsync")),
        used=info.get("used_memory", 0),
        most=info.get("maxmemory", 0),
    )


def is_too_old(version: str) -> bool:
    """Whether our scripts can't run there."""
    return tuple(int(part) for part in version.split(".")[:2]) < OLDEST


def find_careless(manners: Manners, durability: Durability | None) -> str | None:
    """How a server would lose tasks that it must keep, or None."""
    if manners.policy not in (None, "noeviction"):  # F29
        return (
            f"this Redis evicts keys and would lose tasks: set its maxmemory-policy to noeviction, not {manners.policy}"
        )
    if durability is None:
        return None
    if manners.has_aof is False:
        return f"RECEIVER_DURABILITY={durability} needs a Redis with appendonly yes"
    if manners.fsync not in (None, *ENOUGH[durability]):
        return f"RECEIVER_DURABILITY={durability} needs a Redis with appendfsync {durability}, not {manners.fsync}"
    return None


def _list_doubts(manners: Manners, durability: Durability | None) -> list[str]:
    doubts = []
    if manners.policy is None:
        doubts.append("this Redis does not tell its maxmemory-policy: make sure that it is noeviction")
    if manners.has_aof is False:
        doubts.append("this Redis has no append-only file: when it ends, all tasks since its last snapshot are lost")
    if durability is not None and (manners.has_aof is None or manners.fsync is None):
        doubts.append(f"this Redis does not tell its appendfsync: make sure that it is {durability}")
    return doubts


def _to_text(value: str | bytes | None) -> str | None:
    return value.decode() if isinstance(value, bytes) else value


def hide_password(url: str) -> str:
    """``url`` as it may be shown."""
    scheme, separator, rest = url.partition("://")
    place, mark, query = rest.partition("?")  # redis-py takes a password in either
    credentials, at, host = place.rpartition("@")
    return f"{scheme}{separator}{'***' if credentials else ''}{at}{host}{mark}{'***' if query else ''}"
