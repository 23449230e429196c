"""Whatever is sent, the answer is one of those that are documented."""

import asyncio
import json
from collections.abc import Iterator, MutableMapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.types import ASGIApp

from receiver import Receiver
from receiver.app import create_app
from receiver.settings import Settings
from tests.http.requestor import INITIALIZE
from tests.processes import Valkey

METHODS = ["initialize", "ping", "tools/list", "tools/call", "tasks/get", "tasks/result", "tasks/list", "tasks/cancel"]
EXAMPLES = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

app = Receiver("fuzzed")


@app.tool(task="required")
async def work(text: str, number: int = 0) -> str:
    """Never runs: there is no worker."""
    return text


@app.tool(task="forbidden")
async def never(text: int) -> str:
    """Never runs: no argument list of the fuzzed ones fits."""
    return str(text)


class Site:
    """The application in this process, on an event loop of its own."""

    def __init__(self, site: ASGIApp, runner: asyncio.Runner) -> None:
        self._site = site
        self._runner = runner
        self._headers = [(b"content-type", b"application/json")]
        initialize = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
        self._headers.append((b"mcp-session-id", self._runner.run(self._begin(json.dumps(initialize).encode()))))

    async def _begin(self, body: bytes) -> bytes:
        sent = await self._exchange([body])
        headers: dict[bytes, bytes] = dict(sent[0]["headers"])
        return headers[b"mcp-session-id"]

    def post(self, body: bytes, pieces: int = 1) -> tuple[int, bytes]:
        """The status and the body of the response."""
        return self._runner.run(self._post(body, pieces))

    async def _post(self, body: bytes, pieces: int) -> tuple[int, bytes]:
        size = len(body) // pieces + 1
        sent = await self._exchange([body[start : start + size] for start in range(0, len(body), size)] or [b""])
        return sent[0]["status"], b"".join(part["body"] for part in sent[1:])

    async def _exchange(self, parts: list[bytes]) -> list[MutableMapping[str, Any]]:
        sent: list[MutableMapping[str, Any]] = []

        async def receive() -> MutableMapping[str, Any]:
            return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": self._headers}
        await self._site(scope, receive, send)
        return sent


@pytest.fixture(scope="module")
def site(valkey: Valkey) -> Iterator[Site]:
    with asyncio.Runner() as runner:
        options = {
            "redis_url": valkey.url,
            "namespace": "fuzzed",
            "max_tasks_per_principal": 10_000,
            "rate_limit": "",
            "miss_limit": "",
        }
        yield Site(create_app(app, Settings(**options)), runner)


def check(status: int, body: bytes, id: object = None) -> None:
    """Fails unless this is one of the answers that there are."""
    if status == 202:
        assert body == b""
        return
    answer = json.loads(body)
    assert answer["jsonrpc"] == "2.0"
    if status == 400:
        assert answer.keys() == {"jsonrpc", "error"}
        assert answer["error"]["code"] in (-32700, -32600)
        return
    assert status == 200
    assert answer.keys() in ({"jsonrpc", "id", "result"}, {"jsonrpc", "id", "error"})
    if "error" in answer:
        assert answer["error"]["code"] in (-32600, -32601, -32602)  # -32600: a second initialize
        assert answer["error"]["message"]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
ids = st.integers(-(2**63), 2**64 - 1) | st.text()
names = st.sampled_from(["name", "arguments", "task", "taskId", "cursor", "_meta", "ttl", "text", "protocolVersion"])
values = st.sampled_from(["work", "never", "2025-11-25", "0-" + "0" * 32, 60_000, {}, {"ttl": 1}]) | anything
params = st.dictionaries(names, values | st.dictionaries(names, values, max_size=3), max_size=5)


@EXAMPLES
@given(body=st.binary(max_size=200), pieces=st.integers(1, 3))
def test_any_bytes(site: Site, body: bytes, pieces: int) -> None:
    check(*site.post(body, pieces))


@EXAMPLES
@given(value=anything)
def test_any_json(site: Site, value: object) -> None:
    check(*site.post(json.dumps(value).encode()))


@EXAMPLES
@given(
    value=st.fixed_dictionaries(
        {"jsonrpc": st.just("2.0") | anything},
        optional={
            "id": ids | anything,
            "method": st.sampled_from(METHODS) | anything,
            "params": params | anything,
            "result": anything,
            "error": anything,
        },
    )
)
def test_anything_like_a_message(site: Site, value: object) -> None:
    check(*site.post(json.dumps(value).encode()))


@settings(EXAMPLES, max_examples=300)
@given(id=ids, method=st.sampled_from(METHODS), given=params)
def test_any_params(site: Site, id: object, method: str, given: object) -> None:
    """A request with an id is answered with that id, type and all."""
    frame = {"jsonrpc": "2.0", "id": id, "method": method, "params": given}
    status, body = site.post(json.dumps(frame).encode())
    check(status, body)
    if status == 200:
        assert json.dumps(json.loads(body)["id"]) == json.dumps(id)
    else:
        assert json.loads(body)["error"]["code"] == -32700  # a float or a string that JSON can't hold


@EXAMPLES
@given(text=st.text(st.characters(exclude_categories=["Cs"])), number=st.integers(-(2**63), 2**63 - 1))
def test_any_argument_makes_a_task(site: Site, text: str, number: int) -> None:
    """T-48: and is stored as it was sent."""
    arguments = {"text": text, "number": number}
    call = {"name": "work", "arguments": arguments, "task": {"ttl": 1000}}
    frame = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    status, body = site.post(json.dumps(frame).encode())
    assert (status, json.loads(body)["result"]["task"]["status"]) == (200, "working")
