"""How many streams a principal may have open on this node."""

from collections import Counter

from receiver.protocol.errors import Refused


class StreamLimit:
    """``most`` streams of one owner at the same time, answers that are waited for among them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: Counter[str] = Counter()

    def take(self, owner: str) -> None:
        """Counts a stream until it is given back.  Raises Refused for one too many."""
        if self._open[owner] >= self._most:
            raise Refused("too_many_streams", f"{self._most} open streams are the limit; close some")
        self._open[owner] += 1

    def give_back(self, owner: str) -> None:
        """Counts it no longer."""
        self._open[owner] -= 1
        if not self._open[owner]:
            del self._open[owner]
