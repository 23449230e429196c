"""What the README says of settings is what they are (T-95/96)."""

import re
from pathlib import Path

import pytest

from receiver.settings import Settings

README = (Path(__file__).parents[2] / "README.md").read_text()
ROWS = re.findall(r"^\| (`RECEIVER_\w+`(?: `RECEIVER_\w+`)*) \| ([^|]+) \| ([^|]+) \|$", README, re.MULTILINE)
WORDS = {"–": None, "-": None, "off": False, "1 MiB": 1024 * 1024, "4 MiB": 4 * 1024 * 1024}  # noqa: RUF001 - the dash of the table


def read_default(name: str) -> object:
    default = Settings.model_fields[name].default
    return ",".join(default) if isinstance(default, tuple) else default


@pytest.mark.parametrize(("variables", "default"), [row[:2] for row in ROWS])
def test_a_variable_exists_and_has_the_default_that_the_table_shows(variables: str, default: str) -> None:
    for name in re.findall(r"RECEIVER_(\w+)", variables):
        actual, shown = read_default(name.lower()), default.strip().strip("`")
        if actual in (None, "", {}):
            continue  # the table says what is done without one
        assert actual == WORDS[shown] if shown in WORDS else str(actual) == shown


def test_the_table_is_there() -> None:
    assert len(ROWS) > 10


@pytest.mark.parametrize(
    "sentence",
    [
        "RECEIVER_MAX_TTL`\n  (7 days)",  # T-95
        "`RECEIVER_MAX_TASKS_PER_PRINCIPAL` | 1000",  # T-96
        "whoever has an id has the task",  # T-86
        "keep the ttl short",  # T-105
    ],
)
def test_it_tells_the_limits_and_what_anonymous_mode_lacks(sentence: str) -> None:
    assert sentence in README
