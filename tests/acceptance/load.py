"""Clients that create tasks all the time, and remember what was acknowledged."""

import asyncio
import itertools
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from tests.acceptance.deployment import until
from tests.acceptance.requestor import Requestor, RpcError

CLIENTS = 2  # for each requestor
PAUSE_SECONDS = 0.01  # so that the tests' own process leaves the machine to what it tests


class Load:
    """Runs inside its ``async with``.  ``created`` has the label of each acknowledged task, by its id.

    A store that is away is a refusal that clients live with; any other error ends the load and is raised at its end.
    """

    def __init__(self, requestors: Sequence[Requestor]) -> None:
        self.created: dict[str, str] = {}
        self._requestors = requestors
        self._labels = map(str, itertools.count(1))
        self._clients: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        clients = [self._keep_creating(requestor) for requestor in self._requestors for _ in range(CLIENTS)]
        self._clients = [asyncio.create_task(client) for client in clients]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for client in self._clients:
            client.cancel()
        for result in await asyncio.gather(*self._clients, return_exceptions=True):
            if isinstance(result, Exception):
                raise result

    async def wait_for_more(self, count: int) -> None:
        """Returns when so many more tasks were acknowledged."""
        goal = len(self.created) + count
        await until(lambda: len(self.created) >= goal)

    async def _keep_creating(self, requestor: Requestor) -> None:
        for label in self._labels:
            try:
                self.created[await requestor.create("instant", label=label)] = label
            except RpcError as error:
                if error.data["reason"] != "unavailable":
                    raise
            await asyncio.sleep(PAUSE_SECONDS)
