"""What a run found: a table for a terminal, and JSON for programs.  docs/conform.md describes both."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ops.conform.check import Check
from ops.conform.runner import Status, Verdict
from ops.conform.server import Target
from receiver import __version__

STATUSES: tuple[Status, ...] = ("passed", "failed", "warning", "skipped")
STYLES = {"passed": "green", "failed": "bold red", "warning": "yellow", "skipped": "dim"}


def print_report(verdicts: Sequence[Verdict], console: Console) -> None:
    """One line a check, then why each did not pass, then how many."""
    console.print(_table(("Rows", "Level", "Check", "Status"), map(_line, verdicts)))
    for verdict in verdicts:
        if verdict.status in ("failed", "warning"):
            heading = f"{' '.join(verdict.check.rows)} {verdict.check.name}: {verdict.check.title}"
            console.print(f"\n[{STYLES[verdict.status]}]{escape(heading)}[/]")
            console.print(verdict.detail, markup=False, highlight=False, soft_wrap=True)
    console.print("\n" + ", ".join(f"{count} {status}" for status, count in count_statuses(verdicts).items() if count))


def print_list(checks: Iterable[Check], console: Console) -> None:
    """What checks there are, and what they need."""
    lines = [
        (" ".join(check.rows), check.level, check.name, check.title, " ".join((*check.tools, *check.needs)))
        for check in checks
    ]
    console.print(_table(("Rows", "Level", "Name", "Check", "Needs"), lines))


def to_json(verdicts: Sequence[Verdict], target: Target) -> dict[str, Any]:
    """The report for programs."""
    return {
        "suite": {"name": "receiver conform", "version": __version__, "revision": "2025-11-25"},
        "server": target.initialized.get("serverInfo"),
        "urls": list(target.urls),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "summary": {
            "all": count_statuses(verdicts),
            "families": {family: count_statuses(_of_family(verdicts, family)) for family in _families(verdicts)},
        },
        "checks": [_to_json(verdict) for verdict in verdicts],
    }


def count_statuses(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """How many checks have which status."""
    found = [verdict.status for verdict in verdicts]
    return {status: found.count(status) for status in STATUSES}


def _to_json(verdict: Verdict) -> dict[str, Any]:
    check = verdict.check
    return {
        "name": check.name,
        "rows": list(check.rows),
        "level": check.level,
        "title": check.title,
        "status": verdict.status,
        "detail": verdict.detail,
        "seconds": verdict.seconds,
    }


def _families(verdicts: Iterable[Verdict]) -> list[str]:
    return sorted({row.partition("-")[0] for verdict in verdicts for row in verdict.check.rows})


def _of_family(verdicts: Iterable[Verdict], family: str) -> list[Verdict]:
    return [verdict for verdict in verdicts if any(row.startswith(f"{family}-") for row in verdict.check.rows)]


def _line(verdict: Verdict) -> tuple[str, ...]:
    check = verdict.check
    why = f"{check.title}\n[dim]{escape(verdict.detail)}[/]" if verdict.status == "skipped" else escape(check.title)
    status = f"[{STYLES[verdict.status]}]{verdict.status}[/]"
    return " ".join(check.rows), check.level, why, status


def _table(columns: Sequence[str], lines: Iterable[Sequence[str]]) -> Table:
    table = Table(*columns, box=None, pad_edge=False)
    for line in lines:
        table.add_row(*line)
    return table
