from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from receiver.protocol.cursor import Cursors, Position
from receiver.protocol.errors import InvalidCursor
from receiver.protocol.task_id import new_task_id

OWNER = "5f2c"
POSITION = Position(1_764_066_600_123, "0-" + "0123456789abcdef" * 2)
LISTING = "tasks/list"
CURSORS = Cursors([b"the first secret"])
CURSOR = CURSORS.encode(LISTING, OWNER, POSITION.to_text())
SHARDS = st.from_regex(r"[a-z0-9]{1,3}", fullmatch=True)


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8")), st.integers(0, 2**64 - 1), SHARDS)
def test_round_trip(owner: str, created_at: int, shard: str) -> None:
    position = Position(created_at, new_task_id(shard))
    cursor = CURSORS.encode(LISTING, owner, position.to_text())
    assert Position.from_text(CURSORS.decode(LISTING, owner, cursor)) == position


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=700))
def test_any_text_is_a_position(position: str) -> None:
    assert CURSORS.decode(LISTING, OWNER, CURSORS.encode(LISTING, OWNER, position)) == position


def test_alphabet_is_safe_in_urls() -> None:
    assert set(CURSOR) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


def test_another_owner() -> None:  # T-77, F8
    with pytest.raises(InvalidCursor):
        CURSORS.decode(LISTING, "5f2d", CURSOR)


@pytest.mark.parametrize("listing", ["tools/list", "tasks/lis", "", "tasks/list5"])
def test_another_list(listing: str) -> None:
    with pytest.raises(InvalidCursor):
        CURSORS.decode(listing, OWNER, CURSOR)


@pytest.mark.parametrize("length", range(1, 8))
def test_nothing_moves_from_position_to_owner(length: int) -> None:
    cursor = CURSORS.encode(LISTING, OWNER, "0" * 8 + POSITION.task_id)
    rest = urlsafe_b64decode(cursor + "==")[length:]
    with pytest.raises(InvalidCursor):
        CURSORS.decode(LISTING, OWNER + "0" * length, urlsafe_b64encode(rest).decode().rstrip("="))


def test_too_long() -> None:
    """Not even one that was signed, so that no long text is."""
    with pytest.raises(InvalidCursor):
        CURSORS.decode(LISTING, OWNER, CURSORS.encode(LISTING, OWNER, "0" * 4000))


@settings(deadline=None)
@given(st.integers(0, len(CURSOR) - 1), st.characters())
def test_no_character_can_be_exchanged(index: int, character: str) -> None:  # F8
    changed = CURSOR[:index] + character + CURSOR[index + 1 :]
    if changed != CURSOR:
        with pytest.raises(InvalidCursor):
            CURSORS.decode(LISTING, OWNER, changed)


@pytest.mark.parametrize("shard", ["0", "00", "000"])
def test_no_bit_can_be_flipped(shard: str) -> None:
    """Also not one that Base64 doesn't need: with each length of shard another number of them is left over."""
    cursor = CURSORS.encode(LISTING, OWNER, Position(1, f"{shard}-" + "f" * 32).to_text())
    for index, byte in enumerate(cursor.encode()):
        for bit in range(7):
            changed = cursor[:index] + chr(byte ^ 1 << bit) + cursor[index + 1 :]
            with pytest.raises(InvalidCursor):
                CURSORS.decode(LISTING, OWNER, changed)


@pytest.mark.parametrize("length", range(len(CURSOR)))
def test_cut_off(length: int) -> None:
    with pytest.raises(InvalidCursor):
        CURSORS.decode(LISTING, OWNER, CURSOR[:length])


@pytest.mark.parametrize(
    "cursor",
    [
        None,
        0,
        True,
        1.5,
        [CURSOR],
        {"cursor": CURSOR},
        CURSOR.encode(),
        "",
        "garbage",
        "é" * 100,
        "\ud800" * 100,
        "=" * 100,
        CURSOR + "=",
        CURSOR + "\n",
        " " + CURSOR,
        CURSOR * 2,
        CURSOR * 1_000_000,
        POSITION.task_id,
        urlsafe_b64encode(b"\xff" * 75).decode(),
    ],
)
def test_not_a_cursor(cursor: Any) -> None:  # T-77
    with pytest.raises(InvalidCursor) as refusal:
        CURSORS.decode(LISTING, OWNER, cursor)
    assert refusal.value.to_json() == {"code": -32602, "message": "Invalid cursor"}


@settings(deadline=None)
@given(st.text())
def test_no_text_is_a_cursor_by_chance(text: str) -> None:
    with pytest.raises(InvalidCursor):
        CURSORS.decode(LISTING, OWNER, text)


class TestRotation:
    def test_every_secret_verifies(self) -> None:
        rotated = Cursors([b"the second secret", b"the first secret"])
        assert rotated.decode(LISTING, OWNER, CURSOR) == POSITION.to_text()

    def test_the_first_secret_signs(self) -> None:
        rotated = Cursors([b"the second secret", b"the first secret"])
        fresh = rotated.encode(LISTING, OWNER, POSITION.to_text())
        assert Cursors([b"the second secret"]).decode(LISTING, OWNER, fresh) == POSITION.to_text()
        with pytest.raises(InvalidCursor):
            CURSORS.decode(LISTING, OWNER, fresh)

    def test_a_secret_that_is_gone(self) -> None:
        with pytest.raises(InvalidCursor):
            Cursors([b"the second secret"]).decode(LISTING, OWNER, CURSOR)

    @pytest.mark.parametrize("secrets", [[], [b""], [b"a", b""]])
    def test_an_empty_secret_is_refused(self, secrets: list[bytes]) -> None:
        with pytest.raises(ValueError, match="secret"):
            Cursors(secrets)
