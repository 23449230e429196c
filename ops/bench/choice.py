"""Which tool is called: one that can be called as a task, with the arguments that there are."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from ops.bench.requestor import Requestor, Target, Unexpected
from ops.calling.arguments import missing_arguments
from receiver.protocol.errors import StartupError

MOST_PAGES = 100
ANSWER_SECONDS = 30.0


@dataclass(frozen=True)
class Choice:
    """What is measured: a tool of a server, and what the server says of itself."""

    tool: str
    server: Mapping[str, Any]


async def choose(target: Target, name: str) -> Choice:
    """The tool called ``name``; if that is empty, the first that will do.  StartupError if there is none."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            tools, server = await _survey(target)
    except TimeoutError:
        raise StartupError(f"{target.url} can't be measured: it does not answer") from None
    except (Unexpected, ConnectionError, AttributeError, TypeError) as error:
        raise StartupError(f"{target.url} can't be measured: {error}") from None
    return Choice(_check(tools, name, target) if name else _pick(tools, target), server)


async def _survey(target: Target) -> tuple[list[dict[str, Any]], Mapping[str, Any]]:
    """The tools, and what the server says of itself."""
    requestor = await Requestor.open(target)
    try:
        return await _list_tools(requestor), requestor.server
    finally:
        requestor.close()


async def _list_tools(requestor: Requestor) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = []
    cursor: dict[str, Any] = {}
    for _ in range(MOST_PAGES):
        page = await requestor.ask("tools/list", cursor)
        tools += [tool for tool in page.get("tools") or [] if isinstance(tool.get("name"), str)]
        if not (following := page.get("nextCursor")):
            break
        cursor = {"cursor": following}
    return tools


def _pick(tools: Collection[Mapping[str, Any]], target: Target) -> str:
    able = [tool for tool in tools if _takes_tasks(tool)]
    if not able:
        raise StartupError(f"{target.url} offers no tool that can be called as a task")
    for tool in able:
        if not _missing(tool, target):
            return str(tool["name"])
    wanted = "; ".join(f"{tool['name']} needs {', '.join(_missing(tool, target))}" for tool in able[:3])
    raise StartupError(f"no tool can be called without more arguments: name one by --tool, with --arguments ({wanted})")


def _check(tools: Collection[Mapping[str, Any]], name: str, target: Target) -> str:
    tool = next((tool for tool in tools if tool["name"] == name), None)
    if tool is None:
        nearest = get_close_matches(name, [str(tool["name"]) for tool in tools], n=1)
        raise StartupError(f"the server has no tool {name!r}" + (f"; did you mean {nearest[0]}?" if nearest else ""))
    if not _takes_tasks(tool):
        raise StartupError(f"{name} can't be called as a task")
    if missing := _missing(tool, target):
        raise StartupError(f"{name} needs {', '.join(missing)}: give --arguments as a JSON object")
    return name


def _takes_tasks(tool: Mapping[str, Any]) -> bool:
    return (tool.get("execution") or {}).get("taskSupport") in ("optional", "required")


def _missing(tool: Mapping[str, Any], target: Target) -> list[str]:
    return missing_arguments(target.arguments, tool.get("inputSchema") or {})
