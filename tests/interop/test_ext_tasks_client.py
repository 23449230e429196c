"""Task sessions of ``@modelcontextprotocol/ext-tasks`` 0.2.2: one run of ``ext_tasks/client.mjs`` on two nodes.

Their client is ``@modelcontextprotocol/client`` 2.4.0, which speaks 2025-11-25 unless it is told otherwise.
"""

from pathlib import Path
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
from tests.npm import INSTALL_SECONDS, install

SOURCE = Path(__file__).parent / "ext_tasks"
OLDEST_NODE = 20  # the oldest that the client runs on

pytestmark = [pytest.mark.timeout(RUN_SECONDS + INSTALL_SECONDS + 60), pytest.mark.asyncio(loop_scope="module")]


@pytest.fixture(scope="module")
def command() -> list[Path]:
    """What starts the client, but for its arguments."""
    folder, node = install(SOURCE, oldest_node=OLDEST_NODE)
    return [node, folder / "client.mjs"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def steps(command: list[Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Step]:
    """What the client was told, by step."""
    return await play(command, tmp_path_factory.mktemp("deployment"))


def completed(step: Step, kind: str) -> Any:
    """The result of an execution that was a task, or ``immediate``."""
    assert step["kind"] == kind
    assert step["outcome"]["status"] == "completed"
    return step["outcome"]["result"]


async def test_initialize_tells_of_tasks(steps: dict[str, Step]) -> None:
    told = steps["initialize"]
    assert told["version"] == "2025-11-25"
    assert told["server"] == {"name": "interop", "version": "1.0.0"}
    assert told["capabilities"] == {"inventory": "server-list", "execution": True, "cancellation": True}


async def test_a_plain_call(steps: dict[str, Step]) -> None:
    assert structured(completed(steps["plain"], "immediate")) == {"result": 5}


async def test_a_task_from_its_creation_to_its_result(steps: dict[str, Step]) -> None:
    task_id, events = steps["task"]["taskId"], steps["task"]["events"]
    *seen, outcome = events
    assert [event["type"] for event in events] == ["task"] * len(seen) + ["outcome"]
    assert [event["task"]["status"] for event in seen] == ["working"] * (len(seen) - 1) + ["completed"]
    first = seen[0]["task"]
    assert (first["taskId"], first["retentionMs"], first["suggestedPollIntervalMs"]) == (task_id, 90_000, 20)
    assert {event["task"]["createdAt"] for event in seen} == {first["createdAt"]}
    assert first["extensions"] == {}  # nothing that the schema of a task does not have
    assert text_of(outcome["outcome"]["result"]) == "task"
    assert outcome["outcome"]["result"]["_meta"] == {RELATED_TASK: {"taskId": task_id}}


async def test_a_tool_that_has_to_be_a_task_is_called_as_one_unasked(steps: dict[str, Step]) -> None:
    assert text_of(completed(steps["required"], "task")) == "done"


async def test_get_task(steps: dict[str, Step]) -> None:
    before, after = steps["get"]["before"], steps["get"]["after"]
    assert (before["taskId"], before["status"]) == (steps["get"]["taskId"], "working")
    assert (after["taskId"], after["status"]) == (steps["get"]["taskId"], "completed")
    assert after["createdAt"] == before["createdAt"]


async def test_list_tasks_over_several_pages(steps: dict[str, Step]) -> None:
    pages = steps["list"]["pages"]
    listed = [task for page in pages for task in page]
    assert [len(page) for page in pages[:-1]] == [3] * (len(pages) - 1)
    assert len(listed) == len(set(listed))
    assert set(steps["list"]["created"]) < set(listed)
    assert steps["list"]["invalid"] == {"code": -32602, "message": "Invalid cursor"}


async def test_cancel_task(steps: dict[str, Step]) -> None:
    assert steps["cancel"]["status"] == "cancelled"
    assert steps["cancel"]["outcome"]["status"] == "cancelled"
    assert steps["cancel"]["again"] == {"code": -32602, "message": "Task is already cancelled"}


async def test_a_failed_task_says_why(steps: dict[str, Step]) -> None:
    outcome = steps["failed"]["outcome"]  # the client's own error: it asks for no result
    assert (outcome["status"], outcome["error"]["message"]) == ("failed", "no paper")
    assert outcome["task"]["statusMessage"] == "no paper"


async def test_tasks_that_are_not_there(steps: dict[str, Step]) -> None:
    assert steps["unknown"]["failures"] == [{"code": -32602, "message": "Task not found"}] * 3


async def test_a_task_that_is_handed_over_to_another_session(steps: dict[str, Step]) -> None:
    assert steps["handoff"]["outcome"]["status"] == "completed"
    assert text_of(steps["handoff"]["outcome"]["result"]) == "handoff"


async def test_a_task_asks_for_a_form(steps: dict[str, Step]) -> None:
    task_id = steps["elicitation"]["taskId"]
    (asked,) = steps["elicitation"]["asked"]
    assert (asked["kind"], asked["scope"], asked["taskId"]) == ("elicitation", "task", task_id)  # T-53
    assert asked["params"]["message"] == "Where do you want to go?"
    assert list(asked["params"]["requestedSchema"]["properties"]) == ["city", "nights"]
    assert structured(completed(steps["elicitation"], "task")) == BOOKED


async def test_a_form_that_is_declined(steps: dict[str, Step]) -> None:
    assert len(steps["declined"]["asked"]) == 1
    assert structured(completed(steps["declined"], "task")) == {"action": "decline", "trip": None}


async def test_a_plain_call_asks_for_a_form(steps: dict[str, Step]) -> None:
    (asked,) = steps["plain_elicitation"]["asked"]
    assert (asked["kind"], asked["scope"]) == ("elicitation", "request")
    assert structured(completed(steps["plain_elicitation"], "immediate")) == BOOKED


async def test_a_task_asks_the_clients_model(steps: dict[str, Step]) -> None:
    (asked,) = steps["sampling"]["asked"]
    assert (asked["kind"], asked["scope"], asked["taskId"]) == ("sampling", "task", steps["sampling"]["taskId"])
    assert asked["params"]["systemPrompt"] == "You are a poet"
    assert text_of(completed(steps["sampling"], "task")) == "poet: tea"


async def test_a_task_asks_for_one_thing_after_the_other(steps: dict[str, Step]) -> None:
    assert [request["kind"] for request in steps["both"]["asked"]] == ["elicitation", "sampling"]
    assert text_of(completed(steps["both"], "task")) == "Oslo, poet: tea"


async def test_a_form_that_is_a_task_of_the_clients(steps: dict[str, Step]) -> None:
    told = steps["own_tasks"]["elicitation"]
    (asked,) = told["asked"]
    assert asked["params"]["message"] == "Where do you want to go?"
    assert asked["params"]["task"]["ttl"] > 0
    assert asked["params"]["_meta"] == {RELATED_TASK: {"taskId": told["taskId"]}}
    assert structured(completed(told, "task")) == BOOKED


async def test_a_message_of_the_clients_model_that_is_a_task_of_the_clients(steps: dict[str, Step]) -> None:
    told = steps["own_tasks"]["sampling"]
    assert "task" in told["asked"][0]["params"]
    assert text_of(completed(told, "task")) == "poet: tea"


async def test_a_task_of_the_clients_is_cancelled_with_ours(steps: dict[str, Step]) -> None:
    assert steps["own_tasks"]["abandoned"]


async def test_the_requests_went_to_both_nodes_by_turns(steps: dict[str, Step]) -> None:
    assert_taken_by_turns(steps["end"]["requests"])


async def test_the_client_complains_of_nothing(steps: dict[str, Step]) -> None:
    # It gives up a tasks/get when a notification told it the same, and complains of the answer that was on its way.
    late = "Received a response for an unknown message ID"
    assert [error for error in steps["end"]["errors"] if late not in error or '"status"' not in error] == []
