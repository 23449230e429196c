"""tools/call with params.task: what a requestor gets at once."""

import asyncio
import re
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx2
import pytest

from tests.http.conftest import Deployment
from tests.http.requestor import RELATED_TASK, Requestor

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
ECHO = {"name": "echo", "arguments": {"text": "hello"}}
IMMEDIATE = "io.modelcontextprotocol/model-immediate-response"


async def test_a_created_task_has_every_member(requestor: Requestor) -> None:
    """T-14, T-28, T-31, T-41, T-42, T-46, X-14, X-16, field report 1: and no operation result."""
    created = await requestor.result("tools/call", ECHO | {"task": {}})
    task = created["task"]
    assert created == {"task": task, "_meta": {RELATED_TASK: {"taskId": task["taskId"]}}}
    assert task == {
        "taskId": task["taskId"],
        "status": "working",
        "createdAt": task["createdAt"],
        "lastUpdatedAt": task["createdAt"],
        "ttl": 3_600_000,  # T-105: an hour
        "pollInterval": 1000,
    }
    assert re.fullmatch(r"[a-z0-9]{1,3}-[0-9a-f]{32}", task["taskId"])  # T-87
    assert TIME.fullmatch(task["createdAt"])
    assert abs((datetime.now(UTC) - datetime.fromisoformat(task["createdAt"])).total_seconds()) < 60


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("echo", {"text": "x"}),
        ("add", {"a": 1}),
        ("only_as_task", {}),
        ("erase", {"label": "x"}),
        ("crash", {}),
        ("gated", {"label": "closed"}),
    ],
)
async def test_every_task_begins_as_working(requestor: Requestor, tool: str, arguments: object) -> None:
    """T-31, T-48, T-49: the answer does not wait for the work, and knows nothing of how it ends."""
    task = (await requestor.result("tools/call", {"name": tool, "arguments": arguments, "task": {}}))["task"]
    assert (task["status"], "statusMessage" in task) == ("working", False)
    await requestor.ask("tasks/cancel", {"taskId": task["taskId"]})


async def test_the_receiver_makes_the_id(requestor: Requestor) -> None:
    """T-29: one that the requestor brings is not looked at, nor is anything else that the schema lacks."""
    wanted = "0-" + "a" * 32
    task = {"taskId": wanted, "pollInterval": 1, "status": "completed", "ttl": 60_000}
    created = (await requestor.result("tools/call", ECHO | {"task": task}))["task"]
    assert created["taskId"] != wanted
    assert (created["status"], created["pollInterval"], created["ttl"]) == ("working", 1000, 60_000)


async def test_ids_are_unique(requestor: Requestor) -> None:
    """T-30"""
    ids = await asyncio.gather(*(requestor.create("echo", text="x") for _ in range(50)))
    assert len(set(ids)) == 50


async def test_a_word_for_the_model(requestor: Requestor) -> None:
    """T-15, and the merge of two members in one _meta"""
    created = await requestor.result("tools/call", {"name": "announced", "task": {}})
    assert created["_meta"] == {RELATED_TASK: {"taskId": created["task"]["taskId"]}, IMMEDIATE: "Started."}


async def test_missing_and_null_arguments_are_none(requestor: Requestor) -> None:
    params: list[dict[str, object]] = [{}, {"arguments": None}, {"arguments": {}}]
    for given in params:
        created = await requestor.result("tools/call", {"name": "timed", "task": {}} | given)
        assert created["task"]["status"] == "working"


async def test_other_requests_are_no_tasks(requestor: Requestor, alice: Requestor) -> None:
    """T-04, T-26: params.task is ignored where the capability does not name the request."""
    assert await requestor.result("ping", {"task": {}}) == {}
    assert "tools" in await requestor.result("tools/list", {"task": {"ttl": "nonsense"}})
    assert "tasks" in await alice.result("tasks/list", {"task": {}})
    task_id = await requestor.create("echo", text="x")
    assert (await requestor.result("tasks/get", {"taskId": task_id, "task": {}}))["taskId"] == task_id


@pytest.mark.parametrize("token", [0, "", -1, "token", 2**53, None])
@pytest.mark.parametrize("task", [{"task": {}}, {}], ids=["task", "plain"])
async def test_progress_tokens(requestor: Requestor, token: object, task: dict[str, object]) -> None:
    """L-08: strings and integers, 0 and the empty string among them."""
    await requestor.result("tools/call", ECHO | task | {"_meta": {"progressToken": token}})


@pytest.mark.parametrize("token", [1.5, True, [], {}])
@pytest.mark.parametrize("task", [{"task": {}}, {}], ids=["task", "plain"])
async def test_what_is_no_progress_token(requestor: Requestor, token: object, task: dict[str, object]) -> None:
    """L-08"""
    error = await requestor.error("tools/call", ECHO | task | {"_meta": {"progressToken": token}})
    assert error == {"code": -32602, "message": "params._meta.progressToken must be a string or an integer"}


async def test_a_tool_that_can_not_be_a_task(requestor: Requestor) -> None:
    """T-09, field report 10: the text says what to do."""
    error = await requestor.error("tools/call", {"name": "only_plainly", "task": {}})
    assert error == {
        "code": -32601,
        "message": "Tool 'only_plainly' can't be run as a task; call it without params.task",
    }


async def test_unfinished_tasks_are_limited(
    http: httpx2.AsyncClient, unserved: Deployment, newcomers: Iterator[int]
) -> None:
    """T-92, field report 32: the refusal says why and when to try again, and another principal has its own limit."""
    carol, dave = (Requestor(http, unserved.url, f"newcomer-{next(newcomers)}-token") for _ in range(2))
    ids = [await carol.create("echo", text="x") for _ in range(3)]
    error = await carol.error("tools/call", ECHO | {"task": {}})
    assert (error["code"], error["data"]) == (-32603, {"reason": "too_many_tasks", "retryAfterMs": 1000})
    assert error["message"] == "3 unfinished tasks are the limit; wait for some to finish"
    assert await carol.error("tools/call", ECHO) == error  # plain calls count as well
    assert len((await carol.result("tasks/list"))["tasks"]) == 3
    await dave.create("echo", text="x")
    await carol.result("tasks/cancel", {"taskId": ids[0]})
    await carol.create("echo", text="x")
