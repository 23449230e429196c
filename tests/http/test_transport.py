"""What HTTP itself says: methods, headers, sizes, status codes."""

import asyncio
import json
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.http.conftest import Deployment
from tests.http.raw import chunk, exchange
from tests.http.requestor import Requestor, carried, frame

PING = json.dumps(frame("ping")).encode()
PONG = b'{"jsonrpc":"2.0","id":1,"result":{}}'
JSON = ["Content-Type: application/json"]
LIMIT = 4096  # max_body_bytes of the deployment without a worker
ALICE = ["Authorization: Bearer alice-token"]


def refusal(message: str) -> dict[str, object]:
    return {"jsonrpc": "2.0", "error": {"code": -32600, "message": message}}


@pytest.mark.parametrize("verb", ["PUT", "PATCH", "OPTIONS"])
async def test_other_verbs_are_not_served(requestor: Requestor, verb: str) -> None:
    """H-02: 405 says what is allowed."""
    response = await requestor.send(b"", verb=verb)
    assert (response.status_code, response.headers["allow"]) == (405, "POST, GET, DELETE")
    assert response.json() == refusal("Only POST, GET and DELETE are supported here")


@pytest.mark.parametrize(
    "accept",
    [
        None,
        "*/*",
        "application/json, text/event-stream",
        "text/event-stream, application/json",
        "application/json",
        "text/event-stream",
        "APPLICATION/JSON",
        "application/*",
        "text/*;q=0.1",
        "text/html, application/xhtml+xml, */*;q=0.8",
        "application/json;q=0.5 , text/html",
        "application/json;q=0, */*",
    ],
)
async def test_who_takes_an_answer(requestor: Requestor, accept: str | None) -> None:
    """H-05, H-08: a missing Accept and */* count as both types, and one that names either is enough."""
    response = await requestor.send(frame("ping"), {"accept": accept})
    takes_json = accept not in ("text/event-stream", "text/*;q=0.1", "application/json;q=0, */*")
    expected = "application/json" if takes_json else "text/event-stream"
    assert (response.status_code, response.headers["content-type"]) == (200, expected)
    assert carried(response) == PONG


@pytest.mark.parametrize(
    "accept",
    [
        "text/html",
        "application/xml, image/*",
        "application/jsonp",
        "*/*;q=0",
        "application/json;q=0, text/event-stream; q=0.0",
    ],
)
async def test_who_takes_no_answer(requestor: Requestor, accept: str) -> None:
    """H-05"""
    response = await requestor.send(frame("ping"), {"accept": accept})
    assert response.status_code == 406
    assert response.json() == refusal("Accept must include application/json and text/event-stream")


async def test_accept_in_two_lines(anonymous: Deployment) -> None:
    """A list may be split over several header lines (RFC 9110, 5.3)."""
    for first, second in (("application/json", "text/html"), ("text/html", "application/json")):
        headers = [*JSON, f"Accept: {first}", f"Accept: {second}", f"Content-Length: {len(PING)}"]
        assert (await exchange(anonymous.url, headers, PING)).body == PONG


async def test_bare_headers(anonymous: Deployment) -> None:
    """H-33: no Accept, no version, and nothing else that is not needed."""
    reply = await exchange(anonymous.url, [*JSON, f"Content-Length: {len(PING)}"], PING)
    assert (reply.status, reply.headers["content-type"], reply.body) == (200, "application/json", PONG)


@pytest.mark.parametrize("given", ["application/json; charset=utf-8", "Application/JSON", "application/json;"])
async def test_content_types(requestor: Requestor, given: str) -> None:
    assert (await requestor.send(frame("ping"), {"content-type": given})).content == PONG


@pytest.mark.parametrize("given", [None, "", "text/plain", "application/x-www-form-urlencoded", "application/jsonl"])
async def test_other_content_types(requestor: Requestor, given: str | None) -> None:
    response = await requestor.send(frame("ping"), {"content-type": given})
    assert response.status_code == 415
    assert response.json() == refusal("Content-Type must be application/json")


async def test_an_encoded_body_is_refused(requestor: Requestor) -> None:
    response = await requestor.send(b"\x1f\x8b", {"content-encoding": "gzip"})
    assert response.status_code == 415
    assert response.json() == refusal("Content-Encoding is not supported")


@pytest.mark.parametrize("version", ["1999-01-01", "", "2025-11-25 ", "latest", "\u00e9"])
async def test_a_version_that_is_not_spoken(anonymous: Deployment, version: str) -> None:
    """H-34: HTTP 400; the space at the end of a header is not part of it."""
    headers = [*JSON, f"MCP-Protocol-Version: {version}", f"Content-Length: {len(PING)}"]
    reply = await exchange(anonymous.url, headers, PING)
    if version.strip() == "2025-11-25":
        assert reply.body == PONG
        return
    assert reply.status == 400
    assert json.loads(reply.body) == refusal(
        "Unsupported MCP-Protocol-Version; this server speaks 2025-11-25, 2025-06-18, 2025-03-26"
    )


@pytest.mark.parametrize(
    "message",
    [
        {"method": "notifications/initialized"},
        {"method": "notifications/cancelled", "params": {"requestId": 1, "reason": "x"}},
        {"method": "notifications/progress", "params": {"progressToken": "x", "progress": 1}},
        {"method": "notifications/unknown"},
        {"method": "tools/call", "params": {"name": "echo"}},
        {"method": ""},
        {"method": "notifications/initialized", "params": None},
        {"method": "notifications/initialized", "params": [1]},
    ],
)
async def test_notifications(requestor: Requestor, message: dict[str, object]) -> None:
    """H-06, H-07: 202 without a body, also for unknown and malformed ones."""
    response = await requestor.send({"jsonrpc": "2.0"} | message)
    assert (response.status_code, response.content) == (202, b"")
    assert "content-type" not in response.headers


