"""``receiver bench``: what it measures, what it says of limits, and what it can't measure."""

import asyncio
import json
import os
import pty
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ops.bench.choice import choose
from ops.bench.load import LOADS
from ops.bench.requestor import VERSION, Target
from ops.bench.trial import LATE, run_trial
from receiver.protocol.errors import StartupError
from tests.acceptance.commands import RECEIVER, refusal, run
from tests.bench.subject import TOOL, Subject, run_receiver
from tests.processes import ROOT

SHORT = ("--seconds", "0.2", "--requestors", "1,3")
INSTANT = ("--tool", TOOL, "--arguments", '{"text": "hello"}')


@pytest.fixture(scope="module")
def receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    with run_receiver(tmp_path_factory.mktemp("receiver")) as receiver:
        yield receiver


def url_of(subject: Subject) -> str:
    return subject.targets[0].url


def bench(*words: str) -> "subprocess.CompletedProcess[str]":
    """As on a wide terminal."""
    return run("bench", *words, env={"COLUMNS": "200"})


def count_tasks(subject: Subject) -> int:
    assert subject.redis is not None
    return sum(key.count(b":") == 3 for key in subject.redis.scan_iter("mcp:{0}:task:*", count=1000))


def test_json_has_all_loads_and_counts_what_was_created(receiver: Subject) -> None:
    before = count_tasks(receiver)
    ended = bench(url_of(receiver), *SHORT, "--json", "--ttl", "600000")
    assert (ended.returncode, ended.stderr) == (0, "")
    report = json.loads(ended.stdout)
    assert (report["tool"], report["server"]["name"], report["limits"]) == ("clock", "bench", [])  # no argument
    assert [(trial["load"], trial["requestors"]) for trial in report["trials"]] == [
        (it, n) for it in LOADS for n in (1, 3)
    ]
    for trial in report["trials"]:
        assert trial["errors"] == {}
        assert trial["operations"] >= trial["requestors"]
        assert trial["perSecond"] == pytest.approx(trial["operations"] / trial["seconds"], rel=0.02)
        assert 0 < trial["p50Ms"] <= trial["p90Ms"] <= trial["p99Ms"] <= trial["maxMs"]
    assert report["tasksCreated"] == count_tasks(receiver) - before


def test_the_table(receiver: Subject) -> None:
    ended = bench(url_of(receiver), *SHORT, *INSTANT, "--load", "get")
    assert (ended.returncode, ended.stderr) == (0, "")
    lines = ended.stdout.splitlines()
    assert lines[0].startswith(f"{TOOL} of {url_of(receiver)} (bench ")
    assert lines[2].split()[:2] == ["load", "requestors"]
    assert [line.split()[:2] for line in lines[3:5]] == [["get", "1"], ["get", "3"]]
    assert [line.split()[-1] for line in lines[3:5]] == ["0", "0"]
    assert lines[-1] == "4 tasks were created; they expire 1m after their creation."


def test_a_terminal_is_told_what_is_measured(receiver: Subject) -> None:
    terminal, stderr = pty.openpty()
    words = ("bench", url_of(receiver), "--seconds", "0.1", "--requestors", "1", "--load", "get")
    subprocess.run([*RECEIVER, *words], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=stderr, timeout=30, check=True)
    os.close(stderr)
    told = os.read(terminal, 1000)
    os.close(terminal)
    assert told == b"\r\x1b[K1 of 1: get, 1 at a time\r\x1b[K"


