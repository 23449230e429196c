"""``receiver demo``: the life of a task, told while it happens.

called as a task → progress → its worker killed → taken up by another → a question → the result
another one → cancelled
"""

import asyncio
import signal
import time
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any, NoReturn

from ops.calling.connection import Connection, connect
from ops.calling.outcome import Ended
from ops.calling.questions import CAPABILITIES
from ops.client.stream import Message
from ops.demo.stage import Stage
from receiver.protocol.errors import StartupError
from receiver.telemetry.logs import escape_text

PAGES, KILLED_AT = 6, 3
PACE, FAST_PACE = 1.5, 0.3  # seconds a page
PATIENCE_SECONDS = 60.0
ANSWER = {"format": "pdf", "copies": 2}
INTERRUPTED = 130
SHOWN = "status tool run attempt losses worker created_at started_at finished_at ttl progress progress_message outcome"

Say = Callable[[str], None]


def run_demo(*, fast: bool) -> int:
    """Plays it; returns the exit code.  Nothing is left behind, also when it is interrupted."""
    say = partial(print, flush=True)
    signal.signal(signal.SIGTERM, _leave)
    say("Starting a server, an API and a worker, in a folder that goes with them ...")
    try:
        with Stage() as stage:
            tour = Tour(stage, FAST_PACE if fast else PACE, say)
            asyncio.run(tour.play())
    except KeyboardInterrupt:
        say("Interrupted; all of it is gone.")
        return INTERRUPTED
    except Ended as end:
        raise StartupError(f"the demo broke off: {end}") from None
    say("\nAll of it is gone now. Your own: `receiver dev ops.demo:app`, and in another terminal")
    say("`receiver call write_report topic=rain`.")
    return 0


class Tour:
    """``pace``: seconds a page of the report takes."""

    def __init__(self, stage: Stage, pace: float, say: Say) -> None:
        self._stage = stage
        self._pace = pace
        self._say = say
        self._begun = time.monotonic()
        self._pages: asyncio.Queue[int] = asyncio.Queue()
        self._answering: set[asyncio.Task[None]] = set()

    async def play(self) -> None:
        """From the first call to the record.  Raises Ended."""
        await self._stage.wait_until_ready()
        async with connect(self._stage.url, None, PATIENCE_SECONDS) as connection:
            connection.listener = lambda message: self._hear(connection, message)
            await connection.open(CAPABILITIES)
            try:
                async with asyncio.timeout(PATIENCE_SECONDS):
                    report = await self._write_report(connection)
                    await self._cancel_another(connection)
            except TimeoutError:
                raise Ended(1, f"it is not over after {PATIENCE_SECONDS:g} s") from None
            finally:
                await connection.close(ends=True)
        self._show_record(report)

    async def _write_report(self, connection: Connection) -> str:
        arguments = {"topic": "rain", "pages": PAGES, "seconds": self._pace}
        self._tell(f"tools/call write_report {arguments}, as a task")
        task_id = await self._create(connection, "write_report", arguments)
        self._tell("tasks/result, on a connection that stays open:")
        pending = connection.begin("tasks/result", {"taskId": task_id})
        waiting = asyncio.create_task(connection.follow(pending, repeats=True))
        while (page := await self._pages.get()) < KILLED_AT:
            pass
        self._tell(f"kill -9 {self._stage.kill_worker()}: the worker is gone, in the middle of page {page + 1}")
        self._tell(f"worker {self._stage.start_worker()} takes the task up when the lease is over, in a second or so")
        result = (await waiting).get("result") or {}
        report = result.get("structuredContent") or {}
        self._tell(f"The result, on the same connection: {report.get('format')}, {report.get('copies')} copies")
        writers = [f"{page['number']} by {page['worker']}" for page in report.get("pages", [])]
        self._tell(f"Each page was written once: {', '.join(writers)}")
        return task_id

    async def _cancel_another(self, connection: Connection) -> None:
        self._tell("tools/call slow_compute for ten minutes, as a task")
        task_id = await self._create(connection, "slow_compute", {"seconds": 600})
        task = await connection.request("tasks/cancel", {"taskId": task_id})
        self._tell(f"tasks/cancel: {(task.get('result') or {}).get('status')}; its run is stopped")

    async def _create(self, connection: Connection, tool: str, arguments: dict[str, Any]) -> str:
        params = {"name": tool, "arguments": arguments, "task": {}, "_meta": {"progressToken": tool}}
        task = (await connection.request("tools/call", params)).get("result", {}).get("task")
        if task is None:
            raise Ended(1, f"{tool} was not made a task")
        self._tell(f"  {task['taskId']} is {task['status']}; it lives for {task['ttl'] // 60_000} minutes")
        return str(task["taskId"])

    def _hear(self, connection: Connection, message: Message) -> None:
        params = message.get("params") or {}
        match message.get("method"):
            case "notifications/progress" if params.get("message"):
                self._tell(f"  {params['message']}")
                self._pages.put_nowait(int(params["progress"]))
            case "elicitation/create":
                self._tell(f"  The tool asks: {params['message']}")
                self._tell(f"  The client answers: {ANSWER}")
                answer = connection.respond(message, result={"action": "accept", "content": ANSWER})
                answering = asyncio.create_task(answer)
                self._answering.add(answering)
                answering.add_done_callback(self._answering.discard)

    def _show_record(self, task_id: str) -> None:
        """As redis-cli shows it, without what is long, or only for the scripts."""
        key, record = self._stage.read_record(task_id)
        self._say(f"\n> HGETALL {key}")
        lines = [text for name in SHOWN.split() if name in record for text in (name, record[name])]
        for number, text in enumerate(lines, 1):
            self._say(f'{number:2}) "{escape_text(text)}"')
        self._say(f"    ... and {len(record) - len(lines) // 2} more fields")

    def _tell(self, text: str) -> None:
        self._say(f"{time.monotonic() - self._begun:5.1f} s  {escape_text(text)}")


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
