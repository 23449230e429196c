import inspect
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

import receiver
from receiver import Context, Receiver

WEB_AND_STORE = {"arq", "fastapi", "redis", "starlette", "uvicorn"}


def test_exported_members() -> None:
    members = {name: getattr(receiver, name) for name in dir(receiver)}
    public = [name for name, it in members.items() if not name.startswith("_") and not inspect.ismodule(it)]
    assert receiver.__all__ == sorted([*public, "__version__"])


def test_an_author_imports_no_web_framework_and_no_store() -> None:
    script = "import sys; from receiver import *; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "receiver" in loaded
    assert not WEB_AND_STORE.intersection(loaded)


def test_what_looks_into_the_store_alone_loads_no_model_of_the_protocol() -> None:
    """It takes longer than all that `receiver tasks list` does."""
    script = "import sys, receiver.store.inspect; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "mcp_types" not in loaded


def test_what_is_not_exported() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        receiver.nothing  # noqa: B018 - it is asked for


def test_a_receiver_keeps_what_clients_are_told() -> None:
    @asynccontextmanager
    async def lifespan(of: Receiver) -> AsyncIterator[str]:
        yield of.name

    app = Receiver("acme", version="1.2.3", title="Acme", instructions="Ask.", lifespan=lifespan)
    assert (app.name, app.version, app.title, app.instructions) == ("acme", "1.2.3", "Acme", "Ask.")
    assert app.lifespan is lifespan
    assert len(app.tools) == 0


def test_a_receiver_needs_a_name() -> None:
    with pytest.raises(ValueError, match="needs a name"):
        Receiver("")


def test_the_decorator_works_bare_and_with_options_and_leaves_the_function_alone() -> None:
    app = Receiver("acme")

    @app.tool
    def bare(text: str, ctx: Context) -> str:
        return text

    @app.tool()
    def empty(text: str) -> str:
        return text

    @app.tool(name="named", task="required", timeout="30m", lane="slow")
    async def given(text: str) -> str:
        return text

    assert [tool.name for tool in app.tools] == ["bare", "empty", "named"]
    assert [tool.function for tool in app.tools] == [bare, empty, given]
    assert empty("a") == "a"
    assert [tool.context_parameter for tool in app.tools] == ["ctx", None, None]
    named = app.tools.get("named")
    assert named is not None
    assert (named.task, named.timeout_ms, named.lane, named.is_async) == ("required", 1_800_000, "slow", True)


def test_a_refusal_names_the_tool() -> None:
    app = Receiver("acme")

    def render(*pages: int) -> None: ...

    with pytest.raises(TypeError, match=r"tool 'render': parameter \*pages: int can't be passed by name"):
        app.tool(render)
    with pytest.raises(ValueError, match="tool 'x y': a tool's name has"):
        app.tool(name="x y")(lambda: None)
    with pytest.raises(TypeError, match=r"tool 'x': .*unexpected keyword argument 'retries'"):
        app.tool(name="x", retries=3)(lambda: None)  # type: ignore[call-overload]
    assert len(app.tools) == 0


def test_a_taken_name_is_refused() -> None:
    app = Receiver("acme")
    app.tool(name="x")(lambda: None)
    with pytest.raises(ValueError, match="tool 'x': there is a tool 'x' already"):
        app.tool(name="x")(lambda: None)


def test_an_option_passed_by_position_is_refused() -> None:
    app: Any = Receiver("acme")
    with pytest.raises(TypeError, match="'render' is not a function; options are passed by name"):
        app.tool("render")


# Resources and prompts


def test_a_resource_and_a_prompt_leave_their_functions_alone() -> None:
    app = Receiver("acme")

    @app.resource("notes://{name}", title="Note", timeout=2)
    def note(name: str, ctx: Context) -> str:
        return name

    @app.prompt
    def bare(topic: str) -> str:
        return topic

    @app.prompt(name="named", title="Named")
    async def given(ctx: Context) -> str:
        return "x"

    (resource,), (first, second) = app.resources, app.prompts
    assert (resource.function, resource.title, resource.timeout_ms) == (note, "Note", 2000)
    assert (resource.context_parameter, first.context_parameter, second.context_parameter) == ("ctx", None, "ctx")
    assert (first.function, second.function, second.name, second.title) == (bare, given, "named", "Named")
    assert (note("a", None), bare("b")) == ("a", "b")  # type: ignore[arg-type] # it does not look at the context


def test_what_a_method_runs() -> None:
    app = Receiver("acme")
    app.tool(name="x")(lambda: None)
    app.prompt(name="x")(lambda: "x")
    app.resource("x:y", name="x")(lambda: "x")
    assert app.find_operation("tools/call", "x") is app.tools.get("x")
    assert app.find_operation("prompts/get", "x") is app.prompts.get("x")
    assert app.find_operation("resources/read", "x:y") is app.resources.get("x:y")
    for method, key in (("tools/call", "x:y"), ("resources/read", "x"), ("completion/complete", "x"), ("ping", "x")):
        assert app.find_operation(method, key) is None


def test_a_refusal_names_the_resource_or_prompt() -> None:
    app: Any = Receiver("acme")
    with pytest.raises(TypeError, match=r"resource 'x://\{a\}': the parameters of its URI are a"):
        app.resource("x://{a}")(lambda: "x")
    with pytest.raises(TypeError, match=r"resource 'x://y': .*unexpected keyword argument 'lane'"):
        app.resource("x://y", lane="slow")(lambda: "x")
    with pytest.raises(TypeError, match="a resource needs its URI"):
        app.resource(lambda: "x")
    with pytest.raises(ValueError, match="prompt 'x y': a prompt's name has"):
        app.prompt(name="x y")(lambda: "x")
    with pytest.raises(TypeError, match="can't be a generator"):
        app.prompt(name="x")(_generate)
    with pytest.raises(TypeError, match="'x' is not a function; options are passed by name"):
        app.prompt("x")
    app.prompt(name="x")(lambda: "x")
    with pytest.raises(ValueError, match="prompt 'x': there is a prompt 'x' already"):
        app.prompt(name="x")(lambda: "x")
    assert (len(app.resources), len(app.prompts)) == (0, 1)


def _generate() -> Iterator[str]:
    yield "x"
