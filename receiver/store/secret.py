"""The secret that all nodes share to sign what they give out."""

import asyncio
import secrets
from collections.abc import Sequence

from pydantic import SecretStr
from redis.asyncio import Redis

from receiver.store.client import ATTEMPT_SECONDS
from receiver.store.keys import Keys


async def load_secrets(redis: Redis, keys: Keys, given: Sequence[SecretStr]) -> list[bytes]:
    """The secrets of RECEIVER_SECRETS; without any, one that is made once and kept in the store."""
    if given:
        return [secret.get_secret_value().encode() for secret in given]
    async with asyncio.timeout(ATTEMPT_SECONDS):
        await redis.set(keys.secret(), secrets.token_hex(32), nx=True)
        kept = await redis.get(keys.secret())
    if kept is None:
        raise RuntimeError("the store lost the secret that was just written")
    return [kept]
