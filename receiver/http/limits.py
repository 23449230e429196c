"""How many streams a principal may have open on this node."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from receiver.protocol.errors import Refused


class StreamLimit:
    """``most`` streams of one owner at the same time, answers that are waited for among them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: Counter[str] = Counter()

    @contextmanager
    def hold(self, owner: str) -> Iterator[None]:
        """Counts a stream while it is open.  Raises Refused for one too many."""
        if self._open[owner] >= self._most:
            raise Refused("too_many_streams", f"{self._most} open streams are the limit; close some")
        self._open[owner] += 1
        try:
            yield
        finally:
            self._open[owner] -= 1
            if not self._open[owner]:
                del self._open[owner]
