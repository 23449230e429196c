"""The client of fastmcp 3.4.11: one run of ``fastmcp/client.py`` on two nodes by turns."""

import sys
from typing import Any

import pytest
import pytest_asyncio

from tests.interop.scenario import BOOKED, RELATED_TASK, RUN_SECONDS, Step, assert_taken_by_turns, play

pytestmark = [pytest.mark.timeout(RUN_SECONDS + 60), pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def steps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Step]:
    """What the client was told, by step; in all else that it writes, it would complain."""
    command = [sys.executable, "-m", "tests.interop.fastmcp.client"]
    return await play(command, tmp_path_factory.mktemp("deployment"))


def meta_of(asked: Any) -> Any:
    return asked.get("_meta")


async def test_initialize_tells_of_tasks(steps: dict[str, Step]) -> None:
    server = steps["initialize"]["server"]
    assert server["protocolVersion"] == "2025-11-25"
    assert server["capabilities"]["tasks"] == {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}


async def test_list_tools_tells_how_each_is_called(steps: dict[str, Step]) -> None:
    support = {tool["name"]: tool["execution"]["taskSupport"] for tool in steps["initialize"]["tools"]}
    assert (support["add"], support["only_as_task"], support["release"]) == ("optional", "required", "forbidden")


async def test_a_plain_call(steps: dict[str, Step]) -> None:
    assert steps["plain"] == {"data": "Root(result=5)", "structured": {"result": 5}}  # it makes a class of the schema


async def test_a_task_from_its_creation_to_its_result(steps: dict[str, Step]) -> None:
    task = steps["task"]
    assert not task["is_immediate"]
    assert (task["created"]["taskId"], task["created"]["status"]) == (task["task_id"], "working")
    assert (task["created"]["ttl"], task["created"]["pollInterval"]) == (90_000, 20)
    assert task["text"] == "task"
    assert task["raw"]["_meta"] == {RELATED_TASK: {"taskId": task["task_id"]}}


async def test_get_task(steps: dict[str, Step]) -> None:
    seen = steps["poll"]["seen"]
    assert [status["status"] for status in seen] == ["working"] * (len(seen) - 1) + ["completed"]
    assert {status["taskId"] for status in seen} == {steps["poll"]["task_id"]}
    assert len({status["createdAt"] for status in seen}) == 1


async def test_list_tasks_over_several_pages(steps: dict[str, Step]) -> None:
    pages = steps["list"]["pages"]
    listed = [task for page in pages for task in page]
    assert [len(page) for page in pages[:-1]] == [3] * (len(pages) - 1)
    assert len(listed) == len(set(listed))
    assert set(steps["list"]["created"]) < set(listed)
    assert steps["list"]["invalid"] == {"code": -32602, "message": "Invalid cursor"}


async def test_cancel_task(steps: dict[str, Step]) -> None:
    assert steps["cancel"]["status"]["status"] == "cancelled"
    assert steps["cancel"]["result"] == {"code": -32602, "message": "Task was cancelled"}
    assert steps["cancel"]["again"] == {"code": -32602, "message": "Task is already cancelled"}


async def test_a_failed_task_has_a_result_that_says_so(steps: dict[str, Step]) -> None:
    assert steps["failed"]["error"] == "no paper"
    assert (steps["failed"]["status"]["status"], steps["failed"]["status"]["statusMessage"]) == ("failed", "no paper")


async def test_tasks_that_are_not_there(steps: dict[str, Step]) -> None:
    assert steps["unknown"]["failures"] == [{"code": -32602, "message": "Task not found"}] * 3


async def test_a_task_asks_for_a_form(steps: dict[str, Step]) -> None:
    (asked,) = steps["elicitation"]["asked"]
    assert asked["message"] == "Where do you want to go?"
    assert asked["requestedSchema"]["required"] == ["city"]
    assert meta_of(asked) == {RELATED_TASK: {"taskId": steps["elicitation"]["task_id"]}}  # T-53
    assert steps["elicitation"]["structured"] == BOOKED


async def test_a_form_that_is_declined(steps: dict[str, Step]) -> None:
    assert len(steps["declined"]["asked"]) == 1
    assert steps["declined"]["structured"] == {"action": "decline", "trip": None}


async def test_a_plain_call_asks_for_a_form(steps: dict[str, Step]) -> None:
    (asked,) = steps["plain_elicitation"]["asked"]
    assert meta_of(asked) is None
    assert steps["plain_elicitation"]["structured"] == BOOKED


async def test_a_task_asks_the_clients_model(steps: dict[str, Step]) -> None:
    (asked,) = steps["sampling"]["asked"]
    assert (asked["maxTokens"], asked["systemPrompt"]) == (20, "You are a poet")
    assert meta_of(asked) == {RELATED_TASK: {"taskId": steps["sampling"]["task_id"]}}
    assert steps["sampling"]["text"] == "fastmcp-slim: tea"  # the name that it gives a model that has none


async def test_a_task_asks_for_one_thing_after_the_other(steps: dict[str, Step]) -> None:
    first, second = steps["both"]["asked"]
    assert "requestedSchema" in first
    assert "messages" in second
    assert steps["both"]["text"] == "Oslo, fastmcp-slim: tea"


async def test_the_requests_went_to_both_nodes_by_turns(steps: dict[str, Step]) -> None:
    assert_taken_by_turns(steps["end"]["requests"])
