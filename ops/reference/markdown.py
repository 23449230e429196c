"""Markdown of generated pages: tables, and numbers as people read them."""

from collections.abc import Iterable, Iterator, Sequence

_DURATIONS = ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1000, "s"))  # in ms
_SIZES = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def write_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table; a bar within a cell is escaped."""
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def write_duration(ms: float) -> str:
    """``90000`` is "90 s", ``604800000`` "7 days"."""
    for size, word in _DURATIONS:
        if ms >= size and ms % size == 0:
            count = round(ms / size)
            return f"{count} {word}{'s' if count > 1 and word != 's' else ''}"
    return f"{ms / 1000:g} s" if ms >= 1000 else f"{ms:g} ms"


def write_size(size: int) -> str:
    """``4194304`` is "4 MiB"; bytes where it is no whole number of anything."""
    for unit, word in _SIZES:
        if size >= unit and size % unit == 0:
            return f"{size // unit} {word}"
    return f"{write_count(size)} bytes"


def write_count(count: float) -> str:
    """``10000`` is "10,000"."""
    return f"{count:,}" if isinstance(count, int) else f"{count:g}"
