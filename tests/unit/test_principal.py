import dataclasses
import re
from typing import Any

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


def test_a_key_stands_in_for_the_other_parts() -> None:
    """T-85: who has the same key has the same tasks."""
    alice = dataclasses.replace(ALICE, key=("team", "x"))
    bob = Principal("bob", key=("team", "x"))
    assert alice.owner == bob.owner
    assert len({bob.owner, ALICE.owner, Principal("bob").owner, Principal("bob", key=("team", "y")).owner}) == 4
    assert Principal("bob", key=("", "", "bob")).owner == Principal("bob").owner
    assert not Principal("", key=("team",)).is_anonymous
    assert Principal.from_json(alice.to_json()) == alice
    assert alice.to_json() == ALICE.to_json() | {"key": ["team", "x"]}


def test_scopes_may_be_any_collection() -> None:
    scopes: Any = ["a", "b"]
    assert Principal("alice", scopes=scopes).scopes == {"a", "b"}
    with pytest.raises(TypeError, match="a set of strings, not one string"):
        Principal("alice", scopes="all")  # type: ignore[arg-type] # that is the case


@pytest.mark.parametrize(
    "parts", [{"subject": None}, {"client": 7}, {"issuer": b"x"}, {"scopes": frozenset({7})}, {"key": ("x", None)}]
)
def test_a_principal_is_made_of_strings(parts: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="a principal is made of strings, not of"):
        Principal(**{"subject": "alice", **parts})


@pytest.mark.parametrize("parts", [{"subject": "\ud800"}, {"scopes": frozenset({"\udfff"})}, {"key": ("\ud800",)}])
def test_a_principal_is_made_of_text(parts: dict[str, Any]) -> None:
    """Or neither its owner nor its record could be made."""
    with pytest.raises(UnicodeEncodeError):
        Principal(**{"subject": "alice", **parts})
