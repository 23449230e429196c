"""What ``receiver doctor`` finds: each ailment is given to a real server, and named with its fix."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from receiver.settings import Durability
from receiver.store.client import Client, connect
from receiver.store.diagnosis.examination import examine
from receiver.store.diagnosis.facts import Facts, Replica
from receiver.store.diagnosis.finding import Finding, count
from receiver.store.diagnosis.verdict import judge
from receiver.store.nodes import NodeStore
from tests.servers import Server
from tests.store.backends import Backend
from tests.store.clients import begin_session, new_question
from tests.store.world import LABEL, LEASE, World, finish, until

VERSION = "1.0"
HOUR_MS = 3_600_000


@pytest.fixture
async def patient(own_server: Server) -> AsyncIterator[World]:
    """A deployment with which nothing is wrong: a durable store, a node and a worker."""
    world = World.open(Backend("real", own_server))
    await world.redis.config_set("maxmemory-policy", "noeviction")
    await world.redis.config_set("save", "")
    await NodeStore(world.client, "n1").beat({"version": VERSION})
    beat_worker(world)
    yield world
    await world.close()


def beat_worker(world: World, name: str = "w1", *, version: str = VERSION, queues: str = "plain default") -> None:
    world.beats.beat(name, 0, {"version": version, "queues": queues}, {})


async def look(world: World, durability: Durability | None = None) -> dict[str, Finding]:
    """The findings by name, each of which says what to do."""
    found = judge(await examine(world.client, durability))
    assert all(finding.what and finding.why and finding.fix for finding in found)
    assert len({finding.name for finding in found}) == len(found)
    return {finding.name: finding for finding in found}


async def find_one(world: World, name: str, severity: str, durability: Durability | None = None) -> Finding:
    """The one finding that there is."""
    found = await look(world, durability)
    assert list(found) == [name]
    assert found[name].severity == severity
    return found[name]


async def test_nothing_is_wrong(patient: World) -> None:
    """Tasks in all states, sessions, questions, retries and what is parked are no ailment."""
    session = await begin_session(patient)
    await patient.create()
    done, waiting, retried, asking, parked = [await patient.start(session=session.id) for _ in range(5)]
    await finish(patient, done)
    await patient.runs.requeue(retried.task_id, retried.run, "retry", HOUR_MS)
    await patient.runs.requeue(waiting.task_id, waiting.run, "handed_back")
    await patient.inputs.ask(asking.task_id, asking.run, new_question())
    await patient.inputs.ask(parked.task_id, parked.run, new_question())
    assert await patient.runs.park(parked.task_id, parked.run, ["elicitation/create#1"])
    await patient.create(kind="call")
    assert await look(patient) == {}
    assert await look(patient, "always") == {}


# The server

Harm = Callable[[World], Awaitable[object]]


@pytest.mark.parametrize(
    ("option", "value", "name", "severity", "fix"),
    [
        ("maxmemory-policy", "allkeys-lru", "evicting_server", "error", "maxmemory-policy noeviction"),
        ("appendonly", "no", "no_append_only_file", "warning", "appendonly yes"),
        ("appendfsync", "no", "weak_fsync", "warning", "appendfsync everysec"),
        ("min-replicas-to-write", "1", "refusing_server", "error", "reliability.md"),
    ],
)
async def test_a_server_that_is_set_up_wrongly(
    patient: World, option: str, value: str, name: str, severity: str, fix: str
) -> None:
    await patient.redis.config_set(option, value)
    assert fix in (await find_one(patient, name, severity)).fix


async def test_a_server_that_keeps_less_than_demanded(patient: World) -> None:
    await patient.redis.config_set("appendfsync", "everysec")
    assert await look(patient, "everysec") == {}
    finding = await find_one(patient, "weak_fsync", "error", "always")
    assert "appendfsync always" in finding.fix
    await patient.redis.config_set("appendonly", "no")
    await find_one(patient, "no_append_only_file", "error", "everysec")


@pytest.mark.parametrize(
    ("share", "name", "severity"), [(0.8, "filling_memory", "warning"), (0.95, "full_memory", "error")]
)
async def test_a_server_whose_memory_is_running_out(patient: World, share: float, name: str, severity: str) -> None:
    fill = "return redis.call('SET', 'filler', string.rep('x', 50000000), 'PX', 3600000)"  # and no buffer of a client
    await patient.redis.eval(fill, 0)
    used = (await patient.redis.info("memory"))["used_memory"]
    await patient.redis.config_set("maxmemory", int(used / share))
    assert "maxmemory" in (await find_one(patient, name, severity)).what


async def test_a_server_that_cannot_write_snapshots(patient: World) -> None:
    folder = Path((await patient.redis.config_get("dir"))["dir"])
    (folder / "dump.rdb" / "x").mkdir(parents=True)
    await patient.redis.bgsave()
    await until(lambda: has_failed(patient))
    finding = await find_one(patient, "failed_write", "error")
    assert "snapshot failed" in finding.what
    assert "disk" in finding.fix


async def has_failed(world: World) -> bool:
    return bool((await world.redis.info("persistence"))["rdb_last_bgsave_status"] == "err")


async def test_a_replica_without_its_master(patient: World) -> None:
    await patient.redis.replicaof("127.0.0.1", "1")
    finding = await find_one(patient, "replica", "error")
    assert "lost its master" in finding.what
    assert "RECEIVER_REDIS_URL" in finding.fix


async def test_what_no_server_here_can_be_made_to_suffer(patient: World) -> None:
    facts = await examine(patient.client, None)
    server = facts.server

    def name_all(**changes: object) -> list[str]:
        return [finding.name for finding in judge(replace(facts, server=replace(server, **changes)))]  # type: ignore[arg-type] # by name

    assert name_all(manners=replace(server.manners, version="6.2.1")) == ["old_server"]
    assert name_all(manners=replace(server.manners, policy=None)) == ["unknown_eviction"]
    assert name_all(total=server.manners.used) == ["full_memory"]
    assert name_all(ping=51.0) == ["slow_server"]
    assert name_all(replicas=(Replica("a:1", "online", 11), Replica("b:1", "online", 1))) == ["replica_behind"]


async def test_a_server_that_runs_no_scripts_is_told_of_all_the_same(patient: World) -> None:
    await patient.redis.execute_command("ACL", "SETUSER", "weak", "on", ">x", "~*", "&*", "+@all", "-@scripting")
    weak = connect(f"unix://weak:x@{patient.redis.connection_pool.connection_kwargs['path']}")
    found = judge(await examine(Client(weak, patient.keys, patience=1.0), None))
    assert [(finding.name, finding.what) for finding in found] == [
        ("refusing_server", "the store refuses the credentials")
    ]
    await weak.aclose(close_connection_pool=True)


# Nodes and workers


async def test_no_worker(patient: World) -> None:
    await patient.runs.leave("w1")
    finding = await find_one(patient, "no_worker", "error")
    assert "receiver work" in finding.fix


async def test_a_worker_that_fell_silent(patient: World) -> None:
    beat_worker(patient, "w2")
    await patient.redis.hincrby(patient.keys.worker("w2"), "seen_at", -LEASE)
    assert (await find_one(patient, "silent_worker", "warning")).examples == ("w2",)
    await patient.redis.hincrby(patient.keys.worker("w1"), "seen_at", -LEASE)
    assert set(await look(patient)) == {"no_worker", "silent_worker"}


async def test_no_node(patient: World) -> None:
    await NodeStore(patient.client, "n1").leave()
    assert "receiver serve" in (await find_one(patient, "no_node", "warning")).fix


async def test_tasks_that_nobody_serves(patient: World) -> None:
    for queue in ("default", "heavy", "default:draw", "heavy"):
        await patient.create(queue=queue)
    finding = await find_one(patient, "unserved_queue", "error")
    assert finding.examples == ("default:draw (1)", "heavy (2)")
    assert "--lanes" in finding.fix
    beat_worker(patient, "w2", queues="heavy default:draw")
    assert await look(patient) == {}


async def test_versions_that_differ(patient: World) -> None:
    beat_worker(patient, "w2", version="0.9")
    finding = await find_one(patient, "mixed_versions", "warning")
    assert finding.examples == ("n1 (1.0)", "w1 (1.0)", "w2 (0.9)")


@pytest.mark.parametrize("kind", ["node", "worker"])
async def test_clocks_that_differ(patient: World, kind: str) -> None:
    key = patient.keys.node("n1") if kind == "node" else patient.keys.worker("w1")
    await patient.redis.hset(key, "clock_offset", -61_000)
    finding = await find_one(patient, "clock_skew", "warning")
    assert finding.examples == (("n1" if kind == "node" else "w1") + " (-61000 ms)",)
    assert "NTP" in finding.fix


# Tasks and keys


@pytest.mark.parametrize(
    "how", ["lost from its queue", "lost from the leases", "lost from later", "parked for nothing"]
)
async def test_a_task_that_nothing_will_ever_run(patient: World, how: str) -> None:
    keys, redis = patient.keys, patient.redis
    if how == "lost from its queue":
        task_id = await patient.create()
        await redis.delete(keys.queue("default"))
    else:
        run = await patient.start()
        task_id = run.task_id
        if how == "lost from later":
            await patient.runs.requeue(task_id, run.run, "retry", HOUR_MS)
            await redis.delete(keys.later())
        elif how == "parked for nothing":
            await redis.hset(keys.task(task_id), "parked", "1")
        await redis.zrem(keys.leases(), task_id)
    finding = await find_one(patient, "stuck_task", "error")
    assert finding.examples == (task_id,)
    assert "Cancel" in finding.fix


async def test_a_question_that_is_gone(patient: World) -> None:
    run = await patient.start()
    await patient.inputs.ask(run.task_id, run.run, new_question())
    await patient.redis.delete(patient.keys.inputs(run.task_id))
    assert (await find_one(patient, "input_required_without_question", "error")).examples == (run.task_id,)


@pytest.mark.parametrize("index", ["status", "owner", "expiry"])
async def test_an_index_that_says_something_else(patient: World, index: str) -> None:
    task_id = await patient.create()
    if index == "status":
        await patient.redis.hset(patient.keys.task(task_id), "status", "completed")
    else:
        await patient.redis.delete(patient.keys.owner("ada") if index == "owner" else patient.keys.expiry())
    assert (await find_one(patient, "wrong_index", "error")).examples == (task_id,)


async def test_a_task_without_an_end(patient: World) -> None:
    task_id = await patient.create()
    await patient.redis.persist(patient.keys.task(task_id))
    assert f"task {task_id}" in (await find_one(patient, "key_without_ttl", "error")).examples


async def test_a_key_without_an_end(patient: World) -> None:
    """By chance, among a thousand random ones; keys of others are none of our business."""
    await patient.redis.set("somebody:else", "x")
    await patient.redis.set("mcp:{0}:rubbish", "x")
    await patient.redis.hset(patient.keys.session("s1"), "owner", "ada")
    finding = await find_one(patient, "key_without_ttl", "error")
    assert finding.examples == ("mcp:{0}:rubbish", "mcp:{0}:session:s1")
    assert "UNLINK" in finding.fix


async def test_what_was_not_swept_recovered_or_brought_back(patient: World) -> None:
    """No actor of a worker runs here."""
    await patient.calm()
    expired, lost, sleeping = await patient.create(), await patient.start(), await patient.start()
    await patient.expire(expired)
    assert (await find_one(patient, "unswept_tasks", "warning")).what.startswith("1 task expired more than 60 s ago")
    await patient.runs.sweep()
    await patient.redis.zadd(patient.keys.leases(), {lost.task_id: 1})
    assert "actor_failed" in (await find_one(patient, "unrecovered_leases", "error")).fix
    await patient.calm()
    await patient.recover()
    await patient.runs.requeue(sleeping.task_id, sleeping.run, "retry", HOUR_MS)
    await patient.redis.zadd(patient.keys.later(), {sleeping.task_id: 1})
    assert "claim_failed" in (await find_one(patient, "late_tasks", "error")).fix


async def test_leases_that_are_held_after_an_outage_are_not_overdue(patient: World) -> None:
    run = await patient.start()
    await patient.redis.zadd(patient.keys.leases(), {run.task_id: 1})
    await patient.redis.hset(patient.keys.clock(), "hold_until", await patient.now() + LEASE)
    assert await look(patient) == {}


async def test_errors_come_first(patient: World) -> None:
    await NodeStore(patient.client, "n1").leave()
    await patient.runs.leave("w1")
    assert [finding.name for finding in judge(await examine(patient.client, None))] == ["no_worker", "no_node"]


async def test_the_sample_has_both_ends_of_an_index(patient: World) -> None:
    for _ in range(250):
        await patient.create()
    members = await patient.members(patient.keys.status("working", LABEL))
    for task_id in (members[0], members[125], members[-1]):
        await patient.redis.persist(patient.keys.task(task_id))
    facts: Facts = await examine(patient.client, None)
    assert {task.id for task in facts.tasks} == {*members[:100], *members[-100:]}
    assert {task.id for task in facts.tasks if task.pttl == -1} == {members[0], members[-1]}


def test_numbers_are_counted_in_words() -> None:
    assert [count(1, "task"), count(2, "task"), count(1, "process"), count(0, "process")] == [
        "1 task",
        "2 tasks",
        "1 process",
        "0 processes",
    ]
