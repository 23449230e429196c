"""What the tests read of a page: its fenced blocks, its headings, its links."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]

_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]+`")
_LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)


class Block(NamedTuple):
    """``line`` is that of its first line in the page."""

    language: str
    text: str
    line: int


def read_blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page."""
    for found in _FENCE.finditer(page):
        yield Block(found[1], found[2], page.count("\n", 0, found.start(2)) + 1)


def read_links(page: str) -> Iterator[str]:
    """The targets of links, without those in code."""
    for found in _LINK.finditer(_CODE.sub("``", _FENCE.sub("", page))):
        yield found[1]


def read_anchors(page: str) -> Iterator[str]:
    """What a link may name behind ``#``, as code hosts make it of headings."""
    seen = Counter[str]()
    for found in _HEADING.finditer(_FENCE.sub("", page)):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", found[1]).replace("`", "")
        anchor = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
        yield f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor
        seen[anchor] += 1
