"""What ``receiver bench`` found: a table for people, JSON for scripts."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ops.bench.requestor import Target
from ops.bench.trial import Trial
from ops.render import clean, clip, make_table, open_console, show_duration

HEADS = ("load", "requestors>", "per second>", "p50 ms>", "p90 ms>", "p99 ms>", "max ms>", "errors>")
SHARES = {"p50Ms": 0.5, "p90Ms": 0.9, "p99Ms": 0.99, "maxMs": 1.0}
MOST_TEXTS = 5  # errors that are shown
LONGEST = 160  # characters of each
SETTINGS = {  # which bound is met, by the reason of a refusal
    "rate_limited": "RECEIVER_RATE_LIMIT",
    "too_many_tasks": "RECEIVER_MAX_TASKS_PER_PRINCIPAL",
    "too_many_streams": "RECEIVER_MAX_STREAMS_PER_PRINCIPAL",
    "queue_full": "RECEIVER_QUEUE_LIMIT",
    "storage_full": "the memory of Redis",
    "HTTP 429": "RECEIVER_RATE_LIMIT, or the limit of a proxy",
}


@dataclass(frozen=True)
class Report:
    """``trials`` of ``target``, each of so many ``seconds``; ``server`` is what it says of itself."""

    target: Target
    server: Mapping[str, Any]
    seconds: float
    trials: Sequence[Trial]

    @property
    def created(self) -> int:
        """How many tasks were created for it."""
        return sum(trial.created for trial in self.trials)

    @property
    def errors(self) -> Counter[str]:
        """All errors by their text."""
        return sum((trial.errors for trial in self.trials), Counter())

    @property
    def bounds(self) -> list[str]:
        """What stood in the way: the names of settings."""
        reasons = {reason for trial in self.trials for reason in trial.reasons}
        return [setting for reason, setting in SETTINGS.items() if reason in reasons]

    def to_json(self) -> dict[str, Any]:
        """As a document: durations in ms by their name, else in seconds."""
        return {
            "url": self.target.url,
            "server": dict(self.server),
            "tool": self.target.tool,
            "arguments": self.target.arguments,
            "ttlMs": self.target.ttl,
            "secondsPerTrial": self.seconds,
            "tasksCreated": self.created,
            "limits": self.bounds,
            "trials": [_describe(trial) for trial in self.trials],
        }


def print_report(report: Report) -> None:
    """The table, and what there is to say of it."""
    console = open_console()
    server = " ".join(clean(report.server.get(name, "")) for name in ("name", "version")).strip()
    console.print(f"{clean(report.target.tool)} of {clean(report.target.url)}" + (f" ({server})" if server else ""))
    console.print()
    console.print(make_table(HEADS, map(_row, map(_describe, report.trials))))
    console.print()
    for line in _remarks(report):
        console.print(line)


def _remarks(report: Report) -> Iterator[str]:
    ttl = show_duration(report.target.ttl)
    yield f"{report.created} tasks were created; they expire {ttl} after their creation."
    for text, number in report.errors.most_common(MOST_TEXTS):
        yield f"{number} × {clip(text, LONGEST)}"  # noqa: RUF001 - a sign of multiplication
    if (more := len(report.errors) - MOST_TEXTS) > 0:
        yield f"and {more} other texts; --json has all"
    if report.bounds:
        yield f"Limits stood in the way, so that this is not what the server can do: {'; '.join(report.bounds)}."


def _describe(trial: Trial) -> dict[str, Any]:
    sample, has_any = trial.sample, bool(trial.sample.latencies)
    return {
        "load": trial.load,
        "requestors": trial.requestors,
        "operations": len(sample.latencies),
        "seconds": round(sample.seconds, 3),
        "perSecond": round(sample.rate, 1) if has_any else 0,
        **{name: round(sample.latency(share) * 1000, 3) if has_any else None for name, share in SHARES.items()},
        "errors": dict(trial.errors),
    }


def _row(described: Mapping[str, Any]) -> list[object]:
    times = ["-" if described[name] is None else f"{described[name]:,.2f}" for name in SHARES]
    rate, errors = f"{described['perSecond']:,.0f}", sum(described["errors"].values())
    return [described["load"], described["requestors"], rate, *times, errors]
