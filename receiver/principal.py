"""Who asks: the authorization context that owns tasks."""

import functools
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

OWNER_LENGTH = 32


@dataclass(frozen=True)
class Principal:
    """A requestor as its credentials describe it; the credentials themselves are never kept.

    ``subject``, ``client`` and ``issuer`` are who it is, ``scopes`` what it may do.  ``key``, where there is one, is
    what tasks are bound to in place of those three: principals with the same key have the same tasks.
    TypeError and ValueError for what is not text.
    """

    subject: str
    client: str = ""
    issuer: str = ""
    scopes: frozenset[str] = frozenset()
    key: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.scopes, str):
            raise TypeError("scopes are a set of strings, not one string")
        object.__setattr__(self, "scopes", frozenset(self.scopes))
        for part in (self.subject, self.client, self.issuer, *self.scopes, *self.key):
            if not isinstance(part, str):
                raise TypeError(f"a principal is made of strings, not of {type(part).__name__}")
            part.encode()  # lone surrogates are no text, and no store would take them

    @functools.cached_property
    def owner(self) -> str:
        """What tasks are bound to (T-85): 32 hex characters made of issuer, client and subject, not of the scopes."""
        # Each part goes in with its length, so that no two principals run together into the same bytes.
        parts = [part.encode() for part in self.key or (self.issuer, self.client, self.subject)]
        joined = b"".join(b"%d:%b" % (len(part), part) for part in parts)
        return hashlib.sha256(joined).hexdigest()[:OWNER_LENGTH]

    @property
    def is_anonymous(self) -> bool:
        """Whether nothing is known of the requestor: all such requestors are one principal."""
        return not (self.subject or self.client or self.issuer or self.key)

    def to_json(self) -> dict[str, Any]:
        """The principal as a JSON object for the record."""
        record: dict[str, Any] = {
            "subject": self.subject,
            "client": self.client,
            "issuer": self.issuer,
            "scopes": sorted(self.scopes),
        }
        return record | {"key": list(self.key)} if self.key else record

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Principal":
        """The principal that ``to_json`` wrote."""
        scopes, key = frozenset(record["scopes"]), tuple(record.get("key", ()))
        return cls(record["subject"], record["client"], record["issuer"], scopes, key)


ANONYMOUS = Principal("")

# What a Receiver may be given to find out who asks: it gets the request's headers, their names in lower case.
Authenticate = Callable[[Mapping[str, str]], Principal | Awaitable[Principal | None] | None]
