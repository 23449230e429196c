"""The session of a check: the raw client, and the fixture tools by their roles.

It decides nothing for a check: what the server asks is answered only as ``answers`` says, or by the check itself.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ops.client import session
from ops.client.exchange import Exchange
from ops.client.reply import Reply
from ops.client.session import Headers
from ops.client.stream import Message
from ops.conform.check import NotApplicable

if TYPE_CHECKING:
    from ops.conform.server import Server

LOOK_SECONDS = 0.05  # between the first two tasks/get; it doubles up to pollInterval
TERMINAL = ("completed", "failed", "cancelled")


@dataclass
class Session(session.Session):
    """``user`` 0 is whoever ``--token`` stands for, 1 ``--token2``, None nobody.

    ``node`` 1 is ``--url2``, or ``--url`` without it.
    """

    server: "Server"

    client: ClassVar[str] = "receiver-conform"

    async def listen(self, node: int = 0, last: str | None = None, headers: Headers | None = None) -> Exchange:
        """A GET stream whose head has come: a new one, or that on which the event ``last`` came.

        NotApplicable if the server offers none.
        """
        resumed = {} if last is None else {"last-event-id": last}
        stream = await self.start("GET", None, node, {**resumed, **(headers or {})}).opened()
        if stream.status == 405:
            raise NotApplicable("the server offers no GET stream (405)")  # H-15
        return stream

    async def call(self, role: str, arguments: Mapping[str, Any], node: int = 0, **params: Any) -> Reply:
        """A plain call of the tool with this role; ``params`` stand beside its name and arguments."""
        return await self.request("tools/call", self.call_params(role, arguments, **params), node)

    async def call_task(
        self, role: str, arguments: Mapping[str, Any], node: int = 0, *, ttl: int | None = None, **params: Any
    ) -> Reply:
        """The same as a task, which ends with the check; ``reply.task`` is the task."""
        self.server.require("tasks.requests.tools.call")
        asked = {} if ttl is None else {"ttl": ttl}
        reply = await self.call(role, arguments, node, **{"task": asked, **params})
        if isinstance(task := ((reply.message or {}).get("result") or {}).get("task"), dict):
            self.server.tasks.append((self, str(task.get("taskId"))))
        return reply

    def call_params(self, role: str, arguments: Mapping[str, Any], **params: Any) -> Message:
        """The ``params`` of a tools/call."""
        return {"name": self.server.tool(role), "arguments": arguments, **params}

    async def wait_until(self, task_id: str, *statuses: str, node: int = 0) -> Reply:
        """The first reply to tasks/get with one of these statuses; a Violation if it ends in another one."""
        with self.server.waiting(f"task {task_id} to become {' or '.join(statuses)}"):
            pause = LOOK_SECONDS
            while True:
                reply = await self.get_task(task_id, node)
                status = reply.result.get("status")
                if status in statuses:
                    return reply
                reply.expect(status not in TERMINAL, f"the task to become {' or '.join(statuses)}")
                await asyncio.sleep(pause)
                pause = min(2 * pause, (reply.result.get("pollInterval") or 1000) / 1000)  # T-18
