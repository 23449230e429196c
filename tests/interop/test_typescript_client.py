"""The tasks client of the official TypeScript SDK, 1.32.2: one run of ``typescript/client.mjs`` on two nodes."""

from pathlib import Path

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

SOURCE = Path(__file__).parent / "typescript"
OLDEST_NODE = 18  # the oldest that the SDK runs on

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


def kinds(messages: list[Step]) -> list[str]:
    """The types of what ``callToolStream`` yields; the status of a task stands for each look at it."""
    return [message["task"]["status"] if message["type"] == "taskStatus" else message["type"] for message in messages]


async def test_initialize_tells_of_tasks(steps: dict[str, Step]) -> None:
    told = steps["initialize"]
    assert told["protocolVersion"] == "2025-11-25"
    assert told["server"] == {"name": "interop", "version": "1.0.0"}
    assert told["capabilities"]["tasks"] == {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}


async def test_list_tools_tells_how_each_is_called(steps: dict[str, Step]) -> None:
    support = {tool["name"]: tool["execution"]["taskSupport"] for tool in steps["tools"]["tools"]}
    assert (support["add"], support["only_as_task"], support["release"]) == ("optional", "required", "forbidden")


async def test_a_plain_call(steps: dict[str, Step]) -> None:
    assert structured(steps["plain"]["result"]) == {"result": 5}


async def test_a_plain_call_tells_how_far_it_is(steps: dict[str, Step]) -> None:
    assert steps["progress"]["progress"] == [
        {"progress": 1, "total": 2, "message": "half"},
        {"progress": 2, "total": 2, "message": "whole"},
    ]
    assert text_of(steps["progress"]["result"]) == "plain"


async def test_a_task_from_its_creation_to_its_result(steps: dict[str, Step]) -> None:
    messages = steps["task"]["messages"]
    created, seen, result = messages[0], kinds(messages)[1:-1], messages[-1]
    assert (created["type"], created["task"]["ttl"], created["task"]["pollInterval"]) == ("taskCreated", 90_000, 20)
    assert seen == ["working"] * (len(seen) - 1) + ["completed"]
    assert text_of(result["result"]) == "task"
    assert result["result"]["_meta"] == {RELATED_TASK: {"taskId": created["task"]["taskId"]}}
    assert steps["task"]["progress"][0] == {
        "progress": 1,
        "total": 2,
        "message": "half",
        "_meta": {RELATED_TASK: {"taskId": created["task"]["taskId"]}},
    }


async def test_a_result_that_is_asked_for_before_there_is_one(steps: dict[str, Step]) -> None:
    blocked = steps["blocked"]
    assert (blocked["created"]["status"], blocked["meanwhile"]["status"]) == ("working", "working")
    assert text_of(blocked["result"]) == "blocked"


async def test_a_client_that_loses_patience_ends_its_wait_alone(steps: dict[str, Step]) -> None:
    patience = steps["patience"]
    assert patience["timeout"]["code"] == -32001
    assert patience["resumed"] == [405]  # its transport does not try again
    assert patience["after"]["status"] == "working"  # L-07
    assert text_of(patience["result"]) == "patience"


async def test_list_tasks_over_several_pages(steps: dict[str, Step]) -> None:
    pages = steps["list"]["pages"]
    listed = [task for page in pages for task in page]
    assert [len(page) for page in pages[:-1]] == [3] * (len(pages) - 1)
    assert len(listed) == len(set(listed))
    assert set(steps["list"]["created"]) < set(listed)
    assert steps["list"]["invalid"]["code"] == -32602


async def test_cancel_task(steps: dict[str, Step]) -> None:
    cancel = steps["cancel"]
    assert (cancel["cancelled"]["taskId"], cancel["cancelled"]["status"]) == (cancel["taskId"], "cancelled")
    assert cancel["result"]["code"] == -32602
    assert "Task was cancelled" in cancel["result"]["message"]
    assert cancel["again"]["code"] == -32602


