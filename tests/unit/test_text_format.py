from datetime import date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from receiver.protocol.text_format import FORMATS, is_date, is_date_time, is_email, is_uri


@pytest.mark.parametrize(
    "text", ["a@b", "user@example.com", "a.b+c@x-y.example", "o'hara@example.co", "a@" + ".".join(["b" * 63] * 3)]
)
def test_emails(text: str) -> None:
    assert is_email(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "@b",
        "a@",
        "a@@b",
        "a@b@c",
        ".a@b",
        "a.@b",
        "a..b@c",
        "a b@c",
        "a@b.",
        "a@.b",
        "a@-b",
        "a@b-",
        "a@b_c",
        "a@b\n",
        "\na@b",
        "é@b",
        "a@" + "b" * 64,
        "a" * 65 + "@b",
        "a@" + ".".join(["b" * 63] * 4),
        '"a b"@c',
    ],
)
def test_what_is_no_email(text: str) -> None:
    assert not is_email(text)


@pytest.mark.parametrize(
    "text", ["https://example.com/a?b=c#d", "urn:isbn:0", "mailto:a@b", "http://[::1]:80/", "x:%20", "a+b.c-d:e"]
)
def test_uris(text: str) -> None:
    assert is_uri(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "example.com",
        "/path",
        "//example.com",
        ":x",
        "1a:b",
        "https:",
        "https://a b",
        "https://a\n",
        "https://é",
        "x:%2",
        "x:%zz",
        "http://[::1",
        "http://a:b",
        "http://a:65536",
        "x:<>",
        "x:\\",
    ],
)
def test_what_is_no_uri(text: str) -> None:
    assert not is_uri(text)


@pytest.mark.parametrize("text", ["2025-11-25", "2024-02-29", "0001-01-01", "9999-12-31"])
def test_dates(text: str) -> None:
    assert is_date(text)


@pytest.mark.parametrize(
    "text",
    ["", "2025-11-31", "2025-02-29", "2025-13-01", "20251125", "2025-W48-2", "25-11-25", "2025-1-1", "2025-11-25Z"],
)
def test_what_is_no_date(text: str) -> None:
    assert not is_date(text)


@pytest.mark.parametrize(
    "text",
    [
        "2025-11-25T10:30:00Z",
        "2025-11-25t10:30:00z",
        "2025-11-25T10:30:00.123456789Z",
        "2025-11-25T10:30:00+05:30",
        "2025-11-25T23:59:59-23:59",
        "2016-12-31T23:59:60Z",
    ],
)
def test_moments(text: str) -> None:
    assert is_date_time(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2025-11-25",
        "2025-11-25T10:30:00",
        "2025-11-25 10:30:00Z",
        "2025-11-25T10:30Z",
        "2025-11-25T24:00:00Z",
        "2025-11-25T10:60:00Z",
        "2025-11-25T10:30:61Z",
        "2025-11-25T10:30:00.Z",
        "2025-11-25T10:30:00+24:00",
        "2025-11-25T10:30:00+10:60",
        "2025-11-25T10:30:00+0530",
        "2025-02-30T10:30:00Z",
        "2025-11-25T10:30:00Z ",
    ],
)
def test_what_is_no_moment(text: str) -> None:
    assert not is_date_time(text)


@given(st.dates())
def test_every_day_is_a_date(day: date) -> None:
    assert is_date(str(day))


@given(st.datetimes(timezones=st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))))
def test_every_moment_is_one(moment: datetime) -> None:
    assert is_date_time(moment.isoformat())


@pytest.mark.parametrize("name", FORMATS)
@given(text=st.text())
def test_any_text(name: str, text: str) -> None:
    assert FORMATS[name](text) in (True, False)
