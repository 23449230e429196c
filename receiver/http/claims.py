"""What the claims of a verified token say: whom it is for, and whom it stands for."""

from collections.abc import Mapping, Sequence
from typing import Any

from receiver.http.resource import canonicalize
from receiver.principal import Principal
from receiver.settings import OWNER_CLAIMS


class TokenError(Exception):
    """Why a token is not taken, in words that say nothing of what is in it: they go into the log."""


def read_audiences(claims: Mapping[str, Any]) -> set[str]:
    """Whom the token is for, in the form that compares."""
    return {canonicalize(name) for name in _read_list(claims, "aud")}


def read_principal(claims: Mapping[str, Any], owner_claims: Sequence[str]) -> Principal:
    """The principal, whose tasks are bound to ``owner_claims``.  Raises TokenError if one of them is not there."""
    client = _read_text(claims, "client_id" if "client_id" in claims else "azp")
    known = {**claims, "client_id": client}
    key = tuple(_read_text(known, name) for name in owner_claims)
    missing = [name for name, value in zip(owner_claims, key, strict=True) if not value]
    if missing and not (missing == ["client_id"] and "sub" in owner_claims):  # a subject is somebody without it
        raise TokenError(f"without the claim {missing[0]}")
    return Principal(
        _read_text(known, "sub"),
        client,
        _read_text(known, "iss"),
        frozenset(" ".join(_read_list(claims, "scope") + _read_list(claims, "scp")).split()),
        () if tuple(owner_claims) == OWNER_CLAIMS else key,
    )


def _read_text(claims: Mapping[str, Any], name: str) -> str:
    """A claim that is a string; an empty one where there is none."""
    value = claims.get(name, "")
    if not isinstance(value, str):
        raise TokenError(f"with a claim {name} that is no string")
    return value


def _read_list(claims: Mapping[str, Any], name: str) -> list[str]:
    """A claim that is a list of strings, or one string."""
    value = claims.get(name, [])
    listed = value if isinstance(value, list) else [value]
    if not all(isinstance(part, str) for part in listed):
        raise TokenError(f"with a claim {name} that is no string or list of strings")
    return listed
