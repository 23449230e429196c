"""The server as requestor: what it asks for as tasks of the client, asked on any node and pursued by any run."""

from collections.abc import Callable
from typing import Any

import pytest
from redis.asyncio import Redis

from tests.http.gates import Gates
from tests.wire.client import RELATED_TASK, Client, Message, methods_of, notification
from tests.wire.conftest import Site
from tests.wire.forms import ADA, ELICIT, STATUS
from tests.wire.store import Store
from tests.wire.their_task import ASK_FOR_TASK, CAN_RUN, GONE, HOUR, TheirTask, next_request

SAMPLE = "sampling/createMessage"
ASK_FOR_SAMPLE = ["sample", "Write.", 10, {"as_task": True}]
SAMPLED = {"role": "assistant", "content": {"type": "text", "text": "Once"}, "model": "a model"}
THEIRS = TheirTask("theirs-1")


async def refuse(client: Client, asked: Message, error: Message, node: int = 0) -> None:
    """Answers a request of the server's with an error."""
    assert (await client.send({"jsonrpc": "2.0", "id": asked["id"], "error": error}, node)).status_code == 202


def text_of(response: Message) -> str:
    """The text of a result with ``isError``."""
    assert response["result"]["isError"]
    return str(response["result"]["content"][0]["text"])


# How it goes


async def test_a_form_as_a_task(alice: Client, site: Site, gates: Gates, label: str) -> None:
    """T-02, T-19, T-53, T-54, T-56, T-101, T-102: each message through another node; our task waits all the while."""
    await alice.open(CAN_RUN)
    task_id = await alice.script(ASK_FOR_TASK, ["gate", label])
    async with alice.waiting_for(task_id) as stream:
        asked = await next_request(stream, ELICIT)
        assert asked["params"]["_meta"] == {RELATED_TASK: {"taskId": task_id}}
        assert asked["params"]["task"].keys() == {"ttl"}
        assert 0 < asked["params"]["task"]["ttl"] <= (await alice.get(task_id))["ttl"]
        assert await alice.answer(asked, THEIRS.created, node=1) == 202
        ids = {asked["id"]}
        for number, status in enumerate(("working", "working", "completed")):
            poll = await next_request(stream, "tasks/get")
            assert poll == {
                "jsonrpc": "2.0",
                "id": poll["id"],
                "method": "tasks/get",
                "params": {"taskId": THEIRS.id},
            }
            ids.add(poll["id"])
            assert await alice.status(task_id, node=1) == "input_required"
            assert await alice.answer(poll, THEIRS.at(status), node=number % 2) == 202
        fetch = await next_request(stream, "tasks/result")
        assert fetch["params"] == {"taskId": THEIRS.id}
        assert len(ids | {fetch["id"]}) == 5
        assert await alice.answer(fetch, THEIRS.result(ADA), node=1) == 202
        await gates.reached(label)
        assert await alice.status(task_id) == "working"
        await gates.open(label)
        messages = await stream.rest()
    assert messages[-1]["result"]["structuredContent"] == {"result": [ADA, None]}
    told = [message["params"]["status"] for message in messages if message.get("method") == STATUS]
    assert told == ["working", "completed"]
    pair = [f'"task_id": "{task_id}"', f'"client_task_id": "{THEIRS.id}"']
    assert any(all(part in line for part in ["client_task_accepted", *pair]) for line in site.nodes[1].log.splitlines())
    ended = [line for worker in site.workers for line in worker.log.splitlines() if "client_task_ended" in line]
    assert any(all(part in line for part in pair) for line in ended)


async def test_a_message_as_a_task(alice: Client) -> None:
    """T-02, T-18: of a model, from a client that says no poll interval."""
    await alice.open(CAN_RUN)
    theirs = TheirTask("theirs-model", ttl=None, interval=None)
    task_id = await alice.script(ASK_FOR_SAMPLE)
    async with alice.waiting_for(task_id) as stream:
        asked = await next_request(stream, SAMPLE)
        assert asked["params"]["task"]["ttl"] > 0
        assert await alice.answer(asked, theirs.created) == 202
        assert await alice.answer(await next_request(stream, "tasks/get"), theirs.at("completed")) == 202
        assert await alice.answer(await next_request(stream, "tasks/result"), theirs.result(SAMPLED)) == 202
        (sampled,) = (await stream.rest())[-1]["result"]["structuredContent"]["result"]
    assert sampled["content"] == SAMPLED["content"]


