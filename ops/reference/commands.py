"""docs/reference/cli.md, from the commands of ``ops.cli``."""

import re
from collections.abc import Iterator
from typing import Any

import typer.main

from ops.cli import cli
from ops.reference.markdown import write_table
from ops.supervisor import CANT_START, FORCED, KILLED
from workers.heartbeat import EXIT_STALLED

_HEAD = f"""\
# The command line

Made from [ops/cli.py](../../ops/cli.py) by `make docs`; don't edit it by hand. `receiver COMMAND --help` says the same.

Everything else is set by [environment variables](settings.md).

| exit code | is |
| --- | --- |
| 0 | done; or told to stop, and stopped |
| 1 | it ran, and what it looked at is not well: a check of `receiver conform` failed |
| {CANT_START} | it could not start, or was called with wrong arguments: stderr says why |
| {EXIT_STALLED} | a worker ended itself: its event loop stood still, or too many of its threads can't be stopped; \
start another |
| {FORCED} | `receiver dev`, or `receiver serve` with several processes, was interrupted twice |
| {KILLED} | a child of one of these did not end in its time, and was killed |
"""

Command = Any  # typer brings a click of its own, which has no public name


def render() -> str:
    """The page as Markdown."""
    root = typer.main.get_command(cli)
    return "\n".join([_HEAD, *_write_command(root, "receiver", None)]).rstrip("\n") + "\n"


def _write_command(command: Command, name: str, parent: Any) -> Iterator[str]:
    context = command.context_class(command, info_name=name, parent=parent)
    path = context.command_path
    yield f"## {path}\n"
    yield f"{(command.help or '').strip()}\n"
    usage = command.get_usage(context).removeprefix("Usage: ").replace("[[", "[").replace("]]", "]")
    yield f"```\n{usage}\n```\n"
    rows = [_write_parameter(parameter, context) for parameter in command.params if not parameter.hidden]
    if rows:
        yield from write_table(("argument or option", "default", "is"), rows)
        yield ""
    for child_name, child in getattr(command, "commands", {}).items():
        if not child.hidden:
            yield from _write_command(child, child_name, context)


def _write_parameter(parameter: Any, context: Any) -> tuple[str, str, str]:
    text = parameter.help or ""
    if parameter.multiple:
        text += " May be repeated."
    return f"`{_spell(parameter, context)}`", _write_default(parameter), text


def _spell(parameter: Any, context: Any) -> str:
    """``--port <int>``, ``[MODULE:app]``: how it is written, with the kind of its value."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name)
    record = parameter.get_help_record(context)[0]
    return re.sub(r"<(?:list\[)?(\w+)(?: range|\])?>", r"<\1>", record)


def _write_default(parameter: Any) -> str:
    default = parameter.default
    if parameter.required:
        return "required"
    if default is None or default is False or default == () or callable(default):
        return ""
    return f"`{default}`"
