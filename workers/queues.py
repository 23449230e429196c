"""The queues that one worker serves."""

from collections.abc import Iterator, Mapping

from receiver.operation import PLAIN_LANE
from receiver.store.runs import QueueShare


class Queues:
    """Made of the names and caps that ``Tools.queues`` gives."""

    def __init__(self, caps: Mapping[str, int | None]) -> None:
        self._shares = [QueueShare(name, cap, name.partition(":")[0] == PLAIN_LANE) for name, cap in caps.items()]

    def __iter__(self) -> Iterator[QueueShare]:
        return iter(self._shares)

    @property
    def have_plain(self) -> bool:
        """Whether there are any for plain calls."""
        return any(share.is_plain for share in self._shares)

    def in_turn(self, number: int) -> list[QueueShare]:
        """In the order for the claim ``number``: those of plain calls first.

        Each of the others is the first of them in turn, or a long one would starve those behind it.
        """
        turn = number % max(1, len(self._shares))
        return sorted(self._shares[turn:] + self._shares[:turn], key=lambda share: not share.is_plain)
