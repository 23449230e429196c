"""tasks/result gives what a plain call gives, whatever that is."""

import json
from typing import Any

from ops.client.reply import Reply, expect, show
from ops.conform.check import NotApplicable, check
from ops.conform.checks.results import RELATED_TASK, without_relation
from ops.conform.server import Server

REFUSAL = {"code": -32050, "message": "There is no coffee", "data": {"cups": 0, "beans": ["none", None, 1.5]}}
TEXT = "Grüße, \u2028 \U0001f375 and \\ \" '"


@check("T-22 T-84", "MUST", "the result of a task is a CallToolResult", tools=("blocks",))
async def result_is_a_tool_result(server: Server) -> None:
    result = (outcome := await _outcome(server, "blocks", {})).result
    content = result.get("content")
    fits = isinstance(content, list) and all(isinstance(block, dict) and "type" in block for block in content)
    outcome.expect(fits, "`content`, an array of blocks that have a `type`")
    outcome.expect(isinstance(result.get("isError", False), bool), "`isError`, a boolean, if it is there")
    outcome.expect("task" not in result and "status" not in result, "a result of the tool, and not a task")


@check("T-52", "MUST", "all blocks of a result are there, as in a plain call", tools=("blocks",))
async def same_blocks_as_plain(server: Server) -> None:
    await _expect_same_result(server, "blocks", {})


@check("T-52", "MUST", "a text is the same, to the character, as in a plain call", tools=("echo",))
async def same_text_as_plain(server: Server) -> None:
    await _expect_same_result(server, "echo", {"text": TEXT})


@check("T-50 T-52", "MUST", "the isError result of a task is that of a plain call", tools=("fail",))
async def same_failure_as_plain(server: Server) -> None:
    outcome = await _expect_same_result(server, "fail", {"text": "no coffee"})
    outcome.expect(outcome.result.get("isError") is True, "`isError`: true, in a success response")


@check("T-50 T-52", "MUST", "the JSON-RPC error of a task is that of a plain call", tools=("error",))
async def same_error_as_plain(server: Server) -> None:
    session = await server.open()
    plain = await session.call("error", REFUSAL)
    if "error" not in (plain.message or {}):
        raise NotApplicable("a plain call of the error tool ends with a result")
    outcome = await _outcome(server, "error", REFUSAL)
    outcome.expect(outcome.error == plain.error, f"the error of the plain call, {show(plain.error)}")


@check("T-52 X-17", "MUST", "what a result has in _meta is there beside the related task", tools=("meta",))
async def same_meta_as_plain(server: Server) -> None:
    outcome = await _expect_same_result(server, "meta", {"text": "hello"})
    outcome.expect(RELATED_TASK in outcome.result.get("_meta", {}), f"`_meta` with {RELATED_TASK} too")


@check("T-52 X-17", "MUST", "a result has one _meta, and no member twice", tools=("meta",))
async def members_are_there_once(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("meta", {"text": "hello"})).task_id
    exchange = session.begin("tasks/result", {"taskId": task_id})
    reply = await exchange.reply()
    text = reply.body.decode() or next(event.data for event in reversed(exchange.events) if event.data) or ""
    twice: list[str] = []
    json.loads(text, object_pairs_hook=lambda pairs: _note_twice(pairs, twice))
    expect(not twice, f"{reply}\nas text: {text:.2000}\nwanted: no member twice, but so are {', '.join(twice)}")


async def _outcome(server: Server, role: str, arguments: dict[str, Any]) -> Reply:
    session = await server.open()
    task_id = (await session.call_task(role, arguments)).task_id
    return await session.get_result(task_id, node=1)


async def _expect_same_result(server: Server, role: str, arguments: dict[str, Any]) -> Reply:
    plain = (await (await server.open()).call(role, arguments)).result
    outcome = await _outcome(server, role, arguments)
    same = without_relation(outcome.result) == without_relation(plain)
    outcome.expect(same, f"the result of the plain call, {show(plain)}")
    return outcome


def _note_twice(pairs: list[tuple[str, Any]], twice: list[str]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    twice += {name for name in names if names.count(name) > 1}
    return dict(pairs)
