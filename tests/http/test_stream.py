"""The event stream by itself: what it sends, and what it leaves behind."""

import asyncio
from collections.abc import AsyncIterator, MutableMapping
from typing import Any

import pytest
from redis.asyncio import Redis

from receiver.http import stream
from receiver.http.stream import stream_answer
from receiver.hub import Hub
from receiver.store.client import Client
from receiver.store.keys import Keys
from receiver.store.tasks import NewTask, TaskStore
from receiver.waiter import Waiter
from tests.processes import Valkey

TASK = "0-" + "5" * 32


class Connection:
    """The ASGI side of a connection: hears what is sent, and goes away when it is told to."""

    def __init__(self) -> None:
        self.messages: asyncio.Queue[MutableMapping[str, Any]] = asyncio.Queue()
        self.gone = asyncio.Event()

    async def receive(self) -> MutableMapping[str, Any]:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: MutableMapping[str, Any]) -> None:
        await self.messages.put(message)

    async def next_part(self) -> bytes:
        part = await self.messages.get()
        assert (part["type"], part["more_body"]) == ("http.response.body", True)
        body: bytes = part["body"]
        return body

    async def opened(self) -> None:
        """Returns behind the event that opens the stream."""
        assert (await self.messages.get())["type"] == "http.response.start"
        assert (await self.next_part()).endswith(b"data: \n\n")


@pytest.fixture
def connection() -> Connection:
    return Connection()


@pytest.fixture
async def answer() -> "asyncio.Future[bytes]":
    return asyncio.get_running_loop().create_future()


async def test_an_answer_that_is_there_at_once(connection: Connection, answer: "asyncio.Future[bytes]") -> None:
    """H-09, H-12: the opening, the answer, the end."""
    answer.set_result(b"{}")
    await stream_answer(connection.receive, connection.send, answer)
    await connection.opened()
    assert await connection.next_part() == b"event: message\ndata: {}\n\n"
    assert await connection.messages.get() == {"type": "http.response.body", "body": b"", "more_body": False}
    assert connection.messages.empty()


async def test_signs_of_life(
    connection: Connection, answer: "asyncio.Future[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    """Comments while nothing happens, and none after the answer."""
    assert stream.KEEP_ALIVE_SECONDS == 15
    monkeypatch.setattr(stream, "KEEP_ALIVE_SECONDS", 0.001)
    streaming = asyncio.create_task(stream_answer(connection.receive, connection.send, answer))
    await connection.opened()
    for _ in range(3):
        assert await connection.next_part() == b": keep-alive\n\n"
    answer.set_result(b"{}")
    await streaming
    parts = [connection.messages.get_nowait() for _ in range(connection.messages.qsize())]
    assert [part["body"] for part in parts if part["body"] != b": keep-alive\n\n"] == [
        b"event: message\ndata: {}\n\n",
        b"",
    ]
    assert parts[-1]["more_body"] is False


async def test_a_client_that_goes_away_ends_the_wait(connection: Connection, answer: "asyncio.Future[bytes]") -> None:
    """T-21: nothing is sent any more."""
    streaming = asyncio.create_task(stream_answer(connection.receive, connection.send, answer))
    await connection.opened()
    connection.gone.set()
    await streaming
    assert answer.cancelled()
    assert connection.messages.empty()


async def test_a_server_that_stops_ends_the_stream(connection: Connection, answer: "asyncio.Future[bytes]") -> None:
    """H-10: whole, and without a response."""
    streaming = asyncio.create_task(stream_answer(connection.receive, connection.send, answer))
    await connection.opened()
    streaming.cancel()
    await streaming
    assert await connection.messages.get() == {"type": "http.response.body", "body": b"", "more_body": False}
    assert answer.cancelled()


async def test_a_connection_that_breaks_ends_the_wait(connection: Connection, answer: "asyncio.Future[bytes]") -> None:
    async def send(message: MutableMapping[str, Any]) -> None:
        raise OSError("broken")

    with pytest.raises(OSError, match="broken"):
        await stream_answer(connection.receive, send, answer)
    assert answer.cancelled()


@pytest.fixture
async def tasks(valkey: Valkey) -> AsyncIterator[TaskStore]:
    async with Redis.from_url(valkey.url) as redis:
        client = Client(redis, Keys("streams"))
        yield TaskStore(client, task_limit=100, queue_limit=100)


@pytest.fixture
async def hub(valkey: Valkey, tasks: TaskStore) -> AsyncIterator[Hub]:
    async with Redis.from_url(valkey.url) as redis:
        hub = Hub(redis, Keys("streams").events, tasks.get_statuses)
        hub.start()
        yield hub
        await hub.stop()


async def test_nobody_waits_behind_a_client_that_went_away(connection: Connection, hub: Hub, tasks: TaskStore) -> None:
    """T-21, L-07: the hub watches for those alone who are still there, and the task is as it was."""
    await tasks.create(NewTask(TASK, "owner", "default", "task", 60_000, b"job", {"poll_interval": 1000}))
    waiter = Waiter(hub, tasks)

    async def wait() -> bytes:
        return (await waiter.wait_until_terminal(TASK, "owner", 60_000)).status.encode()

    other = Connection()
    leaving = asyncio.create_task(stream_answer(connection.receive, connection.send, wait()))
    staying = asyncio.create_task(stream_answer(other.receive, other.send, wait()))
    await connection.opened()
    await other.opened()
    await asyncio.sleep(0)
    assert hub.watching == 2
    connection.gone.set()
    async with asyncio.timeout(5):
        await leaving
    assert hub.watching == 1
    assert (await tasks.get(TASK, "owner")).status == "working"
    await tasks.cancel(TASK, "owner", "over")
    await staying
    assert await other.next_part() == b"event: message\ndata: cancelled\n\n"
    assert hub.watching == 0
