"""The client of the official Python SDK, ``mcp`` 1.30.0, on two nodes by turns."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from mcp import ClientSession, McpError
from mcp.types import CallToolResult, GetTaskResult, InitializeResult

from tests.acceptance.deployment import TOKENS, Deployment, Node
from tests.interop.alternating import open_client

ALICE, BOB = TOKENS

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    # The package says so wherever tasks are used; it is the client that people have.
    pytest.mark.filterwarnings("ignore:The experimental tasks API is deprecated:DeprecationWarning"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def deployment(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Deployment]:
    folder: Path = tmp_path_factory.mktemp("deployment")
    async with Deployment(folder, poll_interval=20, page_size=3) as deployment:
        yield await deployment.start(nodes=2, workers=1)


@pytest.fixture(autouse=True)
def _the_client_complains_of_nothing(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Its log tells of what it could not read, and ignored."""
    yield
    complaints = [record for record in caplog.get_records("call") if record.name.startswith("mcp")]
    assert [record.getMessage() for record in complaints if record.levelno >= logging.WARNING] == []


@asynccontextmanager
async def connect(deployment: Deployment, token: str = ALICE) -> AsyncIterator[ClientSession]:
    """An initialized session."""
    async with open_session(deployment, token) as (session, _):
        yield session


@asynccontextmanager
async def open_session(
    deployment: Deployment, token: str = ALICE, node: Node | None = None
) -> AsyncIterator[tuple[ClientSession, InitializeResult]]:
    """A session, and what the server said of itself; on all nodes by turns, or on one alone."""
    urls = [each.process.url for each in (deployment.nodes if node is None else [node])]
    async with open_client(urls, token) as (read, write), ClientSession(read, write) as session:
        yield session, await session.initialize()


async def follow(session: ClientSession, task_id: str) -> list[GetTaskResult]:
    """All that polling tells, to the terminal status."""
    return [status async for status in session.experimental.poll_task(task_id)]


async def create(session: ClientSession, tool: str, **arguments: object) -> str:
    created = await session.experimental.call_tool_as_task(tool, arguments)
    return created.task.taskId


async def test_initialize_tells_of_tasks(deployment: Deployment) -> None:
    async with open_session(deployment) as (session, server):
        assert server.protocolVersion == "2025-11-25"
        assert (server.serverInfo.name, server.serverInfo.version) == ("acceptance", "1.0.0")
        tasks = server.capabilities.tasks
        assert tasks is not None
        assert tasks.list is not None
        assert tasks.cancel is not None
        assert tasks.requests is not None
        assert tasks.requests.tools is not None
        assert tasks.requests.tools.call is not None
        await session.send_ping()


async def test_list_tools_tells_how_each_is_called(deployment: Deployment) -> None:
    async with connect(deployment) as session:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
    support = {name: tool.execution.taskSupport for name, tool in tools.items() if tool.execution}
    assert support["instant"] == "optional"
    assert support["only_as_task"] == "required"
    assert support["only_plain"] == "forbidden"
    assert tools["instant"].inputSchema["required"] == ["label"]
    assert tools["instant"].outputSchema is not None


async def test_a_plain_call(deployment: Deployment) -> None:
    async with connect(deployment) as session:
        result = await session.call_tool("instant", {"label": "plain"})  # which the client checks against the schema
    assert not result.isError
    assert result.structuredContent is not None
    assert result.structuredContent["label"] == "plain"
    assert result.meta is None


async def test_a_task_from_its_creation_to_its_result(deployment: Deployment) -> None:
    async with connect(deployment) as session:
        created = await session.experimental.call_tool_as_task("gated", {"label": "whole"}, ttl=90_000)
        assert (created.task.status, created.task.ttl, created.task.pollInterval) == ("working", 90_000, 20)
        task_id = created.task.taskId
        polling = asyncio.create_task(follow(session, task_id))
        deployment.open_gates("whole")
        seen = await polling
        assert [status.status for status in seen] == ["working"] * (len(seen) - 1) + ["completed"]
        result = await session.experimental.get_task_result(task_id, CallToolResult)
    assert seen[-1].createdAt == created.task.createdAt
    assert seen[-1].lastUpdatedAt >= created.task.createdAt
    assert result.structuredContent is not None
    assert result.structuredContent["run"] == 1
    assert result.meta == {"io.modelcontextprotocol/related-task": {"taskId": task_id}}


