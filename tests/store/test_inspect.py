"""What operators find: counts, pages of every filter, and all of one task."""

import pytest

from receiver.protocol.cursor import Position
from receiver.protocol.lifecycle import STATUSES
from receiver.store.inspect import Filter, Summary
from receiver.store.steps import Recorded
from tests.store.clients import new_question
from tests.store.world import ADA, FAILED, World, finish


async def fill(world: World) -> dict[str, list[str]]:
    """Tasks of two tools and two owners, and plain calls, by name."""
    found: dict[str, list[str]] = {
        "draw ada": [await world.create() for _ in range(3)],
        "draw bob": [await world.create("bob") for _ in range(2)],
        "paint ada": [await world.create(tool="paint", queue="slow") for _ in range(2)],
        "call": [await world.create(kind="call", queue="plain")],
    }
    for task_id in found["paint ada"]:
        await world.tasks.cancel(ADA, task_id, "enough")
    return found


async def search_all(world: World, filter: Filter, size: int = 2) -> list[str]:
    """The ids of all pages, newest first."""
    ids: list[str] = []
    position: Position | None = None
    while True:
        page, position = await world.inspector.search(filter, size, position)
        assert len(page) <= size
        ids += [found.id for found in page]
        if position is None:
            return ids


async def times(world: World, ids: list[str], field: str) -> list[int]:
    return [int((await world.record(task_id))[field]) for task_id in ids]


FILTERS = {
    "all tasks": (Filter(), ["draw ada", "draw bob", "paint ada"]),
    "of any kind": (Filter(kind=None), ["draw ada", "draw bob", "paint ada", "call"]),
    "calls": (Filter(kind="call"), ["call"]),
    "of a status": (Filter(statuses=("working",)), ["draw ada", "draw bob"]),
    "of two": (Filter(statuses=("working", "cancelled")), ["draw ada", "draw bob", "paint ada"]),
    "of a tool": (Filter(tools=("paint",)), ["paint ada"]),
    "of another": (Filter(not_tools=("paint",)), ["draw ada", "draw bob"]),
    "of an owner": (Filter(owner="ada"), ["draw ada", "paint ada"]),
    "of an owner, of a tool": (Filter(owner="ada", tools=("draw",)), ["draw ada"]),
    "of an owner, of a status": (Filter(owner="bob", statuses=("failed",)), []),
    "of no tool": (Filter(tools=("none",)), []),
}


@pytest.mark.parametrize("name", FILTERS)
async def test_a_filter_finds_what_it_says_newest_first(world: World, name: str) -> None:
    filter, groups = FILTERS[name]
    tasks = await fill(world)
    found = await search_all(world, filter)
    assert sorted(found) == sorted(task_id for group in groups for task_id in tasks[group])
    order = await times(world, found, "created_at" if filter.owner else "updated_at")
    assert order == sorted(order, reverse=True)


async def test_since_ends_a_search(world: World) -> None:
    tasks = await fill(world)
    newest = max(await times(world, tasks["paint ada"], "updated_at"))
    later = await search_all(world, Filter(since=newest + 1))
    assert not set(later) & set(tasks["paint ada"])
    assert sorted(await search_all(world, Filter(since=1))) == sorted(await search_all(world, Filter()))


async def test_tasks_of_one_millisecond_are_each_found_once(world: World) -> None:
    ids = [await world.create(tool=tool) for tool in ("draw", "paint") for _ in range(30)]
    for tool in ("draw", "paint"):
        key = world.keys.status("working", f"task:{tool}")
        await world.redis.zadd(key, dict.fromkeys(await world.members(key), 5_000))
    assert sorted(await search_all(world, Filter(), size=7)) == sorted(ids)


async def test_what_expired_is_passed_over(world: World) -> None:
    first, second = await world.create(), await world.create()
    await world.forget(second)
    assert await search_all(world, Filter()) == [first]


async def test_a_page_looks_at_a_bounded_number(world: World) -> None:
    """A search that finds little goes on where the page before it ended."""
    wanted = await world.create(tool="paint")
    async with world.redis.pipeline() as pipe:
        for number in range(2_500):  # newer, and not wanted
            pipe.zadd(world.keys.owner("ada"), {f"0-{number:032x}": 5e12 + number})
        await pipe.execute()
    page, position = await world.inspector.search(Filter(owner="ada"), 10)
    assert page == []
    assert position is not None
    page, position = await world.inspector.search(Filter(owner="ada"), 10, position)
    assert [found.id for found in page] == [wanted]
    assert position is None
    await world.redis.zremrangebyscore(world.keys.owner("ada"), 5e12, "+inf")


async def test_a_summary_says_what_matters(world: World) -> None:
    run = await world.start()
    await finish(world, run, FAILED)
    (found,), _ = await world.inspector.search(Filter(statuses=("failed",)), 10)
    assert isinstance(found, Summary)
    record = await world.record(run.task_id)
    assert found.fields == {name: value for name, value in record.items() if name in found.fields}
    assert {"status", "tool", "owner", "worker", "updated_at", "finished_at"} <= found.fields.keys()
    assert not {"params", "payload", "principal"} & found.fields.keys()


