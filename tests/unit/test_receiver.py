import inspect
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

import receiver
from receiver import Context, Receiver

WEB_AND_STORE = {"arq", "fastapi", "redis", "starlette", "uvicorn"}


def test_exported_members() -> None:
    public = [name for name, it in vars(receiver).items() if not name.startswith("_") and not inspect.ismodule(it)]
    assert receiver.__all__ == sorted([*public, "__version__"])


def test_an_author_imports_no_web_framework_and_no_store() -> None:
    script = "import sys, receiver; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "receiver" in loaded
    assert not WEB_AND_STORE.intersection(loaded)


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
