"""docs/keys.md is what the code says, and the code says something of all that it writes."""

import re
from pathlib import Path

import pytest

from receiver.store.keys import SPECS, Keys
from receiver.store.reference import FIELDS, render
from receiver.store.scripts import load, names

ROOT = Path(__file__).parents[2]


def test_the_page_is_current() -> None:
    assert (ROOT / "docs" / "keys.md").read_text() == render(), "run: python -m receiver.store.reference > docs/keys.md"


@pytest.mark.parametrize("script", list(names()))
def test_scripts_write_no_field_that_is_not_explained(script: str) -> None:
    source = load(script).source
    written = re.findall(r"redis\.call\('HSET', (?:key_task\(id\)|task),([^\n]*(?:\n    ?[^\n]*)?)\)\n", source)
    fields = {name for line in written for name in re.findall(r"'([a-z_]+)'", line)}
    assert fields - {"working", "error"} <= set(FIELDS)


def test_each_key_is_explained() -> None:
    assert all(spec.holds for spec in SPECS.values())
    assert all(spec.expiry or spec.type == "channel" for spec in SPECS.values())


def test_every_method_that_names_a_key_is_in_the_table() -> None:
    methods = {name for name, value in vars(Keys).items() if callable(value) and not name.startswith("_")}
    assert methods - {"job_id"} == set(SPECS)
