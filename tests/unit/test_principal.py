import dataclasses
import re

import pytest

from receiver.principal import ANONYMOUS, Principal

ALICE = Principal("alice", client="cli", issuer="https://issuer", scopes=frozenset({"b", "a"}))


def test_an_owner_is_32_hex_characters_and_always_the_same() -> None:
    assert re.fullmatch("[0-9a-f]{32}", ALICE.owner)
    assert ALICE.owner == Principal("alice", "cli", "https://issuer").owner
    # Tasks in the store are bound to this value: a change of it would orphan them.
    assert Principal("alice").owner == "e05081fe5f30b64a6cc84c1234586492"


@pytest.mark.parametrize(
    "other",
    [
        dataclasses.replace(ALICE, subject="other"),
        dataclasses.replace(ALICE, client="other"),
        dataclasses.replace(ALICE, issuer="other"),
    ],
)
def test_each_part_makes_another_owner(other: Principal) -> None:  # T-85
    assert other.owner != ALICE.owner


def test_parts_do_not_run_together() -> None:
    owners = {
        Principal("ab").owner,
        Principal("a", "b").owner,
        Principal("b", "a").owner,
        Principal("a", "", "b").owner,
        Principal("", "ab").owner,
        Principal("0:a", "").owner,
        Principal("a", "0:").owner,
        Principal("0:2:ab").owner,
        Principal("").owner,
    }
    assert len(owners) == 9


def test_nobody_is_anonymous_who_has_any_part() -> None:
    assert ANONYMOUS.is_anonymous
    assert not Principal("alice").is_anonymous
    assert not Principal("", client="cli").is_anonymous
    assert not Principal("", issuer="https://issuer").is_anonymous


def test_the_record_gives_the_principal_back() -> None:
    record = ALICE.to_json()
    assert record == {"subject": "alice", "client": "cli", "issuer": "https://issuer", "scopes": ["a", "b"]}
    assert Principal.from_json(record) == ALICE
