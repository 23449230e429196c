"""A run that asks its requestor, who answers through the store as any API node does."""

import asyncio
from typing import Any

import orjson
import pytest
from pydantic import BaseModel

from receiver import Context
from receiver.cancellation import cancel_all
from receiver.principal import ANONYMOUS
from receiver.protocol.elicitation import Elicited
from receiver.protocol.handshake import LATEST, RELATED_TASK
from receiver.session import Session, new_session_id
from receiver.store.client import Client
from receiver.store.streams import Stream, StreamStore
from tests.workers.scene import Record, Scene
from tests.workers.stage import Stage, until
from workers.rereader import keep_rereading
from workers.roster import ActiveRun, Roster

CAPABILITIES: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {}}
SAMPLED = {"role": "assistant", "content": {"type": "text", "text": "Once"}, "model": "a model"}


class Template(BaseModel):
    name: str
    pages: int = 3


class Requestor:
    """The client of one run: hears on a stream what it is asked, and answers."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.session = Session(new_session_id(), ANONYMOUS.owner, LATEST, CAPABILITIES)
        client = Client(scene.stage.redis, scene.stage.keys, with_flags=scene.stage.with_flags)
        self._streams = StreamStore(client, lease=60_000, session_idle=60_000)

    async def claim(self, tool: str, **options: Any) -> ActiveRun:
        """A run of a new task that this client asked for."""
        record = {"session": self.session.id, "capabilities": orjson.dumps(CAPABILITIES)}
        return await self.scene.claim(tool, record=record, **options)

    async def asked(self, active: ActiveRun, count: int = 1) -> list[dict[str, Any]]:
        """The requests that are open, once there are so many."""
        found: list[dict[str, Any]] = []

        async def are_there() -> bool:
            claim, stream = active.claim, Stream("a stream", self.session, b"1")  # by a new connection each time
            news = await self._streams.follow(stream, claim.task_id, claim.kind, "", begins=True)
            messages = [orjson.loads(message.body) for message in news.messages]
            found[:] = [message for message in messages if "id" in message]
            return len(found) >= count

        await until(are_there)
        return found

    async def answer(self, active: ActiveRun, asked: dict[str, Any], **answer: Any) -> None:
        """Answers; the worker hears of it."""
        assert await self.scene.stage.kit.inputs.answer(asked["id"], self.session, orjson.dumps(answer))
        active.on_news()


@pytest.fixture
def scene(any_stage: Stage) -> Scene:
    return Scene(any_stage)


@pytest.fixture
def requestor(scene: Scene) -> Requestor:
    return Requestor(scene)


def _text(record: Record) -> Any:
    return orjson.loads(record.text)


async def test_a_form_is_asked_for_and_read(scene: Scene, requestor: Requestor) -> None:  # T-37, T-40, T-54
    @scene.app.tool
    async def draw(ctx: Context) -> Elicited:
        return await ctx.elicit("Which template?", Template)

    active = await requestor.claim("draw")
    running = asyncio.create_task(scene.execute(active))
    (asked,) = await requestor.asked(active)
    assert (asked["method"], asked["params"]["message"]) == ("elicitation/create", "Which template?")
    assert asked["params"]["_meta"] == {RELATED_TASK: {"taskId": active.claim.task_id}}
    assert asked["params"]["requestedSchema"]["required"] == ["name"]
    assert (await scene.record(active)).status == "input_required"
    await requestor.answer(active, asked, result={"action": "accept", "content": {"name": "plain", "pages": 7}})
    assert (await scene.record(active)).status in ("working", "completed")
    assert _text(await running) == {"action": "accept", "content": {"name": "plain", "pages": 7}}


async def test_a_link_and_a_message_are_asked_for_at_the_same_time(scene: Scene, requestor: Requestor) -> None:
    @scene.app.tool
    async def draw(ctx: Context) -> dict[str, Any]:
        agreed, sampled = await asyncio.gather(
            ctx.elicit_url("Sign in", "https://a.example/sign-in"), ctx.sample("Write", 10, temperature=0)
        )
        return {"agreed": agreed.action, "text": sampled["content"]["text"]}

    active = await requestor.claim("draw")
    running = asyncio.create_task(scene.execute(active))
    link, sampling = await requestor.asked(active, 2)
    assert (link["params"]["mode"], link["params"]["url"]) == ("url", "https://a.example/sign-in")
    assert sampling["params"] == {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Write"}}],
        "maxTokens": 10,
        "temperature": 0,
        "_meta": {RELATED_TASK: {"taskId": active.claim.task_id}},
    }
    await requestor.answer(active, sampling, result=SAMPLED)
    assert (await scene.record(active)).status == "input_required"
    await requestor.answer(active, link, result={"action": "decline"})
    assert (await running).payload["structuredContent"] == {"agreed": "decline", "text": "Once"}


async def test_a_plain_call_asks_without_naming_a_task(scene: Scene, requestor: Requestor) -> None:
    @scene.app.tool
    def draw(ctx: Context) -> str:
        return ctx.sync.elicit("Which template?", Template).action

    active = await requestor.claim("draw", kind="call")
    running = asyncio.create_task(scene.execute(active))
    (asked,) = await requestor.asked(active)
    assert "_meta" not in asked["params"]
    await requestor.answer(active, asked, result={"action": "cancel"})
    assert (await running).text == "cancel"


@pytest.mark.parametrize(
    ("error", "reason"), [({"code": -1, "message": "no user"}, "no user"), ("oops", "no reason given")]
)
async def test_an_error_of_the_client_is_one_of_the_tool(
    scene: Scene, requestor: Requestor, error: Any, reason: str
) -> None:
    @scene.app.tool
    async def draw(ctx: Context) -> Elicited:
        return await ctx.elicit("Which template?", Template)

    active = await requestor.claim("draw")
    running = asyncio.create_task(scene.execute(active))
    (asked,) = await requestor.asked(active)
    await requestor.answer(active, asked, error=error)
    record = await running
    assert (record.status, record.text) == ("failed", f"The client refused the request: {reason}")


async def test_a_later_run_asks_nothing_that_was_answered(scene: Scene, requestor: Requestor) -> None:
    names: list[str] = []

    @scene.app.tool
    async def draw(ctx: Context) -> str:
        for _ in range(2):
            answer = await ctx.elicit("Which template?", Template)
            names.append(str(answer.content and answer.content["name"]))
        return f"run {ctx.run}"

    first = await requestor.claim("draw")
    running = asyncio.create_task(scene.execute(first))
    (asked,) = await requestor.asked(first)
    await requestor.answer(first, asked, result={"action": "accept", "content": {"name": "one"}})
    (second_question,) = await requestor.asked(first)
    first.stop("shutdown")
    await running
    (second,) = await scene.claim_again()
    running = asyncio.create_task(scene.execute(second))
    await until(lambda: names == ["one", "one"])
    assert await requestor.asked(second) == [second_question]  # the same request, under its old id
    await requestor.answer(second, second_question, result={"action": "accept", "content": {"name": "two"}})
    assert (await running).text == "run 2"
    assert names == ["one", "one", "two"]


async def test_a_later_run_that_asks_something_else_fails(scene: Scene, requestor: Requestor) -> None:
    @scene.app.tool
    async def draw(ctx: Context) -> Elicited:
        return await ctx.elicit(f"Which template, in run {ctx.run}?", Template)

    first = await requestor.claim("draw")
    running = asyncio.create_task(scene.execute(first))
    await requestor.asked(first)
    first.stop("shutdown")
    await running
    (second,) = await scene.claim_again()
    record = await scene.execute(second)
    assert record.status == "failed"
    assert record.text == "In an earlier run the tool asked something else for elicitation/create#1"


async def test_cancelling_ends_the_wait(scene: Scene, requestor: Requestor) -> None:
    stopped = asyncio.Event()

    @scene.app.tool
    async def draw(ctx: Context) -> None:
        try:
            await ctx.elicit("Which template?", Template)
        except asyncio.CancelledError:
            stopped.set()
            raise

    active = await requestor.claim("draw")
    running = asyncio.create_task(scene.execute(active))
    (asked,) = await requestor.asked(active)
    await scene.stage.cancel(active.claim.task_id)
    active.stop("cancelled")
    await stopped.wait()
    assert (await running).status == "cancelled"
    assert not await scene.stage.kit.inputs.answer(asked["id"], requestor.session, b"{}")


async def test_a_thread_whose_run_was_stopped_does_not_wait_for_ever(scene: Scene, requestor: Requestor) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()

    @scene.app.tool
    def draw(ctx: Context) -> None:
        try:
            ctx.sync.elicit("Which template?", Template)
        finally:
            loop.call_soon_threadsafe(ended.set)

    active = await requestor.claim("draw")
    running = asyncio.create_task(scene.execute(active))
    await requestor.asked(active)
    await scene.stage.cancel(active.claim.task_id)
    active.stop("cancelled")
    await running
    await ended.wait()


async def test_an_answer_whose_signal_was_lost_is_found(scene: Scene, requestor: Requestor) -> None:
    @scene.app.tool
    async def draw(ctx: Context) -> str:
        return (await ctx.elicit("Which template?", Template)).action

    active, roster = await requestor.claim("draw"), Roster(1, 0)
    (active,) = roster.add([active.claim], 1)
    running = asyncio.create_task(scene.execute(active))
    (asked,) = await requestor.asked(active)
    assert await scene.stage.kit.inputs.answer(asked["id"], requestor.session, b'{"result":{"action":"decline"}}')
    rereading = asyncio.create_task(keep_rereading(scene.stage.kit.inputs, roster, 0.01))
    assert (await running).text == "decline"
    await cancel_all([rereading])
