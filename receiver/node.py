"""One API process: its connection to the store, its hub, and the services of its handlers."""

import asyncio

import structlog

from receiver.dispatch import Dispatcher
from receiver.http.auth import Authenticator
from receiver.http.endpoint import Endpoint
from receiver.hub import Hub
from receiver.methods import HANDLERS
from receiver.methods.services import Services
from receiver.protocol.cursor import Cursors
from receiver.receiver import Receiver
from receiver.settings import Settings
from receiver.store.checks import check_server
from receiver.store.client import Client, connect
from receiver.store.keys import Keys
from receiver.store.secret import load_secrets
from receiver.store.tasks import TaskStore
from receiver.waiter import Waiter

log = structlog.get_logger(__name__)


class Node:
    """Opened by the lifespan, or by the first request where the app is mounted and no lifespan runs."""

    def __init__(self, app: Receiver, settings: Settings) -> None:
        self._app = app
        self._settings = settings
        self._url = settings.require_redis_url()
        self._authenticator = Authenticator(settings.auth_tokens)
        self._hub: Hub | None = None
        self._opening = asyncio.Lock()
        self._dispatcher: Dispatcher[Services] | None = None
        self.redis = connect(self._url)
        self.endpoint = Endpoint(self.open, self._authenticator, body_limit=settings.max_body_bytes)

    async def open(self) -> Dispatcher[Services]:
        """What answers requests, ready to do so.  Raises StartupError if the store can't be used."""
        if self._dispatcher is not None:
            return self._dispatcher
        async with self._opening:
            if self._dispatcher is None:
                warning = await check_server(self.redis, self._url)
                if warning:
                    log.warning("redis_check", detail=warning)
                self._dispatcher = await self._assemble()
            return self._dispatcher

    async def close(self) -> None:
        """Ends what was opened."""
        if self._hub is not None:
            await self._hub.stop()
        await self.redis.aclose(close_connection_pool=True)
        self._dispatcher = None

    async def _assemble(self) -> Dispatcher[Services]:
        settings, keys = self._settings, Keys(self._settings.namespace)
        client = Client(self.redis, keys, patience=settings.redis_patience_seconds)
        tasks = TaskStore(client, task_limit=settings.max_tasks_per_principal, queue_limit=settings.queue_limit)
        self._hub = Hub(self.redis, keys.events, tasks.get_statuses)
        services = Services(
            app=self._app,
            settings=settings,
            tasks=tasks,
            waiter=Waiter(self._hub, tasks),
            cursors=Cursors(await load_secrets(self.redis, keys, settings.secrets)),
            identifies=self._authenticator.identifies,
        )
        self._hub.start()
        return Dispatcher(services, HANDLERS)
