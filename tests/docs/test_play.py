"""The player of pages: what a page says has to come out, or its test fails."""

import subprocess
from pathlib import Path

import pytest

from tests.docs.markdown import Block
from tests.docs.play import SERVES, Command, Play, file_name, read_commands, says


def test_commands_are_read() -> None:
    text = "$ one \\\n    two\nsaid\n…\n^C\n$ three\n"
    assert list(read_commands(Block("console", text, 1))) == [
        Command("one two", ["said", "…"]),
        Command("^C", []),
        Command("three", []),
    ]


@pytest.mark.parametrize(
    ("text", "name"), [("# a.py\nx = 1\n", "a.py"), ("# A comment.\nx = 1\n", None), ("x = 1\n", None)]
)
def test_a_file_is_known_by_its_first_line(text: str, name: str | None) -> None:
    assert file_name(Block("python", text, 1)) == name


@pytest.mark.parametrize(
    ("text", "serves"),
    [
        ("receiver dev app:app", True),
        ("RECEIVER_PAGE_SIZE=1 receiver work app:app", True),
        ("""RECEIVER_AUTH_TOKENS='{"t": {"subject": "s"}}' receiver serve app:app""", True),
        ("redis-server --port 6379", True),
        ("receiver conform URL", False),
        ("echo receiver dev", False),
    ],
)
def test_what_goes_on_by_itself(text: str, serves: bool) -> None:
    assert bool(SERVES.match(text)) == serves


@pytest.mark.parametrize(
    ("expected", "output", "is_said"),
    [
        ([], "anything", True),
        (["one"], "one\n", True),
        (["one"], "one", True),
        (["one"], "one\ntwo\n", False),
        (["one"], "two\n", False),
        (["o…e", "…", "last"], "one\ntwo\nthree\nlast\n", True),
        (["o…e", "…", "last"], "last\n", False),
    ],
)
def test_what_is_expected(expected: list[str], output: str, is_said: bool) -> None:
    assert says(expected, output) == is_said


def test_what_comes_out_otherwise_fails(tmp_path: Path) -> None:
    (folder := tmp_path / "reader").mkdir()
    with Play(folder) as play:
        play.play(Block("python", "# a.py\nprint('8000')\n", 1))
        play.play(Block("console", "$ export WORD=two\n$ python a.py && echo $WORD\n8000\ntwo\n", 1))
        with pytest.raises(AssertionError, match="one\n"):
            play.play(Block("console", "$ echo one\ntwo\n", 1))
        with pytest.raises(AssertionError, match="neither a file nor commands"):
            play.play(Block("python", "x = 1\n", 1))
        with pytest.raises(subprocess.CalledProcessError):
            play.play(Block("console", "$ false\n", 1))
