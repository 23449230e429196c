"""The tools of one receiver."""

from collections.abc import Collection, Iterator

from receiver.tools.tool import PLAIN_LANE, Tool


class Tools:
    """Tools by name, in the order in which they were added."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}

    def add(self, tool: Tool) -> None:
        """Add ``tool``; ValueError if its name is taken."""
        if tool.name in self._tools:
            raise ValueError(f"there is a tool {tool.name!r} already")
        self._tools[tool.name] = tool

    def get(self, name: str) -> Tool | None:
        """The tool called ``name``, or None."""
        return self._tools.get(name)

    def queues(self, lanes: Collection[str] | None = None) -> dict[str, int | None]:
        """The queues that a worker of ``lanes`` (None: of all) takes from, each with its tool's ``max_running``.

        Those of plain calls come first; their lane is there whatever the tools are.
        """
        plain = {PLAIN_LANE: None} | {tool.queue_for(as_task=False): tool.max_running for tool in self}
        tasks = {tool.queue_for(as_task=True): tool.max_running for tool in self if lanes is None or tool.lane in lanes}
        return (plain if lanes is None or PLAIN_LANE in lanes else {}) | tasks

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)
