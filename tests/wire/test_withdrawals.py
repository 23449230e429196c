"""What becomes of questions that nobody waits for any more, and of those whose nodes and workers die."""

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from tests.http.gates import Gates
from tests.processes import Valkey, Worker
from tests.wire.client import RELATED_TASK, Client, methods_of
from tests.wire.conftest import APP, deploy
from tests.wire.forms import ADA, ASK, ELICIT, FORMS, STATUS
from tests.wire.their_task import ASK_FOR_TASK, CAN_RUN, TheirTask, next_request

THEIRS = TheirTask("theirs-1")
CANCELLED = "notifications/cancelled"


async def test_our_task_is_cancelled(alice: Client) -> None:
    """T-73, L-07: the client's task is cancelled by tasks/cancel, and before anything is said of the end of ours."""
    await alice.open(CAN_RUN)
    task_id = await alice.script(ASK_FOR_TASK)
    async with alice.waiting_for(task_id) as stream:
        assert await alice.answer(await next_request(stream, ELICIT), THEIRS.created) == 202
        poll = await next_request(stream, "tasks/get")
        assert (await alice.result("tasks/cancel", {"taskId": task_id}, node=1))["status"] == "cancelled"
        cancel = await stream.message()
        assert (cancel["method"], cancel["params"]) == ("tasks/cancel", {"taskId": THEIRS.id})
        assert methods_of(await stream.rest()) == [STATUS, "response"]
    for node in (0, 1):
        assert await alice.answer(cancel, THEIRS.at("cancelled"), node) == 202
        assert await alice.answer(poll, THEIRS.at("completed"), node) == 202
    assert await alice.status(task_id) == "cancelled"


async def test_a_task_of_theirs_that_begins_too_late(alice: Client) -> None:
    """T-73: nothing takes its request back, and it is cancelled when it is heard of."""
    await alice.open(CAN_RUN)
    task_id = await alice.script(ASK_FOR_TASK)
    async with alice.waiting_for(task_id) as stream:
        asked = await next_request(stream, ELICIT)
        await alice.result("tasks/cancel", {"taskId": task_id}, node=1)
        assert methods_of(await stream.rest()) == [STATUS, "response"]
    async with alice.listen(node=1) as stream:
        assert await alice.answer(asked, THEIRS.created) == 202
        cancel = await stream.message()
    assert (cancel["method"], cancel["params"]) == ("tasks/cancel", {"taskId": THEIRS.id})
    assert await alice.answer(cancel, THEIRS.at("cancelled")) == 202


async def test_a_plain_question_of_a_task_that_is_cancelled(alice: Client) -> None:
    """L-07, T-53: the client hears that its answer is not wanted any more."""
    await alice.open(FORMS)
    task_id = await alice.script(ASK)
    async with alice.waiting_for(task_id) as stream:
        asked = await next_request(stream, ELICIT)
        await alice.result("tasks/cancel", {"taskId": task_id}, node=1)
        taken_back = await stream.message()
        assert methods_of(await stream.rest()) == [STATUS, "response"]
    meta = {RELATED_TASK: {"taskId": task_id}}
    assert taken_back["method"] == CANCELLED
    assert taken_back["params"] == {"requestId": asked["id"], "reason": "No longer needed", "_meta": meta}


@pytest.mark.parametrize("kind", ["plain", "task"])
async def test_a_tool_gives_up(alice: Client, gates: Gates, label: str, kind: str) -> None:
    """T-40, T-73, L-07: its task works again; the client hears of it, and what it answers has no effect."""
    await alice.open(CAN_RUN)
    step = ASK if kind == "plain" else ASK_FOR_TASK
    task_id = await alice.script(["unless", label, step], ["gate", f"{label} after"])
    async with alice.waiting_for(task_id) as stream:
        asked = await next_request(stream, ELICIT)
        if kind == "task":
            assert await alice.answer(asked, THEIRS.created) == 202
        await gates.open(label)
        message = await stream.message()
        while message["method"] in (STATUS, "tasks/get"):
            message = await stream.message()
        if kind == "plain":
            assert (message["method"], message["params"]["requestId"]) == (CANCELLED, asked["id"])
        else:
            assert (message["method"], message["params"]) == ("tasks/cancel", {"taskId": THEIRS.id})
        await gates.reached(f"{label} after")
        assert await alice.status(task_id) == "working"
        assert await alice.answer(asked, ADA, node=1) == 202
        await gates.open(f"{label} after")
        assert (await stream.rest())[-1]["result"]["structuredContent"] == {"result": ["given up", None]}


# Nodes and workers that die


