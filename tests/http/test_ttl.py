"""How long a task is kept: what is granted, and what happens at the end."""

import json
from collections.abc import Iterator

import httpx2
import pytest

from tests.http.conftest import Deployment
from tests.http.gates import Gates
from tests.http.requestor import Requestor, message_of

EXPIRED = b'{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Task has expired"}}'
UNKNOWN = {"code": -32602, "message": "Task not found"}
DEFAULT, LEAST, MOST = 50_000, 2_000, 200_000  # of the deployment without a worker


@pytest.fixture
def carol(http: httpx2.AsyncClient, unserved: Deployment, newcomers: Iterator[int]) -> Requestor:
    """A newcomer where limits are low and nothing is run."""
    return Requestor(http, unserved.url, f"newcomer-{next(newcomers)}-token")


async def create(requestor: Requestor, task: str, tool: str = "echo") -> httpx2.Response:
    """The answer to a call with ``task``, JSON as it is written, which matters for numbers."""
    arguments = '{"text":"x"}' if tool == "echo" else "{}"
    params = f'{{"name":"{tool}","arguments":{arguments},"task":{task}}}'
    return await requestor.send(f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}'.encode())


@pytest.mark.parametrize(
    ("task", "granted"),
    [
        ("{}", DEFAULT),
        ('{"ttl":null}', MOST),
        ('{"ttl":60000}', 60_000),
        ('{"ttl":60000.0}', 60_000),
        ('{"ttl":6e4}', 60_000),
        ('{"ttl":6E+4}', 60_000),
        ('{"ttl":600000e-1}', 60_000),
        ('{"ttl":1}', LEAST),
        ('{"ttl":1999}', LEAST),
        ('{"ttl":2000}', LEAST),
        ('{"ttl":200001}', MOST),
        ('{"ttl":1e13}', MOST),
        ('{"ttl":1e300}', MOST),
        ('{"ttl":9223372036854775808}', MOST),
        ('{"ttl":100000000000000000000000000000000}', MOST),
    ],
)
async def test_what_is_granted(carol: Requestor, task: str, granted: int) -> None:
    """T-13, T-43, T-44, T-93, field report 30: the same value in every answer."""
    created = (await create(carol, task)).json()["result"]["task"]
    assert created["ttl"] == granted
    assert json.dumps(created["ttl"]) == str(granted)
    assert (await carol.get(created["taskId"]))["ttl"] == granted
    assert (await carol.result("tasks/list"))["tasks"][0]["ttl"] == granted
    assert (await carol.result("tasks/cancel", {"taskId": created["taskId"]}))["ttl"] == granted


@pytest.mark.parametrize(
    "ttl",
    [
        "0",
        "-1",
        "-0",
        "-60000",
        "0.0",
        "-1e13",
        "0.5",
        "1000.5",
        "1e-3",
        "true",
        "false",
        '"60000"',
        '""',
        "[]",
        "[1]",
        "{}",
    ],
)
async def test_what_is_no_ttl(carol: Requestor, ttl: str) -> None:
    """And nothing is created."""
    response = await create(carol, f'{{"ttl":{ttl}}}')
    assert (response.status_code, response.json()["error"]) == (
        200,
        {"code": -32602, "message": "params.task.ttl must be a positive integer, in milliseconds"},
    )
    assert await carol.result("tasks/list") == {"tasks": []}


@pytest.mark.parametrize("ttl", ["NaN", "Infinity", "-Infinity", "1e400", "060000", "0x10", "60_000"])
async def test_what_is_no_number_in_json(carol: Requestor, ttl: str) -> None:
    response = await create(carol, f'{{"ttl":{ttl}}}')
    assert (response.status_code, response.json()["error"]["code"]) == (400, -32700)
    assert await carol.result("tasks/list") == {"tasks": []}


@pytest.mark.parametrize(
    ("tool", "task", "granted"),
    [
        ("timed", "{}", 180_000),
        ("timed", '{"ttl":60000}', 180_000),
        ("timed", '{"ttl":190000}', 190_000),
        ("timed", '{"ttl":null}', MOST),
        ("kept", '{"ttl":60000}', 150_000),
        ("patient", '{"ttl":60000}', 660_000),
        ("patient", '{"ttl":null}', 660_000),
    ],
)
async def test_a_tool_is_never_granted_less_than_it_needs(carol: Requestor, tool: str, task: str, granted: int) -> None:
    """What it declares, and 60 seconds: the Python client asks for 60 s when its user says nothing."""
    assert (await create(carol, task, tool)).json()["result"]["task"]["ttl"] == granted


async def test_the_end_of_a_task_that_works(requestor: Requestor, gates: Gates, label: str) -> None:
    """X-6, T-45: who waits hears of it, who comes later finds nothing, and the work is stopped."""
    params = {"name": "gated", "arguments": {"label": label}, "task": {"ttl": 1000}}
    task_id = (await requestor.result("tools/call", params))["task"]["taskId"]
    async with requestor.waiting_for(task_id) as first, requestor.waiting_for(task_id) as second:
        for stream in (first, second):
            assert message_of(await stream.next()) == EXPIRED
            assert await stream.rest() == b""
    for method in ("tasks/get", "tasks/result", "tasks/cancel"):
        assert await requestor.error(method, {"taskId": task_id}) == UNKNOWN
    await gates.stopped(label)


async def test_the_end_of_a_task_that_is_over(newcomer: Requestor) -> None:
    """T-45, X-7, field report 19: kept with its result until then, and gone from everywhere after it."""
    params = {"name": "echo", "arguments": {"text": "x"}, "task": {"ttl": 1500}}
    short = (await newcomer.result("tools/call", params))["task"]["taskId"]
    await newcomer.ask("tasks/result", {"taskId": short})
    assert (await newcomer.get(short))["status"] == "completed"
    later = {"name": "gated", "arguments": {"label": "closed"}, "task": {"ttl": 1500}}
    clock = (await newcomer.result("tools/call", later))["task"]["taskId"]
    async with newcomer.waiting_for(clock) as stream:  # it ends when the other one is over as well
        assert b"Task has expired" in await stream.next()
    for method in ("tasks/get", "tasks/result", "tasks/cancel"):
        assert await newcomer.error(method, {"taskId": short}) == UNKNOWN
    assert await newcomer.result("tasks/list") == {"tasks": []}
