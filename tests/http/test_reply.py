"""A reply by itself: what it sends, and what it leaves behind."""

import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest

from receiver.http import reply as module
from receiver.http.reply import Form, Part, Reply

HEARD = Part("", b"")
END = {"type": "http.response.body", "body": b"", "more_body": False}


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
        assert await self.next_part() == b"id: at \nretry: 2000\ndata: \n\n"


class Parts:
    """Parts that come when the test says so."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[Part] = asyncio.Queue()
        self.closed = asyncio.Event()

    async def next(self, until: float) -> Part | None:
        try:
            async with asyncio.timeout_at(until):
                return await self.queue.get()
        except TimeoutError:
            return None

    def stop(self) -> Part | None:
        return Part("", b'"stopping"', is_last=True)

    def close(self) -> None:
        self.closed.set()


@pytest.fixture
async def connection() -> Connection:
    return Connection()


@pytest.fixture
async def parts() -> Parts:
    return Parts()


def form(opens_after: float | None = 0.0, *, takes_json: bool = True, is_primed: bool = True) -> Form:
    return Form(opens_after, takes_json, lambda position: f"at {position}", is_primed, at_once=opens_after == 0)


async def send(connection: Connection, parts: Parts, shape: Form) -> None:
    await Reply(connection.receive, connection.send, shape, parts).send()


async def test_a_stream_that_opens_at_once(connection: Connection, parts: Parts) -> None:
    """H-09, H-12: the opening, when it is heard; what comes, the answer, the end."""
    parts.queue.put_nowait(HEARD)
    parts.queue.put_nowait(HEARD)
    parts.queue.put_nowait(Part("1", b'{"a":1}'))
    parts.queue.put_nowait(Part("", b"{}", is_last=True))
    await send(connection, parts, form())
    await connection.opened()
    assert await connection.next_part() == b'event: message\nid: at 1\ndata: {"a":1}\n\n'
    assert await connection.next_part() == b"event: message\nid: at \ndata: {}\n\n"
    assert await connection.messages.get() == END
    assert connection.messages.empty()
    assert parts.closed.is_set()


async def test_an_answer_that_comes_alone_is_json(connection: Connection, parts: Parts) -> None:
    """H-08."""
    parts.queue.put_nowait(HEARD)
    parts.queue.put_nowait(Part("", b"{}", is_last=True))
    await send(connection, parts, form(60.0))
    start = await connection.messages.get()
    assert (start["status"], dict(start["headers"])[b"content-type"]) == (200, b"application/json")
    assert await connection.messages.get() == {"type": "http.response.body", "body": b"{}"}
    assert connection.messages.empty()


async def test_the_first_message_opens_the_stream(connection: Connection, parts: Parts) -> None:
    sending = asyncio.create_task(send(connection, parts, form(60.0)))
    parts.queue.put_nowait(Part("7", b"[]"))
    await connection.opened()
    assert await connection.next_part() == b"event: message\nid: at 7\ndata: []\n\n"
    parts.queue.put_nowait(Part("", b"{}", is_last=True))
    await sending


async def test_silence_opens_the_stream(connection: Connection, parts: Parts) -> None:
    sending = asyncio.create_task(send(connection, parts, form(0.001)))
    await connection.opened()
    parts.queue.put_nowait(Part("", b"{}", is_last=True))
    await sending


async def test_who_takes_no_stream_hears_the_answer_alone(connection: Connection, parts: Parts) -> None:
    parts.queue.put_nowait(Part("1", b"[]"))
    parts.queue.put_nowait(Part("", b"{}", is_last=True))
    await send(connection, parts, form(None))
    await connection.messages.get()
    assert (await connection.messages.get())["body"] == b"{}"
    assert connection.messages.empty()


async def test_who_takes_no_json_gets_a_stream_for_the_answer(connection: Connection, parts: Parts) -> None:
    parts.queue.put_nowait(Part("", b"{}", is_last=True))
    await send(connection, parts, form(0.0, takes_json=False))
    await connection.opened()
    assert await connection.next_part() == b"event: message\nid: at \ndata: {}\n\n"


async def test_a_part_that_closes(connection: Connection, parts: Parts) -> None:
    """H-10, H-11: an event says where to go on, behind the one that says when."""
    parts.queue.put_nowait(Part("3", b"", closes=True))
    await send(connection, parts, form(60.0))
    await connection.opened()
    assert await connection.next_part() == b"id: at 3\ndata: \n\n"
    assert await connection.messages.get() == END
    assert parts.closed.is_set()


async def test_who_could_not_come_back_is_not_sent_away(connection: Connection, parts: Parts) -> None:
    parts.queue.put_nowait(Part("3", b"", closes=True))
    parts.queue.put_nowait(Part("", b"{}", is_last=True))
    await send(connection, parts, form(60.0, is_primed=False))
    await connection.messages.get()
    assert await connection.messages.get() == {"type": "http.response.body", "body": b"{}"}


async def test_an_older_revision_has_no_event_of_its_own_at_the_start(connection: Connection, parts: Parts) -> None:
    parts.queue.put_nowait(HEARD)
    parts.queue.put_nowait(Part("", b"{}", is_last=True))
    await send(connection, parts, form(is_primed=False))
    assert (await connection.messages.get())["type"] == "http.response.start"
    assert (await connection.next_part()).startswith(b":")
    assert await connection.next_part() == b"event: message\ndata: {}\n\n"


async def test_a_request_that_was_cancelled_has_no_answer(connection: Connection, parts: Parts) -> None:
    """L-07: a last part with nothing in it."""
    parts.queue.put_nowait(Part("", b"", is_last=True))
    await send(connection, parts, form(60.0))
    assert (await connection.messages.get())["type"] == "http.response.start"
    sent = [connection.messages.get_nowait() for _ in range(connection.messages.qsize())]
    assert sent[-1] == END
    assert not any(b"data: {" in part["body"] for part in sent)


async def test_signs_of_life(connection: Connection, parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """Comments while nothing happens, and none after the answer."""
    assert module.KEEP_ALIVE_SECONDS == 15
    monkeypatch.setattr(module, "KEEP_ALIVE_SECONDS", 0.001)
    sending = asyncio.create_task(send(connection, parts, form()))
    await connection.opened()
    for _ in range(3):
        assert await connection.next_part() == b": keep-alive\n\n"
    parts.queue.put_nowait(Part("", b"{}", is_last=True))
    await sending
    sent = [connection.messages.get_nowait() for _ in range(connection.messages.qsize())]
    assert [part["body"] for part in sent if part["body"] != b": keep-alive\n\n"] == [
        b"event: message\nid: at \ndata: {}\n\n",
        b"",
    ]


async def test_a_long_stream_is_closed_and_can_be_resumed(
    connection: Connection, parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H-10: no response, and no part is lost that was not sent."""
    monkeypatch.setattr(module, "KEEP_ALIVE_SECONDS", 0.001)
    monkeypatch.setattr(module, "LONGEST_STREAM_SECONDS", 0.005)
    await send(connection, parts, form())
    await connection.opened()
    sent = [connection.messages.get_nowait() for _ in range(connection.messages.qsize())]
    assert sent[-1] == END
    assert parts.closed.is_set()


