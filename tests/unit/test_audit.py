"""Callers and events: what of a request the audit trail may tell."""

import hashlib

import pytest

from receiver.principal import Principal
from receiver.telemetry.audit import FIELDS, LONGEST, STORED, Event, clean, client, event_of, stranger

ADA = Principal("ada", issuer="https://issuer.example")
ARGUMENTS = b'{"password":"canary"}'


def test_a_caller_is_a_line_for_each_part() -> None:
    note = client(ADA, "tools/call", 7, "192.0.2.1", ARGUMENTS).to_note()
    *parts, mark, rest = note.split("\n")
    digest = hashlib.sha256(ARGUMENTS).hexdigest()[:16]
    assert parts == ["client", "tools/call", "ada", ADA.owner, "192.0.2.1", "7", digest, str(len(ARGUMENTS))]
    assert mark
    assert rest == ""


def test_what_arguments_are_is_not_told() -> None:
    assert "canary" not in client(ADA, "tools/call", 7, "", ARGUMENTS).to_note()


def test_without_arguments_there_is_no_digest() -> None:
    caller = client(ADA, "tasks/get", 7, "")
    assert (caller.digest, caller.size) == ("", "")


def test_each_call_has_a_mark_of_its_own() -> None:
    assert client(ADA, "ping", 1, "").mark != client(ADA, "ping", 1, "").mark


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("ada", "ada"),
        ("Åsa Öberg 王", "Åsa Öberg 王"),
        ("a\nb\tc\x1b[31m\x00", "a?b?c?[31m?"),
        ("\ud800", "?"),
        ("\u202e", "?"),
        ("x" * 1000, "x" * LONGEST),
    ],
)
def test_what_others_chose_is_one_short_line(given: str, kept: str) -> None:
    assert clean(given) == kept


@pytest.mark.parametrize("text", ["a\nclient\nx", "\n" * 20])
def test_nobody_writes_into_the_line_of_another(text: str) -> None:
    note = client(Principal(text), "tools/call", text, text).to_note()
    assert note.count("\n") == 9


def test_events() -> None:
    event = event_of(client(ADA, "tasks/get", 7, "192.0.2.1"), "success", "working", "0-1")
    assert (event.who, event.task, event.outcome, event.detail) == ("ada", "0-1", "success", "working")
    assert stranger("192.0.2.1", "invalid_token").outcome == "denied"


def test_an_entry_has_a_field_for_each_part_of_an_event() -> None:
    assert len(FIELDS) == len(Event._fields)
    assert len(set(STORED)) == len(STORED)
