"""Acts on many tasks: what a plan holds, and what comes of it."""

from collections import Counter

import pytest
from structlog.testing import capture_logs

from ops.admin.actions import Action, Actions
from ops.admin.bulk import Plan, Tally, carry_out, plan_filter, plan_ids, restrict
from receiver.store.inspect import Filter
from tests.store.world import FAILED, World, finish

NO_TASK = "0-" + "b" * 32


async def fail(world: World, count: int, owner: str = "ada") -> list[str]:
    """The ids of so many failed tasks."""
    ids = []
    for _ in range(count):
        run = await world.start(owner=owner)
        await finish(world, run, FAILED)
        ids.append(run.task_id)
    return ids


async def test_what_changed_since_is_left_alone(world: World) -> None:
    (task_id,) = await fail(world, 1)
    created_at = int((await world.record(task_id))["created_at"])
    await world.redis.hset(world.keys.task(task_id), "updated_at", created_at + 60_000)
    assert (await plan_filter(world.inspector, "purge", Filter(owner="ada"), created_at + 1_000)).ids == ()


async def run(world: World, plan: Plan, *, force: bool = False) -> Tally:
    """Carries a plan out; how it stands in the end."""
    last = Tally(0)
    async for tally in carry_out(plan, Actions(world.client, "ops@here"), force=force):
        last = tally
    return last


async def test_a_filter_is_frozen(world: World) -> None:
    before = await fail(world, 3)
    frozen_at = await world.now()
    while await world.now() == frozen_at:
        pass  # within a millisecond
    await fail(world, 2)
    for filter in (Filter(statuses=("failed",)), Filter(), Filter(owner="ada")):
        plan = await plan_filter(world.inspector, "purge", filter, frozen_at)
        assert sorted(plan.ids) == sorted(before)
        assert not plan.is_capped


async def test_a_plan_ends_at_its_cap(world: World) -> None:
    ids = await fail(world, 5)
    plan = await plan_filter(world.inspector, "purge", Filter(), await world.now(), cap=3)
    assert len(plan.ids) == 3
    assert plan.is_capped
    assert (await run(world, plan)).words == Counter(purged=3)
    left, _ = await world.inspector.search(Filter(), 10)
    assert {found.id for found in left} == set(ids) - set(plan.ids)
    rest = await plan_filter(world.inspector, "purge", Filter(), await world.now(), cap=3)
    assert not rest.is_capped


async def test_a_plan_may_have_more_than_a_page_and_a_batch(world: World) -> None:
    ids = [await world.create() for _ in range(620)]
    plan = await plan_filter(world.inspector, "cancel", Filter(), await world.now())
    assert sorted(plan.ids) == sorted(ids)
    seen = [(tally.done, tally.total) async for tally in carry_out(plan, Actions(world.client, "ops@here"))]
    assert seen == [(min(25 * (n + 1), 620), 620) for n in range(25)]
    assert (await world.inspector.survey()).counts["task:draw"]["cancelled"] == 620


@pytest.mark.parametrize(
    ("action", "filter", "statuses"),
    [
        ("cancel", Filter(), ("working", "input_required")),
        ("cancel", Filter(statuses=("working", "failed")), ("working",)),
        ("purge", Filter(kind=None), ("completed", "failed", "cancelled")),
        ("retry", Filter(statuses=("failed",)), ("failed",)),
    ],
)
def test_a_plan_has_only_what_its_action_acts_on(action: Action, filter: Filter, statuses: tuple[str, ...]) -> None:
    found = restrict(filter, action)
    assert found is not None
    assert (found.statuses, found.kind) == (statuses, "task")


@pytest.mark.parametrize(
    ("action", "filter"),
    [
        ("cancel", Filter(statuses=("failed",))),
        ("purge", Filter(statuses=("working",))),
        ("purge", Filter(kind="call")),
    ],
)
async def test_a_filter_that_leaves_nothing(world: World, action: Action, filter: Filter) -> None:
    await fail(world, 1)
    assert (await plan_filter(world.inspector, action, filter, await world.now())).ids == ()


async def test_a_plan_of_ids_has_each_once() -> None:
    assert plan_ids("cancel", ["a", "b", "a"]) == Plan("cancel", ("a", "b"))
    assert plan_ids("cancel", ["a", "b", "c"], cap=2) == Plan("cancel", ("a", "b"), is_capped=True)
    assert len(plan_ids("cancel", [str(number) for number in range(20_000)], cap=20_000).ids) == 10_000


async def test_verdicts_are_summed_up(world: World) -> None:
    (failed,) = await fail(world, 1)
    open_task, call = await world.create(), await world.create(kind="call", queue="plain")
    ids = [failed, open_task, call, NO_TASK, "nonsense"]
    assert (await run(world, plan_ids("purge", ids))).words == Counter(purged=1, unfinished=1, call=1, gone=2)
    assert (await run(world, plan_ids("cancel", ids))).words == Counter(gone=3, cancelled=1, call=1)


async def test_a_retry_makes_another_task(world: World) -> None:
    (failed,) = await fail(world, 1)
    before = await world.record(failed)
    tally = await run(world, plan_ids("retry", [failed]))
    (verdict,) = tally.latest
    assert (verdict.word, tally.words) == ("retried", Counter(retried=1))
    assert verdict.new_id is not None
    assert (await world.record(verdict.new_id))["retry_of"] == failed
    assert await world.record(failed) == before  # T-34


async def test_what_is_not_run_again(world: World) -> None:
    working, call = await world.create(), await world.create(kind="call", queue="plain")
    once = await world.start(max_attempts=1)
    await finish(world, once, FAILED)
    tally = await run(world, plan_ids("retry", [working, call, once.task_id, NO_TASK]))
    assert tally.words == Counter(unfinished=1, call=1, once=1, gone=1)
    forced = await run(world, plan_ids("retry", [working, call, once.task_id]), force=True)
    assert forced.words == Counter(unfinished=1, call=1, retried=1)


async def test_each_act_is_an_event(world: World) -> None:
    (failed,) = await fail(world, 1)
    with capture_logs() as logs:
        await run(world, plan_ids("retry", [failed]))
        await run(world, plan_ids("cancel", [failed]))
        await run(world, plan_ids("purge", [failed]))
    assert [(log["event"], log["operator"], log["task_id"], log["outcome"]) for log in logs] == [
        ("operator_retry", "ops@here", failed, "success"),
        ("operator_cancel", "ops@here", failed, "failure"),
        ("operator_purge", "ops@here", failed, "success"),
    ]
    assert logs[0]["detail"].startswith("0-")  # the new task
