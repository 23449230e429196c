import functools
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from mcp_types import Tool as WireTool
from mcp_types import ToolAnnotations

from receiver.isolation import Isolation
from receiver.protocol.errors import InvalidArguments
from receiver.tools.tool import Tool


class Context:
    pass


def render(quarter: str, *, ctx: Context) -> int:
    """Render a report.

    It takes a while.
    """
    return len(quarter)


def tool(**options: Any) -> Tool:
    return Tool.of(render, context=Context, **options)


def test_a_function_says_all_that_a_tool_needs() -> None:
    made = tool()
    assert (made.name, made.task, made.lane, made.queue_for(as_task=True)) == (
        "render",
        "optional",
        "default",
        "default",
    )
    assert (made.timeout_ms, made.min_ttl_ms, made.ttl_floor_ms, made.max_attempts) == (None, None, None, None)
    assert made.context_parameter == "ctx"
    assert made.function is render
    assert made.definition() == {
        "name": "render",
        "description": "Render a report.\n\nIt takes a while.",
        "inputSchema": {
            "type": "object",
            "properties": {"quarter": {"type": "string"}},
            "required": ["quarter"],
            "additionalProperties": False,
        },
        "outputSchema": {"type": "object", "properties": {"result": {"type": "integer"}}, "required": ["result"]},
        "execution": {"taskSupport": "optional"},
    }


def test_what_the_author_wrote_is_shown() -> None:
    definition = tool(
        name="a.b-c_D",
        title="A",
        description="B",
        annotations={"readOnlyHint": True},
        output_schema=None,
    ).definition()
    assert (definition["name"], definition["title"], definition["description"]) == ("a.b-c_D", "A", "B")
    assert definition["annotations"] == {"readOnlyHint": True}
    assert "outputSchema" not in definition


@pytest.mark.parametrize("support", ["forbidden", "optional", "required"])
def test_task_support_is_always_shown(support: Any) -> None:  # T-103
    shown = WireTool.model_validate(tool(task=support).definition())
    assert shown.execution is not None
    assert shown.execution.task_support == support


def test_binding_and_rendering() -> None:
    made = tool()
    assert made.bind({"quarter": "2024Q1"}) == {"quarter": "2024Q1"}
    assert made.render(6)["structuredContent"] == {"result": 6}
    with pytest.raises(InvalidArguments, match="quarter: required"):
        made.bind({})


def test_a_type_may_replace_the_return_annotation() -> None:
    made = tool(output_schema=dict[str, int])
    assert made.output_schema == {"type": "object", "additionalProperties": {"type": "integer"}}


def test_a_function_without_a_docstring_has_no_description() -> None:
    assert "description" not in Tool.of(lambda: None, context=Context, name="x").definition()


async def run() -> None: ...


class Callable_:
    async def __call__(self) -> None: ...


@pytest.mark.parametrize(
    ("function", "is_async"),
    [
        (run, True),
        (functools.partial(run), True),
        (Callable_(), True),
        (render, False),
        (functools.partial(render), False),
    ],
)
def test_async_functions_are_told_from_plain_ones(function: Any, is_async: bool) -> None:
    assert Tool.of(function, context=Context, name="x").is_async is is_async


def test_a_partial_is_described_by_its_function() -> None:
    made = Tool.of(functools.partial(render, "2024Q1"), context=Context, name="x")
    assert made.description == "Render a report.\n\nIt takes a while."
    assert made.bind({}) == {}


def generate() -> Iterator[int]:
    yield 1


async def generate_async() -> AsyncIterator[int]:
    yield 1


@pytest.mark.parametrize("function", [generate, generate_async])
def test_generators_are_refused(function: Any) -> None:
    with pytest.raises(TypeError, match="can't be a generator"):
        Tool.of(function, context=Context)


def test_a_callable_without_a_name_needs_one() -> None:
    with pytest.raises(TypeError, match="has no name of its own; pass name="):
        Tool.of(functools.partial(render), context=Context)


