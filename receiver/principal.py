"""Who asks: the authorization context that owns tasks."""

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

OWNER_LENGTH = 32


@dataclass(frozen=True)
class Principal:
    """A requestor as its credentials describe it; the credentials themselves are never kept.

    ``subject``, ``client`` and ``issuer`` are who it is, ``scopes`` what it may do.
    """

    subject: str
    client: str = ""
    issuer: str = ""
    scopes: frozenset[str] = frozenset()

    @functools.cached_property
    def owner(self) -> str:
        """What tasks are bound to (T-85): 32 hex characters made of issuer, client and subject, not of the scopes."""
        # Each part goes in with its length, so that no two principals run together into the same bytes.
        parts = [part.encode() for part in (self.issuer, self.client, self.subject)]
        joined = b"".join(b"%d:%b" % (len(part), part) for part in parts)
        return hashlib.sha256(joined).hexdigest()[:OWNER_LENGTH]

    @property
    def is_anonymous(self) -> bool:
        """Whether nothing is known of the requestor: all such requestors are one principal."""
        return not (self.subject or self.client or self.issuer)

    def to_json(self) -> dict[str, Any]:
        """The principal as a JSON object for the record."""
        return {
            "subject": self.subject,
            "client": self.client,
            "issuer": self.issuer,
            "scopes": sorted(self.scopes),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Principal":
        """The principal that ``to_json`` wrote."""
        return cls(record["subject"], record["client"], record["issuer"], frozenset(record["scopes"]))


ANONYMOUS = Principal("")