async def test_a_plain_call_asks_for_a_task(alice: Client) -> None:
    """T-53: its messages name no task of ours, of which no client knows."""
    await alice.open(CAN_RUN)
    async with alice.calling("talk", {"script": [ASK_FOR_TASK]}) as stream:
        asked = await stream.message()
        assert "_meta" not in asked["params"]
        assert await alice.answer(asked, THEIRS.created, node=1) == 202
        assert await alice.answer(await next_request(stream, "tasks/get"), THEIRS.at("completed")) == 202
        assert await alice.answer(await next_request(stream, "tasks/result"), THEIRS.result(ADA)) == 202
        (response,) = await stream.rest()
    assert response["result"]["structuredContent"] == {"result": [ADA]}


async def test_a_plain_answer(alice: Client) -> None:
    """T-26: is as good."""
    await alice.open(CAN_RUN)
    task_id = await alice.script(ASK_FOR_TASK)
    async with alice.waiting_for(task_id) as stream:
        assert await alice.answer(await next_request(stream, ELICIT), ADA, node=1) == 202
        messages = await stream.rest()
    assert messages[-1]["result"]["structuredContent"] == {"result": [ADA]}
    assert set(methods_of(messages)) == {STATUS, "response"}


UNABLE: list[Any] = [
    {"elicitation": {}, "sampling": {}},
    {"elicitation": {}, "sampling": {}, "tasks": {}},
    {"elicitation": {}, "sampling": {}, "tasks": {"requests": {}, "cancel": {}, "list": {}}},
    {"elicitation": {}, "sampling": {}, "tasks": {"requests": {"elicitation": {}, "sampling": {"create": {}}}}},
]


@pytest.mark.parametrize("capabilities", UNABLE)
async def test_a_client_that_runs_no_tasks(alice: Client, capabilities: Any) -> None:
    """T-02, T-03: is asked plainly; what looks like a task is then no answer."""
    await alice.open(capabilities)
    task_id = await alice.script(["all", ASK_FOR_TASK, ASK_FOR_SAMPLE])
    async with alice.waiting_for(task_id) as stream:
        for method, answer in ((ELICIT, ADA), (SAMPLE, SAMPLED)):
            asked = await next_request(stream, method)
            assert "task" not in asked["params"]
            assert await alice.answer(asked, THEIRS.created) == 202
            assert await alice.status(task_id) == "input_required"
            assert await alice.answer(asked, answer) == 202
        assert not (await stream.rest())[-1]["result"].get("isError")


async def test_a_client_of_a_revision_without_tasks(alice: Client) -> None:
    """T-03: whatever it declares."""
    await alice.open(CAN_RUN, version="2025-06-18")
    async with alice.stream(alice.frame("tools/call", {"name": "talk", "arguments": {"script": [ASK_FOR_TASK]}})) as s:
        asked = await next_request(s, ELICIT)
        assert "task" not in asked["params"]
        assert await alice.answer(asked, ADA) == 202
        await s.rest()


# How it ends otherwise


@pytest.mark.parametrize(
    ("step", "method", "expected"),
    [
        (ASK_FOR_TASK, ELICIT, {"action": "cancel", "content": None}),
        (ASK_FOR_SAMPLE, SAMPLE, "The client cancelled the task that was to give the answer"),
    ],
)
async def test_their_task_is_cancelled(alice: Client, step: list[Any], method: str, expected: Any) -> None:
    """T-19: it is not asked for a result, nor told to cancel."""
    await alice.open(CAN_RUN)
    task_id = await alice.script(step)
    async with alice.waiting_for(task_id) as stream:
        assert await alice.answer(await next_request(stream, method), THEIRS.created) == 202
        assert await alice.answer(await next_request(stream, "tasks/get"), THEIRS.at("cancelled"), node=1) == 202
        *others, response = await stream.rest()
    assert set(methods_of(others)) == {STATUS}
    if isinstance(expected, str):
        assert text_of(response) == expected
    else:
        assert response["result"]["structuredContent"] == {"result": [expected]}


async def test_their_task_fails(alice: Client) -> None:
    """T-19: tasks/result says why."""
    await alice.open(CAN_RUN)
    task_id = await alice.script(ASK_FOR_TASK)
    async with alice.waiting_for(task_id) as stream:
        assert await alice.answer(await next_request(stream, ELICIT), THEIRS.created) == 202
        assert await alice.answer(await next_request(stream, "tasks/get"), THEIRS.at("failed")) == 202
        await refuse(alice, await next_request(stream, "tasks/result"), {"code": -1, "message": "No screen."}, 1)
        response = (await stream.rest())[-1]
    assert text_of(response) == "The client refused the request: No screen."


