"""What a Redis must be to serve as the store, asked once at start."""

import asyncio
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, RedisError, ResponseError

from receiver.protocol.errors import StartupError
from receiver.store.client import ATTEMPT_SECONDS

OLDEST = (7, 0)


async def check_server(redis: Redis, url: str) -> str | None:
    """Returns a warning, or None.  Raises StartupError: not reachable, too old, or one that evicts keys."""
    try:
        async with asyncio.timeout(ATTEMPT_SECONDS):
            server: dict[str, Any] = await redis.info("server")
            policy = await _read_policy(redis)
    except (RedisError, OSError) as error:
        cause = error.__cause__ or error  # redis-py wraps what goes wrong while it connects
        fault = "refuses the credentials" if isinstance(cause, AuthenticationError) else "can't be reached"
        raise StartupError(f"Redis at {hide_password(url)} {fault}: {error}") from None
    version = str(server.get("redis_version", "0"))
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        raise StartupError(f"Redis {version} is too old: 7.0 or newer is needed")
    if policy is None:
        return "this Redis does not tell its maxmemory-policy: make sure that it is noeviction"
    if policy != "noeviction":
        raise StartupError(
            f"this Redis evicts keys and would lose tasks: set its maxmemory-policy to noeviction, not {policy}"
        )
    return None


async def _read_policy(redis: Redis) -> str | None:
    """The eviction policy; managed services may refuse CONFIG and still tell it in INFO."""
    try:
        found = await redis.config_get("maxmemory-policy")
    except ResponseError:
        found = {}
    policy = found.get("maxmemory-policy") or (await redis.info("memory")).get("maxmemory_policy")
    return policy.decode() if isinstance(policy, bytes) else policy


def hide_password(url: str) -> str:
    """``url`` as it may be shown."""
    scheme, separator, rest = url.partition("://")
    place, mark, query = rest.partition("?")  # redis-py takes a password in either
    credentials, at, host = place.rpartition("@")
    return f"{scheme}{separator}{'***' if credentials else ''}{at}{host}{mark}{'***' if query else ''}"
