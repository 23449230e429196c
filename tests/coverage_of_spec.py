"""Which tests name which rows of the specification: ``python -m tests.coverage_of_spec > docs/spec-coverage.md``.

A test names a row in a comment or docstring (``# T-51``), or in its own name (``test_t51_...``).  Only a test against
running processes proves a row; the other tests that name it are listed beside.
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ops.conform.check import load_checks

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "docs" / "spec-rows.toml"
PAGE = ROOT / "docs" / "spec-coverage.md"

WIRE = ("acceptance/", "conformance/", "http/", "interop/", "wire/")  # folders of tests that speak to running processes
OTHERS = ("client",)  # what binds only them needs no test here; a requestor the server is, too, of its clients' tasks
CHECKS = "conformance/test_checks.py"  # holds the server against every check of `receiver conform`
SAMPLES = ("conformance/test_command.py", "unit/test_conform.py", "unit/test_coverage_of_spec.py")  # rows as examples

MENTION = re.compile(r"(?<![\w-])[AEHLSTX]-\d+\b")
NAME = re.compile(r"def test_(?:\w+_)?([aehlstx])(\d+)(?:_\w+)?\(")

INTRODUCTION = """\
# Coverage of the specification

`python -m tests.coverage_of_spec > docs/spec-coverage.md` makes this page from `docs/spec-rows.toml` and the tests; a
unit test fails while it is out of date. `grep -rn T-51 receiver workers tests` finds a row in code and tests.

A row is proved by tests on the wire, against running processes. Where there is none, its place says why.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """What the specification asks for, and of whom."""

    id: str
    level: str
    binds: str
    says: str

    @property
    def is_ours(self) -> bool:
        """Whether it binds this server."""
        return self.binds not in OTHERS


Mentions = Mapping[str, list[str]]  # the tests that name a row, by its id


def read_table(text: str) -> tuple[list[Row], dict[str, str]]:
    """All rows, and the reasons of those that have no test on the wire."""
    table = tomllib.loads(text)
    return [Row(id, **row) for id, row in table["rows"].items()], table["exceptions"]


def read_tests(folder: Path) -> Iterator[tuple[str, str]]:
    """Path from ``folder``, and text, of every module of tests."""
    for file in sorted(folder.rglob("test_*.py")):
        path = file.relative_to(folder).as_posix()
        if path not in SAMPLES:
            yield path, file.read_text(encoding="utf-8")


def find_mentions(tests: Iterable[tuple[str, str]], known: Iterable[str]) -> dict[str, list[str]]:
    """Which tests name which rows.  Comments may name a row that there is none of; a name in that form is a chance."""
    known = set(known)
    mentions: dict[str, list[str]] = {}
    for path, text in tests:
        named = {f"{letter.upper()}-{number}" for letter, number in NAME.findall(text)} & known
        for id in named.union(MENTION.findall(text)):
            if path not in mentions.setdefault(id, []):
                mentions[id].append(path)
    return mentions


def split(paths: Iterable[str]) -> tuple[list[str], list[str]]:
    """Those on the wire, and the others."""
    listed = list(paths)
    wire = [path for path in listed if path.startswith(WIRE)]
    return wire, [path for path in listed if path not in wire]


def find_complaints(rows: Iterable[Row], exceptions: Mapping[str, str], mentions: Mentions) -> Iterator[str]:
    """What is wrong with the table."""
    by_id = {row.id: row for row in rows}
    for id in sorted(mentions.keys() - by_id.keys()):
        yield f"{id} is no row, but named in {', '.join(mentions[id])}"
    for id in exceptions.keys() - by_id.keys():
        yield f"{id} is no row, but an exception"
    for row in by_id.values():
        wire, _ = split(mentions.get(row.id, ()))
        if row.is_ours and not wire and row.id not in exceptions:
            yield f"{row.id} has neither a test on the wire nor a reason ({row.says})"
        if row.id in exceptions and (wire or not row.is_ours):
            yield f"{row.id} needs no reason any more: take it from the exceptions"


def render(rows: Iterable[Row], exceptions: Mapping[str, str], mentions: Mentions) -> str:
    """The page."""
    lines = [_render_row(row, exceptions, mentions) for row in rows]
    head = [
        "| row | level | binds | asks for | tests on the wire | other tests |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    return "\n".join([INTRODUCTION, _summarize(rows, mentions), "", *head, *lines]) + "\n"


def _render_row(row: Row, exceptions: Mapping[str, str], mentions: Mentions) -> str:
    wire, others = split(mentions.get(row.id, ()))
    missing = exceptions.get(row.id, "") if row.is_ours else "it does not bind a server"
    proof = _list(wire) if wire else f"*{missing}*"
    return f"| {row.id} | {row.level} | {row.binds} | {row.says} | {proof} | {_list(others)} |"


def _list(paths: Iterable[str]) -> str:
    return ", ".join(f"`{path}`" for path in paths)


def _summarize(rows: Iterable[Row], mentions: Mentions) -> str:
    ours = [row for row in rows if row.is_ours]
    proved = [row for row in ours if split(mentions.get(row.id, ()))[0]]
    return f"{len(proved)} of {len(ours)} rows that bind this server have a test on the wire."


def load() -> tuple[list[Row], dict[str, str], dict[str, list[str]]]:
    """Rows, exceptions, and the tests of this checkout that name rows."""
    rows, exceptions = read_table(TABLE.read_text(encoding="utf-8"))
    checks = " ".join(row for check in load_checks() for row in check.rows)
    tests = [*read_tests(ROOT / "tests"), (CHECKS, checks)]
    return rows, exceptions, find_mentions(tests, [row.id for row in rows])


if __name__ == "__main__":
    sys.stdout.write(render(*load()))
