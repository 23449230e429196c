"""The revisions before tasks: 2025-06-18 and 2025-03-26."""

from typing import Any

import pytest

from tests.http.requestor import Requestor, frame, open_answer

OLDER = ["2025-06-18", "2025-03-26"]
TASK_METHODS = ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel"]


async def ask(requestor: Requestor, version: str, method: str, params: object = None) -> Any:
    """The answer to a request in a session of this revision."""
    older = requestor.in_revision(version)
    response = await older.send(frame(method, params))
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    return open_answer(response)


@pytest.mark.parametrize("version", OLDER)
async def test_initialize_declares_no_tasks(alice: Requestor, version: str) -> None:
    """L-01: the revision is echoed.  T-01: what it does not know is not declared."""
    client = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    result = await alice.result("initialize", client)
    capabilities = {"logging": {}, "tools": {"listChanged": True}}
    assert (result["protocolVersion"], result["capabilities"]) == (version, capabilities)
    assert ("title" in result["serverInfo"]) == (version == "2025-06-18")


@pytest.mark.parametrize("version", OLDER)
async def test_tools_have_the_members_of_their_revision(requestor: Requestor, version: str) -> None:
    """T-103: no ``execution``; before 2025-06-18 no ``title`` and no ``outputSchema`` either."""
    latest = (await requestor.result("tools/list"))["tools"]
    older = (await ask(requestor, version, "tools/list"))["result"]["tools"]
    lacking = {"execution"} if version == "2025-06-18" else {"execution", "title", "outputSchema"}
    assert older == [{name: value for name, value in tool.items() if name not in lacking} for tool in latest]


@pytest.mark.parametrize("version", OLDER)
@pytest.mark.parametrize("task", [{}, {"ttl": 60_000}, {"ttl": -1}, "x", None])
async def test_task_is_ignored(requestor: Requestor, version: str, task: object) -> None:
    """T-26: even where it makes no sense, and where the tool is never run as a task."""
    for tool, arguments in (("echo", {"text": "x"}), ("only_plainly", {})):
        params = {"name": tool, "arguments": arguments, "task": task}
        assert await ask(requestor, version, "tools/call", params) == open_answer(
            await requestor.ask("tools/call", {"name": tool, "arguments": arguments})
        )


@pytest.mark.parametrize("version", OLDER)
@pytest.mark.parametrize("task", [{}, None])
async def test_a_tool_that_only_runs_as_a_task(requestor: Requestor, version: str, task: object) -> None:
    """T-12: and the text says which revision it takes."""
    answer = await ask(requestor, version, "tools/call", {"name": "only_as_task", "task": task})
    assert answer["error"] == {
        "code": -32601,
        "message": "Tool 'only_as_task' only runs as a task: call it with params.task, "
        f"from a client that supports tasks of MCP 2025-11-25; this is MCP {version}",
    }


@pytest.mark.parametrize("version", OLDER)
@pytest.mark.parametrize("method", TASK_METHODS)
async def test_there_are_no_task_methods(alice: Requestor, version: str, method: str) -> None:
    """T-05, T-06: not declared, not there; also for a task that exists."""
    task_id = await alice.finish("echo", text="x")
    answer = await ask(alice, version, method, {"taskId": task_id})
    assert answer["error"] == {"code": -32601, "message": f"{method} needs MCP 2025-11-25; this is MCP {version}"}


async def test_a_link_is_a_text_where_links_are_unknown(requestor: Requestor) -> None:
    link = {"type": "resource_link", "name": "a.csv", "uri": "file:///a.csv"}
    call = {"name": "link", "arguments": {}}
    for version, block in (
        ("2025-11-25", link),
        ("2025-06-18", link),
        ("2025-03-26", {"type": "text", "text": "a.csv: file:///a.csv"}),
    ):
        assert (await ask(requestor, version, "tools/call", call))["result"]["content"] == [block]
