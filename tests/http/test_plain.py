"""tools/call without params.task: the same way through the store, unseen."""

import asyncio
from contextlib import suppress

import httpx2
import pytest
from mcp.types import CallToolResult
from redis.asyncio import Redis

from tests.http.conftest import Deployment
from tests.http.gates import Gates
from tests.http.records import Records
from tests.http.requestor import RELATED_TASK, Requestor, frame


@pytest.mark.parametrize(
    ("tool", "arguments", "result"),
    [
        ("echo", {"text": "é"}, {"content": [{"type": "text", "text": "é"}], "isError": False}),
        (
            "add",
            {"a": 2},
            {
                "content": [{"type": "text", "text": '{"result":3}'}],
                "structuredContent": {"result": 3},
                "isError": False,
            },
        ),
        (
            "report",
            {"name": "x"},
            {
                "content": [{"type": "text", "text": '{"name":"x","pages":1}'}],
                "structuredContent": {"name": "x", "pages": 1},
                "isError": False,
            },
        ),
        (
            "blocks",
            {},
            {
                "content": [
                    {"type": "text", "text": "é\n\u2028"},
                    {"type": "image", "data": "AAAA", "mimeType": "image/png"},
                ],
                "isError": False,
            },
        ),
        (
            "bring_meta",
            {"names_task": True},
            {
                "content": [{"type": "text", "text": f"not {RELATED_TASK}"}],
                "isError": False,
                "_meta": {"example.org/a": [1, {"b": None}]},
            },
        ),
        ("only_plainly", {}, {"content": [{"type": "text", "text": "done"}], "isError": False}),
        ("refuse", {"reason": "no way"}, {"content": [{"type": "text", "text": "no way"}], "isError": True}),
    ],
)
async def test_results(requestor: Requestor, tool: str, arguments: object, result: object) -> None:
    """T-10, L-10: the whole result of each kind of tool, and no related-task in any (X-17).

    T-27, T-80: those that may be tasks are called plainly as well as the others.
    """
    response = await requestor.ask("tools/call", {"name": tool, "arguments": arguments})
    assert response.headers["content-type"] == "application/json"
    assert response.json() == {"jsonrpc": "2.0", "id": 1, "result": result}
    CallToolResult.model_validate(result)


async def test_null_is_no_task(requestor: Requestor) -> None:
    """As from a client that writes a member of None as null."""
    result = await requestor.result("tools/call", {"name": "echo", "arguments": {"text": "x"}, "task": None})
    assert result == {"content": [{"type": "text", "text": "x"}], "isError": False}


async def test_an_exception_tells_no_secrets(requestor: Requestor) -> None:
    """L-06, T-81: its type is all that callers see."""
    response = await requestor.ask("tools/call", {"name": "crash", "arguments": {}})
    result = response.json()["result"]
    assert result["isError"] is True
    assert result["content"][0]["text"] == "Tool 'crash' failed: RuntimeError; the server's log has the details"
    assert "swordfish" not in response.text


async def test_an_error_with_a_code(requestor: Requestor) -> None:
    """T-83"""
    arguments = {"code": -32050, "message": "quota spent", "data": {"left": 0}}
    error = await requestor.error("tools/call", {"name": "raise_error", "arguments": arguments})
    assert error == arguments


async def test_a_tool_that_has_to_be_a_task(requestor: Requestor) -> None:
    """T-12, X-1, field report 42: the text says what to do."""
    error = await requestor.error("tools/call", {"name": "only_as_task", "arguments": {}})
    assert error == {
        "code": -32601,
        "message": "Tool 'only_as_task' only runs as a task: call it with params.task, "
        "from a client that supports tasks of MCP 2025-11-25",
    }


async def test_a_tool_that_takes_too_long(requestor: Requestor) -> None:
    result = await requestor.call("overdue")
    assert (result["isError"], result["content"][0]["text"]) == (
        True,
        "Tool 'overdue' was stopped: it took longer than 0.2 s",
    )


async def test_a_result_over_the_limit(requestor: Requestor) -> None:
    result = await requestor.call("large", size=5_000_000)
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("The result of tool 'large' has 50000")


