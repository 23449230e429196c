"""The client of the Python SDK, with tasks of its own, whose requests go to several nodes by turns.

python -m tests.interop.python.client TOKEN URL...
"""

import asyncio
import sys
import warnings
from typing import Any

import httpx
from mcp import ClientSession, McpError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, CreateMessageResult, ElicitResult

from tests.interop.alternating import PATIENCE_SECONDS, Alternating
from tests.interop.python.own_tasks import FORM, RHYME, Mood, OwnTasks
from tests.interop.script import Take, failure_of, tell


class Script:
    """Goes through its steps with a session."""

    def __init__(self, transport: Alternating) -> None:
        self._transport = transport
        self._asked: list[Any] = []
        self.own = OwnTasks()
        self.session: ClientSession

    def steps(self) -> dict[str, Take]:
        """By name, in their order."""
        own = [name for name in vars(Script) if name.startswith("step_")]
        return {name.removeprefix("step_"): getattr(self, name) for name in own}

    async def step_initialize(self) -> dict[str, Any]:
        return {"server": await self.session.initialize()}

    async def step_task(self) -> dict[str, Any]:
        created = await self.session.experimental.call_tool_as_task("gated", {"label": "task"}, ttl=90_000)
        task_id = created.task.taskId
        before = await self.session.experimental.get_task(task_id)
        await self.session.call_tool("release", {"label": "task"})
        seen = [status.status async for status in self.session.experimental.poll_task(task_id)]
        return {"created": created.task, "before": before, "seen": seen, "result": await self._result_of(task_id)}

    async def step_list(self) -> dict[str, Any]:
        created = [await self._create("add", a=number, b=1) for number in range(4)]
        pages, cursor = [], None
        while True:
            page = await self.session.experimental.list_tasks(cursor)
            pages.append([task.taskId for task in page.tasks])
            if (cursor := page.nextCursor) is None:
                break
        return {"created": created, "pages": pages}

    async def step_cancel(self) -> dict[str, Any]:
        task_id = await self._create("gated", label="never")
        cancelled = await self.session.experimental.cancel_task(task_id)
        again = await failure_of(self.session.experimental.cancel_task(task_id))
        return {"task_id": task_id, "cancelled": cancelled, "again": again}

    async def step_elicitation(self) -> dict[str, Any]:
        task_id = await self._create("book")
        result = await self._result_of(task_id)
        asked, self._asked = self._asked, []
        return {"task_id": task_id, "asked": asked, "result": result, "log": self.own.take_log()}

    async def step_own_elicitation(self) -> dict[str, Any]:
        return await self._follow("answers", "book")

    async def step_own_sampling(self) -> dict[str, Any]:
        return await self._follow("answers", "rhyme", word="sea")

    async def step_own_awaited(self) -> dict[str, Any]:
        return await self._follow("waits for the requestor", "book")

    async def step_own_cancelled(self) -> dict[str, Any]:
        return await self._follow("cancels", "book")

    async def step_own_failed(self) -> dict[str, Any]:
        return await self._follow("fails", "book")

    async def step_own_of_a_plain_call(self) -> dict[str, Any]:
        self.own.mood = "answers"
        result = await self.session.call_tool("book", {"as_task": True})
        return {"result": result, "log": self.own.take_log()}

    async def step_own_abandoned(self) -> dict[str, Any]:
        self.own.mood = "hesitates"
        task_id = await self._create("book", as_task=True)
        await self.own.has_heard("tasks/get")
        await self.session.experimental.cancel_task(task_id)
        await self.own.has_heard("tasks/cancel")
        return {"log": self.own.take_log()}

    async def step_end(self) -> dict[str, Any]:
        return {"requests": self._transport.requests}

    async def fill_in(self, context: object, params: Any) -> ElicitResult:
        """Answers at once what is not asked as a task."""
        self._asked.append(params)
        return FORM

    async def write(self, context: object, params: Any) -> CreateMessageResult:
        """The same for the client's model."""
        self._asked.append(params)
        return RHYME

    async def _create(self, name: str, **arguments: object) -> str:
        created = await self.session.experimental.call_tool_as_task(name, arguments)
        return created.task.taskId

    async def _result_of(self, task_id: str) -> CallToolResult:
        return await self.session.experimental.get_task_result(task_id, CallToolResult)

    async def _follow(self, mood: Mood, name: str, **arguments: object) -> dict[str, Any]:
        """A task that asks for a task of the client's."""
        self.own.mood = mood
        task_id = await self._create(name, **arguments, as_task=True)
        try:
            result: Any = await self._result_of(task_id)
        except McpError as error:
            result = {"code": error.error.code, "message": error.error.message}
        return {"task_id": task_id, "result": result, "log": self.own.take_log()}


async def main(token: str, *urls: str) -> None:
    headers = {"authorization": f"Bearer {token}"}
    transport = Alternating(urls)
    script = Script(transport)
    async with (
        httpx.AsyncClient(transport=transport, headers=headers, timeout=PATIENCE_SECONDS) as http,
        streamable_http_client(f"{urls[0]}/mcp", http_client=http) as (received, sent, _),
        ClientSession(
            received,
            sent,
            elicitation_callback=script.fill_in,
            sampling_callback=script.write,
            experimental_task_handlers=script.own.handlers(),
        ) as script.session,
    ):
        await tell(script.steps())


# The package says so wherever tasks are used; it is the client that people have.
warnings.filterwarnings("ignore", "The experimental tasks API is deprecated", DeprecationWarning)
asyncio.run(main(*sys.argv[1:]))
