"""initialize, ping, tools/list: what a client learns before it asks for work."""

import json
import re

import pytest

from tests.http.requestor import Requestor, open_answer

CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


async def test_the_server_says_what_it_is_and_offers(requestor: Requestor) -> None:
    """T-01, T-04, T-06, T-104; L-06; and T-88: without tokens nobody can be told apart, so there is no list."""
    assert await requestor.result("initialize", CLIENT) == {
        "protocolVersion": "2025-11-25",
        "capabilities": {
            "logging": {},
            "tools": {"listChanged": True},
            "tasks": {"cancel": {}, "requests": {"tools": {"call": {}}}},
        },
        "serverInfo": {"name": "wire", "version": "1.2.3", "title": "The wire"},
        "instructions": "For tests.",
    }


async def test_with_tokens_tasks_can_be_listed(alice: Requestor) -> None:
    """T-05, T-104"""
    result = await alice.result("initialize", CLIENT)
    assert result["capabilities"]["tasks"] == {"cancel": {}, "list": {}, "requests": {"tools": {"call": {}}}}


@pytest.mark.parametrize("asked", ["2025-11-25", "2099-01-01", "2024-11-05", ""])
async def test_the_version_is_one_of_the_server(requestor: Requestor, asked: str) -> None:
    """L-01: and the latest, if it is not the one that was asked for."""
    result = await requestor.result("initialize", CLIENT | {"protocolVersion": asked})
    assert result["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize("params", [{}, {"protocolVersion": None}, {"protocolVersion": 2025}])
async def test_a_version_that_is_no_string_is_refused(requestor: Requestor, params: object) -> None:
    error = await requestor.error("initialize", params)
    assert error == {"code": -32602, "message": "params.protocolVersion must be a string"}


async def test_a_session_is_begun(requestor: Requestor) -> None:
    """H-25, H-26"""
    ids = [(await requestor.ask("initialize", CLIENT)).headers["mcp-session-id"] for _ in range(2)]
    assert all(re.fullmatch("[!-~]{32,}", id) for id in ids)
    assert ids[0] != ids[1]


async def test_ping(requestor: Requestor) -> None:
    """L-04"""
    assert (await requestor.ask("ping")).content == b'{"jsonrpc":"2.0","id":1,"result":{}}'


async def test_ping_while_a_result_is_awaited(requestor: Requestor, label: str) -> None:
    """L-04"""
    task_id = await requestor.create("gated", label=label)
    async with requestor.waiting_for(task_id):
        assert await requestor.result("ping", {}) == {}
    await requestor.result("tasks/cancel", {"taskId": task_id})


async def test_each_tool_says_whether_it_runs_as_a_task(requestor: Requestor) -> None:
    """T-103"""
    tools = {tool["name"]: tool for tool in (await requestor.result("tools/list"))["tools"]}
    support = {name: tools[name]["execution"] for name in ("echo", "only_as_task", "only_plainly")}
    assert support == {
        "echo": {"taskSupport": "optional"},
        "only_as_task": {"taskSupport": "required"},
        "only_plainly": {"taskSupport": "forbidden"},
    }


async def test_a_tool_is_shown_whole(requestor: Requestor) -> None:
    """L-10"""
    tools = {tool["name"]: tool for tool in (await requestor.result("tools/list", {}))["tools"]}
    assert tools["echo"] == {
        "name": "echo",
        "title": "Echo",
        "description": "Says it again.\n\nWord for word.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True},
        "execution": {"taskSupport": "optional"},
    }
    assert tools["add"]["outputSchema"] == {
        "type": "object",
        "properties": {"result": {"type": "integer"}},
        "required": ["result"],
    }


async def test_all_tools_are_on_one_page(requestor: Requestor) -> None:
    result = await requestor.result("tools/list", {"cursor": None})
    assert result.keys() == {"tools"}
    assert all(tool["inputSchema"]["type"] == "object" for tool in result["tools"])  # L-10


@pytest.mark.parametrize("cursor", ["", "x", 1, {}])
async def test_no_cursor_of_tools_was_ever_given(requestor: Requestor, cursor: object) -> None:
    assert await requestor.error("tools/list", {"cursor": cursor}) == {"code": -32602, "message": "Invalid cursor"}


@pytest.mark.parametrize("id", [0, "", "x", "é\n", "1", -1, 2**53, 2**64 - 1, -(2**63)])
@pytest.mark.parametrize("method", ["ping", "unknown"])
async def test_the_id_comes_back_as_it_was(requestor: Requestor, method: str, id: object) -> None:
    """L-05: with its type, in results and in errors."""
    answer = open_answer(await requestor.ask(method, id=id))
    assert json.dumps(answer["id"]) == json.dumps(id)
    assert len(answer) == 3
