"""Ids of events: where a stream stands, so that any node can go on with it, and only for its own client.

An id is the position and an HMAC over it, as URL-safe Base64.  Each has a part of its own, so that no two events of a
session share one (H-21), and says which stream it is of (H-22).
"""

import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from typing import Literal

import orjson

_PURPOSE = b"event id"
_MAC_BYTES = 16
_LENGTH_LIMIT = 2048

StreamKind = Literal["task", "call", "session"]


@dataclass(frozen=True, slots=True)
class StreamPosition:
    """A stream of a task's result, of a plain call, or of a session, and where it stands in what was sent.

    ``request`` is the id of the request that the stream answers, as JSON; empty for one of a session.
    """

    owner: str
    session: str
    kind: StreamKind
    task_id: str
    request: str
    stream: str
    position: str

    def at(self, position: str) -> "StreamPosition":
        """Another position of the same stream."""
        return replace(self, position=position)


class EventIds:
    """Makes and reads event ids.  The first of ``secrets`` signs and all verify."""

    def __init__(self, secrets: Sequence[bytes]) -> None:
        self._secrets = tuple(secrets)

    def encode(self, position: StreamPosition) -> str:
        """A new id for an event at this position."""
        packed = orjson.dumps([*astuple(position), secrets.token_hex(8)])
        return urlsafe_b64encode(packed + _sign(self._secrets[0], packed)).decode()

    def decode(self, text: str) -> StreamPosition | None:
        """The position of an id that was given out here, or None."""
        if len(text) > _LENGTH_LIMIT or not text.isascii():
            return None
        try:
            sealed = urlsafe_b64decode(text)
        except ValueError:
            return None
        packed, mac = sealed[:-_MAC_BYTES], sealed[-_MAC_BYTES:]
        if not any(hmac.compare_digest(mac, _sign(secret, packed)) for secret in self._secrets):
            return None
        return StreamPosition(*orjson.loads(packed)[:-1])


def _sign(secret: bytes, packed: bytes) -> bytes:
    return hmac.digest(secret, _PURPOSE + packed, "sha256")[:_MAC_BYTES]
