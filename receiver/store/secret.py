"""The secret that all nodes share to sign what they give out."""

import asyncio
import secrets
from collections.abc import Sequence

from pydantic import SecretStr
from redis.asyncio import Redis
from redis.exceptions import RedisError

from receiver.protocol.errors import StartupError
from receiver.store.client import ATTEMPT_SECONDS
from receiver.store.keys import Keys


async def load_secrets(redis: Redis, keys: Keys, given: Sequence[SecretStr]) -> list[bytes]:
    """The secrets of RECEIVER_SECRETS; without any, one that is made once and kept in the store.

    Raises StartupError where the store can't be asked, or is too full to keep one.
    """
    if given:
        return [secret.get_secret_value().encode() for secret in given]
    try:
        async with asyncio.timeout(ATTEMPT_SECONDS):
            kept = await redis.get(keys.secret())
            if kept is None:  # else nothing is written: a full store would refuse even what changes nothing
                await redis.set(keys.secret(), secrets.token_hex(32), nx=True)
                kept = await redis.get(keys.secret())
    except (RedisError, OSError) as error:
        raise StartupError(f"the secret that signs cursors can't be had from Redis: {error}") from error
    if kept is None:
        raise RuntimeError("the store lost the secret that was just written")
    return [kept]
