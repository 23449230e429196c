"""The tools of one receiver."""

from collections.abc import Collection

from receiver.operation import PLAIN_LANE, Registry
from receiver.tools.tool import Tool


class Tools(Registry[Tool]):
    """Tools by name."""

    def queues(self, lanes: Collection[str] | None = None) -> dict[str, int | None]:
        """The queues that a worker of ``lanes`` (None: of all) takes from, each with its tool's ``max_running``.

        Those of plain calls come first; their lane is there whatever the tools are.
        """
        plain = {PLAIN_LANE: None} | {tool.queue_for(as_task=False): tool.max_running for tool in self}
        tasks = {tool.queue_for(as_task=True): tool.max_running for tool in self if lanes is None or tool.lane in lanes}
        return (plain if lanes is None or PLAIN_LANE in lanes else {}) | tasks
