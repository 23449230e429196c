"""Cursors of lists: opaque texts, each good for one list, one owner and one position.

A cursor is its position and an HMAC over that, the list and the owner, as URL-safe Base64.  To verify one, its
position is read and the cursor that would have been given for it is made again: they must be equal to the last
character, so that no second spelling of a cursor is accepted.
"""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from receiver.protocol.errors import InvalidCursor

_PURPOSE = b"list cursor, version 2"  # the secrets sign other things too; count up when the layout changes
_MAC_BYTES = 32
_LENGTH_LIMIT = 4096


@dataclass(frozen=True, slots=True)
class Position:
    """The last task of a page, as the owner's index orders it; ``created_at`` in milliseconds since the epoch."""

    created_at: int
    task_id: str

    def to_text(self) -> str:
        """The position as it stands in a cursor."""
        return f"{self.created_at}/{self.task_id}"

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The position that ``to_text`` wrote."""
        created_at, _, task_id = text.partition("/")
        return cls(int(created_at), task_id)


class Cursors:
    """Makes and reads cursors.  The first of ``secrets`` signs and all verify, so that secrets can be rotated."""

    def __init__(self, secrets: Sequence[bytes]) -> None:
        if not secrets or not all(secrets):
            raise ValueError("cursors need a secret, and an empty one is none")
        self._secrets = tuple(secrets)

    def encode(self, listing: str, owner: str, position: str) -> str:
        """The cursor of ``owner`` for what follows ``position`` in ``listing``, the method that lists."""
        return _seal(self._secrets[0], listing, owner, position.encode()).decode()

    def decode(self, listing: str, owner: str, cursor: object) -> str:
        """The position of a cursor that was made for ``owner`` and ``listing``; InvalidCursor for any other (T-77)."""
        if not isinstance(cursor, str) or len(cursor) > _LENGTH_LIMIT:
            raise InvalidCursor()
        try:
            given = cursor.encode("ascii")
            packed = urlsafe_b64decode(given + b"==")[:-_MAC_BYTES]  # padding may be more than is needed
            position = packed.decode()
        except ValueError:
            raise InvalidCursor() from None
        if not any(hmac.compare_digest(given, _seal(secret, listing, owner, packed)) for secret in self._secrets):
            raise InvalidCursor()
        return position


def _seal(secret: bytes, listing: str, owner: str, packed: bytes) -> bytes:
    names = (listing.encode(), owner.encode())
    # Each name goes in with its length, so that no part of it moves into another.
    signed = b"".join((_PURPOSE, *(len(name).to_bytes(4, "big") + name for name in names), packed))
    return urlsafe_b64encode(packed + hmac.digest(secret, signed, "sha256")).rstrip(b"=")
