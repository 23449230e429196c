"""What the store's side of metrics counts, each event once, even where a reply is lost and the call sent again."""

import builtins

import pytest
from redis.exceptions import (
    BusyLoadingError,
    ConnectionError,
    OutOfMemoryError,
    ReadOnlyError,
    ResponseError,
    TimeoutError,
)

from receiver import hub as hub_module
from receiver.protocol.errors import TaskAlreadyFinished, TaskNotFound, Unavailable
from receiver.protocol.task_id import new_task_id
from receiver.store.client import Client, connect, kind_of
from receiver.store.keys import Keys
from receiver.store.runs import Verdict
from receiver.telemetry.instruments import REGISTRY
from tests.store.backends import on_real_servers
from tests.store.hubs import make_hub, make_patient, running, settle
from tests.store.world import ADA, DONE, World, finish


class Count:
    """How much counters rose since it was made."""

    def __init__(self) -> None:
        self._before: dict[str, float] = {}
        self._before = {self._name(s.name, s.labels): s.value for m in REGISTRY.collect() for s in m.samples}

    def __call__(self, metric: str, **labels: str) -> float:
        given = {label.rstrip("_"): value for label, value in labels.items()}
        value = REGISTRY.get_sample_value(metric, given) or 0
        return value - self._before.get(self._name(metric, given), 0)

    def _name(self, metric: str, labels: dict[str, str]) -> str:
        return f"{metric}{sorted(labels.items())}"


@pytest.mark.parametrize("phase", ["queued", "running", "paused"])
async def test_a_cancelled_task_is_counted_where_it_stood(world: World, phase: str) -> None:
    task_id = await world.create()
    if phase != "queued":
        run = await world.claim_one()
        if phase == "paused":
            await world.runs.requeue(run.task_id, run.run, "retry", 60_000)
    count = Count()
    async with world.losing_replies() as lossy:
        await lossy.tasks.cancel(ADA, task_id, "no more")
    assert count("mcp_tasks_cancelled_total", phase=phase) == 1
    assert count("mcp_tasks_finished_total", tool="draw", status="cancelled") == 1


async def test_what_comes_too_late_is_counted_as_refused(world: World) -> None:
    run = await world.start()
    await finish(world, run)
    count = Count()
    with pytest.raises(TaskAlreadyFinished):
        await world.tasks.cancel(ADA, run.task_id, "no more")
    assert await finish(world, run) is Verdict.TERMINAL
    assert await world.runs.finish(new_task_id(), 1, DONE) is Verdict.GONE
    assert count("mcp_tasks_transitions_rejected_total", from_="completed", to="cancelled") == 1
    assert count("mcp_tasks_transitions_rejected_total", from_="terminal", to="completed") == 1
    assert count("mcp_tasks_transitions_rejected_total", from_="gone", to="completed") == 1
    assert count("mcp_tasks_cancelled_total", phase="running") == 0


@pytest.mark.parametrize("by", ["recover", "claim"])
async def test_a_lost_lease_is_counted_whoever_notices(world: World, by: str) -> None:
    kept, spent = await world.start(), await world.start(max_attempts=1)
    await world.lose_lease(kept.task_id, spent.task_id)
    count = Count()
    await (world.recover() if by == "recover" else world.claim("w2"))
    assert count("mcp_tasks_recovered_total", reason="worker_lost") == 1
    assert count("mcp_tasks_recovered_total", reason="attempts_spent") == 1
    assert count("mcp_tasks_finished_total", tool="draw", status="failed") == 1


async def test_a_look_up_that_finds_nothing_is_counted(world: World) -> None:
    count = Count()
    for task_id in (new_task_id(), "no id at all", 7):
        with pytest.raises(TaskNotFound):
            await world.tasks.get(ADA, task_id)
    assert count("mcp_tasks_lookup_misses_total") == 3


async def test_scripts_are_timed_by_name(world: World) -> None:
    count = Count()
    run = await world.start()
    world.beat(run)
    for script in ("create", "claim", "heartbeat"):
        assert count("mcp_tasks_store_script_seconds_count", script=script) >= 1


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ConnectionError(), "connection"),
        (ConnectionRefusedError(), "connection"),
        (TimeoutError(), "timeout"),
        (builtins.TimeoutError(), "timeout"),
        (BusyLoadingError(), "loading"),
        (ReadOnlyError(), "read_only"),
        (OutOfMemoryError(), "full"),
        (ResponseError("BUSY running a script"), "busy"),
        (ResponseError("ERR in a script"), "script"),
        (ValueError(), "other"),
    ],
)
def test_errors_have_names(error: Exception, kind: str) -> None:
    assert kind_of(error) == kind


async def test_a_store_that_is_away_is_counted() -> None:
    client, count = Client(connect("unix:///nonexistent/socket"), Keys(), patience=0.01), Count()
    with pytest.raises(Unavailable):
        await client.call("statuses")
    assert count("mcp_tasks_store_errors_total", kind="connection") >= 1


@on_real_servers
async def test_wake_ups_by_messages_and_reconnects(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    make_patient(monkeypatch)
    async with running(make_hub(world)) as hub, hub.watch("0-1") as watch:
        await settle(hub, watch)
        count = Count()
        await world.redis.publish(Keys().events("0-1"), "x")
        await watch.wait()
        assert count("mcp_tasks_wakeups_total", source="message") == 1
        assert count("mcp_tasks_wakeups_total", source="reconnect") == 0
        await world.redis.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
        await watch.wait()
        assert count("mcp_tasks_wakeups_total", source="reconnect") == 1
        assert count("mcp_tasks_pubsub_reconnects_total") == 1


@on_real_servers
async def test_wake_ups_by_the_safety_re_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    make_patient(monkeypatch)
    monkeypatch.setattr(hub_module, "REREAD_SECONDS", 0.01)
    task_id = await world.create()
    async with running(make_hub(world)) as hub, hub.watch(task_id) as watch:
        await settle(hub, watch)
        count = Count()
        await world.set_status(task_id, "completed")  # nobody is told
        await watch.wait()
        assert count("mcp_tasks_wakeups_total", source="reread") == 1
