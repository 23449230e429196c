"""README.zh-CN.md says what README.md says, as far as a program can tell."""

import re

import pytest

from tests.docs.markdown import ROOT, read_blocks, read_links

ORIGINAL = (ROOT / "README.md").read_text(encoding="utf-8")
TRANSLATED = (ROOT / "README.zh-CN.md").read_text(encoding="utf-8")


def test_the_snippets_are_the_same() -> None:
    assert [block[:2] for block in read_blocks(TRANSLATED)] == [block[:2] for block in read_blocks(ORIGINAL)]


@pytest.mark.parametrize(
    ("pattern", "least"),
    [
        (r"^(#+) ", 9),  # sections, by their depth
        (r"^\| (`[^|]*`|---|[A-Z][\w ]*) \|", 60),  # the rows of tables, in order: settings, options
        (r"^\| `RECEIVER_\w+`[^|]* \| (`?[A-Za-z0-9_/,]+`?) \|", 15),  # defaults
    ],
)
def test_it_has_the_same_parts(pattern: str, least: int) -> None:
    expected = re.findall(pattern, ORIGINAL, re.MULTILINE)
    assert re.findall(pattern, TRANSLATED, re.MULTILINE) == expected
    assert len(expected) >= least


def test_it_names_the_same_numbers_and_names() -> None:
    """Whatever stands in code there stands in code here, and so do versions and errors."""
    for pattern in (r"`[^`]+`", r"-3\d{4}", r"\b\d+\.\d+\.\d+\b"):
        assert set(re.findall(pattern, prose(TRANSLATED))) == set(re.findall(pattern, prose(ORIGINAL)))


def test_it_links_to_the_same_pages() -> None:
    assert set(read_links(TRANSLATED)) - {"README.md"} == set(read_links(ORIGINAL)) - {"README.zh-CN.md"}


def prose(page: str) -> str:
    """The page without its blocks, each run of space as one."""
    return " ".join(re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL).split())