async def test_a_client_that_goes_away_ends_the_wait(connection: Connection, parts: Parts) -> None:
    """T-21: nothing is sent any more."""
    sending = asyncio.create_task(send(connection, parts, form()))
    await connection.opened()
    connection.gone.set()
    await sending
    assert parts.closed.is_set()
    assert connection.messages.empty()


async def test_a_client_that_goes_away_before_anything_was_sent(connection: Connection, parts: Parts) -> None:
    sending = asyncio.create_task(send(connection, parts, form(60.0)))
    connection.gone.set()
    await sending
    assert parts.closed.is_set()
    assert connection.messages.empty()


async def test_a_server_that_stops_ends_the_stream(connection: Connection, parts: Parts) -> None:
    """H-10: whole, and without a response."""
    sending = asyncio.create_task(send(connection, parts, form()))
    await connection.opened()
    sending.cancel()
    await sending
    assert await connection.messages.get() == END
    assert parts.closed.is_set()


async def test_a_connection_that_breaks_ends_the_wait(connection: Connection, parts: Parts) -> None:
    async def send_nothing(message: MutableMapping[str, Any]) -> None:
        raise OSError("broken")

    with pytest.raises(OSError, match="broken"):
        await Reply(connection.receive, send_nothing, form(), parts).send()


async def test_who_called_is_not_cancelled_when_a_client_goes_away(connection: Connection, parts: Parts) -> None:
    """What else its task awaits would end, too."""

    async def call() -> int:
        await send(connection, parts, form())
        await asyncio.sleep(0)
        task = asyncio.current_task()
        assert task is not None
        return task.cancelling()

    calling = asyncio.create_task(call())
    parts.queue.put_nowait(HEARD)
    await connection.opened()
    connection.gone.set()
    assert await calling == 0


async def test_what_is_being_sent_is_not_cut_when_a_client_goes_away(connection: Connection, parts: Parts) -> None:
    """A server may say so while it still writes the end of an answer."""
    sent: list[MutableMapping[str, Any]] = []

    async def send_slowly(message: MutableMapping[str, Any]) -> None:
        connection.gone.set()
        for _ in range(5):
            await asyncio.sleep(0)
        sent.append(message)

    parts.queue.put_nowait(Part("", b"{}", is_last=True))
    await Reply(connection.receive, send_slowly, form(60.0), parts).send()
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]


async def test_a_server_that_stops_answers_who_could_not_come_back(connection: Connection, parts: Parts) -> None:
    sending = asyncio.create_task(send(connection, parts, form(60.0, is_primed=False)))
    await asyncio.sleep(0)
    sending.cancel()
    await sending
    assert (await connection.messages.get())["status"] == 200
    assert await connection.messages.get() == {"type": "http.response.body", "body": b'"stopping"'}
    assert parts.closed.is_set()


async def test_a_connection_that_cannot_be_heard_is_gone(connection: Connection, parts: Parts) -> None:
    async def receive() -> MutableMapping[str, Any]:
        raise OSError("broken")

    await Reply(receive, connection.send, form(60.0), parts).send()
    assert parts.closed.is_set()
    assert connection.messages.empty()
