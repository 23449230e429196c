"""What a task, or a plain call, says while it runs."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import httpx2
import pytest

from tests.http.gates import Gates
from tests.processes import Valkey, Worker
from tests.wire.client import RELATED_TASK, Client, Message, methods_of, read_messages
from tests.wire.conftest import APP, deploy

LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
STATUS = "notifications/tasks/status"
PROGRESS = "notifications/progress"
TOKENS_OF_PROGRESS: list[Any] = [0, "", "0", 7, -1, "a b", 2**53]


def of(messages: Sequence[Message], method: str) -> list[Any]:
    """The params of the messages with this method."""
    return [message["params"] for message in messages if message.get("method") == method]


@pytest.mark.parametrize("token", TOKENS_OF_PROGRESS)
async def test_progress_of_a_task(alice: Client, gates: Gates, label: str, token: object) -> None:
    """T-60, L-08, T-53: it carries the token of the request that made the task, with its type, and names the task."""
    await alice.open()
    task_id = await alice.script(["gate", label], ["progress", 1], ["progress", 2.5, 4, "half"], progressToken=token)
    async with alice.waiting_for(task_id, node=1) as stream:
        await gates.open(label)
        told = of(await stream.rest(), PROGRESS)
    meta = {"_meta": {RELATED_TASK: {"taskId": task_id}}}
    assert told == [
        {"progressToken": token, "progress": 1} | meta,
        {"progressToken": token, "progress": 2.5, "total": 4, "message": "half"} | meta,
    ]
    assert {type(progress["progressToken"]) for progress in told} == {type(token)}


@pytest.mark.parametrize("token", TOKENS_OF_PROGRESS)
async def test_progress_of_a_plain_call(alice: Client, token: object) -> None:
    """T-53, L-08: no task is named."""
    await alice.open()
    async with alice.calling("talk", {"script": [["progress", 1, 2, "one"]]}, node=1, progressToken=token) as stream:
        messages = await stream.rest()
    assert of(messages, PROGRESS) == [{"progressToken": token, "progress": 1, "total": 2, "message": "one"}]
    assert RELATED_TASK not in str(messages)


async def test_nobody_asked_for_progress(alice: Client, gates: Gates, label: str) -> None:
    """T-60, T-62: without a token there is none."""
    await alice.open()
    task_id = await alice.script(["gate", label], ["progress", 1], ["log", "info", "x"])
    async with alice.waiting_for(task_id) as stream:
        await gates.open(label)
        assert methods_of(await stream.rest()) == ["notifications/message", STATUS, "response"]


@pytest.mark.parametrize("token", [1.5, None, True, [], {}])
async def test_what_is_no_progress_token(alice: Client, token: object) -> None:
    """L-08: refused, with or without a task, and nothing is made; null counts as none."""
    await alice.open()
    requests: list[Message] = [{"name": "announced"}, {"name": "announced", "task": {}}]
    for params in requests:
        params["_meta"] = {"progressToken": token}
        answer = await alice.ask("tools/call", params)
        assert ("result" in answer) == (token is None)
        if token is not None:
            assert answer["error"]["code"] == -32602


async def test_progress_on_the_stream_of_the_session(alice: Client, gates: Gates, label: str) -> None:
    """X-10: nobody waits for the result, so it comes on a GET stream; of the other node, as it happens."""
    await alice.open()
    task_id = await alice.script(["gate", label], ["progress", 1], progressToken="t")
    async with alice.listen(node=1) as stream:
        await gates.open(label)
        progress, ended = await stream.take(2)
    assert progress["params"] == {"progressToken": "t", "progress": 1, "_meta": {RELATED_TASK: {"taskId": task_id}}}
    assert ended["params"]["status"] == "completed"


async def test_progress_only_rises(alice: Client, gates: Gates, label: str) -> None:
    """T-62: what does not, is not said."""
    await alice.open()
    steps = [["progress", done] for done in (1, 1, 0, 2, 1.5, 2.25, -1, 3)]
    task_id = await alice.script(["gate", label], *steps, progressToken="t")
    async with alice.waiting_for(task_id) as stream:
        await gates.open(label)
        told = [progress["progress"] for progress in of(await stream.rest(), PROGRESS)]
    assert told == [1, 2, 2.25, 3]


@pytest.mark.parametrize("as_task", [True, False])
async def test_a_flood_of_progress(alice: Client, gates: Gates, label: str, as_task: bool) -> None:
    """L-08, T-61, T-62: of ten thousand a bounded number is sent, rising, with the last; none after the end."""
    await alice.open()
    await gates.open(label)
    arguments = {"label": label, "count": 10_000}
    if as_task:
        task_id = await alice.create("rush", arguments, progressToken="t")
        request = alice.frame("tasks/result", {"taskId": task_id})
    else:
        request = alice.frame("tools/call", {"name": "rush", "arguments": arguments, "_meta": {"progressToken": "t"}})
    async with alice.stream(request, node=1) as stream:
        messages = await stream.rest()
    told = [progress["progress"] for progress in of(messages, PROGRESS)]
    assert told[-1] == 10_000
    assert len(told) < 1_000
    assert all(before < after for before, after in pairwise(told))
    assert methods_of(messages)[len(told) :] == ([STATUS] if as_task else []) + ["response"]


async def test_progress_over_a_lost_worker(http: httpx2.AsyncClient, valkey: Valkey, gates: Gates, label: str) -> None:
    """T-60, T-62: the next run goes on where the last one was, with the same token."""
    settings: dict[str, Any] = {"namespace": "mortal", "lease_seconds": 1}
    with deploy(valkey, workers=0, **settings) as site, Worker(APP, valkey.url, **settings) as mortal:
        alice = Client(http, site.urls, "alice-token")
        await alice.open()
        steps = [["progress", done] for done in (1, 2, 3)]
        task_id = await alice.script(
            ["gate", label], *steps, ["gate", f"{label} again"], ["progress", 4], ["run"], progressToken=0
        )
        async with alice.waiting_for(task_id, node=1) as stream:
            await gates.open(label)
            messages = [await stream.message()]
            while of(messages, PROGRESS)[-1]["progress"] < 3:
                messages.append(await stream.message())
            mortal.kill()
            with Worker(APP, valkey.url, **settings):
                await gates.open(label)
                await gates.open(f"{label} again")
                messages += await stream.rest()
    told = of(messages, PROGRESS)
    assert [progress["progress"] for progress in told] == [1, 2, 3, 4]
    assert {repr(progress["progressToken"]) for progress in told} == {"0"}
    assert messages[-1]["result"]["structuredContent"]["result"][-1] == 2


@pytest.mark.parametrize("level", [None, *LEVELS])
async def test_levels_of_log_messages(alice: Client, gates: Gates, label: str, level: str | None) -> None:
    """L-09: the level that was set and what is more severe; info, where none was."""
    await alice.open()
    if level is not None:
        assert await alice.result("logging/setLevel", {"level": level}, node=1) == {}
    steps = [["log", name, {"of": name}] for name in LEVELS]
    task_id = await alice.script(["gate", label], *steps)
    async with alice.waiting_for(task_id) as stream:
        await gates.open(label)
        logged = of(await stream.rest(), "notifications/message")
    wanted = LEVELS[LEVELS.index(level or "info") :]
    meta = {"_meta": {RELATED_TASK: {"taskId": task_id}}}
    assert logged == [{"level": name, "logger": "talk", "data": {"of": name}} | meta for name in wanted]  # T-53
    call = alice.frame("tools/call", {"name": "talk", "arguments": {"script": steps}})
    logged = of(read_messages(await alice.send(call, node=1)), "notifications/message")
    assert logged == [{"level": name, "logger": "talk", "data": {"of": name}} for name in wanted]


async def test_a_level_that_changes_while_a_task_runs(alice: Client, gates: Gates, label: str) -> None:
    """L-09: it counts from then on, whatever node heard of it."""
    await alice.open()
    task_id = await alice.script(["gate", label], ["log", "info", 1], ["gate", label], ["log", "info", 2])
    async with alice.waiting_for(task_id) as stream:
        await gates.open(label)
        assert (await stream.message())["params"]["data"] == 1
        await alice.result("logging/setLevel", {"level": "error"}, node=1)
        await gates.open(label)
        assert methods_of(await stream.rest()) == [STATUS, "response"]


@pytest.mark.parametrize("level", ["loud", "", "INFO", None, 1, ["info"]])
async def test_levels_that_there_are_not(alice: Client, level: object) -> None:
    """L-09"""
    assert "logging" in (await alice.open())["capabilities"]
    assert (await alice.error("logging/setLevel", {"level": level}))["code"] == -32602


async def test_a_bounded_number_of_log_messages(alice: Client) -> None:
    """L-09: of a thousand at once, the last ones."""
    await alice.open()
    steps = [["log", "info", number] for number in range(1000)]
    call = alice.frame("tools/call", {"name": "talk", "arguments": {"script": steps}})
    logged = [message["data"] for message in of(read_messages(await alice.send(call)), "notifications/message")]
    assert logged[-1] == 999
    assert len(logged) < 300
    assert logged == sorted(logged)


async def test_every_change_of_status_is_told(alice: Client, gates: Gates, label: str) -> None:
    """T-23, T-59, T-106, T-41, T-42: the whole task, as tasks/get shows it then, and no related-task."""
    await alice.open()
    task_id = await alice.script(["gate", label], ["status", "half\nway"], ["gate", label])
    async with alice.waiting_for(task_id, node=1) as stream:
        await gates.open(label)
        (halfway,) = await stream.take(1)
        assert halfway == {"jsonrpc": "2.0", "method": STATUS, "params": await alice.get(task_id)}
        assert (halfway["params"]["status"], halfway["params"]["statusMessage"]) == ("working", "half way")
        await gates.open(label)
        ended, response = await stream.rest()
    assert ended == {"jsonrpc": "2.0", "method": STATUS, "params": await alice.get(task_id)}
    assert (ended["params"]["status"], response["result"]["isError"]) == ("completed", False)


async def test_a_cancelled_task_is_told_of(alice: Client, gates: Gates, label: str) -> None:
    """T-23, T-106: with the reason."""
    await alice.open()
    task_id = await alice.script(["gate", label])
    async with alice.listen() as stream:
        await gates.reached(label)
        cancelled = await alice.result("tasks/cancel", {"taskId": task_id}, node=1)
        assert (await stream.message())["params"] == cancelled
    assert cancelled["statusMessage"] == "Cancelled by the requestor"


async def test_statuses_come_in_their_order(alice: Client, gates: Gates, label: str) -> None:
    """T-23, T-61: each as it was when it changed, not as it is when it is sent; nothing behind the last."""
    await alice.open()
    steps: list[list[Any]] = []
    for number in range(5):
        steps += [["status", str(number)], ["progress", number], ["log", "info", number]]
    task_id = await alice.script(["gate", label], *steps, progressToken=1)
    async with alice.listen(node=0) as get:
        await gates.open(label)
        messages: list[Message] = []
        while methods_of(messages)[-1:] != [STATUS] or messages[-1]["params"]["status"] == "working":
            messages.append(await get.message())
        await alice.send({}, verb="DELETE")
        assert await get.rest() == []
    assert [status["taskId"] for status in of(messages, STATUS)] == [task_id] * len(of(messages, STATUS))
    assert [progress["progress"] for progress in of(messages, PROGRESS)] == list(range(5))
    assert [logged["data"] for logged in of(messages, "notifications/message")] == list(range(5))


async def test_a_plain_call_has_no_status(alice: Client) -> None:
    """T-23: it is no task."""
    await alice.open()
    call = alice.frame("tools/call", {"name": "talk", "arguments": {"script": [["status", "x"], ["log", "info", 1]]}})
    messages = read_messages(await alice.send(call))
    assert methods_of(messages) == ["notifications/message", "response"]


async def test_a_word_for_the_model(alice: Client) -> None:
    """T-15, X-16: at once, beside the task that it is about."""
    await alice.open()
    created = await alice.result("tools/call", {"name": "announced", "task": {}})
    assert created["_meta"] == {
        RELATED_TASK: {"taskId": created["task"]["taskId"]},
        "io.modelcontextprotocol/model-immediate-response": "Booking a seat.",
    }
    assert "_meta" not in await alice.call("announced", {})
