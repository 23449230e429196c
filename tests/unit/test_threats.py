"""The table of threats: it is complete, and every test that it names exists."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs/threats.md").read_text().splitlines()
    if re.match(r"\| [FV]\d", line)
]
MEETS = re.compile(r"`([\w/]+\.py)::(\w+)`")


def test_all_are_there_once_and_in_order() -> None:
    expected = [*(f"F{number}" for number in range(1, 50)), *(f"V{number}" for number in range(1, 28))]
    assert [row[0] for row in ROWS] == expected


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_who_is_named_exists(row: list[str]) -> None:
    """Each names tests, or says that it has none."""
    _, _, here, shown = row
    found = MEETS.findall(shown)
    assert found or "no test yet" in here.lower() or here.startswith("does not apply: ")
    for path, name in found:
        assert name in read_functions(ROOT / "tests" / path), f"{path} has no {name}"


def read_functions(path: Path) -> set[str]:
    """The functions of a test file, those of classes too."""
    defined = ast.FunctionDef | ast.AsyncFunctionDef
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, defined)}
