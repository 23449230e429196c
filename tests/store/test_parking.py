"""Runs that only wait leave their workers: in whatever order things happen, what they wait for brings them back."""

import pytest

from receiver.session import Session
from receiver.store.inputs import Question
from receiver.store.record import ClaimedRun
from tests.store.asked import SLOW, begin
from tests.store.clients import ANSWER, ask, begin_session, follow, read_answer
from tests.store.world import ADA, World, share

HOUR = 3_600_000


class Scene:
    """A run that has asked its client, who was given the question."""

    def __init__(self, world: World, session: Session, run: ClaimedRun, question: Question) -> None:
        self.world, self.session, self.run, self.question = world, session, run, question

    async def park(self, *more: str, run: ClaimedRun | None = None) -> bool:
        run = run or self.run
        return await self.world.runs.park(run.task_id, run.run, [self.question.name, *more])

    async def answer(self) -> bool:
        return await self.world.inputs.answer(self.question.request_id, self.session, ANSWER)

    async def record(self) -> dict[str, str]:
        return await self.world.record(self.run.task_id)

    async def places(self) -> list[str]:
        """Where the task stands."""
        keys, task_id = self.world.keys, self.run.task_id
        zsets = {"leases": keys.leases(), "later": keys.later()}
        found = [name for name, key in zsets.items() if task_id in await self.world.members(key)]
        queued = task_id in await self.world.ready(self.run.text("queue"))
        return found + ["ready"] * queued + ["parked"] * ("parked" in await self.record())


async def set_scene(world: World, queue: str = "default", max_attempts: int = 3) -> Scene:
    session = await begin_session(world)
    run = await world.start(session=session.id, queue=queue, max_attempts=max_attempts)
    question = await ask(world, run)
    await follow(world, session, run.task_id).look()
    await world.silence(queue)
    return Scene(world, session, run, question)


@pytest.fixture
async def scene(world: World) -> Scene:
    return await set_scene(world)


async def test_a_parked_task_is_with_nobody(scene: Scene) -> None:
    assert await scene.park()
    assert await scene.places() == ["parked"]
    record = await scene.record()
    assert (record["status"], record["worker"], "lease_until" in record) == ("input_required", "", False)
    assert scene.run.task_id.encode() not in await scene.world.redis.hkeys(scene.world.keys.held("w1"))
    assert await scene.world.claim("w2") == []
    assert await scene.world.recover() == {}


async def test_its_answer_brings_it_back_to_its_place_and_costs_no_attempt(scene: Scene) -> None:
    await scene.park()
    behind = await scene.world.create()
    await scene.world.silence()
    assert await scene.answer()
    assert await scene.world.rings()
    assert await scene.world.ready() == [scene.run.task_id, behind]
    later, _ = await scene.world.claim("w2")
    assert (later.run, later.attempt) == (2, 1)
    assert await read_answer(scene.world, later.task_id, scene.question.name) == ANSWER
    assert await scene.places() == ["leases"]


async def test_the_only_attempt_may_be_parked(world: World) -> None:
    scene = await set_scene(world, max_attempts=1)
    await scene.park()
    await scene.answer()
    assert (await world.claim_one("w2")).attempt == 1


async def test_what_is_parked_takes_no_place_of_its_tools(world: World) -> None:
    scene = await set_scene(world, "default:draw")
    waiting = await world.create(queue="default:draw")
    assert await world.claim("w2", queues=share("default:draw")) == []
    await world.silence("default:draw")
    await scene.park()
    assert await world.rings("default:draw")
    assert (await world.claim_one("w2", queues=share("default:draw"))).task_id == waiting


# In the other order


async def test_what_was_answered_before_is_not_parked(scene: Scene) -> None:
    await scene.answer()
    assert not await scene.park()
    assert await scene.places() == ["leases"]
    assert scene.world.beat(scene.run) == {}


@pytest.mark.parametrize("first", ["park", "accept"])
async def test_a_task_of_the_clients_has_to_be_polled(world: World, first: str) -> None:
    scene = await begin(world)
    waits = [scene.question.name]
    if first == "park":
        assert await world.runs.park(scene.run.task_id, scene.run.run, waits)
    assert await scene.accept(SLOW)
    if first == "park":
        assert (await world.claim_one("w2")).attempt == 1
    else:
        assert not await world.runs.park(scene.run.task_id, scene.run.run, waits)
        assert world.beat(scene.run) == {}


@pytest.mark.parametrize("order", ["park, cancel", "cancel, park"])
async def test_a_cancelled_task_stays_cancelled(scene: Scene, order: str) -> None:
    for what in order.split(", "):
        if what == "park":
            assert await scene.park() == (order == "park, cancel")
        else:
            await scene.world.tasks.cancel(ADA, scene.run.task_id, "")
    assert await scene.places() == []
    assert (await scene.record())["status"] == "cancelled"
    assert not await scene.answer()
    assert await scene.world.claim("w2") == []


@pytest.mark.parametrize("order", ["park, expire", "expire, park"])
async def test_an_expired_task_is_gone(scene: Scene, order: str) -> None:
    world, task_id = scene.world, scene.run.task_id
    await world.steps.sleep(task_id, scene.run.run, "sleep#1", HOUR)
    for what in order.split(", "):
        if what == "park":
            assert await scene.park("sleep#1") == (order == "park, expire")
        else:
            await world.expire(task_id)
            await world.redis.delete(world.keys.inputs(task_id), world.keys.steps(task_id))
    assert await scene.answer() is False
    assert await world.claim("w2") == []
    assert await world.runs.sweep() == {task_id: "input_required"}
    assert await scene.places() == []


