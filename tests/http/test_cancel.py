"""tasks/cancel: at once, for good, and everywhere."""

import asyncio

import httpx2
import pytest

from tests.http.conftest import Deployment
from tests.http.gates import Gates
from tests.http.requestor import Requestor, frame

CANCELLED = "Cancelled by the requestor"


async def test_the_answer_is_the_cancelled_task(requestor: Requestor, gates: Gates, label: str) -> None:
    """T-69, X-5, T-58, T-106: the flat task, with a reason; get agrees, and the work is stopped (T-68).

    T-71: it is not forgotten for that.
    """
    created = (await requestor.result("tools/call", {"name": "gated", "arguments": {"label": label}, "task": {}}))[
        "task"
    ]
    await gates.reached(label)
    cancelled = await requestor.result("tasks/cancel", {"taskId": created["taskId"]})
    assert cancelled == created | {
        "status": "cancelled",
        "statusMessage": CANCELLED,
        "lastUpdatedAt": cancelled["lastUpdatedAt"],
    }
    assert cancelled["lastUpdatedAt"] > created["lastUpdatedAt"]
    assert await requestor.get(created["taskId"]) == cancelled
    await gates.stopped(label)  # field report 26


async def test_work_that_goes_on_changes_nothing(requestor: Requestor, gates: Gates, label: str) -> None:
    """T-70, T-34, X-11"""
    task_id = await requestor.create("stubborn", label=label)
    await gates.reached(label)
    cancelled = await requestor.result("tasks/cancel", {"taskId": task_id})
    await gates.stopped(label)
    await gates.reached(label)
    await gates.open(label)
    await gates.passed(label)
    await requestor.finish("echo", text="the worker has gone on")
    assert await requestor.get(task_id) == cancelled
    assert (await requestor.error("tasks/result", {"taskId": task_id}))["message"] == "Task was cancelled"


@pytest.mark.parametrize(
    ("tool", "arguments", "status"),
    [
        ("echo", {"text": "x"}, "completed"),
        ("refuse", {"reason": "x"}, "failed"),
        ("raise_error", {"code": 1, "message": "x"}, "failed"),
    ],
)
async def test_what_is_over_can_not_be_cancelled(
    requestor: Requestor, tool: str, arguments: dict[str, object], status: str
) -> None:
    """T-67, T-78, T-34"""
    task_id = await requestor.finish(tool, **arguments)
    before = await requestor.get(task_id)
    error = await requestor.error("tasks/cancel", {"taskId": task_id})
    assert error == {"code": -32602, "message": f"Task is already {status}"}
    assert await requestor.get(task_id) == before


async def test_once_is_enough(requestor: Requestor) -> None:
    """T-67: of many at the same time, one cancels."""
    task_id = await requestor.create("gated", label="closed")
    frames = [requestor.ask("tasks/cancel", {"taskId": task_id}) for _ in range(8)]
    answers = [response.json() for response in await asyncio.gather(*frames)]
    assert sum("result" in answer for answer in answers) == 1
    assert {answer["error"]["message"] for answer in answers if "error" in answer} == {"Task is already cancelled"}


async def test_every_waiter_hears_of_it(requestor: Requestor, label: str) -> None:
    """X-2, field report 23: on the streams that were blocked."""
    task_id = await requestor.create("gated", label=label)
    async with requestor.waiting_for(task_id) as first, requestor.waiting_for(task_id) as second:
        await requestor.result("tasks/cancel", {"taskId": task_id})
        expected = (
            b'{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Task was cancelled",'
            b'"data":{"taskId":"%b","status":"cancelled"}}}' % task_id.encode()
        )
        for stream in (first, second):
            assert await stream.answer() == expected
            assert await stream.rest() == b""


async def test_a_task_that_no_worker_has_taken(http: httpx2.AsyncClient, unserved: Deployment) -> None:
    """T-69"""
    alice = Requestor(http, unserved.url, "alice-token")
    task_id = await alice.create("echo", text="x")
    async with alice.waiting_for(task_id) as stream:
        assert (await alice.result("tasks/cancel", {"taskId": task_id}))["status"] == "cancelled"
        assert b"Task was cancelled" in await stream.answer()


async def test_notifications_cancelled_is_not_for_tasks(requestor: Requestor, gates: Gates, label: str) -> None:
    """T-73: with the id of the request that created the task, and as a stranger would send it."""
    params = {"name": "gated", "arguments": {"label": label}, "task": {}}
    created = (await requestor.ask("tools/call", params, id="creation")).json()["result"]["task"]
    for request_id in ("creation", created["taskId"], None):
        notification = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}
        assert (await requestor.send(notification)).status_code == 202
    assert await requestor.get(created["taskId"]) == created
    await gates.open(label)
    await requestor.ask("tasks/result", {"taskId": created["taskId"]})
    assert (await requestor.get(created["taskId"]))["status"] == "completed"


@pytest.mark.parametrize("task_id", ["", "x", 1, None, [], {}, True, "0-" + "0" * 32, "0-" + "A" * 32, "x" * 100_000])
@pytest.mark.parametrize("method", ["tasks/get", "tasks/result", "tasks/cancel"])
async def test_what_is_no_task(requestor: Requestor, method: str, task_id: object) -> None:
    """T-76: one answer for all of it."""
    response = await requestor.send(frame(method, {"taskId": task_id}))
    assert response.status_code == 200
    assert response.content == b'{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Task not found"}}'
