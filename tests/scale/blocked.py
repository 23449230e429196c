"""Many ``tasks/result`` blocked on one node, through a SIGKILL of the store and its restart."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.scale.bystander import Bystander
from tests.scale.deployment import ALICE, BOB, GATE, deploy
from tests.scale.figures import memory_of, seconds_of, spread
from tests.scale.pulse import longest_pause
from tests.scale.wire import Line, Peer, begin, create_many, request

OPENERS = 64
OUTAGE_SECONDS = 3.0
STEADY_SECONDS = 12.0  # in which every stream is renewed once


@dataclass
class Blocked:
    """What became of the waiters."""

    waiters: int
    outcomes: Counter[str] = field(default_factory=Counter)
    delays: list[float] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)


async def measure(
    folder: Path, waiters: int, *, steady: float = STEADY_SECONDS, outage: float = OUTAGE_SECONDS
) -> Blocked:
    """Blocks so many on one node, kills the store, restarts it, and lets all tasks end."""
    report = Blocked(waiters)
    async with deploy(folder, worker_concurrency=50) as deployment:
        node = deployment.nodes[0].process
        alice = await begin(node.url, ALICE)
        tasks = await create_many(alice, waiters, "held")
        before = memory_of(node.pid)
        waiting, begun = await block(alice, tasks, report), time.time()
        report.lines.append(f"{waiters} waiters: {(memory_of(node.pid) - before) / waiters:.1f} KiB each")
        with await asyncio.to_thread(Bystander, node.url, BOB, "timed") as bystander:
            await rest(report, bystander, folder, node.pid, steady)
            begun = time.time()
            await asyncio.to_thread(deployment.store.kill)
            used = seconds_of(node.pid)
            await asyncio.sleep(outage)
            report.lines.append(f"outage of {outage:g} s: {(seconds_of(node.pid) - used) / outage:.0%} of a core")
            await asyncio.to_thread(deployment.store.restart)
            back = time.time()
            deployment.open_gates(GATE)
            await asyncio.gather(*waiting)
            report.lines.append(
                f"all over {time.time() - back:.1f} s after the store was back: {dict(report.outcomes)}"
            )
            report.lines.append(f"from the end of a run to its answer: {spread(report.delays)}")
            report.lines.append(f"another client's tasks/get meanwhile: {spread(bystander.since(begun))}")
            report.lines.append(f"longest pause of the loop: {longest_pause(folder, begun, time.time())}")
    return report


async def rest(report: Blocked, bystander: Bystander, folder: Path, pid: int, seconds: float) -> None:
    """Nothing happens."""
    begun, used = time.time(), seconds_of(pid)
    await asyncio.sleep(seconds)
    share = (seconds_of(pid) - used) / seconds
    pause = longest_pause(folder, begun, time.time())
    report.lines.append(f"at rest: {share:.0%} of a core; another client's tasks/get: {spread(bystander.since(begun))}")
    report.lines.append(f"at rest: longest pause of the loop {pause}")


async def block(peer: Peer, tasks: list[str], report: Blocked) -> list["asyncio.Task[None]"]:
    """Waits for all these tasks; returns when every stream is open."""
    gate, waiting = asyncio.Semaphore(OPENERS), []
    opened = [asyncio.Event() for _ in tasks]
    for task_id, event in zip(tasks, opened, strict=True):
        waiting.append(asyncio.create_task(wait(peer, task_id, gate, event, report)))
    for event in opened:
        await event.wait()
    return waiting


async def wait(peer: Peer, task_id: str, gate: asyncio.Semaphore, opened: asyncio.Event, report: Blocked) -> None:
    """One waiter."""
    await gate.acquire()
    try:
        async with await Line.open(peer) as line:
            await line.send(body=request("tasks/result", {"taskId": task_id}))
            async for event in line.events():
                if not opened.is_set():
                    opened.set()
                    gate.release()
                if '"result":' in event["data"]:
                    report.delays.append(time.time() - ended(event["data"]))
                    report.outcomes["answered"] += 1
                    return
                if '"error":' in event["data"]:
                    report.outcomes[event["data"][:200]] += 1
                    return
            report.outcomes["closed"] += 1
    except (OSError, asyncio.IncompleteReadError, ValueError) as error:
        report.outcomes[f"broken: {type(error).__name__}: {error}"[:200]] += 1
    finally:
        if not opened.is_set():
            opened.set()
            gate.release()


def ended(answer: str) -> float:
    """When the run ended that gave this answer."""
    text = answer.rpartition('"ended":')[2]
    return float(text[: text.index("}")])
