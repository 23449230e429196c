"""What a task asks its client's model."""

from collections.abc import Mapping
from typing import Any

from ops.client.reply import expect, show
from ops.client.stream import Message
from ops.conform.check import check
from ops.conform.inquiry import PROMPT, SAID, SAMPLE, Inquiry, first_text, inquire, ways
from ops.conform.server import Server

SAMPLING: Mapping[str, Any] = {"sampling": {}}
TOOL_BLOCKS = ("tool_use", "tool_result")


@check(
    "E-08", "MUST", "a request for sampling has messages and maxTokens; its answer reaches the tool", tools=("sample",)
)
async def sampling_request(server: Server) -> None:
    for as_task in ways(server, "sample"):
        inquiry, asked = await _ask(server, as_task)
        params = asked["params"]
        messages, tokens = params.get("messages"), params.get("maxTokens")
        expect(
            isinstance(tokens, int) and isinstance(messages, list) and messages and all(map(_is_message, messages)),
            f"came: {show(asked)}\nwanted: `maxTokens`, a number, and `messages`, each with a role and content blocks",
        )
        await inquiry.session.answer(asked, SAID)
        reply = await inquiry.call.reply()
        reply.expect(first_text(reply) == "blue", "the text `blue`, what the model said")


@check("E-08", "MUST", "a client that does not declare sampling.tools is sent none", tools=("sample",))
async def no_tools_undeclared(server: Server) -> None:
    for as_task in ways(server, "sample"):
        _, asked = await _ask(server, as_task)
        params = asked["params"]
        kinds = {block.get("type") for message in params["messages"] for block in _blocks_of(message)}
        expect(
            params.get("tools") is None and params.get("toolChoice") is None and kinds.isdisjoint(TOOL_BLOCKS),
            f"the client declared {show(SAMPLING)}\ncame: {show(asked)}\nwanted: no tools, toolChoice or uses of tools",
        )


async def _ask(server: Server, as_task: bool) -> tuple[Inquiry, Message]:
    session = await server.open(SAMPLING)
    inquiry = await inquire(session, "sample", PROMPT, as_task=as_task)
    return inquiry, await inquiry.question(SAMPLE)


def _is_message(message: object) -> bool:
    if not isinstance(message, Mapping) or message.get("role") not in ("user", "assistant"):
        return False
    return all(isinstance(block, Mapping) and isinstance(block.get("type"), str) for block in _blocks_of(message))


def _blocks_of(message: Mapping[str, Any]) -> list[Any]:
    content = message.get("content")
    return content if isinstance(content, list) else [content]
