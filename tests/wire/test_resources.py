"""Resources: listed, read through any node, and run as plain calls are."""

import asyncio
import json
from base64 import b64decode
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from redis.asyncio import Redis

from tests.apps.library import ICON
from tests.http.gates import Gates
from tests.processes import Valkey, Worker
from tests.wire.client import Client, methods_of, skip_priming
from tests.wire.conftest import TOKENS, Site, deploy
from tests.wire.forms import ADA, ELICIT, FORMS

LIBRARY = "tests.apps.library:app"
LIMIT = 10_000


@pytest.fixture(scope="module")
def site(valkey: Valkey) -> Iterator[Site]:
    with deploy(valkey, app=LIBRARY, namespace="resources", max_result_bytes=LIMIT) as site:
        yield site


@pytest.fixture
async def reader(alice: Client) -> Client:
    """A client with a session."""
    await alice.open(FORMS)
    return alice


async def read(client: Client, uri: str, node: int = 0) -> list[dict[str, Any]]:
    """The contents of a resource."""
    contents: list[dict[str, Any]] = (await client.result("resources/read", {"uri": uri}, node))["contents"]
    return contents


def gate(label: str) -> str:
    """The URI of a resource that waits at its gate."""
    return f"library://gates/{quote(label, safe='')}"


async def test_what_is_declared(alice: Client) -> None:
    result = await alice.open()
    capabilities = result["capabilities"]
    assert capabilities["resources"] == {"subscribe": True, "listChanged": True}
    assert result["serverInfo"]["icons"] == [ICON]
    assert result["serverInfo"]["websiteUrl"] == "https://acme.example/library"


async def test_the_list(reader: Client) -> None:
    listed = (await reader.result("resources/list"))["resources"]
    assert listed[0] == {
        "uri": "library://hours",
        "name": "hours",
        "title": "Hours",
        "description": "When it is open, from a plain function.",
        "mimeType": "text/plain",
        "size": 6,
        "annotations": {"audience": ["user"], "priority": 0.5},
        "icons": [ICON],
    }
    assert not any("{" in resource["uri"] for resource in listed)


async def test_the_list_of_templates(reader: Client) -> None:
    listed = (await reader.result("resources/templates/list", node=1))["resourceTemplates"]
    assert listed[0] == {
        "uriTemplate": "library://books/{number}",
        "name": "book",
        "title": "A book",
        "description": "A book by its number.",
        "icons": [ICON],
    }
    assert all("{" in template["uriTemplate"] for template in listed)


@pytest.mark.parametrize("node", [0, 1])
async def test_contents_of_every_kind(reader: Client, node: int) -> None:
    hours = {"uri": "library://hours", "mimeType": "text/plain", "text": "9 to 5"}
    assert await read(reader, "library://hours", node) == [hours]
    (seal,) = await read(reader, "library://seal", node)
    assert (seal["mimeType"], b64decode(seal["blob"])) == ("image/png", b"\x89PNG\0")
    (catalog,) = await read(reader, "library://catalog", node)
    assert (catalog["mimeType"], json.loads(catalog["text"])[1]) == ("application/json", {"title": "Two", "pages": 2})
    assert await read(reader, "library://bundle", node) == [
        {"uri": "library://bundle", "mimeType": "text/plain", "text": "first"},
        {"uri": "library://bundle/2", "blob": "AAAA"},
    ]


async def test_a_template(reader: Client) -> None:
    """Read through node B; the run knows who asks, and of no task."""
    (book,) = await read(reader, "library://books/7", node=1)
    assert book["uri"] == "library://books/7"
    assert json.loads(book["text"]) == {"number": 7, "subject": "alice", "task": None}
    assert (await read(reader, "library://books/mine"))[0]["text"] == "mine"
    assert (await read(reader, "library://files/a%20b/%C3%A9.txt"))[0]["text"] == "a b/é.txt"
    assert (await reader.result("tasks/list"))["tasks"] == []


@pytest.mark.parametrize(
    "uri", [f"library://{rest}" for rest in ("nowhere", "books/seven", "books/", "books/1/2", "books/100")]
)
async def test_an_unknown_uri(reader: Client, uri: str) -> None:
    """Unknown, or with parameters that do not fit, or not there by the word of the author."""
    for node in (0, 1):
        error = await reader.error("resources/read", {"uri": uri}, node)
        assert error == {"code": -32002, "message": "Resource not found", "data": {"uri": uri}}


@pytest.mark.parametrize("params", [{}, {"uri": None}, {"uri": 1}, {"uri": ["library://hours"]}])
async def test_no_uri(reader: Client, params: object) -> None:
    error = await reader.error("resources/read", params)
    assert error == {"code": -32602, "message": "params.uri must be a string"}


@pytest.mark.parametrize(
    ("uri", "error"),
    [
        ("library://broken/refuse", {"code": -32603, "message": "The shelf is empty"}),
        ("library://broken/code", {"code": -32050, "message": "closed", "data": {"until": 9}}),
        ("library://broken/nothing", {"code": -32603, "message": "The resource returned nothing"}),
        (
            "library://broken/badly",
            {
                "code": -32603,
                "message": "Resource 'library://broken/{way}' failed: RuntimeError; the server's log has the details",
            },
        ),
        (
            "library://slow",
            {"code": -32603, "message": "Resource 'library://slow' was stopped: it took longer than 0.2 s"},
        ),
    ],
)
async def test_a_failure_is_an_error(reader: Client, uri: str, error: object) -> None:
    assert await reader.error("resources/read", {"uri": uri}, node=1) == error


