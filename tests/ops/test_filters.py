"""Filters as options and as parameters of URLs."""

from datetime import UTC, datetime

import pytest

from ops.admin.filters import BadFilter, Search, read_search, read_time, to_iso, write_search
from receiver.protocol.cursor import Position
from receiver.store.inspect import Filter

NOW = 1_800_000_000_000
ID = "0-" + "a" * 32

SEARCHES = {
    "nothing": ({}, Search()),
    "a status": ({"status": "failed"}, Search(Filter(statuses=("failed",)))),
    "several": ({"status": "failed,working"}, Search(Filter(statuses=("failed", "working")))),
    "tools": ({"tool": "draw,fly", "not_tool": "greet"}, Search(Filter(tools=("draw", "fly"), not_tools=("greet",)))),
    "a tool with a comma": ({"tool": "file:///a\\,b"}, Search(Filter(tools=("file:///a,b",)))),
    "an owner": ({"owner": "f" * 32}, Search(Filter(owner="f" * 32))),
    "a kind": ({"kind": "call"}, Search(Filter(kind="call"))),
    "any kind": ({"kind": "any"}, Search(Filter(kind=None))),
    "since": ({"since": "2027-01-15T08:00:00.000Z"}, Search(Filter(since=NOW))),
    "a page": ({"limit": "7", "after": f"5/{ID}"}, Search(limit=7, after=Position(5, ID))),
}  # fmt: skip


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_is_read_and_written(name: str) -> None:
    words, search = SEARCHES[name]
    assert read_search(words, NOW) == search
    assert write_search(search) == words


def test_lists_are_given_several_times_or_with_commas() -> None:
    found = read_search({"status": ["failed", "working, failed"], "tool": [" draw ", ""], "limit": ["3"]}, NOW)
    assert found == Search(Filter(statuses=("failed", "working"), tools=("draw",)), limit=3)


def test_words_that_are_empty_restrict_nothing() -> None:
    assert (
        read_search({"status": "", "tool": None, "owner": " ", "kind": "", "since": "", "after": ""}, NOW) == Search()
    )


@pytest.mark.parametrize(
    ("text", "ms"), [("90s", 90_000), ("5m", 300_000), ("2h", 7_200_000), ("7d", 604_800_000), (" 2 h", 7_200_000)]
)
def test_an_age_is_a_time_before_now(text: str, ms: int) -> None:
    assert read_time(text, NOW) == NOW - ms


@pytest.mark.parametrize(
    "text", ["2027-01-15T08:00:00Z", "2027-01-15T08:00:00", "2027-01-15T09:00:00+01:00", "2027-01-15 08:00"]
)
def test_a_time_is_iso_8601(text: str) -> None:
    assert read_time(text, 0) == NOW
    assert datetime.fromisoformat(to_iso(NOW)) == datetime(2027, 1, 15, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"status": "broken"}, "'broken' is no status"),
        ({"status": "failed,Failed"}, "'Failed' is no status"),
        ({"kind": "tool"}, "'tool' is no kind"),
        ({"since": "yesterday"}, "'yesterday' is neither"),
        ({"since": "-2h"}, "'-2h' is neither"),
        ({"since": "٢h"}, "is neither"),
        ({"limit": "0"}, "from 1 to 1000"),
        ({"limit": "1001"}, "from 1 to 1000"),
        ({"limit": "9" * 5_000}, "from 1 to 1000"),
        ({"limit": "many"}, "from 1 to 1000"),
        ({"after": ID}, "what an earlier page said"),
        ({"after": "5/*"}, "what an earlier page said"),
        ({"after": f"+inf/{ID}"}, "what an earlier page said"),
    ],
)
def test_what_means_nothing_is_refused(words: dict[str, str], said: str) -> None:
    with pytest.raises(BadFilter, match=said):
        read_search(words, NOW)
