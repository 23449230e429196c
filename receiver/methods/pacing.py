"""Asks those who poll too often to poll less: the pollInterval that they are shown grows (T-46, T-100)."""

import time
from collections import OrderedDict
from dataclasses import replace

from receiver.protocol.task import Task

REMEMBERED = 10_000
MOST_DOUBLINGS = 3


class Pacer:
    """Remembers, on this node, when each task was polled last, and how often in a row that was too early."""

    def __init__(self) -> None:
        self._polls: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def pace(self, task: Task) -> Task:
        """The task with the interval that its requestor should keep from now on."""
        now = time.monotonic()
        last, early = self._polls.pop(task.id, (float("-inf"), 0))
        interval = task.poll_interval / 1000
        early = min(early + 1, MOST_DOUBLINGS + 1) if now - last < interval / 2 else max(0, early - 1)
        self._polls[task.id] = (now, early)
        if len(self._polls) > REMEMBERED:
            self._polls.popitem(last=False)
        return task if early <= 1 else replace(task, poll_interval=task.poll_interval * 2 ** (early - 1))
