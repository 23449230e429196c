"""A run whose client answers by tasks of its own, through the store as any API node does."""

import asyncio
from typing import Any

import orjson
import pytest
from pydantic import BaseModel

from receiver import Context
from receiver.principal import ANONYMOUS
from receiver.protocol.client_task import ClientTask
from receiver.protocol.handshake import LATEST
from receiver.session import Session, new_session_id
from receiver.store.client import Client
from receiver.store.sessions import SessionStore
from receiver.store.streams import Stream, StreamStore
from tests.workers.scene import Gate, Scene
from tests.workers.stage import Logs, Stage, until
from workers.roster import ActiveRun

CAPABILITIES: dict[str, Any] = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {},
    "tasks": {"cancel": {}, "requests": {"elicitation": {"create": {}}, "sampling": {"createMessage": {}}}},
}
THEIRS = ClientTask("theirs", "working", 3_600_000, 0)
ACCEPT = {"action": "accept", "content": {"name": "plain"}}


class Template(BaseModel):
    name: str


class Requestor:
    """The client of one run, whose tasks may be polled at any time."""

    def __init__(self, scene: Scene, capabilities: dict[str, Any]) -> None:
        self.scene = scene
        self.session = Session(new_session_id(), ANONYMOUS.owner, LATEST, capabilities)
        self._inputs = scene.stage.kit.inputs
        self._client = Client(scene.stage.redis, scene.stage.keys, with_flags=scene.stage.with_flags)
        self._streams = StreamStore(self._client, lease=60_000, session_idle=60_000)
        self._sessions = SessionStore(self._client, idle=600_000, cap=10)
        self._stream = Stream("a stream", self.session, b"1")
        self._position, self._heard = "", list[dict[str, Any]]()
        self._begins = True

    async def claim(self, tool: str, **options: Any) -> ActiveRun:
        """A run of a new task that this client asked for, in a session that lives."""
        await self._sessions.start(self.session, {"name": "test"})
        record = {
            "session": self.session.id,
            "capabilities": orjson.dumps(self.session.capabilities),
            "protocol": LATEST.version,
        }
        return await self.scene.claim(tool, record=record, **options)

    async def end(self) -> None:
        """Ends its session."""
        await self._sessions.end(self.session)

    async def heard(self, active: ActiveRun, method: str) -> dict[str, Any]:
        """The next message with this method, on the one stream of the task."""

        async def is_there() -> bool:
            claim = active.claim
            news = await self._streams.follow(
                self._stream, claim.task_id, claim.kind, self._position, begins=self._begins
            )
            self._begins = False
            for message in news.messages:
                self._position = message.position
                self._heard.append(orjson.loads(message.body))
            return any(message["method"] == method for message in self._heard)

        await until(is_there)
        found = next(message for message in self._heard if message["method"] == method)
        self._heard.remove(found)
        return found

    async def accept(self, active: ActiveRun, asked: dict[str, Any], task: ClientTask = THEIRS) -> None:
        """Answers with a task."""
        assert await self._inputs.accept(asked["id"], self.session, task)
        active.on_news()

    async def say(self, active: ActiveRun, poll: dict[str, Any], **said: Any) -> None:
        """Answers a poll; the task may be polled again at once."""
        assert await self._inputs.answer_poll(poll["id"], self.session, orjson.dumps(said), 0)
        active.on_news()

    async def answer(self, active: ActiveRun, asked: dict[str, Any], **answer: Any) -> None:
        """Answers a question, or the request for a result."""
        assert await self._inputs.answer(asked["id"], self.session, orjson.dumps(answer))
        active.on_news()


@pytest.fixture
def scene(any_stage: Stage) -> Scene:
    scene = Scene(any_stage)

    @scene.app.tool
    async def draw(ctx: Context) -> str:
        answer = await ctx.elicit("Which template?", Template, as_task=True)
        return f"{answer.action} in run {ctx.run}"

    return scene


@pytest.fixture
def requestor(scene: Scene) -> Requestor:
    return Requestor(scene, CAPABILITIES)