async def test_their_task_needs_input(alice: Client) -> None:
    """T-19, T-39: its result is waited for at once, and it is not polled meanwhile."""
    await alice.open(CAN_RUN)
    task_id = await alice.script(ASK_FOR_TASK)
    async with alice.waiting_for(task_id) as stream:
        assert await alice.answer(await next_request(stream, ELICIT), THEIRS.created) == 202
        assert await alice.answer(await next_request(stream, "tasks/get"), THEIRS.at("input_required")) == 202
        fetch = await next_request(stream, "tasks/result")
        assert await alice.status(task_id) == "input_required"
        assert await alice.answer(fetch, THEIRS.result(ADA)) == 202
        *others, response = await stream.rest()
    assert set(methods_of(others)) == {STATUS}
    assert response["result"]["structuredContent"] == {"result": [ADA]}


async def test_their_task_is_gone(alice: Client) -> None:
    """T-47, T-72: nothing is taken for granted of how long it is kept.  Another error is no end, nor is nonsense."""
    await alice.open(CAN_RUN)
    task_id = await alice.script(ASK_FOR_TASK)
    async with alice.waiting_for(task_id) as stream:
        assert await alice.answer(await next_request(stream, ELICIT), THEIRS.created) == 202
        await refuse(alice, await next_request(stream, "tasks/get"), {"code": -32603, "message": "Later."})
        for nonsense in (None, {"status": "working"}, THEIRS.at("finished"), TheirTask("other").at("completed")):
            assert await alice.answer(await next_request(stream, "tasks/get"), nonsense) == 202
        await refuse(alice, await next_request(stream, "tasks/get"), GONE)
        response = (await stream.rest())[-1]
    assert text_of(response) == "The client's task expired before it gave an answer"


async def test_their_task_expires_unheard(alice: Client) -> None:
    """T-47: its ttl ends the wait of a run whose polls are not answered."""
    await alice.open(CAN_RUN)
    task_id = await alice.script(ASK_FOR_TASK)
    async with alice.waiting_for(task_id) as stream:
        asked = await next_request(stream, ELICIT)
        assert await alice.answer(asked, TheirTask("brief", ttl=500).created) == 202
        response = (await stream.rest())[-1]
    assert text_of(response) == "The client's task expired before it gave an answer"


async def test_a_client_that_never_answers_a_poll(alice: Client) -> None:
    """X-6: our own ttl ends it; the poll is sent once."""
    await alice.open(CAN_RUN)
    task_id = await alice.create("book", {"message": "Where?", "as_task": True}, ttl=1500)
    async with alice.waiting_for(task_id) as stream:
        assert await alice.answer(await next_request(stream, ELICIT), THEIRS.created) == 202
        poll = await next_request(stream, "tasks/get")
        *others, response = await stream.rest()
    assert (set(methods_of(others)) <= {STATUS}, response["error"]["message"]) == (True, "Task has expired")
    assert await alice.answer(poll, THEIRS.at("working")) == 202


@pytest.mark.parametrize("wrong", [{"action": "accept", "content": {}}, {"action": "perhaps"}, None, SAMPLED])
async def test_a_result_that_does_not_fit(alice: Client, wrong: Any) -> None:
    """E-06: ends the question, since no other result will come."""
    await alice.open(CAN_RUN)
    task_id = await alice.script(ASK_FOR_TASK)
    async with alice.waiting_for(task_id) as stream:
        assert await alice.answer(await next_request(stream, ELICIT), THEIRS.created) == 202
        assert await alice.answer(await next_request(stream, "tasks/get"), THEIRS.at("completed")) == 202
        assert await alice.answer(await next_request(stream, "tasks/result"), wrong) == 202
        response = (await stream.rest())[-1]
    assert text_of(response) == "The client's task gave something else than what was asked for"


BAD_TASKS: list[Any] = [
    {"task": {}},
    {"task": []},
    {"task": THEIRS.at("working") | {"taskId": 1}},
    {"task": THEIRS.at("done")},
    {"task": THEIRS.at("working") | {"ttl": "long"}},
    {"task": THEIRS.at("working") | {"pollInterval": True}},
]