@pytest.mark.parametrize(
    ("settings", "setting"),
    [
        ({"rate_limit": "20/1000s"}, "RECEIVER_RATE_LIMIT"),
        ({"max_tasks_per_principal": 5}, "RECEIVER_MAX_TASKS_PER_PRINCIPAL"),
    ],
)
def test_limits_are_counted_and_named(tmp_path: Path, settings: dict[str, Any], setting: str) -> None:
    with run_receiver(tmp_path, workers=0, **settings) as subject:
        ended = bench(url_of(subject), "--seconds", "0.2", "--requestors", "2", "--load", "create")
        assert ended.returncode == 1
        assert "Traceback" not in ended.stderr
        assert ended.stdout.splitlines()[-1].endswith(f"this is not what the server can do: {setting}.")
        document = bench(url_of(subject), "--seconds", "0.2", "--requestors", "2", "--load", "create", "--json")
        assert document.returncode == 1
        trial = json.loads(document.stdout)["trials"][0]
        assert (trial["operations"], trial["perSecond"], trial["p50Ms"]) == (0, 0, None)
        assert list(trial["errors"].values()) > [0]
        assert list(trial["errors"]) == [text for text in trial["errors"] if text.startswith("-32603 ")]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--tool", "instant"), "instant needs text: give --arguments as a JSON object"),
        (("--tool", "instnat"), "the server has no tool 'instnat'; did you mean instant?"),
        (("--arguments", "["), "--arguments is no JSON"),
        (("--arguments", "[]"), "--arguments takes a JSON object"),
        (("--load", "sing"), "--load takes create, get, run; not 'sing'"),
        (("--requestors", "1,0"), "--requestors takes numbers, with commas; not '0'"),
        (("--ttl", "200"), "--ttl, in milliseconds, has to be longer than --seconds"),
    ],
)
def test_what_cannot_be_measured_is_one_line(receiver: Subject, words: tuple[str, ...], reason: str) -> None:
    assert refusal("bench", url_of(receiver), "--seconds", "0.2", *words).startswith(reason)


def test_who_is_not_there_is_one_line() -> None:
    assert refusal("bench", "http://127.0.0.1:1/mcp") == "http://127.0.0.1:1/mcp can't be reached: Connection refused"
    assert refusal("bench", "localhost").startswith("localhost is no URL of an MCP server")


async def test_results_that_do_not_come_are_not_waited_for(tmp_path: Path) -> None:
    """There is no worker."""
    with run_receiver(tmp_path, workers=0) as subject:
        trial = await run_trial(subject.targets[0], "run", 2, 0.1, settles=False, least_patience=0.2)
    assert (dict(trial.errors), trial.created, trial.sample.latencies) == ({LATE: 2}, 2, ())


async def test_a_tool_that_fails_is_an_error() -> None:
    async with serve(
        {"tools/call": {"task": {"taskId": "t"}}, "tasks/result": {"isError": True, "content": []}}
    ) as url:
        trial = await run_trial(Target(url, TOOL, {}), "run", 1, 0.01, settles=False)
    assert list(trial.errors) == ["the tool failed: []"]


async def test_a_connection_that_is_lost_is_an_error() -> None:
    async with serve({"tools/call": {"task": {"taskId": "t"}}, "tasks/get": None}) as url:
        trial = await run_trial(Target(url, TOOL, {}), "get", 1, 0.01, settles=False)
    assert dict(trial.errors) == {"the server closed the connection": 1}
    assert trial.created == 1


@pytest.mark.parametrize(
    ("tools", "reason"),
    [
        ([], "offers no tool that can be called as a task"),
        ([{"name": "plain"}, {"name": "no", "execution": {"taskSupport": "forbidden"}}], "offers no tool"),
        (
            [{"name": "draw", "execution": {"taskSupport": "required"}, "inputSchema": {"required": ["x", "y"]}}],
            r"name one by --tool, with --arguments \(draw needs x, y\)",
        ),
    ],
)
async def test_a_server_without_a_tool_that_will_do(tools: list[object], reason: str) -> None:
    async with serve({"tools/list": {"tools": tools}}) as url:
        with pytest.raises(StartupError, match=reason):
            await choose(Target(url, "", {}), "")


async def test_the_first_tool_that_needs_no_more_is_taken_from_any_page() -> None:
    able = {"execution": {"taskSupport": "optional"}, "inputSchema": {"required": ["x"]}}
    pages = iter([{"tools": [{"name": "plain"}], "nextCursor": "2"}, {"tools": [{"name": "draw", **able}]}])
    async with serve({"tools/list": pages}) as url:
        assert (await choose(Target(url, "", {"x": 1}), "")).tool == "draw"


@asynccontextmanager
async def serve(results: dict[str, object]) -> AsyncIterator[str]:
    """A server that answers each method with its result, the next of several, or, for None, by hanging up."""
    known = {"initialize": {"protocolVersion": VERSION}, "notifications/initialized": {}, **results}

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().rpartition(b"content-length: ")[2])
                message = json.loads(await reader.readexactly(length))
                result = known[message["method"]]
                result = next(result) if isinstance(result, Iterator) else result
                if result is None:
                    return
                body = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": result}).encode()
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