@pytest.mark.parametrize("message", [{"result": {}}, {"error": {"code": 1, "message": "x"}}, {"result": None}])
@pytest.mark.parametrize("id", [1, "", "x"])
async def test_answers_to_what_was_never_asked(requestor: Requestor, id: object, message: dict[str, object]) -> None:
    """H-07"""
    response = await requestor.send({"jsonrpc": "2.0", "id": id} | message)
    assert response.status_code == 400
    assert response.json() == refusal("This server has asked nothing that this could answer")


def padded(size: int) -> bytes:
    return PING + b" " * (size - len(PING))


async def in_pieces(body: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(body), 100_000):
        yield body[start : start + 100_000]


@pytest.mark.parametrize("split", [False, True], ids=["whole", "in pieces"])
async def test_a_body_of_the_largest_size(unserved: Deployment, split: bool) -> None:
    headers = [*JSON, *ALICE, f"Content-Length: {LIMIT}"]
    body = padded(LIMIT)
    parts = [body[:100], body[100:]] if split else [body]
    assert (await exchange(unserved.url, headers, *parts)).body == PONG


async def test_a_chunked_body(unserved: Deployment) -> None:
    headers = [*JSON, *ALICE, "Transfer-Encoding: chunked"]
    assert (await exchange(unserved.url, headers, chunk(PING[:5]), chunk(PING[5:]), chunk(b""))).body == PONG


TOO_LARGE = refusal(f"The body is larger than {LIMIT} bytes")


async def test_a_body_that_is_too_large(unserved: Deployment) -> None:
    """413, before it has been sent: Content-Length tells."""
    reply = await exchange(unserved.url, [*JSON, *ALICE, f"Content-Length: {LIMIT + 1}"])
    assert (reply.status, json.loads(reply.body)) == (413, TOO_LARGE)


async def test_a_body_that_turns_out_too_large(unserved: Deployment) -> None:
    """413, as soon as it is: no length was told, and more would come."""
    headers = [*JSON, *ALICE, "Transfer-Encoding: chunked"]
    reply = await exchange(unserved.url, headers, *[chunk(b" " * 1000)] * 5)
    assert (reply.status, json.loads(reply.body)) == (413, TOO_LARGE)


@pytest.mark.parametrize("size", [LIMIT + 1, 200_000, 3_000_000])
@pytest.mark.parametrize("chunked", [False, True])
async def test_a_client_reads_the_refusal(
    http: httpx2.AsyncClient, unserved: Deployment, size: int, chunked: bool
) -> None:
    """Also one that sends all of its body before it reads: the connection is not torn down under it."""
    alice = Requestor(http, unserved.url, "alice-token")
    response = await alice.send(in_pieces(padded(size)) if chunked else padded(size))
    assert (response.status_code, response.json()) == (413, TOO_LARGE)
    assert (await alice.ask("ping")).content == PONG


async def test_a_length_that_is_too_short(anonymous: Deployment) -> None:
    """What lies behind it does not belong to the body."""
    reply = await exchange(anonymous.url, [*JSON, "Content-Length: 10", "Connection: close"], PING)
    assert (reply.status, json.loads(reply.body)["error"]["code"]) == (400, -32700)


async def test_a_length_that_is_too_long(anonymous: Deployment, requestor: Requestor) -> None:
    """The client goes away before the end: nothing was asked, and nothing is answered."""
    address = urlsplit(anonymous.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
    writer.write(b"Content-Length: %d\r\n\r\n" % (len(PING) + 1) + PING)
    writer.write_eof()
    assert await reader.read() == b""
    writer.close()
    await requestor.ask("ping")


async def test_an_unauthorized_body_is_not_read(unserved: Deployment) -> None:
    reply = await exchange(unserved.url, [*JSON, f"Content-Length: {LIMIT + 1}"])
    assert reply.status == 401


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("unknown", {}),
        ("tools/call", {"name": "unknown"}),
        ("tools/call", {"name": "only_as_task"}),
        ("tools/call", {"name": "only_plainly", "task": {}}),
        ("tools/call", {"name": "echo", "arguments": {}, "task": {}}),
        ("tools/call", {"name": "echo", "arguments": {"text": "x"}, "task": {"ttl": -1}}),
        ("tools/call", {"name": "raise_error", "arguments": {"code": 400, "message": "x"}}),
        ("tasks/get", {"taskId": "x"}),
        ("tasks/result", {"taskId": "x"}),
        ("tasks/cancel", {"taskId": "x"}),
        ("tasks/list", {"cursor": "x"}),
        ("initialize", {}),
    ],
)
async def test_a_json_rpc_error_is_http_200(requestor: Requestor, method: str, params: object) -> None:
    """A Python client drops its whole connection on any other status."""
    response = await requestor.send(frame(method, params))
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    assert response.json().keys() == {"jsonrpc", "id", "error"}


@pytest.mark.parametrize("path", ["/", "/mcp/", "/mcp/x", "/MCP", "/docs", "/openapi.json"])
async def test_other_paths(http: httpx2.AsyncClient, anonymous: Deployment, path: str) -> None:
    """H-02: one path is the endpoint."""
    assert (await http.post(anonymous.api.url + path, json=frame("ping"))).status_code in (404, 405)
