"""A call of a tool that asks its client something, plainly or as a task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ops.client.exchange import Exchange
from ops.client.reply import Reply
from ops.client.stream import Message
from ops.conform.server import Server
from ops.conform.session import Session

ELICIT, SAMPLE = "elicitation/create", "sampling/createMessage"

# What the tools are called with, and what a client may answer.
QUESTION = {"message": "Which colour?"}
BLUE = {"action": "accept", "content": {"answer": "blue"}}
LINK = {"message": "Sign in.", "url": "https://example.org/sign-in"}
PROMPT = {"prompt": "Say blue."}
SAID = {"role": "assistant", "model": "none", "content": {"type": "text", "text": "blue"}, "stopReason": "endTurn"}


@dataclass(frozen=True)
class Inquiry:
    """``call`` is the request whose answer is what the tool returns; ``task_id`` is None for a plain call."""

    session: Session
    call: Exchange
    task_id: str | None = None

    async def question(self, method: str = ELICIT, count: int = 1) -> Message:
        """The request number ``count`` that the server made, on whatever stream."""
        return (await self.session.hear(method, count)).message


async def inquire(session: Session, role: str, arguments: Mapping[str, Any], *, as_task: bool) -> Inquiry:
    """Calls the tool, with streams open for all ways on which it may ask: a question can come on any of them (T-35)."""
    await session.start("GET", None).opened()  # 405 will do
    if not as_task:
        return Inquiry(session, session.begin("tools/call", session.call_params(role, arguments)))
    task_id = (await session.call_task(role, arguments)).task_id
    return Inquiry(session, session.begin("tasks/result", {"taskId": task_id}), task_id)


def ways(server: Server, role: str) -> Sequence[bool]:
    """Whether as a task, for each way in which the tool can be called."""
    support = (server.target.offered[server.tool(role)].get("execution") or {}).get("taskSupport", "forbidden")
    can_be_task = support != "forbidden" and server.declares("tasks.requests.tools.call")
    return [as_task for as_task, is_open in ((False, support != "required"), (True, can_be_task)) if is_open]


def first_text(reply: Reply) -> str:
    """The first text of a tool's result."""
    content = reply.result.get("content")
    first = content[0] if isinstance(content, list) and content else None
    text = first.get("text") if isinstance(first, dict) else None
    return text if isinstance(text, str) else reply.fail("a result with a text")


def has_failed(reply: Reply) -> bool:
    """Whether a tool did not do what it was called for."""
    return "error" in (reply.message or {}) or reply.result.get("isError") is True
