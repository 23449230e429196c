"""P1 to P4: what requestors do all the time, beside the floor."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from tests.bench.comparing import Figures, compare
from tests.bench.row import Plan, Row
from tests.bench.subject import run_floor, run_receiver

CREATE, GET, RUN = "task-augmented tools/call", "tasks/get", "create, then tasks/result until it is there"
LEAST_SHARE = {"create": 0.6, "get": 0.7, "run": 0.4}  # of the floor
NAMES = {"create": CREATE, "get": GET, "run": RUN}
NUMBERS = {"create": "P1", "get": "P4", "run": "P2"}
P50_MS, P99_MS = 4, 12


def measure(plan: Plan, numbers: Callable[[str], bool] = lambda _: True) -> list[Row]:
    """Rates and costs; ``numbers`` says of P1 to P4 which are wanted."""
    rows = []
    for load, counts in (("create", (16, 64)), ("run", (16, 64)), ("run", (1,)), ("get", (16,))):
        number = "P3" if counts == (1,) else NUMBERS[load]
        if not numbers(number):
            continue
        with ExitStack() as stack:
            folder = Path(plan.folder, f"{load}-{len(counts)}")
            subjects = [
                stack.enter_context(run_floor(folder)),
                stack.enter_context(run_receiver(folder, workers=int(load == "run"))),
            ]
            for count in counts:
                found = compare(
                    subjects, load, requestors=count, seconds=plan.seconds, rounds=plan.rounds, told=plan.told
                )
                rows += _latency(found) if number == "P3" else _rate(number, load, count, found)
    return rows


def _rate(number: str, load: str, count: int, found: Mapping[str, Figures]) -> list[Row]:
    ours, floor, least = found["receiver"], found["floor"], LEAST_SHARE[load]
    share = ours.rate / floor.rate
    what = f"{NAMES[load]}, at {count}"
    return [
        Row(number, what, f"{_span(ours)}: {share:.2f} of the floor", f"≥ {least} of the floor", share >= least),
        Row(number, f"{what}: the floor", _span(floor)),
        Row(number, f"{what}: CPU of each", f"{_cpu(ours)}; of the floor {_cpu(floor)}"),
        Row(
            number,
            f"{what}: commands to Redis of each",
            f"{ours.flights[-1]:.1f} scripts, {ours.commands[-1]:.0f} commands with those in them",
            *(("1 script", round(ours.flights[-1], 1) == 1) if load != "run" else ()),
        ),
    ]


def _latency(found: Mapping[str, Figures]) -> list[Row]:
    ours, floor = found["receiver"], found["floor"]
    p50, p99 = ours.latency(0.5), ours.latency(0.99)
    goal = f"p50 ≤ {P50_MS} ms, p99 ≤ {P99_MS} ms"
    return [
        Row(
            "P3", f"{RUN}, one requestor", f"p50 {p50:.1f} ms, p99 {p99:.1f} ms", goal, p50 <= P50_MS and p99 <= P99_MS
        ),
        Row("P3", "the same: the floor", f"p50 {floor.latency(0.5):.1f} ms, p99 {floor.latency(0.99):.1f} ms"),
    ]


def _span(of: Figures) -> str:
    least, most = of.spread
    return f"{of.rate:,.0f} ({least:,.0f}–{most:,.0f}) a second"  # noqa: RUF001 - a span


def _cpu(of: Figures) -> str:
    return " + ".join(f"{role} {of.cpu_of(role):.0f}" for role in of.cpu[0] if of.cpu_of(role) >= 1) + " µs"
