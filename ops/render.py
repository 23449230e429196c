"""What commands print: tables for people, JSON for scripts.

Whatever comes out of the store was written by others: no character of it reaches a terminal that the terminal would
obey, and none of it is taken for markup.
"""

import json
import os
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

LEAST = 20  # columns for a text that is folded
WIDE = 200  # columns where nobody's terminal bounds them: a pipe, a file

STATUS_STYLES = {
    "working": "cyan",
    "input_required": "yellow",
    "completed": "green",
    "failed": "bold red",
    "cancelled": "magenta",
}
_DURATIONS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "m"))


def open_console() -> Console:
    """Where tables go: stdout, as wide as the terminal."""
    is_bounded = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(highlight=False, markup=False, emoji=False, width=None if is_bounded else WIDE)


def print_json(document: Any, *, is_line: bool = False) -> None:
    """A document for scripts, in ASCII; ``is_line``: on one line, at once."""
    print(json.dumps(document, indent=None if is_line else 2), flush=is_line)


def clean(text: object) -> str:
    """``text`` without what a terminal obeys: control characters, marks of direction, line ends."""
    return "".join(map(_clean_character, str(text)))


def clip(text: object, length: int = 32) -> str:
    """Clean text of so many characters at most."""
    cleaned = clean(text)
    return cleaned if len(cleaned) <= length else f"{cleaned[: length - 1]}…"


def write(text: object, style: str = "") -> Text:
    """Clean text for a cell or a line."""
    return Text(clean(text), style)


def write_value(value: Any) -> Text:
    """A JSON value, indented."""
    lines = json.dumps(value, indent=2, ensure_ascii=False).split("\n")
    return Text("\n".join(map(clean, lines)))


def write_status(status: str | None) -> Text:
    """A status in its colour."""
    return write(status or "-", STATUS_STYLES.get(status or "", ""))


def make_table(heads: Sequence[str], rows: Iterable[Sequence[object]], *, wrapped: str = "") -> Table:
    """A table; a head that ends in ``>`` is that of numbers, and ``wrapped`` names the column that may be folded.

    Texts in other columns should be bounded: see ``clip``.
    """
    table = Table(box=None, header_style="bold", pad_edge=False, show_edge=False)
    for head in heads:
        name, folds = head.removesuffix(">"), head == wrapped
        side: JustifyMethod = "right" if head.endswith(">") else "left"
        table.add_column(name, justify=side, no_wrap=not folds, overflow="fold", min_width=LEAST if folds else None)
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else write("-" if cell in (None, "") else cell) for cell in row))
    return table


def make_pairs(pairs: Mapping[str, RenderableType | None]) -> Table:
    """Names and values, one a line, without those that are None."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in pairs.items():
        if value is not None:
            table.add_row(name, value)
    return table


def show_age(ms: int | None, now: int) -> str:
    """How long ago a time was, or in how much time it will be."""
    if ms is None:
        return "-"
    span = abs(now - ms) // 1000 * 1000
    if span == 0:
        return "now"
    return f"{show_duration(span)} ago" if ms < now else f"in {show_duration(span)}"


def show_duration(ms: float | None) -> str:
    """A time span in the largest unit that it has one of; below a minute in seconds or ms."""
    if ms is None:
        return "-"
    for size, unit in _DURATIONS:
        if ms >= size:
            return f"{int(ms // size)}{unit}"
    return f"{ms / 1000:.3g}s" if ms >= 1000 else f"{ms:.0f}ms"


def shorten(iso: str | None) -> str:
    """An ISO 8601 time, to the second."""
    return "-" if iso is None else f"{iso[:19]}Z"


def _clean_character(character: str) -> str:
    if character.isprintable():
        return character
    if unicodedata.category(character) == "Zs":
        return " "
    return ascii(character)[1:-1]
