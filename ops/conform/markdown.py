"""A report as Markdown: ``python -m ops.conform.markdown report.json``."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ops.conform.report import STATUSES


def write_tables(report: Mapping[str, Any]) -> Iterator[str]:
    """How many checks of which family have which status, then what did not pass, line by line."""
    families = report["summary"]["families"] | {"all": report["summary"]["all"]}
    yield from _table(
        ("rows", *STATUSES), [(name, *(counts[status] for status in STATUSES)) for name, counts in families.items()]
    )
    for status in ("failed", "warning"):
        found = [check for check in report["checks"] if check["status"] == status]
        yield f"\n{len(found)} checks: `{status}`\n"
        yield from _table(
            ("rows", "check", "what was asked"),
            [(" ".join(check["rows"]), f"`{check['name']}`", check["title"]) for check in found],
        )


def _table(columns: Sequence[str], lines: Iterable[Sequence[object]]) -> Iterator[str]:
    for line in (columns, ["---"] * len(columns), *lines):
        yield "| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |"


if __name__ == "__main__":
    for line in write_tables(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))):
        print(line)