@pytest.mark.parametrize("heard", ["before", "after"])
async def test_a_worker_that_dies_while_their_task_works(
    http: httpx2.AsyncClient, valkey: Valkey, gates: Gates, label: str, heard: str
) -> None:
    """T-102: the next run goes on with the same task of the client, which is asked once."""
    settings: dict[str, Any] = {"namespace": f"bereft-{heard}", "lease_seconds": 1}
    with deploy(valkey, workers=0, **settings) as site, Worker(APP, valkey.url, **settings) as mortal:
        alice = Client(http, site.urls, "alice-token")
        await alice.open(CAN_RUN)
        task_id = await alice.script(["run"], ["all", ["gate", label], ASK_FOR_TASK])
        async with alice.waiting_for(task_id) as stream:
            assert await alice.answer(await next_request(stream, ELICIT), THEIRS.created) == 202
            poll = await next_request(stream, "tasks/get")
            await gates.reached(label)
            mortal.kill()
            if heard == "before":
                assert await alice.answer(poll, THEIRS.at("completed"), node=1) == 202
            with Worker(APP, valkey.url, **settings):
                await gates.reached(label)
                if heard == "after":
                    assert await alice.answer(poll, THEIRS.at("completed"), node=1) == 202
                fetch = await next_request(stream, "tasks/result")
                assert await alice.answer(fetch, THEIRS.result(ADA)) == 202
                await gates.open(label)
                messages = await stream.rest()
    assert set(methods_of(messages)) <= {STATUS, "response"}
    assert messages[-1]["result"]["structuredContent"]["result"] == [2, [None, ADA]]


async def test_a_node_that_dies_with_a_poll(http: httpx2.AsyncClient, valkey: Valkey) -> None:
    """T-20, T-39: the same poll goes out again on the other node, and the question does not."""
    with deploy(valkey, namespace="halved", workers=1) as site:
        alice = Client(http, site.urls, "alice-token")
        await alice.open(CAN_RUN)
        task_id = await alice.script(ASK_FOR_TASK)
        async with alice.waiting_for(task_id, node=0) as stream:
            assert await alice.answer(await next_request(stream, ELICIT), THEIRS.created, node=1) == 202
            poll = await next_request(stream, "tasks/get")
            last = stream.last
            site.nodes[0].kill()
        async with alice.listen(node=1, last=last) as stream:  # the same stream, gone on with
            assert await next_request(stream, "tasks/get") == poll
            assert await alice.answer(poll, THEIRS.at("completed"), node=1) == 202
            assert await alice.answer(await next_request(stream, "tasks/result"), THEIRS.result(ADA), node=1) == 202
            messages = await stream.rest()
    assert messages[-1]["result"]["structuredContent"] == {"result": [ADA]}


# Links


async def test_a_link_that_is_done(alice: Client, connect: Callable[[str], Client]) -> None:
    """E-02, E-04: who was asked to open it is told, and nobody else; it belongs to no task (T-53)."""
    other = connect("alice-token")
    await alice.open(CAN_RUN)
    await other.open(CAN_RUN)
    async with alice.listen() as own:
        task_id = await alice.script(["link", "Sign in.", "https://example.org/sign-in"])
        asked = await next_request(own, ELICIT)
        async with other.waiting_for(task_id, node=1) as theirs:
            assert await alice.answer(asked, {"action": "accept"}) == 202
            told = await own.message()
            messages = await theirs.rest()
    assert told == {
        "jsonrpc": "2.0",
        "method": "notifications/elicitation/complete",
        "params": {"elicitationId": asked["params"]["elicitationId"]},
    }
    assert set(methods_of(messages)) == {STATUS, "response"}


async def test_a_link_that_has_to_be_opened_first(alice: Client) -> None:
    """E-03: the error of a call, and of tasks/result (T-83)."""
    await alice.open(CAN_RUN)
    call = {"name": "require_link", "arguments": {"url": "https://example.org/sign-in"}}
    plainly = await alice.error("tools/call", call)
    task_id = await alice.create("require_link", call["arguments"])
    later = await alice.error("tasks/result", {"taskId": task_id}, node=1)
    for error in (plainly, later):
        (link,) = error["data"].pop("elicitations")
        assert link.pop("elicitationId")
        assert link == {"mode": "url", "url": "https://example.org/sign-in", "message": "Sign in."}
        assert error == {"code": -32042, "message": "Sign in first.", "data": {}}


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {}}, {"elicitation": {"form": {}}}])
async def test_a_client_that_opens_no_links(alice: Client, capabilities: Any) -> None:
    """E-01, E-03: gets a text instead."""
    await alice.open(capabilities)
    result = await alice.call("require_link", {"url": "https://example.org/sign-in"})
    assert (result["isError"], result["content"][0]["text"]) == (True, "Sign in first.")
