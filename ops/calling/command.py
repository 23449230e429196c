"""``receiver call``, behind its options."""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from ops import report
from ops.calling.arguments import describe_arguments, missing_arguments, read_arguments
from ops.calling.call import Call, Order
from ops.calling.connection import Connection, connect
from ops.calling.display import Display, one_line
from ops.calling.interrupts import Interrupts
from ops.calling.outcome import INTERRUPTED, REFUSED, UNREACHABLE, Ended, Outcome
from ops.calling.questions import CAPABILITIES, Questions
from ops.calling.terminal import Terminal
from ops.client.stream import Message
from ops.client.violation import Violation
from receiver.telemetry.logs import escape_text

DEFAULT_URL = "http://127.0.0.1:8000/mcp"
LOG_LEVEL = "info"
SUMMARY_LENGTH = 100
COMPLAINT_LENGTH = 2000


@dataclass(frozen=True)
class Options:
    """As on the command line.  ``words``: perhaps a URL, then the tool and its arguments; ``patience`` in seconds."""

    words: Sequence[str]
    arguments: str | None = None
    as_task: bool | None = None
    ttl: int | None = None
    attach: str | None = None
    token: str | None = None
    answers: Sequence[str] = ()
    json: bool = False
    patience: float = 60.0

    @property
    def url(self) -> str:
        """The endpoint."""
        return self.words[0] if self.words and "://" in self.words[0] else DEFAULT_URL

    @property
    def rest(self) -> Sequence[str]:
        """The words behind the URL."""
        return self.words[1:] if self.words and "://" in self.words[0] else self.words


def run_call(options: Options) -> int:
    """Calls a tool, or lists the tools if none is named; returns the exit code, which ``outcome`` explains."""
    try:
        _check(options)
        return asyncio.run(_run(options))
    except Ended as end:
        report.complain(one_line(str(end), COMPLAINT_LENGTH))
        return end.code
    except (Violation, AttributeError, LookupError, TypeError, ValueError) as error:  # answers of no known shape
        reason = str(error) if isinstance(error, Violation) else repr(error)
        report.complain(f"the server can't be understood: {one_line(reason, COMPLAINT_LENGTH)}")
        return UNREACHABLE


def _check(options: Options) -> None:
    if options.attach is not None and options.rest:
        raise Ended(REFUSED, "--attach takes the id of a task, and no tool")
    if options.as_task is False and options.ttl is not None:
        raise Ended(REFUSED, "--ttl is that of a task: it does not go with --no-task")


async def _run(options: Options) -> int:
    terminal_is_there = Terminal.is_there()
    label = options.rest[0] if options.rest else options.attach or ""
    async with connect(options.url, options.token, options.patience) as connection:
        display = Display(label)
        terminal = Terminal(display) if terminal_is_there else None
        questions = Questions(display, terminal, _read_answers(options.answers))
        call = Call(connection, display, questions)
        leaves = True
        try:
            await connection.open(CAPABILITIES)
            if options.attach is None and not options.rest:
                return _list_tools(await connection.list_tools(), as_json=options.json)
            with display, Interrupts(terminal) as interrupts:
                outcome = await interrupts.watch(call, _work(options, connection, call))
        except Ended as end:
            leaves = end.code not in (INTERRUPTED, UNREACHABLE)
            if not leaves and call.task_id is not None:
                raise Ended(end.code, f"{end}; the task goes on: {_attach_command(options, call.task_id)}") from None
            raise
        finally:
            await questions.close()
            await connection.close(ends=leaves)
    return _print_outcome(outcome, as_json=options.json)


async def _work(options: Options, connection: Connection, call: Call) -> Outcome:
    if "logging" in connection.capabilities:
        await connection.request("logging/setLevel", {"level": LOG_LEVEL})
    if options.attach is not None:
        return await call.attach(options.attach)
    tool = find_tool(await connection.list_tools(), options.rest[0])
    schema = tool.get("inputSchema") or {}
    try:
        arguments = read_arguments(options.rest[1:], _read_given(options.arguments), schema)
    except ValueError as error:
        raise Ended(REFUSED, str(error)) from None
    if missing := missing_arguments(arguments, schema):
        usage = " ".join([tool["name"], *describe_arguments(schema)])
        raise Ended(REFUSED, f"{', '.join(missing)} missing: {usage}")
    return await call.run(Order(tool, arguments, options.as_task, options.ttl))


def find_tool(tools: Sequence[Message], name: str) -> Message:
    """The tool of this name.  Raises Ended that names the nearest one."""
    for tool in tools:
        if tool.get("name") == name:
            return tool
    nearest = get_close_matches(name, [str(tool.get("name")) for tool in tools], n=1)
    hint = f"; did you mean {nearest[0]}?" if nearest else "; `receiver call URL` lists those that there are"
    raise Ended(REFUSED, f"the server has no tool {name!r}{hint}")


def _read_given(text: str | None) -> Mapping[str, Any]:
    if text is None:
        return {}
    try:
        given = json.loads(sys.stdin.read() if text == "-" else text)
    except ValueError as error:
        raise ValueError(f"--args is no JSON: {error}") from None
    if not isinstance(given, dict):
        raise ValueError("--args takes a JSON object")
    return given


def _read_answers(words: Sequence[str]) -> Mapping[str, str]:
    pairs = [word.partition("=") for word in words]
    if bad := [name for name, equals, _ in pairs if not name or not equals]:
        raise Ended(REFUSED, f"--answer takes NAME=VALUE; not {bad[0]!r}")
    return {name: value for name, _, value in pairs}


def _attach_command(options: Options, task_id: str) -> str:
    url = [] if options.url == DEFAULT_URL else [options.url]
    return " ".join(["receiver call", *url, "--attach", task_id])


def _print_outcome(outcome: Outcome, *, as_json: bool) -> int:
    if as_json:
        print(outcome.to_json())
    elif outcome.status == "cancelled":
        print("The task was cancelled.", file=sys.stderr)
    elif outcome.status == "not_found":
        print(f"There is no task {escape_text(str(outcome.task_id))}: it expired, or was never there.", file=sys.stderr)
    else:
        print(outcome.to_text(), file=sys.stderr if outcome.code else sys.stdout)
    return outcome.code


def _list_tools(tools: Sequence[Message], *, as_json: bool) -> int:
    if as_json:
        print(json.dumps(tools))
        return 0
    for tool in tools:
        words = [str(tool.get("name")), *describe_arguments(tool.get("inputSchema") or {})]
        print(one_line(" ".join(words), SUMMARY_LENGTH * 2))
        if about := tool.get("description") or tool.get("title"):
            print(f"    {one_line(str(about), SUMMARY_LENGTH)}")
    return 0
