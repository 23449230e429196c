"""Who breaks things: a schedule of faults, made from a seed, and what each of them does."""

import asyncio
import random
import signal
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from redis.exceptions import RedisError

from tests.chaos.evidence import Fault, History
from tests.chaos.network import Link
from tests.chaos.pace import Pace, now
from tests.chaos.rig import Member, Rig

STORM_SECONDS = 7.0
CALM_SECONDS = 4.0
LOOK_SECONDS = 0.05
CLOCK_SECONDS = 7200.0  # by how much a clock is wrong, at most

WEIGHTS = {
    "kill worker": 5,
    "pause worker": 5,
    "term worker": 3,
    "failpoint worker": 4,
    "skew worker": 2,
    "kill api": 3,
    "pause api": 1,
    "term api": 2,
    "failpoint api": 3,
    "kill store": 3,
    "pause store": 3,
    "debug sleep": 1,
    "script flush": 2,
    "kill pubsub": 2,
    "squeeze memory": 1,
    "cut link": 4,
    "hold up": 2,
    "hold down": 2,
    "hold both": 2,
    "delay": 2,
    "lose replies": 5,
    "half close": 2,
    "mute subscriptions": 2,
    "throttle": 1,
}
FAILPOINTS = {
    "api": ("create", "cancel", "read", "follow", "answer", "accept", "page", "start_session"),
    "worker": (
        *("claim", "finish", "ask", "requeue", "report", "heartbeat", "recover", "sweep"),
        *("park", "remember", "recall", "sleep", "withdraw", "poll", "read_question"),
    ),
}


@dataclass(frozen=True)
class Step:
    """One fault of the schedule.  ``at`` and ``seconds`` from the start; ``place`` in 0..1 says which target."""

    at: float
    kind: str
    place: float
    seconds: float
    failpoint: str = ""


def plan(
    seed: int,
    seconds: float,
    lease: float,
    *,
    only: Sequence[str] = (),
    pause: float = 1.2,
    failpoints: Sequence[str] = (),
) -> list[Step]:
    """The schedule: storms, with calm between them, and none near the end.  The same seed gives the same one.

    ``only`` these kinds of faults, and these ``failpoints``, as ``script:moment``; all without.
    """
    dice = random.Random(seed)  # noqa: S311 - not a secret
    kinds = {kind: weight for kind, weight in WEIGHTS.items() if not only or kind in only}
    steps = []
    for at in _times(dice, seconds, pause):
        (kind,) = dice.choices(list(kinds), list(kinds.values()))
        failpoint = _draw_failpoint(dice, kind.split()[1], failpoints) if kind.startswith("failpoint") else ""
        steps.append(Step(at, kind, dice.random(), dice.uniform(0.1, 1.7 * lease), failpoint))
    return steps


def _draw_failpoint(dice: random.Random, whom: str, failpoints: Sequence[str]) -> str:
    all_of_them = [f"{script}:{moment}" for script in FAILPOINTS[whom] for moment in ("before", "after")]
    return f"{dice.choice(failpoints or all_of_them)}:{dice.randint(1, 12)}"


def _times(dice: random.Random, seconds: float, pause: float) -> Iterator[float]:
    at = 1.0
    while at < seconds - 1:
        if at % (STORM_SECONDS + CALM_SECONDS) > STORM_SECONDS:
            at += STORM_SECONDS + CALM_SECONDS - at % (STORM_SECONDS + CALM_SECONDS)
            continue
        yield at
        at += dice.uniform(0.1, 2 * pause)