async def test_a_task_is_pursued_to_its_result(scene: Scene, requestor: Requestor, logs: Logs) -> None:
    """T-02, T-19, T-101, T-102."""
    active = await requestor.claim("draw")
    running = asyncio.create_task(scene.execute(active))
    asked = await requestor.heard(active, "elicitation/create")
    assert 0 < asked["params"]["task"]["ttl"] <= active.claim.remaining
    await requestor.accept(active, asked)
    for status in ("working", "working", "completed"):
        poll = await requestor.heard(active, "tasks/get")
        assert (await scene.record(active)).status == "input_required"
        await requestor.say(active, poll, result={"status": status})
    await requestor.answer(active, await requestor.heard(active, "tasks/result"), result=ACCEPT)
    assert (await running).text == "accept in run 1"
    (ended,) = logs.of("client_task_ended")
    assert (ended["task_id"], ended["client_task_id"]) == (active.claim.task_id, THEIRS.id)


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ({"result": {"status": "cancelled"}}, "cancel in run 1"),
        ({"error": {"code": -32602, "message": "?"}}, "The client's task expired before it gave an answer"),
    ],
)
async def test_a_task_that_gives_no_result(scene: Scene, requestor: Requestor, said: Any, outcome: str) -> None:
    active = await requestor.claim("draw")
    running = asyncio.create_task(scene.execute(active))
    await requestor.accept(active, await requestor.heard(active, "elicitation/create"))
    await requestor.say(active, await requestor.heard(active, "tasks/get"), **said)
    assert (await running).text == outcome


async def test_the_ttl_of_their_task_ends_the_wait(scene: Scene, requestor: Requestor) -> None:  # T-47
    active = await requestor.claim("draw")
    running = asyncio.create_task(scene.execute(active))
    asked = await requestor.heard(active, "elicitation/create")
    await requestor.accept(active, asked, ClientTask("brief", "working", 1, 3_600_000))
    assert (await running).text == "The client's task expired before it gave an answer"


async def test_a_client_that_ends_its_session(scene: Scene, requestor: Requestor) -> None:
    active = await requestor.claim("draw")
    running = asyncio.create_task(scene.execute(active))
    await requestor.accept(active, await requestor.heard(active, "elicitation/create"))
    await requestor.heard(active, "tasks/get")
    await requestor.end()
    active.on_news()
    assert (await running).text == "The client ended its session before its task gave an answer"


@pytest.mark.parametrize("interval", [3_600_000, 0])
async def test_a_later_run_goes_on_with_it(scene: Scene, requestor: Requestor, interval: int) -> None:  # T-18, T-102
    first = await requestor.claim("draw")
    running = asyncio.create_task(scene.execute(first))
    asked = await requestor.heard(first, "elicitation/create")
    await requestor.accept(first, asked, ClientTask("theirs", "working", None, interval))
    if not interval:
        poll = await requestor.heard(first, "tasks/get")
    first.stop("shutdown")
    await running
    (second,) = await scene.claim_again()
    running = asyncio.create_task(scene.execute(second))
    standing = await scene.stage.kit.inputs.look(second.claim.task_id, "elicitation/create#1")
    assert (standing.client_task, standing.is_polled) == ("theirs", not interval)
    if interval:
        await scene.stage.redis.hset(
            scene.stage.keys.inputs(second.claim.task_id), "elicitation/create#1:due", 0
        )  # as if the hour were over
        second.on_news()
        poll = await requestor.heard(second, "tasks/get")
    await requestor.say(second, poll, result={"status": "completed"})
    await requestor.answer(second, await requestor.heard(second, "tasks/result"), result=ACCEPT)
    assert (await running).text == "accept in run 2"


@pytest.mark.parametrize("without", ["tasks", "elicitation"])
async def test_who_runs_no_tasks_is_asked_plainly(scene: Scene, without: str) -> None:  # T-02, T-03
    requests = {name: value for name, value in CAPABILITIES["tasks"]["requests"].items() if name != without}
    capabilities = CAPABILITIES | {"tasks": {"requests": requests}}
    requestor = Requestor(scene, {"elicitation": {}} if without == "tasks" else capabilities)
    active = await requestor.claim("draw")
    running = asyncio.create_task(scene.execute(active))
    asked = await requestor.heard(active, "elicitation/create")
    assert "task" not in asked["params"]
    await requestor.answer(active, asked, result={"action": "decline"})
    assert (await running).text == "decline in run 1"


# Giving up


def add_hesitant(scene: Scene, gate: Gate, *, as_task: bool) -> None:
    """A tool that gives up on its question at once when its gate is open, and goes on."""

    @scene.app.tool
    async def hesitate(ctx: Context) -> str:
        asking = asyncio.create_task(ctx.elicit("Which template?", Template, as_task=as_task))
        await gate.wait()
        asking.cancel()
        await asyncio.wait({asking})
        other = await ctx.elicit("Or which?", Template)
        return f"{asking.cancelled()} {other.action}"


