"""A store with a million tasks: how it starts, sweeps, lists and recovers."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from receiver.store.keys import Keys
from receiver.store.scripts import load
from tests.acceptance.deployment import Deployment
from tests.scale.deployment import ALICE, BOB, deploy
from tests.scale.figures import spread
from tests.scale.filling import OWNERS, Filler, read_record
from tests.scale.pulse import Pause, longest_pause
from tests.scale.wire import Line, Peer, begin, create

LEASES = 5_000
LAPSING = 20  # one task of so many expires just before the start
LAPSE_SECONDS = 5.0
PATIENCE_SECONDS = 300.0
SLOW_US = 5_000  # calls that block the store longer are looked at
PAUSE_SECONDS = 0.02
SCRIPTS = ("page", "sweep", "recover", "claim", "heartbeat", "finish", "create", "statuses", "read")
MIB = 1024 * 1024


@dataclass
class Million:
    """``pause``: the longest of the node's event loop, ``slowest``: the longest call of the store; in seconds."""

    pause: Pause = field(default_factory=Pause)
    slowest: float = 0.0
    lines: list[str] = field(default_factory=list)


async def measure(folder: Path, count: int, *, leases: int = LEASES) -> Million:
    """Fills a store with so many tasks, and starts a node and a worker on it."""
    report, keys = Million(), Keys()
    async with deploy(folder, workers=0) as deployment:
        redis = Redis.from_url(deployment.store.url)
        first = deployment.nodes[0].process
        samples = [await _sample(redis, await begin(first.url, token)) for token in (ALICE, BOB)]
        first.terminate()
        filler = Filler(
            redis, samples[0], [sample["owner"] for sample in samples] + [f"{n:032x}" for n in range(OWNERS)]
        )
        begun = time.time()
        await filler.fill(count - count // LAPSING)
        lost = len(await filler.claim(leases, "lost", lease=1))
        await filler.create_many(count // LAPSING, ttl=round(1000 * LAPSE_SECONDS))
        memory = (await redis.info("memory"))["used_memory"] / MIB
        report.lines.append(f"{count} tasks in {time.time() - begun:.0f} s; the store has {memory:.0f} MiB")
        await asyncio.sleep(LAPSE_SECONDS)
        await redis.config_set("slowlog-log-slower-than", SLOW_US)
        await redis.slowlog_reset()
        report.lines.append(
            f"{lost} leases are lost, {await redis.zcount(keys.expiry(), 0, 1000 * time.time())} tasks expired"
        )
        await _work(report, deployment, redis, keys)
        report.slowest = await _slowest(redis, report.lines)
        report.lines.append(f"longest pause of the node's loop: {report.pause}")
        report.lines.append(f"longest call of the store: {1000 * report.slowest:.1f} ms")
        await redis.aclose()
    return report


async def _work(report: Million, deployment: Deployment, redis: Redis, keys: Keys) -> None:
    begun = time.time()
    node = (await deployment.start_node()).process
    report.lines.append(f"a node starts in {time.time() - begun:.1f} s")
    peers = {"100,000 tasks" if token == ALICE else "1,000": await begin(node.url, token) for token in (ALICE, BOB)}
    lists = [asyncio.create_task(_keep_listing(peer)) for peer in peers.values()]
    started = time.time()
    await deployment.start_worker()
    report.lines.append(f"a worker starts in {time.time() - started:.1f} s")
    swept, recovered = await asyncio.gather(
        _until_none(lambda now: redis.zcount(keys.expiry(), 0, now - 2000)),
        _until_none(lambda now: redis.zcount(keys.leases(), 0, now)),
    )
    report.lines.append(f"all expired tasks are swept in {swept:.1f} s, all lost leases recovered in {recovered:.1f} s")
    await asyncio.sleep(LAPSE_SECONDS)
    for listing in lists:
        listing.cancel()
    for whose, (first, later) in zip(peers, await asyncio.gather(*lists), strict=True):
        report.lines.append(f"list, first page, of an owner of about {whose}: {spread(first)}")
        report.lines.append(f"list, later pages: {spread(later)}")
    report.pause = longest_pause(deployment.folder, begun, time.time())


async def _sample(redis: Redis, peer: Peer) -> dict[str, str]:
    async with await Line.open(peer) as line:
        return await read_record(redis, await create(line, "timed"))


async def _until_none(count: Callable[[float], Awaitable[int]]) -> float:
    """The seconds until there is nothing left of what is counted, for a moment in ms."""
    begun = time.time()
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await count(1000 * time.time()):  # noqa: ASYNC110 - other processes see to it
            await asyncio.sleep(PAUSE_SECONDS)
    return time.time() - begun


async def _keep_listing(peer: Peer) -> tuple[list[float], list[float]]:
    """Pages through the list until it is cancelled; how long first pages took, and later ones."""
    first: list[float] = []
    later: list[float] = []
    params: dict[str, Any] = {}
    try:
        async with await Line.open(peer) as line:
            while True:
                begun = time.time()
                answer = await line.ask("tasks/list", params)
                (later if params else first).append(time.time() - begun)
                following = answer["result"].get("nextCursor")
                params = {"cursor": following} if following and len(later) % 50 != 49 else {}
                await asyncio.sleep(PAUSE_SECONDS)
    except asyncio.CancelledError:
        return first, later


async def _slowest(redis: Redis, lines: list[str]) -> float:
    """The longest call that the store noted, in seconds; adds a line for each script among those."""
    names = {load(name, admitted=admitted).sha: name for name in SCRIPTS for admitted in (False, True)}
    longest: dict[str, float] = {}
    for entry in await redis.slowlog_get(128):
        command = entry["command"].decode(errors="replace").split()
        name = names.get(command[1], command[1]) if command[0] == "EVALSHA" else command[0]
        longest[name] = max(longest.get(name, 0.0), entry["duration"] / 1_000_000)
    lines += [f"longest {name}: {1000 * seconds:.1f} ms" for name, seconds in sorted(longest.items())]
    return max(longest.values(), default=0.0)
