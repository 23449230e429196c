"""What a task asks its user: delivered once, answered through any node, and waited for by whatever run is next."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from tests.http.gates import Gates
from tests.processes import Valkey, Worker
from tests.wire.client import JSON, RELATED_TASK, Client, Message, Stream, methods_of, read_messages
from tests.wire.conftest import APP, deploy
from tests.wire.forms import ADA, ASK, ELICIT, FORMS, NAME, STATUS, next_question

BOTH: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}


async def result_of(client: Client, task_id: str, node: int = 0) -> Any:
    """What came of each step of a script."""
    result = await client.result("tasks/result", {"taskId": task_id}, node)
    return result["structuredContent"]["result"]


async def test_a_form(alice: Client, gates: Gates, label: str) -> None:
    """T-33, T-37 to T-40, T-54, X-9, E-05: asked on one node, answered through the other."""
    await alice.open(FORMS)
    task_id = await alice.script(ASK, ["gate", label])
    async with alice.waiting_for(task_id, node=0) as stream:
        asked = await next_question(stream)
        assert await alice.status(task_id, node=1) == "input_required"
        meta = {RELATED_TASK: {"taskId": task_id}}
        assert asked == {
            "jsonrpc": "2.0",
            "id": asked["id"],
            "method": ELICIT,
            "params": {"message": "Who?", "requestedSchema": NAME, "_meta": meta},
        }
        assert isinstance(asked["id"], str)
        assert await alice.answer(asked, ADA | {"_meta": meta}, node=1) == 202
        await gates.reached(label)
        assert await alice.status(task_id) == "working"
        await gates.open(label)
        messages = await stream.rest()
    assert messages[-1]["result"]["structuredContent"] == {"result": [ADA, None]}
    told = [message["params"]["status"] for message in messages if message.get("method") == STATUS]
    assert told == ["working", "completed"]


async def test_a_form_of_a_model(alice: Client) -> None:
    """E-06: its fields, and an answer with the types that they have."""
    await alice.open(FORMS)
    task_id = await alice.create("book", {"message": "Where?"})
    async with alice.waiting_for(task_id) as stream:
        asked = await next_question(stream)
        schema = asked["params"]["requestedSchema"]
        assert schema["properties"].keys() == {"name", "seats", "kind"}
        assert schema["required"] == ["name", "seats"]
        content = {"name": "Ada", "seats": 2, "unasked": True}
        assert await alice.accept(asked, content, node=1) == 202
        answered = (await stream.rest())[-1]["result"]["structuredContent"]
    assert answered == {"action": "accept", "content": {"name": "Ada", "seats": 2}}


async def test_a_link(alice: Client) -> None:
    """E-02: for a client that declared this mode."""
    await alice.open(BOTH)
    task_id = await alice.script(["elicit_url", "Sign in.", "https://example.org/sign-in?x=1"])
    async with alice.waiting_for(task_id) as stream:
        params = (asked := await next_question(stream))["params"]
        id = params.pop("elicitationId")
        assert params == {
            "mode": "url",
            "message": "Sign in.",
            "url": "https://example.org/sign-in?x=1",
            "_meta": {RELATED_TASK: {"taskId": task_id}},
        }
        assert await alice.answer(asked, {"action": "accept"}) == 202
    assert await result_of(alice, task_id) == [{"action": "accept", "content": None, "elicitation_id": id}]


@pytest.mark.parametrize("url", ["http://example.org/", "https://ada:secret@example.org/", "javascript:alert(1)", "x"])
async def test_links_that_nobody_should_open(alice: Client, url: str) -> None:
    """E-07: nothing is asked."""
    await alice.open(BOTH)
    task_id = await alice.script(["elicit_url", "Sign in.", url])
    assert (await alice.result("tasks/result", {"taskId": task_id}))["isError"]


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_user_who_does_not_answer(alice: Client, action: str) -> None:
    await alice.open(FORMS)
    task_id = await alice.script(ASK)
    async with alice.waiting_for(task_id) as stream:
        assert await alice.answer(await next_question(stream), {"action": action}) == 202
    assert await result_of(alice, task_id) == [{"action": action, "content": None}]


async def test_a_client_that_answers_with_an_error(alice: Client) -> None:
    await alice.open(FORMS)
    task_id = await alice.script(ASK)
    async with alice.waiting_for(task_id) as stream:
        asked = await next_question(stream)
        error = {"code": -1, "message": "The user is out."}
        answer = {"jsonrpc": "2.0", "id": asked["id"], "error": error}
        assert (await alice.send(answer, 1)).status_code == 202
        result = (await stream.rest())[-1]["result"]
    assert (result["isError"], result["content"][0]["text"]) == (
        True,
        "The client refused the request: The user is out.",
    )


UNDECLARED: list[tuple[Any, list[Any]]] = [
    ({}, ASK),
    ({"sampling": {}}, ASK),
    ({"elicitation": {"url": {}}}, ASK),
    ({"elicitation": {}}, ["elicit_url", "Sign in.", "https://example.org/"]),
    ({"elicitation": {"form": {}}}, ["elicit_url", "Sign in.", "https://example.org/"]),
]


@pytest.mark.parametrize(("capabilities", "step"), UNDECLARED)
async def test_what_the_client_did_not_declare(alice: Client, capabilities: Any, step: list[Any]) -> None:
    """E-01, L-02: the tool is told at once, and nothing is sent; as a task, and plainly."""
    await alice.open(capabilities)
    task_id = await alice.script(step)
    async with alice.listen():
        result = await alice.result("tasks/result", {"taskId": task_id})
        plainly = await alice.call("talk", {"script": [step]})
    mode = "elicitation.form" if step is ASK else "elicitation.url"
    assert result["content"][0]["text"] == f"The client does not support {mode}, which this tool needs"
    assert result["isError"]
    assert plainly["content"] == result["content"]


async def test_several_questions_at_once(alice: Client, gates: Gates, label: str) -> None:
    """T-40: each has an id of its own; input is required until the last of them is answered."""
    await alice.open(FORMS)
    task_id = await alice.script(["all", *(["elicit", f"{number}?", NAME] for number in range(3))], ["gate", label])
    async with alice.waiting_for(task_id) as stream:
        asked = [await next_question(stream) for _ in range(3)]
        assert len({question["id"] for question in asked}) == 3
        names = {question["params"]["message"]: f"name {question['params']['message']}" for question in asked}
        for number, question in enumerate(reversed(asked)):
            assert await alice.status(task_id) == "input_required"
            content = {"name": names[question["params"]["message"]]}
            assert await alice.accept(question, content, node=number % 2) == 202
        await gates.reached(label)
        assert await alice.status(task_id) == "working"
        await gates.open(label)
    answered, _ = await result_of(alice, task_id)
    assert [answer["content"]["name"] for answer in answered] == [f"name {number}?" for number in range(3)]


WRONG: list[Any] = [
    {"action": "accept", "content": {}},
    {"action": "accept", "content": {"name": "A"}},
    {"action": "accept", "content": {"name": 1}},
    {"action": "accept", "content": {"name": None}},
    {"action": "accept", "content": ["Ada"]},
    {"action": "accept"},
    {"action": "perhaps"},
    {},
    None,
    "accept",
    [ADA],
]


async def test_answers_that_do_not_fit(alice: Client) -> None:
    """E-06: they are taken notice of, and the question stays open."""
    await alice.open(FORMS)
    task_id = await alice.script(ASK)
    async with alice.waiting_for(task_id) as stream:
        asked = await next_question(stream)
        for number, wrong in enumerate(WRONG):
            assert await alice.answer(asked, wrong, node=number % 2) == 202
        assert await alice.status(task_id) == "input_required"
        assert await alice.answer(asked, ADA) == 202
    assert await result_of(alice, task_id) == [ADA]


async def test_the_first_answer_counts(alice: Client, gates: Gates, label: str) -> None:
    """A later one, to either node, is accepted and ignored: while the task works, and when it is over."""
    await alice.open(FORMS)
    task_id = await alice.script(ASK, ["gate", label])
    async with alice.waiting_for(task_id) as stream:
        asked = await next_question(stream)
        statuses = await asyncio.gather(*(alice.accept(asked, {"name": f"Ada {n}"}, node=n % 2) for n in range(10)))
        assert statuses == [202] * 10
        await gates.reached(label)
        assert await alice.answer(asked, {"action": "decline"}, node=1) == 202
        await gates.open(label)
        (answer, _) = (await stream.rest())[-1]["result"]["structuredContent"]["result"]
    assert (answer["action"], answer["content"]["name"].partition(" ")[0]) == ("accept", "Ada")
    assert await alice.answer(asked, {"action": "cancel"}) == 202
    assert await result_of(alice, task_id) == [answer, None]


async def test_answers_of_those_who_were_not_asked(alice: Client, connect: Callable[[str], Client]) -> None:
    """E-05, H-07: 400 for another session and another principal, and for an id that there is not."""
    await alice.open(FORMS)
    bob, again = connect("bob-token"), connect("alice-token")
    await bob.open(FORMS)
    await again.open(FORMS)
    task_id = await alice.script(ASK)
    async with alice.waiting_for(task_id) as stream:
        asked = await next_question(stream)
        for client in (bob, again):
            for node in (0, 1):
                assert await client.answer(asked, ADA, node) == 400
        for id in ("ask-" + "0" * 32, "", "x", task_id, 1):
            assert await alice.answer({"id": id}, ADA) == 400
        assert await alice.status(task_id) == "input_required"
        assert await alice.answer(asked, {"action": "decline"}) == 202
    assert await result_of(alice, task_id) == [{"action": "decline", "content": None}]


async def test_a_question_is_delivered_once(alice: Client) -> None:
    """X-8, H-27: on one stream of all that are open, on whatever node."""
    await alice.open(FORMS)
    heard: list[Message] = []

    async def read(stream: Stream) -> None:
        async for event in stream.events():
            heard.append(event.message)
            if event.message.get("method") == ELICIT:
                assert await alice.answer(event.message, ADA, node=1) == 202

    async with alice.listen(node=0) as get, alice.listen(node=1) as other_get:
        listening = [asyncio.create_task(read(stream)) for stream in (get, other_get)]
        task_id = await alice.script(*[ASK] * 20)
        async with alice.waiting_for(task_id, 0) as here, alice.waiting_for(task_id, 1) as there:
            await asyncio.gather(read(here), read(there))
        await alice.send({}, verb="DELETE")
        await asyncio.gather(*listening)
    questions = [message["id"] for message in heard if message.get("method") == ELICIT]
    assert len(questions) == len(set(questions)) == 20
    assert methods_of(heard).count("response") == 2


async def test_a_question_on_the_stream_of_the_session(alice: Client) -> None:
    """T-35, H-16: where nobody waits for the result."""
    await alice.open(FORMS)
    async with alice.listen(node=1) as stream:
        task_id = await alice.script(ASK)
        asked = await next_question(stream)
        async with alice.waiting_for(task_id) as waiting:  # the question is held: it is not asked again here
            assert await alice.answer(asked, ADA) == 202
            assert ELICIT not in methods_of(await waiting.rest())
    assert await result_of(alice, task_id) == [ADA]


async def test_a_question_whose_stream_died(alice: Client) -> None:
    """T-39: it goes out again under its old id, on whatever stream is next, until it is answered."""
    await alice.open(FORMS)
    task_id = await alice.script(ASK)
    async with alice.waiting_for(task_id, node=0) as stream:
        asked = await next_question(stream)
        last = stream.last
    async with alice.listen(node=1, last=last) as stream:  # the same one, gone on with on the other node
        assert await next_question(stream) == asked
    async with alice.waiting_for(task_id, node=0) as stream:
        assert await next_question(stream) == asked
        async with alice.listen(node=1) as get:
            await stream.drop()
            assert await next_question(get) == asked
            assert await alice.answer(asked, ADA) == 202
    async with alice.listen(node=1, last=last) as stream:
        assert methods_of(await stream.rest())[-1] == "response"
    assert await result_of(alice, task_id) == [ADA]


async def test_a_question_of_a_plain_call(alice: Client) -> None:
    """T-38, T-53: it names no task; the call goes on with the answer, which comes through the other node."""
    await alice.open(FORMS)
    async with alice.calling("talk", {"script": [ASK]}) as stream:
        asked = await stream.message()
        assert asked["params"] == {"message": "Who?", "requestedSchema": NAME}
        assert await alice.answer(asked, ADA, node=1) == 202
        (response,) = await stream.rest()
    assert response["result"]["structuredContent"] == {"result": [ADA]}


async def test_a_question_of_a_call_whose_stream_was_lost(alice: Client) -> None:
    """H-23: the stream goes on with the same question."""
    await alice.open(FORMS)
    async with alice.calling("talk", {"script": [["log", "info", 1], ASK]}) as stream:
        messages = await stream.take(2)
        last = stream.last
    (asked,) = [message for message in messages if message["method"] == ELICIT]
    async with alice.listen(node=1, last=last) as stream:
        assert await stream.message() == asked
        assert await alice.answer(asked, ADA) == 202
        assert methods_of(await stream.rest()) == ["response"]


async def test_a_client_that_takes_json_only_is_not_asked_there(alice: Client) -> None:
    """H-08: its question goes out on a stream that it has."""
    await alice.open(FORMS)
    task_id = await alice.script(ASK)
    request = alice.frame("tasks/result", {"taskId": task_id})
    waiting = asyncio.create_task(alice.send(request, headers={"accept": JSON}))
    async with alice.listen(node=1) as stream:
        assert await alice.answer(await next_question(stream), ADA) == 202
        (response,) = read_messages(await waiting)
    assert response["result"]["structuredContent"] == {"result": [ADA]}


async def test_a_plain_function_asks(alice: Client) -> None:
    await alice.open(FORMS)
    task_id = await alice.create("ask_in_thread", {"message": "Where?"})
    async with alice.waiting_for(task_id) as stream:
        assert await alice.accept(await next_question(stream), {"name": "Ada", "seats": 1}) == 202
        result = (await stream.rest())[-1]["result"]
    assert result["content"][0]["text"] == "{'name': 'Ada', 'seats': 1}"


async def test_the_next_session_is_asked(alice: Client, connect: Callable[[str], Client]) -> None:
    """X-15, E-05: the session in which the task began is over, and its owner is asked in another that allows it."""
    await alice.open(FORMS)
    task_id = await alice.script(ASK)
    async with alice.waiting_for(task_id) as stream:
        asked = await next_question(stream)
    await alice.send({}, verb="DELETE")
    unable, able = connect("alice-token"), connect("alice-token")
    await unable.open({"elicitation": {"url": {}}})
    await able.open(FORMS)
    async with unable.waiting_for(task_id) as stream:
        assert await unable.answer(asked, ADA) == 400
        async with able.waiting_for(task_id, node=1) as other:
            assert await next_question(other) == asked
            assert await able.answer(asked, ADA) == 202
            assert (await other.rest())[-1]["result"]["structuredContent"] == {"result": [ADA]}
        assert ELICIT not in methods_of(await stream.rest())  # L-02


async def test_cancel_ends_the_wait(alice: Client, gates: Gates, label: str) -> None:
    """T-33, T-68, X-2: the run is stopped, and an answer comes too late."""
    await alice.open(FORMS)
    task_id = await alice.script(["all", ["gate", label], ASK])
    async with alice.waiting_for(task_id) as stream:
        asked = await next_question(stream)
        assert (await alice.result("tasks/cancel", {"taskId": task_id}, node=1))["status"] == "cancelled"
        assert (await stream.rest())[-1]["error"]["message"] == "Task was cancelled"
    await gates.stopped(label)
    assert await alice.answer(asked, ADA, node=1) == 202
    assert await alice.status(task_id) == "cancelled"


async def test_the_end_of_the_ttl_ends_the_wait(alice: Client) -> None:
    """X-6, T-45: and an answer to what was asked comes too late, also when nothing is left of the task."""
    await alice.open(FORMS)
    task_id = await alice.create("book", {"message": "Where?"}, ttl=1000)
    async with alice.waiting_for(task_id) as stream:
        asked = await next_question(stream)
        assert (await stream.rest())[-1]["error"]["message"] == "Task has expired"
    assert (await alice.error("tasks/get", {"taskId": task_id}))["message"] == "Task not found"
    for node in (0, 1):
        assert await alice.accept(asked, {"name": "Ada", "seats": 1}, node) == 202


@pytest.mark.parametrize("answered", ["before", "after"])
async def test_a_worker_that_dies_while_it_waits(
    http: httpx2.AsyncClient, valkey: Valkey, gates: Gates, label: str, answered: str
) -> None:
    """The next run gets the answer, whenever it came; the user is not asked again, and the rest is asked once."""
    settings: dict[str, Any] = {"namespace": f"widowed-{answered}", "lease_seconds": 1}
    with deploy(valkey, workers=0, **settings) as site, Worker(APP, valkey.url, **settings) as mortal:
        alice = Client(http, site.urls, "alice-token")
        await alice.open(FORMS)
        task_id = await alice.script(["run"], ["all", ["gate", label], ASK], ["elicit", "And who else?", NAME])
        async with alice.waiting_for(task_id) as stream:
            asked = await next_question(stream)
            await gates.reached(label)
            mortal.kill()
            if answered == "before":
                assert await alice.answer(asked, ADA, node=1) == 202
            with Worker(APP, valkey.url, **settings):
                await gates.reached(label)
                if answered == "after":
                    assert await alice.answer(asked, ADA, node=1) == 202
                await gates.open(label)
                other = await next_question(stream)
                assert (other["params"]["message"], other["id"] != asked["id"]) == ("And who else?", True)
                assert await alice.answer(other, {"action": "decline"}) == 202
                messages = await stream.rest()
    assert ELICIT not in methods_of(messages)
    declined = {"action": "decline", "content": None}
    assert messages[-1]["result"]["structuredContent"]["result"] == [2, [None, ADA], declined]
