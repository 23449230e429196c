"""A store that looks like one in use, for pictures."""

import math
import random
import time
from typing import Any

from receiver.principal import Principal
from tests.console.stock import Stock

TOOLS = {"render_report": 9.0, "transcode_video": 42.0, "import_ledger": 3.0, "sync_inventory": 1.2}
ADA, BOB, CARLA = (Principal(name, "cli", "https://issuer.example").owner for name in ("ada", "bob", "carla"))


async def paint(stock: Stock) -> str:
    """Fills the store; returns the id of the task to be shown."""
    rnd = random.Random(7)  # noqa: S311 - a picture is the same each time
    for number in range(60):
        tool, owner = list(TOOLS)[number % 4], (ADA, BOB, CARLA)[number % 3]
        await stock.finish(tool, {"content": [{"type": "text", "text": "done"}]}, owner=owner)
    for text in ("ledger 2026-09 is locked by another import", "upstream answered 502 after 3 tries"):
        await stock.fail(text, "import_ledger", owner=BOB)
    await stock.cancel("transcode_video", owner=CARLA)
    for _ in range(7):
        await stock.create("transcode_video", owner=CARLA)
    await stock.create("sync_inventory", queue="plain", kind="call")
    asked = await stock.start(
        "approve_refund", "worker-1.eu-west:1:5f01", owner=ADA, arguments={"order": "A-4711", "amount": 129.5}
    )
    await stock.ask(asked, "Refund 129.50 EUR to the customer of order A-4711?")
    for tool, share in (("transcode_video", 31), ("import_ledger", 78)):
        run = await stock.start(tool, f"worker-{share % 3 + 1}.eu-west:1:5f0{share % 3 + 1}", owner=BOB)
        await stock.runs.report(run.task_id, run.run, {"progress": share, "progress_total": 100})
    shown = await _show_one(stock)
    await _write_tallies(stock, rnd)
    await _show_workers(stock)
    return shown


async def _show_one(stock: Stock) -> str:
    arguments = {"quarter": "2026-Q3", "currency": "EUR", "sections": ["revenue", "costs", "outlook"], "pages": 64}
    lost = await stock.start("render_report", "worker-3.eu-west:1:5f03", owner=ADA, arguments=arguments)
    await stock.runs.requeue(lost.task_id, lost.run, "handed_back")
    run = await stock.resume(lost, "worker-1.eu-west:1:5f01")
    await stock.spread(run.task_id, 340_000, [210_000, 205_000])
    await stock.redis.hset(stock.keys.task(run.task_id), mapping={"queue": "default"})
    await stock.remember(run, "fetch_ledger#1", b'"' + b"x" * 48_213 + b'"')
    await stock.remember(run, "render_charts#1", b'"' + b"x" * 7_340 + b'"')
    said: dict[str, Any] = {"progress": 41, "progress_total": 64, "progress_message": "page 41: costs by region"}
    await stock.runs.report(run.task_id, run.run, said)
    return run.task_id


async def _write_tallies(stock: Stock, rnd: random.Random) -> None:
    """The hour before now."""
    minute = int(time.time()) // 60
    await stock.redis.delete(stock.keys.tally(str(minute)))
    for ago in range(60):
        fields: dict[str, int] = {}
        busy = 12 + 7 * math.sin(ago / 9) + rnd.random() * 5
        for tool, seconds in TOOLS.items():
            label, share = f"task:{tool}", {"sync_inventory": 1.0}.get(tool, 0.3)
            ended = round(busy * share)
            step = round(4 * math.log2(seconds * 1000 * (0.8 + 0.5 * rnd.random())))
            fields |= {f"{label} created": ended + rnd.randrange(2), f"{label} completed {step}": ended}
            if rnd.random() < 0.12:
                fields[f"{label} failed {step - 2}"] = 1 + rnd.randrange(3)
        await stock.redis.hset(stock.keys.tally(str(minute - ago)), mapping=fields)


async def _show_workers(stock: Stock) -> None:
    now = round(time.time() * 1000)
    for number in (1, 2, 3):
        name = f"worker-{number}.eu-west:1:5f0{number}"
        fields = {"host": f"worker-{number}", "pid": 1, "version": "0.1.0", "app": "reports:app", "lease": 600_000}
        fields |= {"queues": "default plain", "slots": 10, "running": (4, 1, 3)[number - 1], "waiting": 0}
        fields |= {"started_at": now - 7_412_000, "seen_at": now - 800 * number, "clock_offset": 2 - number}
        await stock.redis.hset(stock.keys.worker(name), mapping=fields)
        await stock.redis.zadd(stock.keys.workers(), {name: now})
