"""What is no JSON-RPC request, and what is one that makes no sense."""

from typing import Any

import pytest

from tests.http.requestor import Requestor, frame, open_answer

BROKEN = [
    b"",
    b" ",
    b"{",
    b"nonsense",
    b'{"jsonrpc":"2.0","id":1,"method":"ping"',
    b'{"jsonrpc":"2.0","id":1,"method":"ping"}{}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping",}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}',
    b'{"jsonrpc":"2.0","id":1,"method":"\xff"}',
    b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"\\udfff":1}}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1e999}}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":%b}}' % (b"9" * 5000),
    b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"a","task\\u0049d":"b"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[[{"b":{"c":0,"d":0,"c":0}}]]}}',
    b"\xef\xbb\xbf{}",
    '{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16"),
    b"[" * 200 + b"]" * 200,
    b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
]

NO_REQUEST: list[Any] = [
    [],
    [frame("ping")],
    [frame("ping"), frame("ping")],
    {},
    None,
    True,
    1,
    "ping",
    {"id": 1, "method": "ping"},
    {"jsonrpc": "1.0", "id": 1, "method": "ping"},
    {"jsonrpc": 2.0, "id": 1, "method": "ping"},
    {"jsonrpc": "2.0", "id": 1},
    {"jsonrpc": "2.0", "id": 1, "method": None},
    {"jsonrpc": "2.0", "id": 1, "method": 1},
    {"jsonrpc": "2.0", "id": 1, "result": {}, "error": {}},
    {"jsonrpc": "2.0", "result": {}},
    frame("ping", id=None),
    frame("ping", id=True),
    frame("ping", id=1.5),
    frame("ping", id=1.0),
    frame("ping", id=[]),
    frame("ping", id={}),
    frame("ping", id=2**64),
]


@pytest.mark.parametrize("body", BROKEN, ids=range(len(BROKEN)))
async def test_what_is_not_json(requestor: Requestor, body: bytes) -> None:
    """L-05, H-01: HTTP 400, -32700, and no id."""
    response = await requestor.send(body)
    assert (response.status_code, response.headers["content-type"]) == (400, "application/json")
    answer = response.json()
    assert answer == {"jsonrpc": "2.0", "error": {"code": -32700, "message": answer["error"]["message"]}}
    assert answer["error"]["message"].startswith("Parse error: ")


@pytest.mark.parametrize("body", NO_REQUEST, ids=range(len(NO_REQUEST)))
async def test_what_is_not_one_json_rpc_message(requestor: Requestor, body: object) -> None:
    """L-05, H-05: HTTP 400, -32600, and no id, also where one could be read."""
    response = await requestor.send(body)
    assert (response.status_code, response.headers["content-type"]) == (400, "application/json")
    answer = response.json()
    assert answer == {"jsonrpc": "2.0", "error": {"code": -32600, "message": answer["error"]["message"]}}
    assert answer["error"]["message"]


LARGE: list[Any] = [
    {f"{number:x}": number for number in range(100_000)},
    {"a": "[" * 1_000_000},
    {"a": '"{' * 500_000},
    {"a": [{}] * 300_000},
    {"a": [10**30] * 30_000},
]


@pytest.mark.parametrize("params", LARGE, ids=range(len(LARGE)))
async def test_what_is_large_and_nothing_worse(requestor: Requestor, params: object) -> None:
    """It is read like any other request."""
    assert await requestor.result("ping", params) == {}


async def test_a_large_batch(requestor: Requestor) -> None:
    """H-05: no revision gets an answer to a batch, not even those that know them."""
    for version in ("2025-11-25", "2025-06-18", "2025-03-26"):
        response = await requestor.send([frame("ping")] * 50_000, {"mcp-protocol-version": version})
        error = response.json()["error"]
        assert (response.status_code, error["code"]) == (400, -32600)
        assert "exactly one" in error["message"]


@pytest.mark.parametrize(
    "method",
    [
        "",
        "unknown",
        "tools/Call",
        "tasks/",
        "tasks/update",
        "notifications/initialized",
        "prompts/list",
        "x" * 1000,
    ],
)
async def test_unknown_methods(requestor: Requestor, method: str) -> None:
    """HTTP 200: the request itself was well-formed."""
    assert await requestor.error(method, {}) == {"code": -32601, "message": f"Method not found: {method}"}


async def test_tasks_list_is_unknown_to_the_anonymous(requestor: Requestor) -> None:
    """T-88, T-05"""
    error = await requestor.error("tasks/list")
    assert (error["code"], "tasks/list" in error["message"]) == (-32601, True)


@pytest.mark.parametrize("params", [None, [], ["x"], 1, "x", True])
@pytest.mark.parametrize("method", ["ping", "tools/call", "tools/list", "tasks/get", "tasks/result", "initialize"])
async def test_params_are_an_object(requestor: Requestor, method: str, params: object) -> None:
    response = await requestor.send(frame(method) | {"params": params})
    assert response.status_code == 200
    assert open_answer(response)["error"] == {"code": -32602, "message": "params must be an object"}


@pytest.mark.parametrize("task", [1, True, False, 0, "", "x", [], [{}]])
@pytest.mark.parametrize("tool", ["echo", "only_as_task"])
async def test_params_task_is_an_object(requestor: Requestor, tool: str, task: object) -> None:
    params = {"name": tool, "arguments": {"text": "x"} if tool == "echo" else {}, "task": task}
    assert await requestor.error("tools/call", params) == {"code": -32602, "message": "params.task must be an object"}


async def test_nothing_is_lost(requestor: Requestor) -> None:
    """After all of it the same connection serves on."""
    bodies: list[object] = [b"{", [], frame("unknown"), frame("tasks/get", {"taskId": 1})]
    for body in bodies:
        await requestor.send(body)
    assert (await requestor.call("echo", text="still here"))["content"][0]["text"] == "still here"