async def test_a_result_over_the_limit(reader: Client) -> None:
    error = await reader.error("resources/read", {"uri": "library://large/20000"})
    assert error["code"] == -32603
    assert error["message"].startswith("The result of resource 'library://large/{size}' has 20")


async def test_a_read_that_asks(reader: Client) -> None:
    """Answered through the other node."""
    async with reader.stream(reader.frame("resources/read", {"uri": "library://card"}), node=1) as stream:
        await skip_priming(stream)
        asked = await stream.message()
        assert asked["method"] == ELICIT
        assert await reader.answer(asked, ADA, node=0) == 202
        (response,) = await stream.rest()
    assert response["result"]["contents"][0]["text"] == "The card of Ada"


async def test_progress(reader: Client, gates: Gates, label: str) -> None:
    """L-08"""
    params = {"uri": gate(label), "_meta": {"progressToken": "t"}}
    async with reader.stream(reader.frame("resources/read", params), node=1) as stream:
        await skip_priming(stream)
        said = await stream.message()
        await gates.open(label)
        rest = await stream.rest()
    assert said["params"] == {"progressToken": "t", "progress": 1, "total": 2}
    assert methods_of(rest) == ["response"]


async def test_a_read_that_is_cancelled(reader: Client, gates: Gates, label: str) -> None:
    """L-07: through the other node; it is stopped, and no response is sent."""
    request = reader.frame("resources/read", {"uri": gate(label)})
    reading = asyncio.create_task(reader.send(request))
    await gates.reached(label)
    assert await reader.cancel(request, node=1) == 202
    await gates.stopped(label)
    assert "jsonrpc" not in (await reading).text


@pytest.mark.parametrize("method", ["resources/read", "prompts/get"])
async def test_a_worker_that_dies(http: httpx2.AsyncClient, valkey: Valkey, gates: Gates, method: str) -> None:
    """It is run again, like the call of a tool that only reads."""
    label = f"mortal {method}"
    params = {"uri": gate(label), "name": "gated.prompt", "arguments": {"label": label}}
    settings: dict[str, Any] = {"namespace": f"mortal-{method[:4]}", "auth_tokens": TOKENS, "lease_seconds": 1}
    with deploy(valkey, app=LIBRARY, workers=0, **settings) as site, Worker(LIBRARY, valkey.url, **settings) as mortal:
        alice = Client(http, site.urls, "alice-token")
        await alice.open()
        asking = asyncio.create_task(alice.result(method, params, 1))
        await gates.reached(label)
        mortal.kill()
        with Worker(LIBRARY, valkey.url, **settings):
            await gates.reached(label)
            await gates.open(label)
            result = await asking
    if method == "resources/read":
        assert json.loads(result["contents"][0]["text"]) == {"run": 2, "attempt": 2}
    else:
        assert result["messages"][0]["content"]["text"] == "run 2"


async def test_nothing_is_there_that_is_not_declared(http: httpx2.AsyncClient, valkey: Valkey) -> None:
    with deploy(valkey, app="tests.apps.wire:app", namespace="bare", workers=0) as site:
        client = Client(http, site.urls, "alice-token")
        assert (await client.open())["capabilities"].keys() == {"logging", "tools", "tasks"}
        for method in (
            "resources/list",
            "resources/templates/list",
            "resources/read",
            "resources/subscribe",
            "resources/unsubscribe",
            "prompts/list",
            "prompts/get",
            "completion/complete",
        ):
            error = await client.error(method, {"uri": "a:b", "name": "a"})
            assert error == {"code": -32601, "message": f"Method not found: {method}"}


async def test_nothing_is_stored_of_what_is_refused(http: httpx2.AsyncClient, valkey: Valkey, redis: Redis) -> None:
    """X-18: no record, no job; nothing waits for a worker."""
    refused: list[tuple[str, dict[str, Any]]] = [
        ("resources/read", {"uri": "library://nowhere"}),
        ("resources/read", {"uri": "library://books/seven"}),
        ("prompts/get", {"name": "review"}),
        ("prompts/get", {"name": "nowhere"}),
        ("completion/complete", {"ref": {"type": "ref/prompt", "name": "review"}, "argument": {"name": "x"}}),
    ]
    with deploy(valkey, app=LIBRARY, namespace="clean", workers=0) as site:
        alice = Client(http, site.urls, "alice-token")
        await alice.open()
        for method, params in refused:
            await alice.error(method, params)
        assert await redis.keys("clean:{0}:session:*")
        assert [*await redis.keys("clean:{0}:task:*"), *await redis.keys("clean:{0}:queue:*")] == []


@pytest.mark.parametrize(("version", "titled"), [("2025-06-18", True), ("2025-03-26", False)])
async def test_older_revisions(alice: Client, version: str, titled: bool) -> None:
    info = (await alice.open(version=version))["serverInfo"]
    assert not {"icons", "websiteUrl"} & info.keys()
    definitions = [
        (await alice.result("resources/list"))["resources"][0],
        (await alice.result("resources/templates/list"))["resourceTemplates"][0],
        (await alice.result("tools/list"))["tools"][0],
    ]
    assert all("icons" not in it and ("title" in it) == titled for it in definitions)
    assert (await read(alice, "library://hours", 1))[0]["text"] == "9 to 5"
