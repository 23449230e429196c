"""Whether the machine gives somebody enough time: if not, what happens to leases is nobody's fault.

A heartbeat has a quarter of a lease for its way to the store and back, through the driver.  Where one of those is late
by an eighth in half a lease, in one piece or in many, several heartbeats in a row may miss that.
"""

import time
from collections import deque


def now() -> float:
    """Seconds since the epoch, by the clock that no process of the rig has wrong."""
    return time.clock_gettime(time.CLOCK_REALTIME)


class Pace:
    """Adds up how late somebody was lately, each time that he looks.  ``lease`` in seconds."""

    def __init__(self, lease: float) -> None:
        self._window = lease / 2
        self._limit = lease / 8
        self._late: deque[tuple[float, float]] = deque()

    def look(self, at: float, late: float) -> float | None:
        """Takes up one more look; if there was too little time, returns since when, and begins anew."""
        self._late.append((at, late))
        while self._late[0][0] < at - self._window:
            self._late.popleft()
        if sum(late for _, late in self._late) < self._limit:
            return None
        first, late = self._late[0]
        self._late.clear()
        return first - late
