"""tasks/get: the task as it stands."""

import pytest
from redis.asyncio import Redis

from tests.http.gates import Gates
from tests.http.records import Records
from tests.http.requestor import RELATED_TASK, Requestor


async def test_a_working_task(requestor: Requestor, gates: Gates, label: str) -> None:
    """T-44, T-41, T-42, T-46, T-58, X-14: the same flat task that the creation showed, and nothing besides."""
    params = {"name": "gated", "arguments": {"label": label}, "task": {"ttl": 120_000}}
    created = (await requestor.result("tools/call", params))["task"]
    await gates.reached(label)
    assert await requestor.get(created["taskId"]) == created
    assert created["ttl"] == 120_000
    await gates.open(label)


async def test_the_answer_is_json(requestor: Requestor) -> None:
    """T-36"""
    response = await requestor.ask("tasks/get", {"taskId": await requestor.create("echo", text="x")})
    assert response.headers["content-type"] == "application/json"


async def test_a_completed_task(requestor: Requestor) -> None:
    """T-32: and lastUpdatedAt is when it was completed."""
    task_id = await requestor.finish("echo", text="x")
    task = await requestor.get(task_id)
    assert (task["status"], "statusMessage" in task) == ("completed", False)
    assert task["lastUpdatedAt"] > task["createdAt"]


async def test_reading_changes_nothing(requestor: Requestor) -> None:
    """T-42"""
    task_id = await requestor.finish("echo", text="x")
    before = await requestor.get(task_id)
    await requestor.result("tasks/result", {"taskId": task_id})
    assert await requestor.get(task_id) == before


async def test_a_status_message_is_a_change_and_progress_is_none(
    requestor: Requestor, gates: Gates, redis: Redis, label: str
) -> None:
    """T-42, T-106: the message is one line, in a task that works."""
    records = Records(redis, "anonymous")
    task_id = await requestor.create("talking", label=label)
    await gates.reached(label)
    await records.until(task_id, "status_message")
    task = await requestor.get(task_id)
    assert (task["status"], task["statusMessage"]) == ("working", "half way")
    assert task["lastUpdatedAt"] > task["createdAt"]
    await gates.open(label)
    await records.until(task_id, "progress")
    assert await requestor.get(task_id) == task
    await gates.open(label + " progressed")
    await requestor.ask("tasks/result", {"taskId": task_id})
    assert (await requestor.get(task_id))["status"] == "completed"


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("refuse", {"reason": "no\nway"}, "no way"),
        ("refuse", {"reason": "x" * 501}, "x" * 499 + "…"),
        ("crash", {}, "Tool 'crash' failed: RuntimeError; the server's log has the details"),
        ("raise_error", {"code": -32050, "message": "quota\tspent"}, "quota spent"),
        ("bring_meta", {"is_error": True}, f"not {RELATED_TASK}"),
        ("overdue", {}, "Tool 'overdue' was stopped: it took longer than 0.2 s"),
    ],
)
async def test_a_failed_task_says_why(
    requestor: Requestor, tool: str, arguments: dict[str, object], message: str
) -> None:
    """T-75, X-3, T-82: in one line, of at most 500 characters, that tells no secrets."""
    task = await requestor.get(await requestor.finish(tool, **arguments))
    assert (task["status"], task["statusMessage"]) == ("failed", message)


async def test_only_params_task_id_counts(requestor: Requestor) -> None:
    """T-55, T-57: in get, result and cancel, a related-task is ignored."""
    one, other = await requestor.finish("echo", text="one"), await requestor.finish("echo", text="other")
    params = {"taskId": one, "_meta": {RELATED_TASK: {"taskId": other}}}
    assert (await requestor.result("tasks/get", params))["taskId"] == one
    result = await requestor.result("tasks/result", params)
    assert (result["content"][0]["text"], result["_meta"]) == ("one", {RELATED_TASK: {"taskId": one}})
    assert (await requestor.error("tasks/cancel", {"_meta": params["_meta"]}))["message"] == "Task not found"
    working = await requestor.create("gated", label="closed")
    cancelled = await requestor.result("tasks/cancel", params | {"taskId": working})
    assert cancelled["taskId"] == working


async def test_while_another_request_is_blocked(requestor: Requestor, gates: Gates, label: str) -> None:
    """T-20: on the same pool of connections."""
    task_id = await requestor.create("gated", label=label)
    async with requestor.waiting_for(task_id) as stream:
        for _ in range(3):
            assert (await requestor.get(task_id))["status"] == "working"
        await gates.open(label)
        await stream.rest()
    assert (await requestor.get(task_id))["status"] == "completed"
