"""Too much of everything: a queue that one principal has filled, and requests that are refused."""

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.scale.deployment import ALICE, BOB, deploy
from tests.scale.figures import memory_of, spread
from tests.scale.wire import Line, Peer, begin, create, create_many, over_lines, request

RUN_SECONDS = 0.2
SLOTS = 4
TRIES = 20
ROOM = 100
LINES = 16
WARM_UP = 10  # a tenth of the requests, after which memory should stand still


@dataclass
class Flooded:
    """``tasks``, ``calls``: seconds until those of another principal started; ``refusal``: why no more were taken."""

    tasks: list[float] = field(default_factory=list)
    calls: list[float] = field(default_factory=list)
    refusal: str = ""
    lines: list[str] = field(default_factory=list)


@dataclass
class Refused:
    """``growth``: KiB that the node's memory grew, behind the warm-up."""

    growth: int = 0
    lines: list[str] = field(default_factory=list)


async def flood(folder: Path, count: int) -> Flooded:
    """Bob queues so many tasks; Alice comes behind them."""
    report = Flooded()
    async with deploy(folder, worker_concurrency=SLOTS, queue_limit=count + ROOM) as deployment:
        url = deployment.nodes[0].process.url
        alice, bob = await begin(url, ALICE), await begin(url, BOB)
        await create_many(bob, count, "timed", wait=RUN_SECONDS)
        async with await Line.open(alice) as line:
            report.tasks = [await _start_of_task(line) for _ in range(TRIES)]
            report.calls = [await _start_of_call(line) for _ in range(TRIES)]
        report.refusal = await _fill_up(bob)
    report.lines.append(f"behind {count} tasks of another, from a task's creation to its start: {spread(report.tasks)}")
    report.lines.append(f"from a plain call to its start, in its reserved slot: {spread(report.calls)}")
    report.lines.append(f"when the queue is full: {report.refusal}")
    return report


async def _start_of_task(line: Line) -> float:
    begun = time.time()
    answer = await line.ask("tasks/result", {"taskId": await create(line, "timed")})
    return float(answer["result"]["structuredContent"]["started"]) - begun


async def _start_of_call(line: Line) -> float:
    begun = time.time()
    answer = await line.ask("tools/call", {"name": "timed", "arguments": {}})
    return float(answer["result"]["structuredContent"]["started"]) - begun


async def _fill_up(peer: Peer) -> str:
    async with await Line.open(peer) as line:
        params = {"name": "timed", "arguments": {"wait": RUN_SECONDS}, "task": {}}
        while "error" not in (answer := await line.ask("tools/call", params)):
            pass
    return str(answer["error"])


async def refuse(folder: Path, count: int) -> Refused:
    """So many requests that are refused, in five ways by turns."""
    report = Refused()
    async with deploy(folder, workers=0, miss_limit="100/10s") as deployment:
        node = deployment.nodes[0].process
        alice = await begin(node.url, ALICE)
        stranger, lost = Peer(node.url, "nobody", alice.session), Peer(node.url, ALICE, "no-such-session")
        ways = [
            (stranger, request("ping")),
            (lost, request("ping")),
            (alice, b"{"),
            (alice, request("tasks/get", {"taskId": f"0-{0:032x}"})),
            (alice, request("no/such/method")),
        ]
        sizes, begun = [], time.time()
        for part in range(WARM_UP):
            await asyncio.gather(*(_send(peer, body, count // WARM_UP // len(ways)) for peer, body in ways))
            sizes.append(memory_of(node.pid))
            if part == 0:
                report.lines.append(f"memory after a tenth of {count} refused requests: {sizes[0]} KiB")
        report.growth = sizes[-1] - sizes[0]
        report.lines.append(f"after all, {time.time() - begun:.0f} s later: {sizes[-1]} KiB")
    return report


async def _send(peer: Peer, body: bytes, count: int) -> None:
    await over_lines(peer, LINES // 4, range(count), lambda line, _: _be_refused(line, body))


async def _be_refused(line: Line, body: bytes) -> None:
    await line.send(body=body)
    answer = await line.body()
    assert line.status >= 400 or b'"error"' in answer, answer
