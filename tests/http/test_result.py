"""tasks/result: what the underlying request would have answered, now or when it is there."""

import asyncio
import re
from contextlib import AsyncExitStack

import pytest
from mcp.types import CallToolResult

from tests.http.gates import Gates
from tests.http.requestor import RELATED_TASK, Requestor, carried, frame, open_answer, without_related_task

OPENING = re.compile(rb"id: [!-~]+\nretry: 2000\ndata: ")

CALLS: list[tuple[str, dict[str, object]]] = [
    ("echo", {"text": 'é "quoted" \\ \n \u2028 \U0001f600'}),
    ("echo", {"text": ""}),
    ("add", {"a": 2**53, "b": -1}),
    ("report", {"name": "x", "pages": 3}),
    ("refuse", {"reason": "no way"}),
    ("crash", {}),
    ("blocks", {}),
    ("bring_meta", {}),
    ("bring_meta", {"is_error": True}),
    ("bring_meta", {"names_task": True}),
    ("large", {"size": 300_000}),
    ("large", {"size": 5_000_000}),
    ("overdue", {}),
    ("erase", {"label": "x"}),
]


@pytest.mark.parametrize(("tool", "arguments"), CALLS)
async def test_it_is_what_the_plain_call_answers(requestor: Requestor, tool: str, arguments: dict[str, object]) -> None:
    """T-50, T-52, T-74, T-84, X-17, field report 18: byte for byte, apart from the added related-task."""
    plain = await requestor.ask("tools/call", {"name": tool, "arguments": arguments})
    task_id = await requestor.create(tool, **arguments)
    waited = carried(await requestor.ask("tasks/result", {"taskId": task_id}))
    again = await requestor.ask("tasks/result", {"taskId": task_id})
    assert again.headers["content-type"] == "application/json"
    assert again.content == waited
    assert without_related_task(waited, task_id) == plain.content
    CallToolResult.model_validate(open_answer(again)["result"])  # T-22


async def test_the_added_member_says_which_task(requestor: Requestor) -> None:
    """T-74, X-17: besides what the result's own _meta says, of which the server believes no related-task."""
    task_id = await requestor.finish("bring_meta", names_task=True)
    result = await requestor.result("tasks/result", {"taskId": task_id})
    assert result["_meta"] == {RELATED_TASK: {"taskId": task_id}, "example.org/a": [1, {"b": None}]}


@pytest.mark.parametrize("data", [{}, {"data": {"a": 1}}])
@pytest.mark.parametrize("code", [-32050, -32602, -32603, 1, 0])
async def test_an_error_with_a_code_is_the_same_error(requestor: Requestor, code: int, data: dict[str, object]) -> None:
    """T-83, T-50"""
    arguments = {"code": code, "message": "quota spent", **data}
    plain = await requestor.ask("tools/call", {"name": "raise_error", "arguments": arguments})
    task_id = await requestor.finish("raise_error", **arguments)
    response = await requestor.ask("tasks/result", {"taskId": task_id})
    assert response.content == plain.content
    assert open_answer(response)["error"] == {"code": code, "message": "quota spent", **data}


async def test_an_unfinished_task_opens_a_stream_at_once(requestor: Requestor, gates: Gates, label: str) -> None:
    """T-51, H-08, H-09, H-12, field report 47: an opening event before the answer is there; its end right behind it."""
    task_id = await requestor.create("gated", label=label)
    await gates.reached(label)
    async with requestor.stream("tasks/result", {"taskId": task_id}, id="x") as stream:
        assert stream.response.status_code == 200
        assert stream.response.headers["content-type"] == "text/event-stream"
        assert stream.response.headers["cache-control"] == "no-cache, no-transform"
        assert "content-length" not in stream.response.headers
        assert OPENING.fullmatch(await stream.next())
        assert (await requestor.get(task_id))["status"] == "working"
        await gates.open(label)
        answer = await stream.answer()
        assert await stream.rest() == b""
    assert without_related_task(answer, task_id) == (
        b'{"jsonrpc":"2.0","id":"x","result":{"content":[{"type":"text","text":"%b"}],"isError":false}}'
        % label.encode()
    )


