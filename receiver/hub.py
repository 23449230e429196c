"""Who waits for which task in this process, over one pub/sub connection for all of them.

A message never carries a result: it says "look again", and so does the acknowledgement of every subscription,
also after a reconnect, and a slow re-read of all watched statuses in case a message was lost.

The hub keeps the set of wanted channels and reconciles the connection with it.  Each connection is a new
subscriber: nothing of an old one has to be trusted.
"""

import asyncio
import itertools
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator
from typing import Any, TypeVar, cast

import structlog
from redis.asyncio import Redis
from redis.asyncio.client import PubSub

from receiver.cancellation import cancel_all
from receiver.store.client import is_passing, pause_before
from receiver.telemetry import metrics
from receiver.watch import Channel, Watch

LINGER_SECONDS = 1.0  # a channel without watchers is kept this long: the next requestor may want it
IDLE_SECONDS = 5.0  # a silent connection is asked for a sign of life
REREAD_SECONDS = 3.0
BATCH = 500
BURST = 50  # messages handled in one go: they may all be there at once, and each wakes someone

_Item = TypeVar("_Item")

ReadStatuses = Callable[[list[str]], Awaitable[list[str]]]

log = structlog.get_logger(__name__)


class Hub:
    """Watches tasks.  ``name_channel`` gives the channel of a task id; ``read_statuses`` the truth about many."""

    def __init__(self, redis: Redis, name_channel: Callable[[str], str], read_statuses: ReadStatuses) -> None:
        self._redis = redis
        self._name_channel = name_channel
        self._read_statuses = read_statuses
        self._channels: dict[str, Channel] = {}
        self._subscribed: set[str] = set()
        self._had_connection = False
        self._awaited: Counter[str] = Counter()  # acknowledgements still to come, by channel
        self._changed = asyncio.Event()
        self._changes: set[str] = set()  # channels that came or went: ten thousand are not compared for each
        self._idle: set[str] = set()  # channels that may be without watches
        self._sweep: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._base = name_channel("-")  # always subscribed, so that the connection is never without a channel

    @property
    def watching(self) -> int:
        """How many waiters there are."""
        return sum(len(channel.watches) for channel in self._channels.values())

    def start(self) -> None:
        """Begins to listen, on the running event loop."""
        self._spawn(self._keep_listening())
        self._spawn(self._keep_rereading())

    async def stop(self) -> None:
        """Ends listening; those who still watch hear nothing more."""
        await cancel_all(self._tasks)

    def watch(self, task_id: str) -> Watch:
        """Watches a task.  Read its record after entering: what changes from then on is not missed."""
        return Watch(self, self._name_channel(task_id), task_id)

    def watch_channel(self, name: str) -> Watch:
        """Watches a channel that is of no task."""
        return Watch(self, name, None)

    def join(self, watch: Watch, name: str, task_id: str | None) -> Channel:
        """For a watch that opens: its channel, wanted from now on."""
        channel = self._channels.get(name) or self._open(name, task_id)
        channel.watches.add(watch)
        return channel

    def leave(self, watch: Watch, name: str, channel: Channel) -> None:
        """For a watch that closes."""
        channel.watches.discard(watch)
        if not channel.watches:
            self._idle.add(name)
            self._plan_sweep()

    def _open(self, name: str, task_id: str | None) -> Channel:
        channel = self._channels[name] = Channel(task_id)
        if name in self._subscribed and name not in self._awaited:
            channel.is_acknowledged = True  # it was just dropped, and the connection has it still
        self._change(name)
        return channel

    def _plan_sweep(self) -> None:
        if self._sweep is None and self._idle:
            self._sweep = asyncio.get_running_loop().call_later(LINGER_SECONDS, self._drop_idle, self._idle)
            self._idle = set()

    def _drop_idle(self, names: set[str]) -> None:
        """All of them at once: each change is a command of its own to the store."""
        self._sweep = None
        for name in names:
            channel = self._channels.get(name)
            if channel is not None and not channel.watches:
                del self._channels[name]
                self._change(name)
        self._plan_sweep()

    def _change(self, name: str) -> None:
        self._changes.add(name)
        self._changed.set()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _keep_listening(self) -> None:
        failures = 0
        while True:
            try:
                async with self._redis.pubsub() as pubsub:
                    await self._listen(pubsub)
            except Exception as error:
                failures = 0 if self._subscribed else failures + 1
                if not is_passing(error):
                    log.exception("hub_failed")
                elif failures <= 1:
                    log.warning("hub_disconnected", error=type(error).__name__)
            self._forget_subscriptions()
            await asyncio.sleep(pause_before(failures))

    async def _listen(self, pubsub: PubSub) -> None:
        await pubsub.subscribe(self._base)
        if self._had_connection:
            metrics.count_reconnect()
        self._had_connection = True
        reader = self._spawn(self._read(pubsub))
        writer = self._spawn(self._reconcile(pubsub))
        try:
            await asyncio.wait({reader, writer}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await cancel_all((reader, writer))
        for task in (reader, writer):
            if not task.cancelled():
                task.result()  # raises what ended it

    async def _read(self, pubsub: PubSub) -> None:
        silent = False
        for number in itertools.count(1):
            message = cast(dict[str, Any] | None, await pubsub.get_message(timeout=IDLE_SECONDS))
            if message is not None:
                silent = False
                self._handle(message)
            elif silent:
                raise ConnectionError("the subscription does not answer")
            else:
                silent = True
                await pubsub.ping()
            if number % BURST == 0:
                await asyncio.sleep(0)

    def _handle(self, message: dict[str, Any]) -> None:
        name = (message["channel"] or b"").decode()
        if message["type"] == "subscribe":
            self._awaited[name] -= 1
            if self._awaited[name] <= 0:
                del self._awaited[name]
        channel = self._channels.get(name)
        if channel is None or message["type"] not in ("subscribe", "message"):
            return
        if name not in self._awaited:  # else it is the late one of a subscription that was given up meanwhile
            channel.acknowledge()
        if message["type"] == "message":
            channel.notify("message", message["data"].decode())
        else:
            channel.notify("reconnect" if channel.was_heard else None)
            channel.was_heard = True

    async def _reconcile(self, pubsub: PubSub) -> None:
        """The one writer: brings the connection's subscriptions to what is wanted, again after every change."""
        self._subscribed = {self._base}
        self._changes = set(self._channels)
        while True:
            self._changed.clear()
            changes, self._changes = self._changes - {self._base}, set()
            wanted = {name for name in changes - self._subscribed if name in self._channels}
            unwanted = {name for name in changes & self._subscribed if name not in self._channels}
            for batch in _split(wanted):
                self._awaited.update(batch)
                await pubsub.subscribe(*batch)
            for batch in _split(unwanted):
                await pubsub.unsubscribe(*batch)
            self._subscribed |= wanted
            self._subscribed -= unwanted
            await self._changed.wait()

    def _forget_subscriptions(self) -> None:
        self._subscribed = set()
        self._awaited.clear()
        for channel in self._channels.values():
            channel.is_acknowledged = False

    async def _keep_rereading(self) -> None:
        while True:
            await asyncio.sleep(REREAD_SECONDS)
            channels = [channel for channel in self._channels.values() if channel.watches and channel.task_id]
            for batch in _split(channels):
                await self._reread(batch)

    async def _reread(self, channels: list[Channel]) -> None:
        try:
            statuses = await self._read_statuses([channel.task_id for channel in channels if channel.task_id])
            found = list(zip(channels, statuses, strict=True))
        except Exception as error:
            log.warning("hub_reread_failed", error=type(error).__name__)
            return
        for channel, status in found:
            if status != channel.last_status:
                channel.last_status = status
                channel.notify("reread")


def _split(items: Collection[_Item]) -> Iterator[list[_Item]]:
    ordered = list(items)
    for start in range(0, len(ordered), BATCH):
        yield ordered[start : start + BATCH]
