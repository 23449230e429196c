"""Durations as tool authors write them."""

import math
import re
from datetime import timedelta

Duration = int | float | str | timedelta

UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
WRITTEN = re.compile(r"(\d+(?:\.\d+)?) ?(ms|s|m|h|d)", re.ASCII)


def milliseconds(duration: Duration) -> int:
    """``duration`` in whole milliseconds, at least one.

    A number counts seconds; a string is a number with one of the units ms, s, m, h, d, as in ``"30m"``.
    TypeError for any other type, ValueError for any other string, for zero, and for what is negative or not finite.
    """
    exact = _exact_milliseconds(duration)
    if not math.isfinite(exact) or round(exact) < 1:
        raise ValueError(f"{duration!r} is not a duration of one millisecond or more")
    return round(exact)


def _exact_milliseconds(duration: Duration) -> float:
    if isinstance(duration, timedelta):
        return duration / timedelta(milliseconds=1)
    if isinstance(duration, str):
        written = WRITTEN.fullmatch(duration)
        if written is None:
            raise ValueError(f"{duration!r} is not a duration; write it like 500ms, 30s, 30m, 2h or 7d")
        return float(written[1]) * UNITS[written[2]]
    if isinstance(duration, bool) or not isinstance(duration, int | float):
        raise TypeError(f"a duration is a number of seconds, a string or a timedelta, not {duration!r}")
    return duration * 1000
