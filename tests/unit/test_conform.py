"""``receiver conform`` beside what it says to servers: its checks, and what is written of them."""

from pathlib import Path

import pytest

from ops.conform.app import app
from ops.conform.check import check, load_checks
from ops.conform.fixtures import FIXTURES, PREFIX
from ops.conform.server import Server
from tests.coverage_of_spec import TABLE, read_table

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_names_every_fixture() -> None:
    page = (ROOT / "docs" / "conform.md").read_text(encoding="utf-8")
    for role, fixture in FIXTURES.items():
        arguments = f"`{fixture.arguments}`" if fixture.arguments else ""
        assert f"| `{role}` | {arguments} | {fixture.support} | {fixture.does} |" in page


def test_the_example_has_every_fixture() -> None:
    assert {tool.name for tool in app.tools} == {PREFIX + role for role in FIXTURES}


def test_checks_name_rows_and_roles_that_there_are() -> None:
    rows = {row.id: row for row in read_table(TABLE.read_text(encoding="utf-8"))[0]}
    for one in load_checks():
        assert rows.keys() >= set(one.rows), one
        assert FIXTURES.keys() >= set(one.tools), one


def test_a_name_is_given_once() -> None:
    async def begins_as_working(server: Server) -> None: ...

    load_checks()
    with pytest.raises(ValueError, match="two checks are named begins-as-working"):
        check("T-31", "MUST", "again")(begins_as_working)


@pytest.mark.parametrize("only", [[], ["T-51"], ["T"], ["blocks-until-terminal"], ["T-1", "T"]])
def test_what_is_wanted(only: list[str]) -> None:
    (blocks,) = [one for one in load_checks() if one.name == "blocks-until-terminal"]
    assert blocks.is_wanted(only)
    assert not blocks.is_wanted(["T-5", "H"])
