"""Many tasks that wait for input: which slots they hold, and how soon after their answers they go on."""

import asyncio
import json
import time
from dataclasses import dataclass, field
from pathlib import Path

from redis.asyncio import Redis

from receiver.store.keys import Keys
from tests.scale.deployment import ALICE, deploy
from tests.scale.figures import spread
from tests.scale.wire import Line, Message, Peer, begin, create, create_many, over_lines

TOOLS = {"memory": "asking", "parked": "asking_parked"}
RELATED_TASK = "io.modelcontextprotocol/related-task"
ANSWER = {"action": "accept", "content": {"go": True}}
OTHERS = 40  # tasks that find all slots free
ANSWERERS = 8
LOOK_SECONDS = 0.05
PATIENCE_SECONDS = 300.0


@dataclass
class Waiting:
    """``resumed``: seconds from each answer until its tool went on."""

    resumed: list[float] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)


async def measure(folder: Path, count: int, where: str) -> Waiting:
    """``where`` is ``memory`` or ``parked``."""
    report, keys, begun = Waiting(), Keys(), time.time()
    async with deploy(folder, workers=2, park_after_seconds=0) as deployment:
        peer = await begin(deployment.nodes[0].process.url, ALICE)
        async with Redis.from_url(deployment.store.url) as redis:
            tasks = await create_many(peer, count, TOOLS[where])
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not await _all_wait(redis, keys, count, TOOLS[where]):  # noqa: ASYNC110 - workers see to it
                    await asyncio.sleep(LOOK_SECONDS)
            leases = await redis.zcard(keys.leases())
        report.lines.append(f"{count} tasks wait ({where}) after {time.time() - begun:.1f} s; {leases} leases are held")
        starts = await over_lines(peer, OTHERS, range(OTHERS), _pass)
        report.lines.append(f"{OTHERS} others, from their creation to their start: {spread(starts)}")
        questions = await _questions(peer, count)
        answered = dict(await over_lines(peer, ANSWERERS, questions.items(), _answer))
        ends = await over_lines(peer, ANSWERERS, tasks, _resumed)
        report.resumed = [resumed - answered[task_id] for task_id, resumed in ends]
        report.lines.append(f"from an answer to the tool that goes on: {spread(report.resumed)}")
    return report


async def _all_wait(redis: Redis, keys: Keys, count: int, tool: str) -> bool:
    waiting = await redis.zcard(keys.status("input_required", f"task:{tool}"))
    return bool(waiting == count and (tool == TOOLS["memory"] or not await redis.zcard(keys.leases())))


async def _pass(line: Line, _: int) -> float:
    begun = time.time()
    task_id = await create(line, "timed")
    return (await _resumed(line, task_id))[1] - begun


async def _resumed(line: Line, task_id: str) -> tuple[str, float]:
    answer = await line.ask("tasks/result", {"taskId": task_id})
    return task_id, answer["result"]["structuredContent"]["started"]


async def _questions(peer: Peer, count: int) -> dict[str, Message]:
    """All that is asked, by task, as one stream of the session brings it."""
    asked: dict[str, Message] = {}
    async with asyncio.timeout(PATIENCE_SECONDS), await Line.open(peer) as line:
        await line.send("GET")
        async for message in line.messages():
            if message.get("method") == "elicitation/create":
                asked[message["params"]["_meta"][RELATED_TASK]["taskId"]] = message
            if len(asked) == count:
                break
    return asked


async def _answer(line: Line, asked: tuple[str, Message]) -> tuple[str, float]:
    task_id, question = asked
    begun = time.time()
    await line.send(body=json.dumps({"jsonrpc": "2.0", "id": question["id"], "result": ANSWER}).encode())
    await line.body()
    assert line.status == 202, line.status
    return task_id, begun