@pytest.mark.parametrize("name", ["", "a b", "a/b", "ä", "a\n", "x" * 129, "<lambda>"])
def test_a_bad_name_is_refused(name: str) -> None:  # L-10
    with pytest.raises(ValueError, match="a tool's name has 1 to 128"):
        tool(name=name)


def test_the_longest_name_is_allowed() -> None:
    assert tool(name="x" * 128).name == "x" * 128


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"task": "maybe"}, ValueError, "task must be one of forbidden, optional, required"),
        ({"lane": "a:b"}, ValueError, "a lane has 1 to 64"),
        ({"lane": "{a}"}, ValueError, "a lane has 1 to 64"),
        ({"lane": "plain"}, ValueError, "'plain' is the server's own"),
        ({"max_attempts": 0}, ValueError, "max_attempts is 1 or more"),
        ({"max_attempts": True}, TypeError, "max_attempts is a whole number"),
        ({"max_running": -1}, ValueError, "max_running is 1 or more"),
        ({"max_running": 1.5}, TypeError, "max_running is a whole number"),
        ({"isolate": "64MiB"}, TypeError, "isolate is True, False or an Isolation"),
        ({"timeout": 0}, ValueError, "is not a duration"),
        ({"output_schema": {"type": "object"}}, TypeError, "output_schema is a type, or None"),
        (
            {"annotations": {"read_only_hint": True}},
            TypeError,
            "unknown annotation 'read_only_hint'; there are title, re",
        ),
        ({"annotations": {"readOnlyHint": "yes"}}, TypeError, "annotation readOnlyHint must be a bool"),
        ({"annotations": {"title": 1}}, TypeError, "annotation title must be a str"),
    ],
)
def test_a_bad_option_is_refused(options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        tool(**options)


def test_only_the_hints_that_were_written_are_kept() -> None:
    written = tool(annotations=ToolAnnotations(title="R", destructive_hint=False)).annotations
    assert written == {"title": "R", "destructiveHint": False}


def test_the_ttl_floor_is_a_minute_above_what_is_declared() -> None:
    assert tool(timeout="30s").ttl_floor_ms == 90_000
    assert tool(min_ttl="2m").ttl_floor_ms == 180_000
    assert tool(timeout="30s", min_ttl="2m").ttl_floor_ms == 180_000


def test_a_capped_tool_waits_in_a_queue_of_its_own() -> None:
    assert tool(lane="slow").queue_for(as_task=True) == "slow"
    assert tool(lane="slow", max_running=2).queue_for(as_task=True) == "slow:render"


def test_plain_calls_wait_in_a_lane_of_their_own_and_share_the_cap() -> None:
    assert tool(lane="slow").queue_for(as_task=False) == "plain"
    assert tool(lane="slow", max_running=2).queue_for(as_task=False) == "plain:render"


@pytest.mark.parametrize(
    ("annotations", "as_task", "plain"),
    [
        (None, 3, 1),
        ({"destructiveHint": True}, 1, 1),
        ({"destructiveHint": False}, 3, 1),
        ({"destructiveHint": True, "idempotentHint": False}, 1, 1),
        ({"destructiveHint": True, "idempotentHint": True}, 3, 3),
        ({"idempotentHint": True}, 3, 3),
        ({"readOnlyHint": True}, 3, 3),
        ({"readOnlyHint": False}, 3, 1),
    ],
)
def test_hints_decide_how_often_a_tool_is_run(annotations: Any, as_task: int, plain: int) -> None:
    made = tool(annotations=annotations)
    assert made.attempts_for(as_task=True, default=3) == as_task
    assert made.attempts_for(as_task=False, default=3) == plain


def test_written_attempts_stand_above_hints() -> None:
    made = tool(max_attempts=5, annotations={"destructiveHint": True})
    assert made.attempts_for(as_task=True, default=3) == 5
    assert made.attempts_for(as_task=False, default=3) == 5


def test_a_tool_may_have_processes_of_its_own() -> None:
    bounds = Isolation(memory="64MiB")
    assert [tool(isolate=isolate).isolation for isolate in (False, True, bounds)] == [None, Isolation(), bounds]
