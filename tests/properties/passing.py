"""Rules of time: it passes, calls arrive late, and what has to be done from time to time is done."""

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.properties.clock import advance
from tests.properties.machine import DOUBT, any_place, seldom
from tests.properties.wishes import WishRules


class TimeRules(WishRules):
    """All rules together."""

    @rule(duration=st.sampled_from((2_000, 2_000, 6_000, 12_000, 64_000, 310_000)))
    def advance(self, duration: int) -> None:
        """``DOUBT`` is shorter than what separates any sum of these from a ttl or a lease."""
        assert duration >= 2 * DOUBT
        self.run(advance(self.world, self.now.dump, duration))
        self.moved += duration
        self.rung = False  # bells have a TTL
        self.wire.sent.clear()

    @precondition(lambda self: self.wire.sent)
    @rule(place=any_place)
    def arrive_late(self, place: int) -> None:
        """A call whose reply was lost long ago is carried out once more."""
        name = self.run(self.wire.send_late(place))
        self.rung = self.rung and name != "claim"

    @rule(loses=seldom)
    def tidy(self, loses: bool) -> None:
        """What has to be done from time to time, by anyone."""
        self.wire.loses = loses
        leases = {task_id for task_id in self.now.leases if not self.may_lose(task_id)}
        taken = self.run(self.world.runs.recover())
        assert not leases & taken.keys(), "a lease was taken over that had not ended, or in an outage"
        self.wire.loses = loses
        for task_id in self.run(self.world.runs.sweep()):
            assert not self.lives(task_id), "it was swept, and lives"
