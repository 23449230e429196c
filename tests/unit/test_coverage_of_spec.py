"""The page of the specification's rows is current, and its table has no gaps."""

from pathlib import Path

import pytest

from tests.coverage_of_spec import (
    PAGE,
    Row,
    find_complaints,
    find_mentions,
    load,
    read_table,
    read_tests,
    render,
)

ROWS = [
    Row("T-01", "MUST", "both", "declares tasks"),
    Row("T-02", "SHOULD", "client", "asks for little"),
    Row("X-1", "", "receiver", "says -32601"),
]
WIRE = ["http/test_get.py"]
UNIT = ["unit/test_task.py"]


def test_every_row_has_a_test_on_the_wire_or_a_reason() -> None:
    assert list(find_complaints(*load())) == []


def test_the_page_is_current() -> None:
    hint = "out of date: python -m tests.coverage_of_spec > docs/spec-coverage.md"
    assert PAGE.read_text(encoding="utf-8") == render(*load()), hint


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("# T-01, X-1; T-99", {"T-01", "X-1", "T-99"}),
        ('"""T-01: so."""', {"T-01"}),
        ("def test_t01() -> None:", {"T-01"}),
        ("async def test_the_first_x1_of_all() -> None:", {"X-1"}),
        ("def test_t99() -> None:", set()),
        ("def test_wait01_t1() -> None:", set()),
        ("UTF-8 SHA-256 NOT-01 T-01x X-MCP-1 AT-01 1-T-01", set()),
    ],
)
def test_what_names_a_row(text: str, rows: set[str]) -> None:
    found = find_mentions([("http/test_get.py", text), ("unit/test_none.py", "")], [row.id for row in ROWS])
    assert found == {id: ["http/test_get.py"] for id in rows}


def test_modules_of_tests_are_read(tmp_path: Path) -> None:
    for name in ("http/test_b.py", "http/test_a.py", "http/conftest.py", "unit/test_coverage_of_spec.py"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"# {name}", encoding="utf-8")
    assert [*read_tests(tmp_path)] == [("http/test_a.py", "# http/test_a.py"), ("http/test_b.py", "# http/test_b.py")]


def test_a_table_is_read() -> None:
    table = (
        '[rows]\nT-01 = { level = "MUST", binds = "both", says = "declares tasks" }\n[exceptions]\nT-01 = "not yet"\n'
    )
    assert read_table(table) == (ROWS[:1], {"T-01": "not yet"})


@pytest.mark.parametrize(
    ("exceptions", "mentions", "complaint"),
    [
        ({"X-1": "not yet"}, {}, "T-01 has neither a test on the wire nor a reason (declares tasks)"),
        ({"X-1": "not yet"}, {"T-01": UNIT}, "T-01 has neither a test on the wire nor a reason (declares tasks)"),
        ({"T-01": "not yet", "X-1": "not yet"}, {"X-1": WIRE}, "X-1 needs no reason any more: take it"),
        ({"T-01": "not yet", "X-1": "not yet", "T-02": "not yet"}, {}, "T-02 needs no reason any more: take it"),
        ({"T-01": "not yet", "X-1": "not yet", "T-3": "not yet"}, {}, "T-3 is no row, but an exception"),
        ({"T-01": "not yet"}, {"X-1": WIRE, "T-3": WIRE + UNIT}, "T-3 is no row, but named in http/test_get.py, unit/"),
    ],
)
def test_what_is_wrong_with_a_table(exceptions: dict[str, str], mentions: dict[str, list[str]], complaint: str) -> None:
    found = list(find_complaints(ROWS, exceptions, mentions))
    assert len(found) == 1
    assert found[0].startswith(complaint)


def test_a_page() -> None:
    page = render(ROWS, {"X-1": "not yet"}, {"T-01": UNIT + WIRE, "X-1": UNIT})
    assert "\n1 of 2 rows that bind this server have a test on the wire.\n" in page
    assert page.endswith(
        "| T-01 | MUST | both | declares tasks | `http/test_get.py` | `unit/test_task.py` |\n"
        "| T-02 | SHOULD | client | asks for little | *it does not bind a server* |  |\n"
        "| X-1 |  | receiver | says -32601 | *not yet* | `unit/test_task.py` |\n"
    )
