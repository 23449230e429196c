"""One call of a tool, from its arguments to its outcome."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ops.calling.connection import Connection, Pending
from ops.calling.display import Display
from ops.calling.outcome import FAILED, REFUSED, Ended, Outcome, is_failure
from ops.calling.questions import Questions
from ops.client.stream import Message
from ops.client.violation import Violation
from receiver.protocol.lifecycle import TERMINAL

RELATED_TASK = "io.modelcontextprotocol/related-task"
PROGRESS_TOKEN = "call"  # noqa: S105 - the name of the progress that is reported
SHORTEST_PAUSE, DEFAULT_PAUSE = 0.2, 1.0  # seconds between two tasks/get


@dataclass(frozen=True)
class Order:
    """What to call.  ``as_task``: None where the tool's ``taskSupport`` decides; ``ttl`` in ms."""

    tool: Message
    arguments: Mapping[str, Any]
    as_task: bool | None = None
    ttl: int | None = None


class Call:
    """``task_id`` is known as soon as there is a task."""

    def __init__(self, connection: Connection, display: Display, questions: Questions) -> None:
        self.task_id: str | None = None
        self._connection = connection
        self._display = display
        self._questions = questions
        self._pending: Pending | None = None
        connection.listener = self._hear
        connection.say = display.say

    async def run(self, order: Order) -> Outcome:
        """Calls the tool and waits for the outcome.  Raises Ended."""
        params = {"name": order.tool["name"], "arguments": order.arguments, "_meta": {"progressToken": PROGRESS_TOKEN}}
        if self._decide(order):
            await self.create(params, order.ttl)
            return await self.attach(str(self.task_id))
        self._pending = self._connection.begin("tools/call", params)
        answer = await self._connection.follow(self._pending, repeats=False)
        return _read_outcome(answer)

    async def create(self, params: Mapping[str, Any], ttl: int | None) -> None:
        """Makes it a task."""
        asked = {} if ttl is None else {"ttl": ttl}
        answer = await self._connection.request("tools/call", {**params, "task": asked})
        task = (answer.get("result") or {}).get("task")
        if not isinstance(task, dict) or not isinstance(task.get("taskId"), str):
            error = answer.get("error") or {}
            raise Ended(FAILED, f"there is no task: {error.get('message', 'the server did not make one')}")
        self.task_id = task["taskId"]
        self._display.say(f"Task {self.task_id}")

    async def attach(self, task_id: str) -> Outcome:
        """Waits for the outcome of a task, whoever made it."""
        self.task_id = task_id
        looking = asyncio.create_task(self._look_again())
        try:
            pending = self._connection.begin("tasks/result", {"taskId": task_id})  # T-39
            answer = await self._connection.follow(pending, repeats=True)
        finally:
            looking.cancel()
            await asyncio.wait([looking])
        if "result" in answer:
            return _read_outcome(answer, task_id)
        task = await self._connection.request("tasks/get", {"taskId": task_id})
        status = (task.get("result") or {}).get("status") if "error" not in task else "not_found"
        return Outcome(status if status in ("cancelled", "not_found") else "failed", task_id, None, answer["error"])

    async def cancel(self) -> None:
        """Has the task cancelled, whose outcome then comes; or gives up a plain call, and raises Ended."""
        if self.task_id is not None:
            await self._connection.request("tasks/cancel", {"taskId": self.task_id})  # an error: it is over
        elif self._pending is not None:
            await self._connection.notify("notifications/cancelled", {"requestId": self._pending.frame["id"]})

    def _decide(self, order: Order) -> bool:
        """Whether to call it as a task.  Raises Ended for what the tool, or the server, does not allow."""
        support = (order.tool.get("execution") or {}).get("taskSupport", "forbidden")
        can_be = _declares(self._connection.capabilities, "tasks", "requests", "tools", "call")
        if order.as_task and (support == "forbidden" or not can_be):
            raise Ended(REFUSED, "this tool can't be called as a task; leave out --task")
        if order.as_task is False and support == "required" and can_be:
            raise Ended(REFUSED, "this tool must be called as a task; leave out --no-task")
        return can_be and support != "forbidden" and order.as_task is not False

    async def _look_again(self) -> None:
        """Follows the status of a task, at the pace that the server asks for (T-47): it need not tell it by itself."""
        pause = 0.0
        while True:
            await asyncio.sleep(pause)
            pause = DEFAULT_PAUSE
            with suppress(Ended, Violation):
                task = (await self._connection.request("tasks/get", {"taskId": self.task_id})).get("result") or {}
                if task.get("status") in TERMINAL:
                    return
                self._display.show_status(task.get("statusMessage"))
                if isinstance(interval := task.get("pollInterval"), int):
                    pause = max(interval / 1000, SHORTEST_PAUSE)

    def _hear(self, message: Message) -> None:
        """What the server says by itself."""
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        match message.get("method"):
            case "notifications/progress" if self._is_mine(params):
                self._display.show_progress(params.get("progress"), params.get("total"), params.get("message"))
            case "notifications/tasks/status" if params.get("taskId") == self.task_id:
                if params.get("status") not in TERMINAL:
                    self._display.show_status(params.get("statusMessage"))
            case "notifications/message":
                self._display.say(f"{params.get('level')}: {_show_data(params.get('data'))}")
            case "notifications/cancelled":
                self._questions.withdraw(params.get("requestId"))
            case "notifications/elicitation/complete":
                self._display.say("What the link was for is done.")
            case str() if "id" in message:
                self._questions.take(message, self._connection.respond)

    def _is_mine(self, params: Mapping[str, Any]) -> bool:
        related = (params.get("_meta") or {}).get(RELATED_TASK) or {}
        return params.get("progressToken") == PROGRESS_TOKEN or related.get("taskId", ...) == self.task_id


def _read_outcome(answer: Message, task_id: str | None = None) -> Outcome:
    result, error = answer.get("result"), answer.get("error")
    failed = error is not None or is_failure(result)
    return Outcome("failed" if failed else "completed", task_id, result, error)


def _declares(capabilities: Any, *names: str) -> bool:
    for name in names:
        capabilities = capabilities.get(name) if isinstance(capabilities, Mapping) else None
    return capabilities is not None


def _show_data(data: object) -> str:
    return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
