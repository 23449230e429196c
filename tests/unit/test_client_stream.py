"""Event streams as the raw client reads them, however they are cut."""

import pytest

from ops.client.stream import Event, Parser, read_message
from ops.client.violation import Violation


def parse(body: bytes, size: int) -> list[Event]:
    parser = Parser()
    chunks = [body[start : start + size] for start in range(0, len(body), size)]
    return [event for chunk in chunks for event in parser.feed(chunk)]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_events(end: bytes, size: int) -> None:
    lines = [b": hello", b"", b"id: 1", b"retry: 20", b"data:", b"", b"event: message", "data: é".encode(), b"data:b"]
    assert parse(end.join([*lines, b"", b""]), size) == [
        Event("", "1", 20, None),
        Event("é\nb", None, None, "message"),
    ]


def test_an_event_that_does_not_end_is_none() -> None:
    assert parse(b"data: a\n", 100) == []


def test_text_that_is_not_utf_8() -> None:
    with pytest.raises(Violation, match="UTF-8"):
        parse(b"data: \xff\n\n", 100)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"jsonrpc": "1.0"}', b"\xff"])
def test_what_is_no_message(text: str | bytes) -> None:
    with pytest.raises(Violation):
        read_message(text)