async def test_answers_that_are_no_task(alice: Client) -> None:
    """E-06, T-102: they have no effect, and the question stays open."""
    await alice.open(CAN_RUN)
    task_id = await alice.script(ASK_FOR_TASK)
    async with alice.waiting_for(task_id) as stream:
        asked = await next_request(stream, ELICIT)
        for bad in BAD_TASKS:
            assert await alice.answer(asked, bad) == 202
        assert await alice.status(task_id) == "input_required"
        assert await alice.answer(asked, ADA) == 202
        assert (await stream.rest())[-1]["result"]["structuredContent"] == {"result": [ADA]}


async def test_a_client_that_answers_twice(alice: Client) -> None:
    """T-73, T-102: the first of each counts; a second task for one question is cancelled."""
    await alice.open(CAN_RUN)
    task_id = await alice.script(ASK_FOR_TASK)
    other = TheirTask("theirs-2", interval=HOUR)
    async with alice.waiting_for(task_id) as stream:
        asked = await next_request(stream, ELICIT)
        for node in (0, 1):
            assert await alice.answer(asked, TheirTask(THEIRS.id, interval=1000).created, node) == 202
        assert await alice.answer(asked, other.created) == 202
        cancel = await next_request(stream, "tasks/cancel")
        assert cancel["params"] == {"taskId": other.id}
        assert await alice.answer(cancel, other.at("cancelled")) == 202
        assert await alice.answer(asked, {"action": "decline"}) == 202
        poll = await next_request(stream, "tasks/get")
        assert poll["params"] == {"taskId": THEIRS.id}
        for status in ("completed", "cancelled"):
            assert await alice.answer(poll, THEIRS.at(status)) == 202
        fetch = await next_request(stream, "tasks/result")
        for result in (ADA, {"action": "decline"}):
            assert await alice.answer(fetch, result) == 202
        assert (await stream.rest())[-1]["result"]["structuredContent"] == {"result": [ADA]}


# How often


async def test_the_poll_interval(alice: Client, redis: Redis, site: Site) -> None:
    """T-18, T-24, T-25: a task that asks to be left alone is, while another is polled time and again.

    Whatever the client tells of it unasked changes nothing.
    """
    await alice.open(CAN_RUN)
    slow, quick = TheirTask("slow", interval=HOUR), TheirTask("quick")
    task_id = await alice.script(["all", ASK_FOR_TASK, ASK_FOR_TASK])
    async with alice.waiting_for(task_id) as stream:
        first, second = await next_request(stream, ELICIT), await next_request(stream, ELICIT)
        assert await alice.answer(first, slow.created) == 202
        assert await alice.answer(second, quick.created) == 202
        told = notification(STATUS, slow.at("completed"))
        for node in (0, 1, 0, 1):
            assert (await alice.send(told, node)).status_code == 202
            poll = await next_request(stream, "tasks/get")
            assert poll["params"] == {"taskId": quick.id}
            assert await alice.answer(poll, quick.at("working")) == 202
        inputs = await redis.execute_command("HGETALL", Store(redis, site.namespace).keys.inputs(task_id))
        polled = {key.decode().partition("/poll")[0] for key in inputs if b"/poll" in key}
        assert polled == {f"{ELICIT}#2"}
        assert (await alice.result("tasks/cancel", {"taskId": task_id}))["status"] == "cancelled"
        cancels = [message for message in await stream.rest() if message.get("method") == "tasks/cancel"]
    assert sorted(cancel["params"]["taskId"] for cancel in cancels) == [quick.id, slow.id]


async def test_two_sessions_of_one_user(alice: Client, connect: Callable[[str], Client]) -> None:
    """T-102, E-05: only the one that has the task is polled, though the other waits for our result."""
    other = connect("alice-token")
    await alice.open(CAN_RUN)
    await other.open(CAN_RUN)
    async with alice.listen() as own:
        task_id = await alice.script(ASK_FOR_TASK)
        asked = await next_request(own, ELICIT)
        async with other.waiting_for(task_id, node=1) as theirs, other.listen():
            assert await other.answer(asked, THEIRS.created) == 400
            assert await alice.answer(asked, THEIRS.created) == 202
            poll = await next_request(own, "tasks/get")
            assert await other.answer(poll, THEIRS.at("cancelled")) == 400
            assert await alice.answer(poll, THEIRS.at("completed"), node=1) == 202
            fetch = await next_request(own, "tasks/result")
            assert await other.answer(fetch, ADA) == 400
            assert await alice.answer(fetch, THEIRS.result(ADA)) == 202
            messages = await theirs.rest()
    assert messages[-1]["result"]["structuredContent"] == {"result": [ADA]}
    assert set(methods_of(messages)) == {STATUS, "response"}
