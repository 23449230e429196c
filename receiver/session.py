"""A session: what a client said of itself at ``initialize``.  It never says who the client is."""

import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from receiver.protocol.capability import list_askable
from receiver.protocol.handshake import Revision

_SHAPE = re.compile(r"[0-9a-f]{48}")


@dataclass(frozen=True, slots=True)
class Session:
    """``owner`` is whose it is; ``revision`` what was negotiated; ``capabilities`` those of the client
    that were agreed on."""

    id: str
    owner: str
    revision: Revision
    capabilities: Mapping[str, Any]

    @property
    def askable(self) -> str:
        """What its client can be asked, as one text for the store."""
        return " ".join(list_askable(self.capabilities))


@lru_cache(maxsize=4096)
def digest_session(id: str) -> str:
    """What log lines and spans tell of a session's id: with the id itself its owner's streams could be gone on with."""
    return hashlib.sha256(id.encode()).hexdigest()[:12]


def new_session_id() -> str:
    """An id that cannot be guessed, of visible ASCII (H-26)."""
    return secrets.token_hex(24)


def is_session_id(text: str) -> bool:
    """Whether ``text`` has the shape of a session id; anything else is unknown before a key is built of it."""
    return _SHAPE.fullmatch(text) is not None
