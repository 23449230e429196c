"""P10: two API processes and two workers on one Redis against one of each: what a task costs them."""

import statistics
from contextlib import ExitStack
from dataclasses import replace

from tests.bench.comparing import Figures, compare
from tests.bench.row import Plan, Row
from tests.bench.subject import run_receiver

REQUESTORS = (16, 64)
ROLES = ("api", "worker", "redis")
NOISE = 1.05  # what two runs of the same may differ by


def measure(plan: Plan) -> list[Row]:
    """CPU for a task from its creation to its result, of all processes together."""
    with ExitStack() as stack:
        one = stack.enter_context(run_receiver(plan.folder / "one", nodes=1, workers=1))
        two = stack.enter_context(run_receiver(plan.folder / "two", nodes=2, workers=2))
        subjects = [replace(one, name="one"), replace(two, name="two")]
        rows = []
        for requestors in REQUESTORS:
            found = compare(
                subjects, "run", requestors=requestors, seconds=plan.seconds, rounds=plan.rounds, told=plan.told
            )
            rows.append(_compare(found["two"], found["one"], requestors))
    return rows


def _compare(two: Figures, one: Figures, requestors: int) -> Row:
    ratio = two.cpu_of(*ROLES) / one.cpu_of(*ROLES)
    measured = f"{ratio:.2f} ({_show(two)} against {_show(one)})"
    what = f"two API processes and two workers, CPU of a task end to end at {requestors}, of that of one of each"
    return Row("P10", what, measured, f"no more: ≤ {NOISE} x", ratio <= NOISE)


def _show(figures: Figures) -> str:
    sums = [sum(used[role] for role in ROLES) for used in figures.cpu]
    each = " + ".join(f"{figures.cpu_of(role):.0f}" for role in ROLES)
    return f"{statistics.median(sums):.0f} µs, {min(sums):.0f}–{max(sums):.0f}: {each}"  # noqa: RUF001 - a span