async def test_a_survey_counts_by_label_and_status(world: World) -> None:
    await fill(world)
    survey = await world.inspector.survey()
    assert survey.counts["task:draw"] == {**dict.fromkeys(STATUSES, 0), "working": 5}
    assert survey.counts["task:paint"] == {**dict.fromkeys(STATUSES, 0), "cancelled": 2}
    assert survey.count(Filter(tools=("paint",)))["cancelled"] == 2
    assert survey.count(Filter(statuses=("working",))) == {"working": 5}
    assert survey.count(Filter(kind=None))["working"] == 6
    assert {queue.name: queue.ready for queue in survey.queues} == {"default": 5, "plain": 1, "slow": 0}


async def test_a_survey_tells_what_runs_and_what_waits(world: World) -> None:
    run = await world.start()
    waiting = await world.create()
    retried = (await world.claim())[0]
    await world.runs.requeue(retried.task_id, retried.run, "retry", delay=60_000)
    queued = await world.create()
    await world.redis.hset(world.keys.task(queued), "created_at", await world.now() - 5_000)
    survey = await world.inspector.survey()
    (queue,) = survey.queues
    assert (survey.leases, survey.lost, survey.later) == (1, 0, 1)
    assert (queue.ready, queue.leased, queue.later) == (1, 1, 1)
    assert queue.oldest is not None
    assert queue.oldest >= 5_000
    await world.redis.zadd(world.keys.leases(), {run.task_id: 1})
    assert (await world.inspector.survey()).lost == 1
    assert waiting == retried.task_id


async def test_all_of_a_task(world: World) -> None:
    run = await world.start()
    await world.inputs.ask(run.task_id, run.run, new_question())
    await world.steps.remember(run.task_id, run.run, "fetch#1", Recorded("d", b'"some text"'))
    found = await world.inspector.examine(run.task_id)
    assert found is not None
    assert {name: value.decode() for name, value in found.record.items()} == await world.record(run.task_id)
    assert any(name.endswith(":request") for name in found.inputs)
    assert len(b'"some text"') in found.steps.values()
    assert [event.name for event in found.history] == ["asked"]
    assert (found.place, found.streams, found.retries) == (None, 0, [])


async def test_a_task_that_waits_has_its_place(world: World) -> None:
    await world.create()
    second = await world.create()
    found = await world.inspector.examine(second)
    assert found is not None
    assert found.place == 1


@pytest.mark.parametrize("task_id", ["0-" + "a" * 32, "nonsense", "*", ""])
async def test_nothing_is_known_of_no_task(world: World, task_id: str) -> None:
    assert await world.inspector.examine(task_id) is None


async def test_history_tells_what_the_record_forgets(world: World) -> None:
    run = await world.start()
    await world.lose_lease(run.task_id)
    await world.runs.recover()
    again = await world.claim_one("w2")
    await world.runs.requeue(again.task_id, again.run, "retry", delay=0)
    third = await world.claim_one("w3")
    await world.runs.requeue(third.task_id, third.run, "handed_back", delay=0)
    found = await world.inspector.examine(run.task_id)
    assert found is not None
    assert [event.name for event in found.history] == ["lost", "started", "retry", "started", "handed_back"]
    assert "worker=w1" in found.history[0].detail
    assert "run=2 worker=w2" in found.history[1].detail
    ends = [await world.redis.pexpiretime(key(run.task_id)) for key in (world.keys.task, world.keys.history)]
    assert ends[0] == ends[1]


async def test_history_is_bounded(world: World) -> None:
    run = await world.start()
    for _ in range(60):
        await world.runs.requeue(run.task_id, run.run, "handed_back", delay=0)
        run = await world.claim_one()
    found = await world.inspector.examine(run.task_id)
    assert found is not None
    assert len(found.history) == 100


async def test_ends_are_tallied_by_label(world: World) -> None:
    await finish(world, await world.start())
    await finish(world, await world.start(), FAILED)
    await world.tasks.cancel(ADA, await world.create(tool="paint"), "enough")
    tallies = await world.inspector.tallies(2)  # the minute may have ended meanwhile
    drawn = [tally.counts["task:draw"] for tally in tallies if "task:draw" in tally.counts]
    assert sum(count.created for count in drawn) == 2
    assert sum(count.ended["completed"] for count in drawn) == 1
    assert sum(count.ended["failed"] for count in drawn) == 1
    assert sum(count.took.total() for count in drawn) == 2
    painted = [tally.counts["task:paint"] for tally in tallies if "task:paint" in tally.counts]
    assert sum(count.ended["cancelled"] for count in painted) == 1
    assert sum(count.took.total() for count in painted) == 0, "it never ran"


async def test_labels_go_with_their_tasks(world: World) -> None:
    run = await world.start()
    await world.redis.zadd(world.keys.labels(), {"task:draw": 1})
    await world.runs.sweep(100)
    assert await world.inspector.labels() == []
    await finish(world, run)
    assert await world.members(world.keys.status("completed", "task:draw")) == [run.task_id]


@pytest.mark.parametrize("name", FILTERS)
async def test_a_count_is_that_of_a_search(world: World, name: str) -> None:
    filter, _ = FILTERS[name]
    tasks = await fill(world)
    count = await world.inspector.count(filter)
    assert count in (None, len(await search_all(world, filter)))
    assert (count is None) == bool(filter.owner and (filter.statuses or filter.tools))
    newest = max(await times(world, [task_id for ids in tasks.values() for task_id in ids], "updated_at"))
    assert await world.inspector.count(Filter(since=newest + 1)) == 0
