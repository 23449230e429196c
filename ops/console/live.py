"""Live pages: an event stream that says "look again" when something has changed, and no more.

While anybody listens, one actor of this process looks at the store once a second, whatever the number of listeners.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from ops.admin.gate import Denial
from receiver.cancellation import cancel_all
from receiver.protocol.errors import ReceiverError
from receiver.protocol.task_id import is_task_id
from receiver.store.client import Client, is_passing
from receiver.store.inspect import Inspector

LOOK_SECONDS = 1.0
REFRESH_SECONDS = 10.0  # after which a page looks again in any case: ages grow
MOST_LISTENERS = 200

_FIELDS = ("status", "updated_at", "run", "worker", "parked", "progress", "progress_message")


class Listener:
    """An open page: ``task_id`` is the task that it shows, ``""`` for all of them."""

    def __init__(self, task_id: str) -> None:
        self.task_id = task_id
        self.seen: Any = None
        self.changed = asyncio.Event()

    def notice(self, found: Any) -> None:
        """Compares what was found with what there was before.

        The first look counts as a change: the page was read before anybody listened for it.
        """
        if self.seen != found:
            self.changed.set()
        self.seen = found


class Pulse:
    """Looks for all listeners."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._inspector = Inspector(client)
        self._listeners: dict[Listener, None] = {}
        self._looking: asyncio.Task[None] | None = None

    async def listen(self, task_id: str) -> AsyncIterator[None]:
        """Yields whenever a page should be read again, for the first time when it is listened for."""
        listener = Listener(task_id)
        self._listeners[listener] = None
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._keep_looking())
        try:
            while True:
                try:
                    async with asyncio.timeout(REFRESH_SECONDS):
                        await listener.changed.wait()
                except TimeoutError:
                    pass
                listener.changed.clear()
                yield
        finally:
            del self._listeners[listener]

    @property
    def is_full(self) -> bool:
        """Whether no more pages may listen."""
        return len(self._listeners) >= MOST_LISTENERS

    async def close(self) -> None:
        """Ends the actor."""
        if self._looking is not None:
            await cancel_all([self._looking])

    async def _keep_looking(self) -> None:
        while self._listeners:
            try:
                await self._look()
            except ReceiverError:
                pass  # the store is away; pages say so when they are read
            except Exception as error:
                if not is_passing(error):
                    raise
            await asyncio.sleep(LOOK_SECONDS)

    async def _look(self) -> None:
        """One round trip for all that look at tasks, one for all the others."""
        watched = [listener for listener in self._listeners if listener.task_id]
        others = [listener for listener in self._listeners if not listener.task_id]
        if watched:
            ids = list({listener.task_id for listener in watched})
            async with asyncio.timeout(self._client.patience), self._client.redis.pipeline(transaction=False) as pipe:
                for task_id in ids:
                    pipe.hmget(self._client.keys.task(task_id), [*_FIELDS])
                found = dict(zip(ids, await pipe.execute(), strict=True))
            for listener in watched:
                listener.notice(found[listener.task_id])
        if others:
            survey = await self._inspector.survey()
            ready = [(queue.name, queue.ready) for queue in survey.queues]
            for listener in others:
                listener.notice((survey.counts, ready, survey.leases, survey.lost, survey.later))


def live_routes(pulse: Pulse) -> APIRouter:
    """The one route, ``/live?task=ID``."""
    router = APIRouter()

    @router.get("/live")
    async def live(request: Request, task: str = "") -> StreamingResponse:
        if task and not is_task_id(task):
            raise Denial(404, "There is no such task")
        if pulse.is_full:
            raise Denial(503, "Too many pages are live already")
        return StreamingResponse(_stream(pulse, task), media_type="text/event-stream")

    return router


async def _stream(pulse: Pulse, task_id: str) -> AsyncIterator[bytes]:
    yield b": hello\n\n"
    async for _ in pulse.listen(task_id):
        yield b"event: look\ndata: 1\n\n"
