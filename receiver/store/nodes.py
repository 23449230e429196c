"""API nodes make themselves known to operators, by one script a beat."""

import asyncio
import os
import secrets
import socket
import time
from collections.abc import Mapping

from receiver.store.client import ATTEMPT_SECONDS, Client
from receiver.store.scripts import Argument

BEAT_SECONDS = 5.0
AGE_MS = 20_000  # of silence, after which a node is forgotten


def new_process_id() -> str:
    """A name that no other process has or had: host, pid, and a random part."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"


class NodeStore:
    """One node's presence in the store.  Nobody waits for it: what fails is done again with the next beat."""

    def __init__(self, client: Client, node: str) -> None:
        self._client = client
        self.node = node

    async def beat(self, fields: Mapping[str, Argument]) -> None:
        """Shows the node, as ``fields`` say of it.  Raises redis-py's errors, and TimeoutError."""
        flat = [item for pair in fields.items() for item in pair]
        async with asyncio.timeout(ATTEMPT_SECONDS):
            await self._client.evaluate("beat_node", self.node, AGE_MS, round(time.time() * 1000), *flat)

    async def leave(self) -> None:
        """Takes the node away.  Raises what ``beat`` raises."""
        async with asyncio.timeout(ATTEMPT_SECONDS):
            await self._client.evaluate("leave_node", self.node)
