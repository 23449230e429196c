"""JSON-RPC: ids, errors, and what is no message."""

import json
from collections.abc import Sequence

from ops.client.reply import Reply
from ops.conform.check import check
from ops.conform.server import Server

IDS = ("a", "", "0", "\u00fc", 0, 1, -1, 2**31, 2**53 - 1, -(2**53 - 1))
NO_IDS = (None, True, 1.5, [1], {"id": 1})
NO_JSON = (b"", b"{", b'{"jsonrpc": "2.0", "id": 1, "method": "ping"', b"ping")
NO_MESSAGES: Sequence[object] = (
    {},
    7,
    "ping",
    {"id": 1, "method": "ping"},
    {"jsonrpc": "1.0", "id": 1, "method": "ping"},
    {"jsonrpc": "2.0", "id": 1},
    {"jsonrpc": "2.0", "id": 1, "method": 5},
)
NO_PARAMS: Sequence[object] = ([], ["conform_echo", {}], "conform_echo", 7, {"name": 5, "arguments": {}})


@check("L-05", "MUST", "the id of a request comes back as it was, a string or an integer")
async def ids_are_echoed(server: Server) -> None:
    session = await server.open()
    for number, id in enumerate(IDS):
        reply = await session.send({"jsonrpc": "2.0", "id": id, "method": "ping"}, node=number % 2)
        _expect_id(reply, id)


@check("L-05", "MUST", '1 and "1" are two ids, on event streams too', tools=("sleep",))
async def ids_keep_their_type(server: Server) -> None:
    session = await server.open()
    ids = (1001, "1001")
    tasks = [(await session.call_task("sleep", {"seconds": 1})).task_id for _ in ids]
    waiting = [
        session.start(
            "POST",
            {"jsonrpc": "2.0", "id": id, "method": "tasks/result", "params": {"taskId": tasks[node]}},
            node,
            resumes=True,
        )
        for node, id in enumerate(ids)
    ]
    for exchange, id in zip(waiting, ids, strict=True):
        _expect_id(await exchange.reply(), id)


@check("L-05", "SHOULD", "an id that is neither a string nor an integer is refused")
async def bad_ids(server: Server) -> None:
    session = await server.open()
    for number, id in enumerate(NO_IDS):
        reply = await session.send({"jsonrpc": "2.0", "id": id, "method": "ping"}, node=number % 2)
        _expect_refusal(reply, f"a refusal: {json.dumps(id)} is no id")


@check("L-05", "MUST", "an error for a message whose id can't be read has no id")
async def no_id_where_none_was_read(server: Server) -> None:
    session = await server.open()
    for body in (*NO_JSON, {"jsonrpc": "2.0", "id": None, "method": "ping"}, [session.frame("ping")]):
        reply = await session.send(body)
        wanted = "no member `id` in the error, or no JSON-RPC error at all"
        reply.expect("error" not in (reply.message or {}) or "id" not in (reply.message or {}), wanted)


@check("L-05", "SHOULD", "what is not JSON is refused with -32700, where a JSON-RPC error says so")
async def no_json(server: Server) -> None:
    session = await server.open()
    for number, body in enumerate(NO_JSON):
        reply = await session.send(body, node=number % 2)
        _expect_refusal(reply, "a refusal: the body is not JSON")
        if reply.message is not None and body:
            reply.expect_error(-32700)
        (await session.request("ping", node=number % 2)).expect_status(200)


@check("L-05", "SHOULD", "what is JSON and no JSON-RPC message is refused with -32600, where a JSON-RPC error says so")
async def no_message(server: Server) -> None:
    session = await server.open()
    for number, body in enumerate(NO_MESSAGES):
        reply = await session.send(body, node=number % 2)
        _expect_refusal(reply, "a refusal: the body is not a JSON-RPC message")
        if reply.message is not None:
            reply.expect_error(-32600)
        (await session.request("ping", node=number % 2)).expect_status(200)


@check("L-05", "MUST", "a method that there is not is refused with -32601")
async def unknown_method(server: Server) -> None:
    session = await server.open()
    for node, method in ((0, "no/such/method"), (1, "tools/no-such-method")):
        reply = await session.request(method, {}, node)
        reply.expect_error(-32601)
        _expect_id(reply, (reply.sent or {}).get("id") if isinstance(reply.sent, dict) else None)


@check("L-05", "SHOULD", "params of a wrong type are refused with -32602")
async def bad_params(server: Server) -> None:
    session = await server.open()
    server.require("tools")
    for number, params in enumerate(NO_PARAMS):
        (await session.request("tools/call", params, node=number % 2)).expect_error(-32602)
    (await server.session().request("initialize", {})).expect_error(-32602)


@check("L-05", "MUST", "an error has an integer code and a message, and no result stands beside it")
async def shape_of_errors(server: Server) -> None:
    session = await server.open()
    refused: Sequence[tuple[str, object]] = (
        ("no/such/method", {}),
        ("tools/call", {"name": "no-such-tool", "arguments": {}}),
        ("tools/call", []),
        ("tasks/get", {"taskId": "no-such-task"}),
    )
    for number, (method, params) in enumerate(refused):
        reply = await session.request(method, params, node=number % 2)
        if "error" in (reply.message or {}):
            code, message = reply.error.get("code"), reply.error.get("message")
            reply.expect(isinstance(code, int) and not isinstance(code, bool), "`error.code`, an integer")
            reply.expect(isinstance(message, str), "`error.message`, a string")
            reply.expect("result" not in (reply.message or {}), "an `error` without a `result`")


def _expect_id(reply: Reply, id: object) -> None:
    found = (reply.message or {}).get("id")
    reply.expect(type(found) is type(id) and found == id, f"a response with the id {json.dumps(id)}")


def _expect_refusal(reply: Reply, wanted: str) -> None:
    refused = 400 <= reply.status < 500 or (reply.status < 400 and "error" in (reply.message or {}))
    reply.expect(refused, f"{wanted}, by HTTP 4xx or a JSON-RPC error")
