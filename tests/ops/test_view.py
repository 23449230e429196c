"""A task as operators are shown it."""

import json
from typing import Any

import orjson

from ops.admin.redaction import HIDDEN, Redaction
from ops.admin.view import show_dossier, show_summary
from receiver.protocol.errors import ReceiverError
from receiver.protocol.outcome import Outcome
from receiver.store.inspect import Dossier, Filter
from tests.store.clients import new_question
from tests.store.world import FAILED, World, finish


async def examine(world: World, task_id: str) -> Dossier:
    found = await world.inspector.examine(task_id)
    assert found is not None
    return found


async def show(world: World, task_id: str, redaction: Redaction | None = None) -> dict[str, Any]:
    shown = show_dossier(await examine(world, task_id), redaction or Redaction())
    assert json.loads(json.dumps(shown)) == shown
    return shown


def names(shown: dict[str, Any]) -> list[str]:
    return [event["event"] for event in shown["timeline"]]


async def test_a_task_that_waits(world: World) -> None:
    shown = await show(world, await world.create())
    assert names(shown) == ["created", "queued"]
    assert (shown["status"], shown["place"], shown["why"], shown["worker"]) == ("working", 0, None, None)
    assert shown["created_at"].endswith("Z")
    assert shown["timeline"][0]["at_ms"] == shown["created_at_ms"]


async def test_the_life_of_a_task_stands_in_order(world: World) -> None:
    run = await world.start()
    await world.lose_lease(run.task_id)
    await world.runs.recover()
    again = await world.claim_one("w2")
    await world.inputs.ask(again.task_id, again.run, new_question())
    await world.runs.requeue(again.task_id, again.run, "handed_back", delay=0)
    third = await world.claim_one("w3")
    await finish(world, third, FAILED)
    shown = await show(world, run.task_id)
    assert names(shown) == [
        *("created", "queued", "started", "lost", "started", "asked", "handed_back", "started", "failed"),
    ]
    runs = [event["detail"] for event in shown["timeline"] if event["event"] == "started"]
    assert runs == ["run=1 worker=w1", "run=2 worker=w2", "run=3 worker=w3"]
    times = [event["at_ms"] for event in shown["timeline"]]
    assert times == sorted(times)


async def test_a_task_that_failed_says_why(world: World) -> None:
    first, second = await world.start(), await world.start()
    await finish(world, first, FAILED)
    await finish(world, second, Outcome.of_error(ReceiverError("no ink", code=7)))
    shown = await show(world, first.task_id)
    assert (shown["why"], shown["error"]) == ("no", None)
    assert shown["result"]["isError"]
    shown = await show(world, second.task_id)
    assert (shown["why"], shown["result"]) == ("no ink (code 7)", None)
    assert shown["error"] == {"code": 7, "message": "no ink"}


async def test_questions_are_shown(world: World) -> None:
    run = await world.start()
    await world.inputs.ask(run.task_id, run.run, new_question())
    (question,) = (await show(world, run.task_id))["questions"]
    assert (question["state"], question["answer"]) == ("open", None)
    assert question["method"]


async def test_what_is_no_json_is_shown_as_text(world: World) -> None:
    task_id = await world.create()
    await world.redis.hset(world.keys.task(task_id), "params", b"{\xff")
    assert (await show(world, task_id))["params"] == "{�"


async def test_what_is_redacted_is_shown_nowhere(world: World) -> None:
    run = await world.start()
    await world.redis.hset(world.keys.task(run.task_id), "params", orjson.dumps({"card": "4111"}))
    await world.inputs.ask(run.task_id, run.run, new_question())
    await finish(world, run, Outcome.of_error(ReceiverError("card 4111", code=7)))
    await world.redis.hset(world.keys.task(run.task_id), "status_message", "card 4111")
    nothing = Redaction(lambda shown: {})
    shown = await show(world, run.task_id, nothing)
    assert "4111" not in json.dumps(shown)
    assert (shown["params"], shown["error"], shown["questions"]) == (HIDDEN, HIDDEN, HIDDEN)
    (summary,), _ = await world.inspector.search(Filter(), 10)
    assert "4111" in json.dumps(show_summary(summary, Redaction()))
    assert "4111" not in json.dumps(show_summary(summary, nothing))
