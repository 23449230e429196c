"""Filters as text: options of the command line, and parameters of the console's URLs, by the same names."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from receiver.protocol.cursor import Position
from receiver.protocol.lifecycle import STATUSES, Status
from receiver.protocol.task_id import is_task_id
from receiver.store.inspect import Filter
from receiver.store.record import Kind

NAMES = ("status", "tool", "not_tool", "owner", "since", "kind", "limit", "after")
LIMIT = 50
MOST = 1000  # tasks of one page

_COMMA = re.compile(r"(?<!\\),")
_AGE = re.compile(r"(\d{1,9})\s*([smhd])", re.ASCII)
_UNITS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_KINDS: dict[str, Kind | None] = {"task": "task", "call": "call", "any": None}


class BadFilter(ValueError):
    """A word of a filter that means nothing; the message is one line that names it."""


@dataclass(frozen=True, slots=True)
class Search:
    """A page of tasks: which, how many at most, and behind which position."""

    filter: Filter = field(default_factory=Filter)
    limit: int = LIMIT
    after: Position | None = None


def read_search(words: Mapping[str, str | Sequence[str] | None], now: int) -> Search:
    r"""The search that ``words`` by NAMES ask for; names that are missing, None or empty restrict nothing.

    ``status``, ``tool`` and ``not_tool`` are lists: given several times, or with commas between (``\,`` is a comma
    itself).  ``since`` is an age (90s, 5m, 2h, 7d) before ``now`` in ms, or an ISO 8601 time, of UTC unless it says
    otherwise.  ``kind`` is task, call or any; ``after`` is what ``write_search`` wrote.  Raises BadFilter.
    """
    since = _last(words.get("since"))
    filter = Filter(
        statuses=tuple(_read_statuses(words.get("status"))),
        tools=tuple(_split(words.get("tool"))),
        not_tools=tuple(_split(words.get("not_tool"))),
        kind=_read_kind(_last(words.get("kind"))),
        owner=_last(words.get("owner")),
        since=read_time(since, now) if since else None,
    )
    return Search(filter, _read_limit(_last(words.get("limit"))), _read_position(_last(words.get("after"))))


def write_search(search: Search) -> dict[str, str]:
    """The words of a search, without those that restrict nothing: what ``read_search`` reads."""
    filter = search.filter
    words = {
        "status": ",".join(filter.statuses),
        "tool": _join(filter.tools),
        "not_tool": _join(filter.not_tools),
        "owner": filter.owner,
        "since": "" if filter.since is None else to_iso(filter.since),
        "kind": "" if filter.kind == "task" else filter.kind or "any",
        "limit": "" if search.limit == LIMIT else str(search.limit),
        "after": "" if search.after is None else search.after.to_text(),
    }
    return {name: text for name, text in words.items() if text}


def read_time(text: str, now: int) -> int:
    """A time in ms: ``text`` is an age before ``now``, or an ISO 8601 time.  Raises BadFilter."""
    if age := _AGE.fullmatch(text.strip()):
        return now - int(age[1]) * _UNITS[age[2]]
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:
        raise BadFilter(f"since is an age like 90s, 5m, 2h or 7d, or an ISO 8601 time; {text!r} is neither") from None
    return round((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)


def to_iso(ms: int) -> str:
    """A time in ms as ISO 8601, of UTC."""
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def _read_statuses(given: str | Sequence[str] | None) -> Iterator[Status]:
    for name in _split(given):
        if name not in STATUSES:
            raise BadFilter(f"{name!r} is no status; there are {', '.join(STATUSES)}")
        yield name


def _read_kind(text: str) -> Kind | None:
    if text and text not in _KINDS:
        raise BadFilter(f"{text!r} is no kind; there are task, call and any")
    return _KINDS[text or "task"]


def _read_limit(text: str) -> int:
    if not text:
        return LIMIT
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= MOST):
        raise BadFilter(f"limit is a number from 1 to {MOST}, not {text!r}")
    return int(text)


def _read_position(text: str) -> Position | None:
    if not text:
        return None
    time, _, task_id = text.partition("/")
    if not (time.isascii() and time.isdigit() and len(time) < 16 and is_task_id(task_id)):
        raise BadFilter(f"after is what an earlier page said, not {text!r}")
    return Position(int(time), task_id)


def _split(given: str | Sequence[str] | None) -> list[str]:
    parts = [part for text in _list(given) for part in _COMMA.split(text)]
    return list(dict.fromkeys(part.strip().replace("\\,", ",") for part in parts if part.strip()))


def _join(parts: Sequence[str]) -> str:
    return ",".join(part.replace(",", "\\,") for part in parts)


def _last(given: Any) -> str:
    return next(reversed(_list(given)), "").strip()


def _list(given: Any) -> list[str]:
    return [given] if isinstance(given, str) else [*map(str, given or ())]
