"""The generated pages are what the code says, and the code says something of every error and every limit."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ops.reference.bounds import BOUNDS
from ops.reference.errors import ANSWERS
from ops.reference.failures import FAILURES, REFUSALS
from ops.reference.limits import read_number
from ops.reference.markdown import write_count, write_duration, write_size, write_table
from ops.reference.pages import PAGES
from receiver.protocol.errors import ReceiverError
from receiver.settings import Settings
from tests.docs.markdown import ROOT

SOURCES = [*(ROOT / "receiver").rglob("*.py"), *(ROOT / "workers").rglob("*.py"), ROOT / "ops" / "arrival.py"]
SCRIPTS = sorted((ROOT / "receiver" / "store" / "lua").glob("*.lua"))
HTTP_STATUS = re.compile(
    r"(?:Refusal\(|respond\(send, |_\w+ = \(|: \(|status = )(4\d\d|5\d\d)\b|HTTP/1\.1 (4\d\d)|(\d{3}) if isinstance"
)
LIMIT = re.compile(r"(?:^|_)(?:LIMIT|MAX|MOST|LONGEST)(?:_|$)")

# Bounds of what the process keeps for its own use: beyond them nothing is refused, cut or ended.
INNER = {
    "receiver/http/access_token.py:MAX_REMEMBERED",  # verified tokens
    "receiver/protocol/ttl.py:LONGEST",  # what null asks for
    "receiver/store/flights.py:MOST",
    "receiver/store/client.py:LONGEST_PAUSE",  # between two attempts at the store
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_current(name: str) -> None:
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == PAGES[name](), "out of date: make docs"


def test_all_are_written(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "ops.reference", str(tmp_path)], cwd=ROOT, check=True, timeout=50)
    written = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.md")}
    assert written == set(PAGES)


def test_every_setting_is_there() -> None:
    page = PAGES["reference/settings.md"]()
    assert re.findall(r"^\| `RECEIVER_(\w+)`", page, re.MULTILINE) == [name.upper() for name in Settings.model_fields]
    assert all(field.description for field in Settings.model_fields.values())


def test_every_error_is_there() -> None:
    explained = {type(answer.error) for answer in ANSWERS}
    assert set(subclasses(ReceiverError)) - explained == set()


def subclasses(kind: type) -> Iterator[type]:
    child: type
    for child in kind.__subclasses__():
        if child.__module__ == "receiver.protocol.errors":
            yield child
            yield from subclasses(child)


def test_every_reason_is_there() -> None:
    said = {reason for source in SOURCES for reason in reasons_in(source)}
    said |= {reason for script in SCRIPTS for reason in re.findall(r"'refused', '(\w+)'", script.read_text())}
    assert said - {"session"} == {answer.reason for answer in ANSWERS if answer.reason}


def reasons_in(source: Path) -> Iterator[str]:
    """The reasons in calls of Refused, and in the ``data`` of errors."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Refused" and node.args:
            yield from constants([node.args[0]])
        if isinstance(node, ast.Dict):
            keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
            if ("reason" in keys and {"retryAfterMs", "attempts"} & set(keys)) or keys == ["reason"]:
                yield from constants([node.values[keys.index("reason")]])


def constants(nodes: list[ast.expr]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_every_http_status_is_there() -> None:
    http = [source for source in SOURCES if "http" in source.parts or source.name == "arrival.py"]
    found = {
        int(status)
        for source in http
        for groups in HTTP_STATUS.findall(source.read_text())
        for status in groups
        if status
    }
    assert found == set(REFUSALS)


@pytest.mark.parametrize(
    "phrase",
    [
        " was stopped: it took longer than ",
        " was interrupted by a shutdown",
        " gave up after ",
        "was killed by signal ",
        " bytes; ",
        "; the server's log has the details",
    ],
)
def test_what_failed_tasks_say_is_said(phrase: str) -> None:
    """By the code, and on the page."""
    assert any(phrase in source.read_text(encoding="utf-8") for source in SOURCES if "workers" in source.parts)
    assert any(phrase in text for text, _, _ in FAILURES)


def test_every_limit_is_there() -> None:
    explained = {bound.source for bounds in BOUNDS.values() for bound in bounds}
    settings = {name for name in Settings.model_fields if re.search(r"^max_|^min_|_limit$|page_size$", name)}
    named = {f"{path.relative_to(ROOT)}:{name}" for path in SOURCES for name in limits_in(path)}
    assert settings - explained == set()
    assert {source for source in named if "rehearsal" not in source} - explained == INNER


def limits_in(source: Path) -> Iterator[str]:
    """The numbers of a module that are named like limits."""
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and LIMIT.search(node.targets[0].id):
            yield node.targets[0].id


def test_every_number_is_found() -> None:
    numbers = [read_number(bound) for bounds in BOUNDS.values() for bound in bounds]
    assert all(isinstance(number, int | float | str) for number in numbers)


def test_every_command_is_there() -> None:
    page = PAGES["reference/cli.md"]()
    for command in ("dev", "serve", "work", "conform"):
        assert f"\n## receiver {command}\n" in page
    assert "--fd" not in page  # hidden
    assert "| `--port <int>` | `8000` | The port to listen on; 0 takes a free one. |" in page


@pytest.mark.parametrize(
    ("ms", "written"),
    [
        (604_800_000, "7 days"),
        (3_600_000, "1 hour"),
        (90_000, "90 s"),
        (60_000, "1 minute"),
        (1500, "1.5 s"),
        (20, "20 ms"),
    ],
)
def test_durations(ms: float, written: str) -> None:
    assert write_duration(ms) == written


def test_sizes_and_counts() -> None:
    assert [write_size(size) for size in (4_194_304, 16_384, 1000)] == ["4 MiB", "16 KiB", "1,000 bytes"]
    assert [write_count(count) for count in (1_000_000, 0.5)] == ["1,000,000", "0.5"]


def test_a_bar_does_not_end_a_cell() -> None:
    assert list(write_table(("a",), [("b|c",)])) == ["| a |", "| --- |", "| b\\|c |"]