async def test_the_run_knows_of_no_task(alice: Requestor, bob: Requestor) -> None:
    """Field report 4: and of its caller alone."""
    for requestor, subject in ((alice, "alice"), (bob, "bob")):
        assert (await requestor.call("whoami"))["structuredContent"] == {"subject": subject, "task": None}
        task_id = await requestor.finish("whoami")
        result = await requestor.result("tasks/result", {"taskId": task_id})
        assert result["structuredContent"] == {"subject": subject, "task": task_id}


async def test_it_is_no_task(alice: Requestor) -> None:
    """It is not listed, while it runs or after it; its id is never sent."""
    before = (await alice.result("tasks/list"))["tasks"]
    await alice.call("echo", text="x")
    assert (await alice.result("tasks/list"))["tasks"] == before


async def test_a_requestor_that_goes_away_stops_nothing(requestor: Requestor, gates: Gates, label: str) -> None:
    """H-14"""
    calling = asyncio.create_task(requestor.send(frame("tools/call", {"name": "gated", "arguments": {"label": label}})))
    await gates.reached(label)
    calling.cancel()
    with suppress(asyncio.CancelledError):
        await calling
    await gates.open(label)
    await gates.passed(label)


@pytest.mark.parametrize("as_task", [{}, {"task": {}}], ids=["plain", "task"])
@pytest.mark.parametrize("name", ["unknown", "", "Echo", None, 1, ["echo"]])
async def test_an_unknown_tool(requestor: Requestor, as_task: dict[str, object], name: object) -> None:
    """L-06"""
    error = await requestor.error("tools/call", {"name": name, "arguments": {}} | as_task)
    assert error == {"code": -32602, "message": f"Unknown tool: {name}"}


ARGUMENTS: list[tuple[str, object, str]] = [
    ("echo", {}, "text: required"),
    ("echo", {"text": 1}, "text: Input should be a valid string"),
    ("echo", {"text": "x", "other": 1}, "other: unknown field"),
    ("echo", [], "they must be an object"),
    ("echo", "text", "they must be an object"),
    ("add", {"a": "one", "b": 0.5}, "a: Input should be a valid integer"),
    ("add", {"a": 2**64}, "a:"),
    ("only_plainly", {"secret": "swordfish"}, "secret: unknown field"),
]


@pytest.mark.parametrize(("tool", "arguments", "text"), ARGUMENTS)
async def test_arguments_that_do_not_fit(requestor: Requestor, tool: str, arguments: object, text: str) -> None:
    """L-06, X-18: a plain call answers isError, a task-augmented one the same text as an error."""
    plain = await requestor.result("tools/call", {"name": tool, "arguments": arguments})
    said = plain["content"][0]["text"]
    assert plain == {"content": [{"type": "text", "text": said}], "isError": True}
    assert said.startswith("Invalid arguments: ")
    assert text in said
    assert "swordfish" not in said
    if tool != "only_plainly":
        params = {"name": tool, "arguments": arguments, "task": {}}
        assert await requestor.error("tools/call", params) == {"code": -32602, "message": said}


async def test_nothing_is_stored_of_what_is_refused(
    http: httpx2.AsyncClient, unserved: Deployment, redis: Redis
) -> None:
    """X-18, field report 7: no orphan, of neither kind of call."""
    alice = Requestor(http, unserved.url, "alice-token")
    records = Records(redis, "unserved")
    before = await records.keys()
    refused: list[dict[str, object]] = [
        {"name": "echo", "arguments": {"text": 1}},
        {"name": "unknown", "arguments": {}},
    ]
    for params in refused:
        await alice.ask("tools/call", params)
        await alice.ask("tools/call", params | {"task": {}})
    await alice.ask("tools/call", {"name": "echo", "arguments": {"text": "x"}, "task": {"ttl": 0}})
    await alice.ask("tools/call", {"name": "only_plainly", "task": {}})
    await alice.ask("tools/call", {"name": "only_as_task"})
    assert await records.keys() <= before
