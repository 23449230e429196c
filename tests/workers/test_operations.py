"""Runs of what is no tool: resources, prompts and completions."""

from typing import Any, NoReturn

import pytest

from receiver import Context, ResourceNotFound, Retry, ToolError
from receiver.receiver import Receiver
from tests.workers.scene import Record, Scene
from tests.workers.stage import Logs, Stage
from workers.runner import UNKNOWN_TOOL_PAUSE

SECRET = "the password is swordfish"


@pytest.fixture
def scene(any_stage: Stage) -> Scene:
    return Scene(any_stage)


async def read(scene: Scene, uri: str, key: str | None = None) -> Record:
    """The record of a read of ``uri``, when its run is over; ``key`` is its template."""
    return await scene.run(key or uri, method="resources/read", kind="call", uri=uri)


async def test_a_resource(scene: Scene) -> None:
    @scene.app.resource("notes://{number}")
    def note(number: int, ctx: Context) -> dict[str, Any]:
        return {"number": number, "state": ctx.state}

    record = await read(scene, "notes://7", "notes://{number}")
    text = '{"number":7,"state":"the state"}'
    content = {"uri": "notes://7", "mimeType": "application/json", "text": text}
    assert (record.outcome, record.payload) == ("result", {"contents": [content]})


async def test_a_prompt(scene: Scene) -> None:
    @scene.app.prompt
    async def greet(name: str) -> str:
        return f"Greet {name}"

    record = await scene.run("greet", method="prompts/get", kind="call", name="Ada")
    assert record.payload == {"messages": [{"role": "user", "content": {"type": "text", "text": "Greet Ada"}}]}


async def test_a_completion(scene: Scene) -> None:
    @scene.app.prompt
    async def greet(name: str) -> str:
        return name

    @scene.app.completion("greet", "name")
    def complete(typed: str) -> Any:
        return (typed + end for end in "ab")

    record = await scene.run("greet name", method="completion/complete", kind="call", value="x", arguments={})
    assert record.payload == {"completion": {"values": ["xa", "xb"], "total": 2, "hasMore": False}}


async def test_a_tool_of_the_same_name_is_another(scene: Scene) -> None:
    @scene.app.tool(name="greet")
    async def tool() -> str:
        return "the tool"

    @scene.app.prompt(name="greet")
    async def prompt() -> str:
        return "the prompt"

    assert (await scene.run("greet", kind="call")).text == "the tool"
    record = await scene.run("greet", method="prompts/get", kind="call")
    assert record.payload["messages"][0]["content"]["text"] == "the prompt"


@pytest.mark.parametrize(
    ("raised", "error"),
    [
        (ToolError("no paper"), {"code": -32603, "message": "no paper"}),
        (ToolError(), {"code": -32603, "message": "Resource 'notes://all' failed"}),
        (
            ResourceNotFound("notes://7"),
            {"code": -32002, "message": "Resource not found", "data": {"uri": "notes://7"}},
        ),
        (
            ValueError(SECRET),
            {"code": -32603, "message": "Resource 'notes://all' failed: ValueError; the server's log has the details"},
        ),
    ],
)
async def test_a_failure_is_a_json_rpc_error(scene: Scene, raised: Exception, error: object) -> None:
    @scene.app.resource("notes://all")
    async def notes() -> NoReturn:
        raise raised

    record = await read(scene, "notes://all")
    assert (record.status, record.outcome, record.payload) == ("failed", "error", error)
    assert SECRET not in str(record.fields)


async def test_retries_are_those_of_a_tool_that_only_reads(scene: Scene) -> None:
    @scene.app.resource("notes://all")
    async def notes(ctx: Context) -> str:
        if ctx.attempt < 3:
            raise Retry(after=0)
        raise Retry(after=1)

    assert (await read(scene, "notes://all")).status == "working"
    for _ in range(2):
        (again,) = await scene.claim_again()
        record = await scene.execute(again)
    error = {"code": -32603, "message": "Resource 'notes://all' gave up after 3 attempts"}
    assert (record.status, record.payload) == ("failed", error)


@pytest.mark.parametrize(
    ("method", "key"),
    [
        ("resources/read", "known"),
        ("prompts/get", "notes://all"),
        ("completion/complete", "known"),
        ("tools/call", "notes://all"),
        ("tools/list", "known"),
    ],
)
async def test_what_this_worker_does_not_know_is_handed_back(scene: Scene, method: str, key: str) -> None:
    _register_all(scene.app)
    active = await scene.claim(key, method=method, kind="call")
    assert (await scene.execute(active)).status == "working"
    assert UNKNOWN_TOOL_PAUSE <= await scene.pause_of(active) < UNKNOWN_TOOL_PAUSE + 1000


async def test_params_that_do_not_fit_any_more(scene: Scene, logs: Logs) -> None:
    """The worker's app may be a newer one: the caller gets an error, and nobody a traceback."""

    @scene.app.resource("notes://{number}")
    async def note(number: int) -> str:
        return str(number)

    @scene.app.prompt
    async def greet(name: str) -> str:
        return name

    record = await read(scene, "notes://seven", "notes://{number}")
    assert record.payload == {"code": -32002, "message": "Resource not found", "data": {"uri": "notes://seven"}}
    record = await scene.run("greet", method="prompts/get", kind="call")
    assert record.payload == {"code": -32602, "message": "Invalid arguments: name: required"}
    assert not logs.of("tool_failed")


def _register_all(app: Receiver) -> None:
    @app.prompt
    async def known(name: str) -> str:
        return name

    @app.tool(name="known")
    async def tool() -> str:
        return "done"

    @app.resource("notes://all")
    async def notes() -> str:
        return "all"