async def test_the_due_time_of_an_expired_task_brings_nothing_back(scene: Scene) -> None:
    world, task_id = scene.world, scene.run.task_id
    await world.steps.sleep(task_id, scene.run.run, "sleep#1", HOUR)
    await scene.park("sleep#1")
    await world.expire(task_id)
    await world.redis.zadd(world.keys.later(), {task_id: 1})
    assert await world.claim("w2") == []
    assert await world.record(task_id) == {}
    assert await scene.places() == []


# Leases that were lost


async def test_a_run_that_lost_its_lease_may_be_parked_until_another_begins(scene: Scene) -> None:
    await scene.world.lose_lease(scene.run.task_id)
    await scene.world.recover()
    assert await scene.places() == ["ready"]
    assert await scene.park()
    assert await scene.places() == ["parked"]
    await scene.answer()
    assert (await scene.world.claim_one("w2")).attempt == 1  # nobody was lost


async def test_a_run_that_was_replaced_is_not_parked(scene: Scene) -> None:
    await scene.world.lose_lease(scene.run.task_id)
    later = await scene.world.claim_one("w2")
    before = await scene.world.dump()
    assert not await scene.park()
    assert await scene.world.dump() == before
    assert await scene.park(run=later)


@pytest.mark.parametrize("is_answered", [False, True])
async def test_a_lost_worker_is_replaced_at_once(scene: Scene, is_answered: bool) -> None:
    """Whether its run did nothing but wait is not known: there may be a step, or a timeout, beside the question."""
    await scene.world.lose_lease(scene.run.task_id)
    assert await scene.world.recover() == {scene.run.task_id: "requeued"}
    if is_answered:
        assert await scene.answer()
    later = await scene.world.claim_one("w2")
    assert later.attempt == 2
    assert await scene.park(run=later) != is_answered
    assert await scene.answer()
    assert await scene.places() == (["leases"] if is_answered else ["ready"])


async def test_a_worker_hears_that_a_run_is_not_its_own_any_more(scene: Scene) -> None:
    await scene.park()
    assert scene.world.beat(scene.run) == {scene.run.task_id: "superseded"}
    await scene.world.runs.leave("w1")
    assert await scene.places() == ["parked"]


async def test_the_worker_that_parked_it_takes_it_again_only_when_its_run_is_over(scene: Scene) -> None:
    await scene.park()
    await scene.answer()
    assert await scene.world.claim("w1", running={scene.run.task_id: scene.run.run}) == []
    assert (await scene.world.claim_one("w1")).run == 2


# Sent twice


async def test_a_park_sent_again_is_one(scene: Scene) -> None:
    async with scene.world.losing_replies() as lossy:
        assert await lossy.runs.park(scene.run.task_id, scene.run.run, [scene.question.name])
    assert await scene.places() == ["parked"]


async def test_parking_what_is_parked_changes_nothing(scene: Scene) -> None:
    await scene.park()
    before = await scene.world.dump()
    assert not await scene.park()
    assert await scene.world.dump() == before


@pytest.mark.parametrize("since", ["answered", "taken", "parked again", "cancelled"])
async def test_a_park_that_arrives_late_changes_nothing(scene: Scene, since: str) -> None:
    """The same call sent again, after what followed on the first time."""
    world = scene.world
    again = (scene.run.task_id, scene.run.run, "nonce", scene.question.name)
    assert await world.client.call("park", *again) == 1
    if since == "parked again":
        other = await world.inputs.get_states([(scene.run.task_id, scene.question.name)])
        assert other == ["open"]
    elif since == "cancelled":
        await world.tasks.cancel(ADA, scene.run.task_id, "")
    else:
        await scene.answer()
    if since == "taken":
        await world.claim_one("w2")
    before = await world.dump()
    await world.client.call("park", *again)
    assert await world.dump() == before


# Sleeps


async def test_the_end_of_a_sleep_brings_it_back(scene: Scene) -> None:
    world, run = scene.world, scene.run
    for number, duration in ((1, 2 * HOUR), (2, HOUR)):
        await world.steps.sleep(run.task_id, run.run, f"sleep#{number}", duration)
    assert await scene.park("sleep#1", "sleep#2")
    due = await world.redis.hget(world.keys.steps(run.task_id), "sleep#2:due")
    assert await world.redis.zscore(world.keys.later(), run.task_id) == int(due)
    assert await world.claim("w2") == []
    await world.redis.zadd(world.keys.later(), {run.task_id: 1})
    assert (await world.claim_one("w2")).attempt == 1
    assert await scene.places() == ["leases"]
    assert await scene.answer()  # which is no news any more to a queue
    assert await scene.places() == ["leases"]


async def test_an_answer_comes_before_the_end_of_a_sleep(scene: Scene) -> None:
    await scene.world.steps.sleep(scene.run.task_id, scene.run.run, "sleep#1", HOUR)
    await scene.park("sleep#1")
    assert await scene.places() == ["later", "parked"]
    await scene.answer()
    assert await scene.places() == ["ready"]


async def test_a_run_is_not_parked_when_its_sleep_is_over(scene: Scene) -> None:
    world, run = scene.world, scene.run
    await world.steps.sleep(run.task_id, run.run, "sleep#1", HOUR)
    await world.redis.hset(world.keys.steps(run.task_id), "sleep#1:due", 1)
    assert not await scene.park("sleep#1")
    assert await scene.places() == ["leases"]


@pytest.mark.parametrize("waits", [[], ["elicitation/create#9"]])
async def test_who_waits_for_nothing_is_not_parked(scene: Scene, waits: list[str]) -> None:
    assert not await scene.world.runs.park(scene.run.task_id, scene.run.run, waits)
    assert await scene.places() == ["leases"]
