"""How pages write numbers, times and values."""

import itertools
import json
from datetime import UTC, datetime
from typing import Any

LONGEST = 20_000  # characters of a value on a page; the API has all of it
_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))
_SIZES = ("B", "KiB", "MiB", "GiB")


def format_number(value: float | None) -> str:
    """With thin spaces between thousands; a dash for None."""
    return "–" if value is None else f"{value:,.0f}".replace(",", "\u2009")  # noqa: RUF001 - a dash stands for nothing


def format_span(ms: float | None) -> str:
    """A duration: ``340 ms``, ``4.2 s``, ``3 min``, ``2 h 5 min``; a dash for None."""
    if ms is None:
        return "–"  # noqa: RUF001
    if ms < 1_000:
        return f"{ms:.0f} ms"
    if ms < 60_000:
        return f"{ms / 1000:.1f} s" if ms < 10_000 else f"{ms / 1000:.0f} s"
    for (unit, name), (smaller, smaller_name) in itertools.pairwise(_UNITS):
        if ms >= unit:
            rest = int(ms % unit // smaller)
            return f"{int(ms // unit)} {name}" + (f" {rest} {smaller_name}" if rest else "")
    raise AssertionError("a minute and more has a unit")


def format_age(then: int | None, now: int) -> str:
    """How long ago: ``now``, ``12 s ago``, ``in 3 min``."""
    if then is None:
        return "–"  # noqa: RUF001
    if abs(now - then) < 1_000:
        return "now"
    span = format_coarse(abs(now - then))
    return f"{span} ago" if then <= now else f"in {span}"


def format_coarse(ms: float) -> str:
    """A duration in its largest unit."""
    unit, name = next(((unit, name) for unit, name in _UNITS if ms >= unit), (1_000, "s"))
    return f"{int(ms // unit)} {name}"


def format_time(ms: int | None) -> str:
    """ISO 8601 to the second, of UTC."""
    return "–" if ms is None else datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")  # noqa: RUF001


def format_size(count: int) -> str:
    """A number of bytes."""
    size, unit = float(count), 0
    while size >= 1024 and unit < len(_SIZES) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:.0f} {_SIZES[unit]}" if size >= 10 or not unit else f"{size:.1f} {_SIZES[unit]}"


def format_value(value: Any) -> str:
    """A JSON value to be read, cut where it is long."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n… {len(text) - LONGEST:,} more characters"


def format_detail(text: str) -> str:
    """What an event says of itself, without what the timeline shows as another event."""
    return " ".join(word for word in text.split(" ") if not word.startswith("started_at="))


def is_digest(name: str) -> bool:
    """Whether a field of a step holds the digest of its arguments, and not what it returned."""
    return name.endswith(":digest")


def shorten(text: str, length: int = 12) -> str:
    """The beginning of an id."""
    return text if len(text) <= length else f"{text[:length]}…"
