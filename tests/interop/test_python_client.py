"""The client of the Python SDK, ``mcp`` 1.30.0, with tasks of its own: one run of ``python/client.py`` on two nodes.

``test_mcp_client.py`` and ``test_questions.py`` try the same client closer, and in the process of the test.
"""

import sys
from typing import Any

import pytest
import pytest_asyncio

from tests.interop.scenario import (
    BOOKED,
    RELATED_TASK,
    RUN_SECONDS,
    Step,
    assert_taken_by_turns,
    play,
    structured,
    text_of,
)

pytestmark = [pytest.mark.timeout(RUN_SECONDS + 60), pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def steps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Step]:
    """What the client was told, by step; in all else that it writes, it would complain."""
    command = [sys.executable, "-m", "tests.interop.python.client"]
    return await play(command, tmp_path_factory.mktemp("deployment"))


def methods(step: Step) -> list[str]:
    """What the server asked the client, in its order; the looks at a task, however many, are one."""
    heard = [entry["method"] for entry in step["log"]]
    return [method for before, method in zip(["", *heard], heard, strict=False) if method != before]


def own_tasks(step: Step) -> set[str]:
    """The tasks of the client's that the server asked for."""
    return {entry["params"]["taskId"] for entry in step["log"] if entry["method"].startswith("tasks/")}


def meta_of(asked: Any) -> Any:
    return asked["params"].get("_meta")


async def test_initialize_tells_of_tasks(steps: dict[str, Step]) -> None:
    server = steps["initialize"]["server"]
    assert server["protocolVersion"] == "2025-11-25"
    assert server["capabilities"]["tasks"] == {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}


async def test_a_task_from_its_creation_to_its_result(steps: dict[str, Step]) -> None:
    created, before, seen = steps["task"]["created"], steps["task"]["before"], steps["task"]["seen"]
    assert (created["status"], created["ttl"], created["pollInterval"]) == ("working", 90_000, 20)
    assert (before["taskId"], before["status"]) == (created["taskId"], "working")
    assert seen == ["working"] * (len(seen) - 1) + ["completed"]
    assert text_of(steps["task"]["result"]) == "task"
    assert steps["task"]["result"]["_meta"] == {RELATED_TASK: {"taskId": created["taskId"]}}


async def test_list_tasks_over_several_pages(steps: dict[str, Step]) -> None:
    pages = steps["list"]["pages"]
    listed = [task for page in pages for task in page]
    assert [len(page) for page in pages[:-1]] == [3] * (len(pages) - 1)
    assert len(listed) == len(set(listed))
    assert set(steps["list"]["created"]) < set(listed)


async def test_cancel_task(steps: dict[str, Step]) -> None:
    cancel = steps["cancel"]
    assert (cancel["cancelled"]["taskId"], cancel["cancelled"]["status"]) == (cancel["task_id"], "cancelled")
    assert cancel["again"] == {"code": -32602, "message": "Task is already cancelled"}


async def test_a_task_asks_for_a_form_that_is_no_task(steps: dict[str, Step]) -> None:
    (asked,) = steps["elicitation"]["asked"]
    assert "task" not in asked  # though the client could: the tool does not want it
    assert asked["_meta"] == {RELATED_TASK: {"taskId": steps["elicitation"]["task_id"]}}  # T-53
    assert structured(steps["elicitation"]["result"]) == BOOKED
    assert steps["elicitation"]["log"] == []


@pytest.mark.parametrize("step", ["own_elicitation", "own_awaited"])
async def test_a_form_that_is_a_task_of_the_clients(steps: dict[str, Step], step: str) -> None:
    asked = steps[step]["log"][0]
    assert asked["params"]["message"] == "Where do you want to go?"
    assert 0 < asked["params"]["task"]["ttl"] <= 60_000  # no longer than our own task has
    assert meta_of(asked) == {RELATED_TASK: {"taskId": steps[step]["task_id"]}}
    assert methods(steps[step]) == ["elicitation/create", "tasks/get", "tasks/result"]  # T-19, T-39
    assert len(own_tasks(steps[step])) == 1
    assert structured(steps[step]["result"]) == BOOKED


async def test_a_message_of_the_clients_model_that_is_a_task_of_the_clients(steps: dict[str, Step]) -> None:
    asked = steps["own_sampling"]["log"][0]
    assert (asked["params"]["maxTokens"], asked["params"]["systemPrompt"]) == (20, "You are a poet")
    assert meta_of(asked) == {RELATED_TASK: {"taskId": steps["own_sampling"]["task_id"]}}
    assert methods(steps["own_sampling"]) == ["sampling/createMessage", "tasks/get", "tasks/result"]
    assert text_of(steps["own_sampling"]["result"]) == "poet: tea"


async def test_a_plain_call_asks_for_a_task_of_the_clients(steps: dict[str, Step]) -> None:
    asked = steps["own_of_a_plain_call"]["log"][0]
    assert meta_of(asked) is None
    assert methods(steps["own_of_a_plain_call"]) == ["elicitation/create", "tasks/get", "tasks/result"]
    assert structured(steps["own_of_a_plain_call"]["result"]) == BOOKED


async def test_a_task_that_the_client_cancels(steps: dict[str, Step]) -> None:
    assert methods(steps["own_cancelled"]) == ["elicitation/create", "tasks/get"]  # it has no result to ask for
    assert structured(steps["own_cancelled"]["result"]) == {"action": "cancel", "trip": None}


async def test_a_task_of_the_clients_that_fails(steps: dict[str, Step]) -> None:
    result = steps["own_failed"]["result"]
    assert result["isError"]
    assert "Nobody is here" in result["content"][0]["text"]


async def test_a_task_of_the_clients_is_cancelled_with_ours(steps: dict[str, Step]) -> None:
    assert methods(steps["own_abandoned"]) == ["elicitation/create", "tasks/get", "tasks/cancel"]
    assert len(own_tasks(steps["own_abandoned"])) == 1


async def test_the_requests_went_to_both_nodes_by_turns(steps: dict[str, Step]) -> None:
    assert_taken_by_turns(steps["end"]["requests"])