@pytest.mark.parametrize("as_task", [False, True])
async def test_a_tool_that_gives_up_takes_its_question_back(scene: Scene, requestor: Requestor, as_task: bool) -> None:
    """T-73, L-07: and asks another."""
    gate = Gate()
    add_hesitant(scene, gate, as_task=as_task)
    active = await requestor.claim("hesitate")
    running = asyncio.create_task(scene.execute(active))
    asked = await requestor.heard(active, "elicitation/create")
    if as_task:
        await requestor.accept(active, asked)
    gate.opened.set()
    told = await requestor.heard(active, "tasks/cancel" if as_task else "notifications/cancelled")
    assert told["params"].get("requestId", THEIRS.id) == (THEIRS.id if as_task else asked["id"])
    other = await requestor.heard(active, "elicitation/create")
    await requestor.answer(active, other, result={"action": "decline"})
    assert (await running).text == "True decline"


async def test_a_run_that_is_stopped_takes_nothing_back(scene: Scene, requestor: Requestor) -> None:
    """A later run waits for the same answer."""
    active = await requestor.claim("draw")
    running = asyncio.create_task(scene.execute(active))
    asked = await requestor.heard(active, "elicitation/create")
    active.stop("shutdown")
    await running
    standing = await scene.stage.kit.inputs.look(active.claim.task_id, "elicitation/create#1")
    assert (standing.state, (await scene.record(active)).status) == ("open", "input_required")
    assert await scene.stage.kit.inputs.accept(asked["id"], requestor.session, THEIRS)


async def test_a_question_that_an_earlier_run_took_back_is_asked_anew(scene: Scene, requestor: Requestor) -> None:
    gate = Gate()
    add_hesitant(scene, gate, as_task=False)
    first = await requestor.claim("hesitate")
    running = asyncio.create_task(scene.execute(first))
    asked = await requestor.heard(first, "elicitation/create")
    gate.opened.set()
    await requestor.heard(first, "notifications/cancelled")
    other = await requestor.heard(first, "elicitation/create")
    first.stop("shutdown")
    await running
    gate.opened.clear()
    (second,) = await scene.claim_again()
    running = asyncio.create_task(scene.execute(second))
    again = await requestor.heard(second, "elicitation/create")
    assert (again["params"]["message"], again["id"] != asked["id"]) == ("Which template?", True)
    gate.opened.set()
    await requestor.heard(second, "notifications/cancelled")
    await requestor.answer(second, other, result={"action": "accept", "content": {"name": "a"}})
    assert (await running).text == "True accept"


# Links


async def test_a_link_has_the_same_id_in_every_run(scene: Scene, requestor: Requestor) -> None:  # E-02, E-04
    ids: list[str] = []

    @scene.app.tool
    async def sign_in(ctx: Context) -> str:
        link = await ctx.elicit_url("Sign in", "https://a.example/")
        ids.append(link.elicitation_id)
        await ctx.elicitation_complete(link.elicitation_id)
        await ctx.elicit("Which template?", Template)
        return "done"

    first = await requestor.claim("sign_in")
    running = asyncio.create_task(scene.execute(first))
    asked = await requestor.heard(first, "elicitation/create")
    await requestor.answer(first, asked, result={"action": "accept"})
    told = await requestor.heard(first, "notifications/elicitation/complete")
    assert told["params"] == {"elicitationId": asked["params"]["elicitationId"]}
    form = await requestor.heard(first, "elicitation/create")
    first.stop("shutdown")
    await running
    (second,) = await scene.claim_again()
    running = asyncio.create_task(scene.execute(second))
    await requestor.heard(second, "notifications/elicitation/complete")
    await requestor.answer(second, form, result={"action": "decline"})
    assert (await running).text == "done"
    assert ids == [asked["params"]["elicitationId"]] * 2
    assert first.claim.task_id not in ids[0]


async def test_only_a_link_of_this_run_is_done(scene: Scene, requestor: Requestor) -> None:  # E-04
    @scene.app.tool
    async def lie(ctx: Context) -> str:
        with pytest.raises(ValueError, match="no such elicitation"):
            await ctx.elicitation_complete("0" * 32)
        return "refused"

    assert (await scene.execute(await requestor.claim("lie"))).text == "refused"
