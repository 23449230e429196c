from typing import Any

import pytest

from receiver.tools.registry import Tools
from receiver.tools.tool import Tool


class Context:
    pass


def tool(name: str, **options: Any) -> Tool:
    return Tool.of(lambda: None, context=Context, name=name, **options)


def registry(*tools: Tool) -> Tools:
    made = Tools()
    for one in tools:
        made.add(one)
    return made


def test_tools_keep_their_order_and_are_found_by_name() -> None:
    second, first = tool("b"), tool("a")
    tools = registry(second, first)
    assert list(tools) == [second, first]
    assert len(tools) == 2
    assert tools.get("a") is first
    assert tools.get("A") is None


def test_a_name_is_given_once() -> None:
    tools = registry(tool("a"))
    with pytest.raises(ValueError, match="there is a tool 'a' already"):
        tools.add(tool("a"))
    assert len(tools) == 1


def test_the_queues_of_a_worker_follow_its_lanes() -> None:
    tools = registry(tool("a"), tool("b", lane="slow"), tool("c", lane="slow", max_running=2), tool("d", max_running=1))
    plain = {"plain": None, "plain:c": 2, "plain:d": 1}
    assert tools.queues() == plain | {"default": None, "slow": None, "slow:c": 2, "default:d": 1}
    assert tools.queues({"slow"}) == {"slow": None, "slow:c": 2}
    assert tools.queues(["plain", "default"]) == plain | {"default": None, "default:d": 1}
    assert tools.queues([]) == {}


def test_plain_calls_have_a_queue_without_any_tool() -> None:
    assert registry().queues() == {"plain": None}