async def test_a_failed_task_has_a_result_that_says_so(steps: dict[str, Step]) -> None:
    failed = steps["failed"]
    assert kinds(failed["messages"])[-2:] == ["failed", "error"]  # the client's own error: it asks for no result
    assert failed["result"]["isError"]
    assert failed["result"]["content"] == [{"type": "text", "text": "no paper"}]


async def test_a_tool_that_has_to_be_a_task_is_called_as_one_unasked(steps: dict[str, Step]) -> None:
    messages = steps["required"]["messages"]
    assert messages[0]["type"] == "taskCreated"
    assert text_of(messages[-1]["result"]) == "done"


async def test_tasks_that_are_not_there(steps: dict[str, Step]) -> None:
    failures = steps["unknown"]["failures"]
    assert [failure["code"] for failure in failures] == [-32602] * 3
    assert ["Task not found" in failure["message"] for failure in failures] == [True] * 3


async def test_a_task_asks_for_a_form(steps: dict[str, Step]) -> None:
    elicitation = steps["elicitation"]
    task_id = elicitation["task"]["taskId"]
    (asked,) = elicitation["asked"]
    assert asked["method"] == "elicitation/create"
    assert asked["params"]["message"] == "Where do you want to go?"
    assert list(asked["params"]["requestedSchema"]["properties"]) == ["city", "nights"]
    assert asked["params"]["_meta"] == {RELATED_TASK: {"taskId": task_id}}  # T-53
    assert kinds(elicitation["messages"])[-1] == "result"
    assert structured(elicitation["messages"][-1]["result"]) == BOOKED
    assert elicitation["told"][-1] == "completed"
    assert elicitation["task"]["status"] == "completed"


async def test_a_plain_call_asks_for_a_form(steps: dict[str, Step]) -> None:
    (asked,) = steps["plain_elicitation"]["asked"]
    assert asked["method"] == "elicitation/create"
    assert "_meta" not in asked["params"]
    assert structured(steps["plain_elicitation"]["result"]) == BOOKED


async def test_a_form_that_is_declined(steps: dict[str, Step]) -> None:
    assert len(steps["declined"]["asked"]) == 1
    assert structured(steps["declined"]["result"]) == {"action": "decline", "trip": None}


async def test_a_task_asks_the_clients_model(steps: dict[str, Step]) -> None:
    messages = steps["sampling"]["messages"]
    (asked,) = steps["sampling"]["asked"]
    assert asked["method"] == "sampling/createMessage"
    assert asked["params"] == {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Find a rhyme for sea"}}],
        "maxTokens": 20,
        "systemPrompt": "You are a poet",
        "_meta": {RELATED_TASK: {"taskId": messages[0]["task"]["taskId"]}},
    }
    assert text_of(messages[-1]["result"]) == "poet: tea"


async def test_a_plain_call_asks_the_clients_model(steps: dict[str, Step]) -> None:
    (asked,) = steps["plain_sampling"]["asked"]
    assert "_meta" not in asked["params"]
    assert text_of(steps["plain_sampling"]["result"]) == "poet: tea"


async def test_a_task_asks_for_one_thing_after_the_other(steps: dict[str, Step]) -> None:
    asked = [request["method"] for request in steps["both"]["asked"]]
    assert asked == ["elicitation/create", "sampling/createMessage"]
    assert text_of(steps["both"]["messages"][-1]["result"]) == "Oslo, poet: tea"
    assert steps["both"]["told"][-1] == "completed"
    assert "input_required" in steps["both"]["told"]  # what changes again before it is sent is told once (T-23)


async def test_the_session_was_on_both_nodes_and_ended_on_both(steps: dict[str, Step]) -> None:
    assert_taken_by_turns(steps["end"]["requests"])
    assert steps["end"]["afterwards"] == [404, 404]  # H-31


async def test_the_client_complains_of_nothing(steps: dict[str, Step]) -> None:
    assert steps["end"]["errors"] == []
