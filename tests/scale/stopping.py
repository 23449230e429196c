"""SIGTERM of a node on which many wait: how it ends, and how they go on at another."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.scale.deployment import ALICE, GATE, deploy
from tests.scale.wire import Line, Peer, begin, create_many, request

OPENERS = 64
PATIENCE_SECONDS = 120.0


@dataclass
class Stopping:
    """``code`` and ``seconds``: how, and how long after its SIGTERM, the node ended."""

    code: int = -1
    seconds: float = 0.0
    ends: Counter[str] = field(default_factory=Counter)
    lines: list[str] = field(default_factory=list)


async def measure(folder: Path, waiters: int) -> Stopping:
    """Blocks so many on one node of two, and stops it."""
    report = Stopping()
    async with deploy(folder, nodes=2, worker_concurrency=50) as deployment:
        first, second = [node.process for node in deployment.nodes]
        peer = await begin(first.url, ALICE)
        tasks = await create_many(peer, waiters, "held")
        gate, opened = asyncio.Semaphore(OPENERS), asyncio.Semaphore(0)
        waiting = [asyncio.create_task(_wait(peer, task_id, gate, opened)) for task_id in tasks]
        async with asyncio.timeout(PATIENCE_SECONDS):
            for _ in tasks:
                await opened.acquire()
            begun = time.time()
            report.code = await asyncio.to_thread(first.terminate)
            report.seconds = time.time() - begun
            positions = await asyncio.gather(*waiting)
            whole = [position for position in positions if position]
            going = [asyncio.create_task(_go_on(peer.at(second.url), position, gate)) for position in whole]
            deployment.open_gates(GATE)
            report.ends.update(await asyncio.gather(*going))
    report.lines.append(f"{waiters} waiters: exit code {report.code} after {report.seconds:.1f} s")
    report.lines.append(
        f"{len(whole)} streams ended whole, with where to go on; at the other node: {dict(report.ends)}"
    )
    return report


async def _wait(peer: Peer, task_id: str, gate: asyncio.Semaphore, opened: asyncio.Semaphore) -> str | None:
    """Where a stream stood when it ended in good order, without an answer."""
    async with gate:
        line = await Line.open(peer)
        await line.send(body=request("tasks/result", {"taskId": task_id}))
        events = line.events()
        await anext(events)
    opened.release()
    async with line:
        try:
            rest = [event async for event in events]
        except (OSError, asyncio.IncompleteReadError, ValueError):
            return None
    return None if any(event["data"] for event in rest) else line.last


async def _go_on(peer: Peer, position: str, gate: asyncio.Semaphore) -> str:
    """How a stream ends with which a client goes on."""
    async with gate:
        line = await Line.open(peer)
        await line.send("GET", last_event_id=position)
    async with line:
        answers = [message async for message in line.messages()]
    return "answered" if answers and "result" in answers[-1] else f"HTTP {line.status}: {answers[-1:]}"