class Nemesis:
    """Does what the schedule says to the rig, and records what it did."""

    def __init__(self, rig: Rig, history: History) -> None:
        self._rig = rig
        self._history = history
        self._squeezes = asyncio.Lock()

    async def run(self, steps: Sequence[Step]) -> None:
        """Returns when all of it is over."""
        begun = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for step in steps:
                await asyncio.sleep(max(0.0, begun + step.at - time.monotonic()))
                group.create_task(self._inflict(step))

    async def watch_machine(self) -> None:
        """Records when the machine holds up this driver, for ever: that too is a fault, and nobody's."""
        pace = Pace(self._rig.lease)
        while True:
            begun = now()
            await asyncio.sleep(LOOK_SECONDS)
            self._look("machine", pace, begun)

    async def watch_store(self) -> None:
        """The same of the store, which waits for its disk."""
        pace = Pace(self._rig.lease)
        while True:
            begun = now()
            await asyncio.sleep(LOOK_SECONDS)
            with suppress(RedisError, OSError, TimeoutError):
                await self._rig.redis.ping()
            self._look("store", pace, begun)

    def _look(self, whom: str, pace: Pace, begun: float) -> None:
        ended = now()
        if (since := pace.look(ended, ended - begun - LOOK_SECONDS)) is not None:
            self._history.record(Fault("stall", whom, since, ended))

    async def _inflict(self, step: Step) -> None:
        what, _, whom = step.kind.partition(" ")
        begun, pid = time.time(), 0
        if whom in ("worker", "api", "store"):
            target = self._choose(whom, step.place)
            pid = target.process.pid
            await self._strike_process(what, target, step)
            name = target.name
        elif whom in ("flush", "pubsub", "memory", "sleep"):
            name = "store"
            with suppress(RedisError, OSError):
                await self._strike_store(step)
        else:
            target = self._choose("client", step.place)
            name = target.name
            assert target.link is not None
            await self._strike_link(target.link, step)
        kind = f"{step.kind} {step.failpoint}".strip()
        self._history.record(Fault(kind, name, begun, time.time(), pid))

    def _choose(self, whom: str, place: float) -> Member:
        rig = self._rig
        found = {"worker": rig.workers, "api": rig.apis, "store": [rig.store], "client": rig.workers + rig.apis}[whom]
        return found[int(place * len(found))]

    async def _strike_process(self, what: str, target: Member, step: Step) -> None:
        if what == "pause":
            target.signal(signal.SIGSTOP)
            await asyncio.sleep(step.seconds)
            target.signal(signal.SIGCONT)
        elif what == "term":
            process = target.process
            target.signal(signal.SIGTERM)
            await _until(lambda: process.returncode is not None)
        else:
            target.failpoint = step.failpoint
            target.clock = (2 * step.place - 1) * CLOCK_SECONDS if what == "skew" else 0.0
            target.is_wanted = False
            target.signal(signal.SIGKILL)
            await asyncio.sleep(step.seconds if target is self._rig.store else 0.1)
            target.is_wanted = True
        await _until(lambda: target.is_running)

    async def _strike_store(self, step: Step) -> None:
        redis = self._rig.redis
        if step.kind == "script flush":
            await redis.script_flush()
        elif step.kind == "kill pubsub":
            await redis.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
        elif step.kind == "debug sleep":
            await redis.execute_command("DEBUG", "SLEEP", f"{step.seconds:.2f}")
        else:
            async with self._squeezes:
                await redis.config_set("maxmemory", 1)
                await asyncio.sleep(step.seconds)
                await redis.config_set("maxmemory", 0)

    async def _strike_link(self, link: Link, step: Step) -> None:
        modes: dict[str, Callable[[], object]] = {
            "cut link": link.cut,
            "hold up": lambda: link.hold("up"),
            "hold down": lambda: link.hold("down"),
            "hold both": lambda: link.hold("up", "down"),
            "delay": lambda: setattr(link, "delay", 0.05),
            "lose replies": lambda: setattr(link, "replies_to_lose", 1 + int(5 * step.place) % 3),
            "half close": link.half_close,
            "mute subscriptions": link.mute,
            "throttle": lambda: setattr(link, "throttled", True),
        }
        modes[step.kind]()
        await asyncio.sleep(step.seconds)
        link.heal()


async def _until(condition: Callable[[], bool | Awaitable[bool]]) -> None:
    while not condition():  # noqa: ASYNC110 - what it waits for happens in other processes
        await asyncio.sleep(0.05)
