"""Cursors of ``tasks/list``: opaque texts, each good for one owner and one position.

A cursor is its position and an HMAC over that and the owner, as URL-safe Base64.  To verify one, its position is
read and the cursor that would have been given for it is made again: they must be equal to the last character, so
that no second spelling of a cursor is accepted.
"""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass

from receiver.protocol.errors import InvalidCursor

_PURPOSE = b"tasks/list cursor, version 1"  # the secrets sign other things too; count up when the layout changes
_TIME_BYTES = 8
_MAC_BYTES = 32
_LENGTH_LIMIT = 256


@dataclass(frozen=True, slots=True)
class Position:
    """The last task of a page, as the owner's index orders it; ``created_at`` in milliseconds since the epoch."""

    created_at: int
    task_id: str


class Cursors:
    """Makes and reads cursors.  The first of ``secrets`` signs and all verify, so that secrets can be rotated."""

    def __init__(self, secrets: Sequence[bytes]) -> None:
        if not secrets or not all(secrets):
            raise ValueError("cursors need a secret, and an empty one is none")
        self._secrets = tuple(secrets)

    def encode(self, owner: str, position: Position) -> str:
        """The cursor of ``owner`` for what follows ``position``."""
        return _seal(self._secrets[0], owner, _pack(position)).decode()

    def decode(self, owner: str, cursor: object) -> Position:
        """The position of a cursor that was made for ``owner``; InvalidCursor for any other value (T-77)."""
        if not isinstance(cursor, str) or len(cursor) > _LENGTH_LIMIT:
            raise InvalidCursor()
        try:
            given = cursor.encode("ascii")
            packed = urlsafe_b64decode(given + b"==")[:-_MAC_BYTES]  # padding may be more than is needed
            position = _unpack(packed)
        except ValueError:
            raise InvalidCursor() from None
        if not any(hmac.compare_digest(given, _seal(secret, owner, packed)) for secret in self._secrets):
            raise InvalidCursor()
        return position


def _pack(position: Position) -> bytes:
    return position.created_at.to_bytes(_TIME_BYTES, "big") + position.task_id.encode()


def _unpack(packed: bytes) -> Position:
    return Position(int.from_bytes(packed[:_TIME_BYTES], "big"), packed[_TIME_BYTES:].decode())


def _seal(secret: bytes, owner: str, packed: bytes) -> bytes:
    name = owner.encode()
    signed = b"".join((_PURPOSE, len(name).to_bytes(4, "big"), name, packed))
    return urlsafe_b64encode(packed + hmac.digest(secret, signed, "sha256")).rstrip(b"=")