async def test_a_result_that_is_asked_for_before_there_is_one(deployment: Deployment) -> None:
    async with connect(deployment) as session:
        task_id = await create(session, "gated", label="blocked")
        waiting = asyncio.create_task(session.experimental.get_task_result(task_id, CallToolResult))
        await deployment.wait_for_trace("start", "blocked")
        assert (await session.experimental.get_task(task_id)).status == "working"  # the session is not held up
        deployment.open_gates("blocked")
        result = await waiting
    assert not result.isError
    assert result.structuredContent is not None
    assert result.structuredContent["label"] == "blocked"


async def test_list_tasks_over_several_pages(deployment: Deployment) -> None:
    async with connect(deployment, BOB) as session:
        created = [await create(session, "instant", label=str(number)) for number in range(7)]
        listed, cursor = [], None
        while True:
            page = await session.experimental.list_tasks(cursor)
            listed += [task.taskId for task in page.tasks]
            if (cursor := page.nextCursor) is None:
                break
        with pytest.raises(McpError, match="Invalid cursor"):
            await session.experimental.list_tasks("no-cursor")
    assert sorted(listed) == sorted(created)


async def test_cancel_task(deployment: Deployment) -> None:
    async with connect(deployment) as session:
        task_id = await create(session, "gated", label="cancelled")
        waiting = asyncio.create_task(session.experimental.get_task_result(task_id, CallToolResult))
        await deployment.wait_for_trace("start", "cancelled")
        cancelled = await session.experimental.cancel_task(task_id)
        assert (cancelled.taskId, cancelled.status) == (task_id, "cancelled")
        with pytest.raises(McpError, match="Task was cancelled") as caught:
            await waiting
        assert caught.value.error.code == -32602
        with pytest.raises(McpError, match="already cancelled") as again:
            await session.experimental.cancel_task(task_id)
        assert again.value.error.code == -32602
        assert [status.status for status in await follow(session, task_id)] == ["cancelled"]


async def test_a_failed_task_has_a_result_that_says_so(deployment: Deployment) -> None:
    async with connect(deployment) as session:
        task_id = await create(session, "failing", reason="no paper")
        assert [status.status for status in await follow(session, task_id)][-1] == "failed"
        assert (await session.experimental.get_task(task_id)).statusMessage == "no paper"
        result = await session.experimental.get_task_result(task_id, CallToolResult)
    assert result.isError
    assert result.content[0].model_dump(include={"type", "text"}) == {"type": "text", "text": "no paper"}


async def test_an_error_of_the_tools_own_arrives_as_it_is(deployment: Deployment) -> None:
    async with connect(deployment) as session:
        task_id = await create(session, "refusing", code=4711, message="No more quota")
        with pytest.raises(McpError) as caught:  # T-83
            await session.experimental.get_task_result(task_id, CallToolResult)
    error = caught.value.error
    assert (error.code, error.message, error.data) == (4711, "No more quota", {"of": "refusing"})


async def test_a_tool_that_is_called_the_wrong_way(deployment: Deployment) -> None:
    async with connect(deployment) as session:
        with pytest.raises(McpError, match="only runs as a task") as plain:
            await session.call_tool("only_as_task", {"label": "x"})
        with pytest.raises(McpError, match="can't be run as a task") as task:
            await create(session, "only_plain", label="x")
        with pytest.raises(McpError, match="label") as arguments:
            await create(session, "instant", label=3)
        assert (plain.value.error.code, task.value.error.code, arguments.value.error.code) == (-32601, -32601, -32602)
        await session.send_ping()  # an error costs no connection


async def test_tasks_that_are_not_there(deployment: Deployment) -> None:
    async with connect(deployment, BOB) as bob, connect(deployment) as alice:
        foreign = await create(bob, "instant", label="foreign")
        for task_id in ("0-" + 32 * "0", "what?", foreign):
            for ask in (
                alice.experimental.get_task(task_id),
                alice.experimental.get_task_result(task_id, CallToolResult),
                alice.experimental.cancel_task(task_id),
            ):
                with pytest.raises(McpError) as caught:
                    await ask
                assert (caught.value.error.code, caught.value.error.message) == (-32602, "Task not found")


async def test_a_server_that_knows_no_requestor_from_another_lists_no_tasks(deployment: Deployment) -> None:
    node = await deployment.start_node(auth_tokens={})
    deployment.nodes.remove(node)  # it is not one that the others' sessions are known to
    async with open_session(deployment, node=node) as (session, server):
        assert server.capabilities.tasks is not None
        assert server.capabilities.tasks.list is None  # T-88
        task_id = await create(session, "instant", label="anonymous")
        assert [status.status for status in await follow(session, task_id)][-1] == "completed"
        with pytest.raises(McpError) as caught:
            await session.experimental.list_tasks()
        assert caught.value.error.code == -32601
