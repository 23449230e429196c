"""Requests that do not arrive: slow ones, idle connections, and hundreds of them at once (F18)."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.http.conftest import APP
from tests.http.requestor import Requestor
from tests.processes import Api, Valkey

SECONDS = 1.0
SLOW = 300
WAIT_SECONDS = 20
LATE = b"HTTP/1.1 408 "
POST = b"POST /mcp HTTP/1.1\r\nHost: %b\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def hasty(valkey: Valkey) -> Iterator[Api]:
    with Api(APP, valkey.url, namespace="hasty", receive_seconds=SECONDS) as api:
        yield api


async def drip(api: Api, first: bytes, drop: bytes) -> bytes:
    """All that comes back to a client that sends ``first``, and then a drop now and then until it is cut off."""
    address = urlsplit(api.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(first)
    answer = asyncio.create_task(reader.read())
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            while not answer.done():
                writer.write(drop)
                await asyncio.wait({answer}, timeout=SECONDS / 10)
            return await answer
    except ConnectionError:  # it had sent more than was read
        return b""
    finally:
        writer.close()


def host(api: Api) -> bytes:
    return urlsplit(api.url).netloc.encode()


async def test_headers_that_do_not_end(hasty: Api) -> None:
    assert (await drip(hasty, POST % host(hasty), b"X-More: 1\r\n")).startswith(LATE)


async def test_a_body_that_does_not_end(hasty: Api) -> None:
    head = POST % host(hasty) + b"Accept: application/json, text/event-stream\r\nContent-Length: 100000\r\n\r\n"
    assert (await drip(hasty, head, b"{")).startswith(LATE)


@pytest.mark.parametrize("drop", [b"", b"\r\n"])
async def test_a_connection_without_a_request_is_closed_without_a_word(hasty: Api, drop: bytes) -> None:
    assert await drip(hasty, b"", drop) == b""


async def test_a_second_request_has_a_time_of_its_own(hasty: Api) -> None:
    first = b"GET /livez HTTP/1.1\r\nHost: %b\r\n\r\n" % host(hasty)
    answers = await drip(hasty, first + POST % host(hasty), b"X-More: 1\r\n")
    assert answers.startswith(b"HTTP/1.1 200 ")
    assert answers.count(LATE) == 1


async def test_hundreds_of_slow_connections_keep_nobody_out(hasty: Api, http: httpx2.AsyncClient) -> None:
    requestor = Requestor(http, f"{hasty.url}/mcp")
    task_id = await requestor.create("echo", text="x")  # its connection stands: a new one has a second, on any machine
    async with AsyncExitStack() as stack:
        slow = [asyncio.create_task(drip(hasty, POST % host(hasty), b"X-More: 1\r\n")) for _ in range(SLOW)]
        stack.callback(lambda: [each.cancel() for each in slow])
        assert (await requestor.get(task_id))["status"] == "working"
        assert all(answer.startswith(LATE) or answer == b"" for answer in await asyncio.gather(*slow))


async def test_a_stream_outlives_the_time_for_requests(hasty: Api, http: httpx2.AsyncClient) -> None:
    """Even where its client sent an empty line behind its request, as some do."""
    requestor = Requestor(http, f"{hasty.url}/mcp")
    task_id = await requestor.create("echo", text="x")
    body = b'{"jsonrpc":"2.0","id":1,"method":"tasks/result","params":{"taskId":"%b"}}' % task_id.encode()
    session = requestor._headers["mcp-session-id"].encode()
    head = POST % host(hasty) + b"Accept: application/json, text/event-stream\r\nMcp-Session-Id: %b\r\n" % session
    address = urlsplit(hasty.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        writer.write(head + b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        await reader.readuntil(b"data: \n\n")
        writer.write(b"\r\n")
        assert await drip(hasty, b"", b"") == b""  # as long as that takes, the stream is as it was
        await requestor.ask("tasks/cancel", {"taskId": task_id})
        await reader.readuntil(b'"error"')
    finally:
        writer.close()


async def test_an_idle_connection_is_closed_in_its_time(valkey: Valkey) -> None:
    """As the setting says, whatever uvicorn thinks of it: a proxy has to be the first to let go."""
    with Api(APP, valkey.url, namespace="hasty", keep_alive_seconds=0.1) as api:
        answer = await drip(api, b"GET /livez HTTP/1.1\r\nHost: %b\r\n\r\n" % host(api), b"")
    assert answer.startswith(b"HTTP/1.1 200 ")
