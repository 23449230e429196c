"""The client of fastmcp, whose requests go to several nodes by turns.

python -m tests.interop.fastmcp.client TOKEN URL...
"""

import asyncio
import sys
from typing import Any

import httpx
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.tasks import ToolTask
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.exceptions import ToolError
from mcp.types import CreateMessageRequestParams, ElicitRequestParams, GetTaskResult

from tests.interop.alternating import PATIENCE_SECONDS, Alternating
from tests.interop.script import Take, failure_of, tell

UNKNOWN = "0-" + 32 * "0"


class Script:
    """A user who has a client, and goes through its steps."""

    def __init__(self, token: str, urls: list[str]) -> None:
        self._transport = Alternating(urls)
        self._asked: list[Any] = []
        self._accepts = True
        self.client = Client(
            StreamableHttpTransport(f"{urls[0]}/mcp", auth=token, httpx_client_factory=self._open_http),
            elicitation_handler=self._fill_in,
            sampling_handler=self._write,
        )

    def steps(self) -> dict[str, Take]:
        """By name, in their order."""
        own = [name for name in vars(Script) if name.startswith("step_")]
        return {name.removeprefix("step_"): getattr(self, name) for name in own}

    async def step_initialize(self) -> dict[str, Any]:
        await self.client.ping()
        return {"server": self.client.initialize_result, "tools": await self.client.list_tools()}

    async def step_plain(self) -> dict[str, Any]:
        result = await self.client.call_tool("add", {"a": 2, "b": 3})
        return {"data": result.data, "structured": result.structured_content}

    async def step_task(self) -> dict[str, Any]:
        task = await self.client.call_tool("gated", {"label": "task"}, task=True, ttl=90_000)
        created = await self.client.get_task_status(task.task_id)
        await self.client.call_tool("release", {"label": "task"})
        result = await task
        return {
            "task_id": task.task_id,
            "is_immediate": task.returned_immediately,
            "created": created,
            "text": text_of(result),
            "raw": await self.client.get_task_result(task.task_id),
        }

    async def step_poll(self) -> dict[str, Any]:
        task = await self._create("gated", label="poll")
        seen = [await self._look_at(task)]
        await self.client.call_tool("release", {"label": "poll"})
        while seen[-1].status == "working":
            seen.append(await self._look_at(task))
        return {"task_id": task.task_id, "seen": seen}

    async def step_list(self) -> dict[str, Any]:
        created = [(await self._create("add", a=number, b=1)).task_id for number in range(4)]
        pages, cursor = [], None
        while True:
            page = await self.client.list_tasks(cursor)
            pages.append([task["taskId"] for task in page["tasks"]])
            if (cursor := page["nextCursor"]) is None:
                break
        return {"created": created, "pages": pages, "invalid": await failure_of(self.client.list_tasks("no-cursor"))}

    async def step_cancel(self) -> dict[str, Any]:
        task = await self._create("gated", label="never")
        await task.cancel()
        status = await task.wait()
        again = await failure_of(self.client.cancel_task(task.task_id))
        return {"status": status, "result": await failure_of(task.result()), "again": again}

    async def step_failed(self) -> dict[str, Any]:
        task = await self._create("refuse", reason="no paper")
        try:
            await task
        except ToolError as error:
            return {"error": str(error), "status": await task.status()}
        return {}

    async def step_unknown(self) -> dict[str, Any]:
        asks = (self.client.get_task_status, self.client.get_task_result, self.client.cancel_task)
        return {"failures": [await failure_of(ask(UNKNOWN)) for ask in asks]}

    async def step_elicitation(self) -> dict[str, Any]:
        return await self._follow_questions("book")

    async def step_declined(self) -> dict[str, Any]:
        self._accepts = False
        told = await self._follow_questions("book")
        self._accepts = True
        return told

    async def step_plain_elicitation(self) -> dict[str, Any]:
        result = await self.client.call_tool("book")
        return {"structured": result.structured_content, "asked": self._take_asked()}

    async def step_sampling(self) -> dict[str, Any]:
        return await self._follow_questions("rhyme", word="sea")

    async def step_both(self) -> dict[str, Any]:
        return await self._follow_questions("book_and_rhyme")

    async def step_end(self) -> dict[str, Any]:
        return {"requests": self._transport.requests}

    async def _create(self, name: str, **arguments: object) -> ToolTask:
        return await self.client.call_tool(name, arguments, task=True)

    async def _look_at(self, task: ToolTask) -> GetTaskResult:
        return await self.client.get_task_status(task.task_id)

    async def _follow_questions(self, name: str, **arguments: object) -> dict[str, Any]:
        task = await self._create(name, **arguments)
        result = await task
        told = {"structured": result.structured_content, "text": text_of(result)}
        return {"task_id": task.task_id, **told, "asked": self._take_asked()}

    def _take_asked(self) -> list[Any]:
        asked, self._asked = self._asked, []
        return asked

    async def _fill_in(self, message: str, form: type[Any] | None, params: ElicitRequestParams, _: object) -> Any:
        assert form is not None
        self._asked.append(params)
        # It makes a class of the form, whose fields are checked.
        return form(city="Oslo", nights=3) if self._accepts else ElicitResult(action="decline")

    async def _write(self, messages: object, params: CreateMessageRequestParams, _: object) -> str:
        self._asked.append(params)
        return "tea"

    def _open_http(
        self,
        headers: dict[str, str] | None = None,
        timeout: httpx.Timeout | None = None,
        auth: httpx.Auth | None = None,
        **options: Any,
    ) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            transport=self._transport, headers=headers, timeout=timeout or PATIENCE_SECONDS, auth=auth, **options
        )


def text_of(result: Any) -> str:
    """The text of a result that has nothing else."""
    (block,) = result.content
    return str(block.text)


async def main(token: str, *urls: str) -> None:
    script = Script(token, list(urls))
    async with script.client:
        await tell(script.steps())


asyncio.run(main(*sys.argv[1:]))