async def test_the_ids_of_streams_differ(requestor: Requestor) -> None:
    """H-21"""
    task_id = await requestor.create("gated", label="closed")
    first_events = []
    for _ in range(2):
        async with requestor.stream("tasks/result", {"taskId": task_id}) as stream:
            first_events.append(await stream.next())
    assert len(set(first_events)) == 2
    await requestor.result("tasks/cancel", {"taskId": task_id})


async def test_every_waiter_is_answered(requestor: Requestor, gates: Gates, label: str) -> None:
    """T-51, field reports 25 and 47: and each on its own stream, with its own id."""
    task_id = await requestor.create("gated", label=label)

    async def wait(id: int) -> object:
        async with requestor.stream("tasks/result", {"taskId": task_id}, id=id) as stream:
            await stream.next()
            waiting.append(id)
            if len(waiting) == 8:
                await gates.open(label)
            return (await stream.answer()).startswith(b'{"jsonrpc":"2.0","id":%d,"result"' % id)

    waiting: list[int] = []
    assert await asyncio.gather(*map(wait, range(8))) == [True] * 8


async def test_a_requestor_may_go_away_and_come_back(requestor: Requestor, gates: Gates, label: str) -> None:
    """T-21, T-16, H-14: that is no cancellation."""
    task_id = await requestor.create("gated", label=label)
    for _ in range(3):
        async with requestor.waiting_for(task_id):
            pass
    async with requestor.waiting_for(task_id) as stream:
        assert (await requestor.get(task_id))["status"] == "working"
        await gates.open(label)
        assert b'"isError":false' in await stream.answer()
    await gates.passed(label)


async def test_a_plain_function_in_its_thread(requestor: Requestor, gates: Gates, label: str) -> None:
    task_id = await requestor.create("gated_thread", label=label)
    async with requestor.waiting_for(task_id) as stream:
        await gates.open(label)
        assert label.encode() in await stream.answer()


async def test_a_cancelled_task_has_none(requestor: Requestor) -> None:
    """X-2, T-50"""
    task_id = await requestor.create("gated", label="closed")
    await requestor.result("tasks/cancel", {"taskId": task_id})
    response = await requestor.ask("tasks/result", {"taskId": task_id})
    assert response.headers["content-type"] == "application/json"
    assert open_answer(response)["error"] == {
        "code": -32602,
        "message": "Task was cancelled",
        "data": {"taskId": task_id, "status": "cancelled"},
    }


async def test_a_failed_task_keeps_its_result(requestor: Requestor) -> None:
    """T-75, T-84: isError stands in a result, not in an error; the status message is no part of it."""
    task_id = await requestor.finish("refuse", reason="no way")
    assert await requestor.result("tasks/result", {"taskId": task_id}) == {
        "_meta": {RELATED_TASK: {"taskId": task_id}},
        "content": [{"type": "text", "text": "no way"}],
        "isError": True,
    }


@pytest.mark.parametrize("params", [{}, {"taskId": None}, {"taskId": "0-" + "0" * 32}])
async def test_an_unknown_task_opens_no_stream(requestor: Requestor, params: object) -> None:
    """T-76"""
    response = await requestor.send(frame("tasks/result", params))
    assert response.headers["content-type"] == "application/json"
    assert open_answer(response)["error"] == {"code": -32602, "message": "Task not found"}


async def test_waiting_holds_up_nobody(requestor: Requestor, gates: Gates, label: str) -> None:
    """Twice as many requestors wait as a worker has slots, and tools go on."""
    task_id = await requestor.create("gated", label=label)
    async with AsyncExitStack() as stack:
        for _ in range(100):
            await stack.enter_async_context(requestor.waiting_for(task_id))
        assert (await requestor.call("echo", text="x"))["content"][0]["text"] == "x"
        await requestor.finish("echo", text="x")
    await gates.open(label)
