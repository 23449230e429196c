"""One API process: its connection to the store, its hub, and the services of its handlers."""

import asyncio
from urllib.parse import urlsplit

import structlog

from receiver import __version__
from receiver.cancellation import cancel_all
from receiver.dispatch import Dispatcher
from receiver.feed import Feeds
from receiver.http.auth import Authenticator
from receiver.http.endpoint import Endpoint
from receiver.http.origins import LOOPBACK_HOSTS, Origins
from receiver.http.resource import Resource
from receiver.hub import Hub
from receiver.lists import digest_lists
from receiver.methods import HANDLERS
from receiver.methods.services import Services
from receiver.presence import Presence
from receiver.protocol.cursor import Cursors
from receiver.protocol.event_id import EventIds
from receiver.readiness import Readiness
from receiver.receiver import Receiver
from receiver.settings import Settings, parse_rate
from receiver.store.admission import RateLimit
from receiver.store.audit import AuditTrail
from receiver.store.backlog import Backlog
from receiver.store.census import Census
from receiver.store.checks import check_server
from receiver.store.client import Client, connect
from receiver.store.condition import ANSWER_SECONDS, keep_inspecting
from receiver.store.gauges import GaugeStore
from receiver.store.inputs import InputStore
from receiver.store.keys import Keys
from receiver.store.nodes import NodeStore, new_process_id
from receiver.store.secret import load_secrets
from receiver.store.sessions import SessionStore
from receiver.store.streams import StreamStore
from receiver.store.subscriptions import SubscriptionStore
from receiver.store.tasks import TaskStore
from receiver.telemetry import metrics

LEASE_MS = 30_000  # how long a stream lives without being renewed

log = structlog.get_logger(__name__)


class Node:
    """Opened by the lifespan, or by the first request where the app is mounted and no lifespan runs.

    ``url``: where it listens, as operators shall see it.
    """

    def __init__(self, app: Receiver, settings: Settings, url: str = "") -> None:
        self._app = app
        self._settings = settings
        self._listens_at = url
        self._url = settings.require_redis_url()
        self.resource = Resource(settings.resource_url)
        self._authenticator = Authenticator(app, settings, self.resource)
        self.origins = _make_origins(settings, self._authenticator)
        self._hub: Hub | None = None
        self._presence: Presence | None = None
        self._background: list[asyncio.Task[None]] = []
        self._opening = asyncio.Lock()
        self._dispatcher: Dispatcher[Services] | None = None
        self.redis = connect(self._url)
        self._client = Client(
            self.redis,
            Keys(settings.namespace),
            patience=settings.redis_patience_seconds,
            audit_events=settings.audit_events,
        )
        self._backlog = Backlog(AuditTrail(self._client))
        self.gauges = GaugeStore(self._client, app.tools.queues, lease=settings.lease_ms)
        self.readiness = Readiness(
            self.redis,
            Census(self._client.with_patience(ANSWER_SECONDS)),
            durability=settings.durability,
            needs_workers=not settings.ready_without_workers,
        )
        self.endpoint = Endpoint(
            self.open,
            self.origins,
            self._authenticator,
            self._backlog,
            body_limit=settings.max_body_bytes,
            stream_limit=settings.max_streams_per_principal,
        )

    async def open(self) -> Dispatcher[Services]:
        """What answers requests, ready to do so.  Raises StartupError if the store can't be used."""
        if self._dispatcher is not None:
            return self._dispatcher
        async with self._opening:
            if self._dispatcher is None:
                warning = await check_server(self.redis, self._url, self._settings.durability)
                if warning:
                    log.warning("redis_check", detail=warning)
                self._dispatcher = await self._assemble()
            return self._dispatcher

    def drain(self) -> None:
        """The node is about to end: it goes on to serve, but should be sent no more requests."""
        self.readiness.is_draining = True
        if self._presence is not None:
            self._presence.drain()

    async def close(self) -> None:
        """Ends what was opened."""
        await self._authenticator.close()
        if self._dispatcher is not None:
            await self._dispatcher.services.feeds.drain()
        if self._hub is not None:
            await self._hub.stop()
        await cancel_all(self._background)
        await self._backlog.close()
        if self._presence is not None:
            await self._presence.leave()
        await self.redis.aclose(close_connection_pool=True)
        self._dispatcher = None

    async def _assemble(self) -> Dispatcher[Services]:
        settings, client, keys = self._settings, self._client, self._client.keys
        metrics.introduce(__version__, (tool.name for tool in self._app.tools))
        tasks = TaskStore(
            client,
            task_limit=settings.max_tasks_per_principal,
            queue_limit=settings.queue_limit,
            misses=RateLimit(*parse_rate(settings.miss_limit)),
        )
        secrets = await load_secrets(self.redis, keys, settings.secrets)
        self._hub = Hub(self.redis, keys.events, tasks.get_statuses)
        idle = round(settings.session_idle_seconds * 1000)
        lists = digest_lists(self._app)
        streams = StreamStore(client, lease=LEASE_MS, session_idle=idle, lists=lists)
        feeds = Feeds(self._hub, streams, keys.session_events, renew_seconds=min(LEASE_MS, idle) / 3000)
        services = Services(
            app=self._app,
            settings=settings,
            tasks=tasks,
            sessions=SessionStore(client, idle=idle, cap=settings.max_sessions_per_principal),
            subscriptions=SubscriptionStore(client, limit=settings.max_subscriptions),
            inputs=InputStore(client),
            backlog=self._backlog,
            feeds=feeds,
            lists=lists,
            cursors=Cursors(secrets),
            event_ids=EventIds(secrets),
            identifies=self._authenticator.identifies,
        )
        self._authenticator.open()
        self._hub.start()
        nodes = NodeStore(client, new_process_id())
        self._presence = Presence(nodes, feeds.waiters, app=self._app.name, url=self._listens_at)
        inspecting = keep_inspecting(self.redis, settings.durability)
        work = (self._presence.keep_beating(), inspecting, self._backlog.keep_flushing())
        self._background = [asyncio.create_task(actor) for actor in work]
        return Dispatcher(services, HANDLERS)


def _make_origins(settings: Settings, authenticator: Authenticator) -> Origins:
    """Who need not say who it is may reach this node by the names of its own machine, unless more was allowed."""
    is_open = authenticator.identifies or settings.allow_anonymous
    hosts = settings.allowed_hosts or (() if is_open else LOOPBACK_HOSTS)
    if hosts and settings.resource_url:
        hosts = (*hosts, urlsplit(settings.resource_url).netloc)
    return Origins(hosts, settings.allowed_origins, trusts_any_host=authenticator.takes_tokens_alone)
