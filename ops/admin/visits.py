"""Visits: what a browser is known by, in a cookie that says who it is and is signed, and never holds a token.

A visit is JSON and an HMAC over it.  The CSRF token is an HMAC over the visit's id, under another purpose: a page of
another site can make a browser send the cookie, but can't read what goes with it.
"""

import hmac
import secrets
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from hashlib import sha256

import orjson

COOKIE = "receiver_console"
VISIT_SECONDS = 12 * 3600

_VISIT, _CSRF, _PROOF = b"console visit 1", b"console csrf 1", b"console token 1"
_LENGTH_LIMIT = 2048
_MAC_LENGTH = 64  # in hex


@dataclass(frozen=True, slots=True)
class Visit:
    """``expires`` in seconds since the epoch.  ``proof`` is of the token that it began with, ``""`` without one.

    ``role`` is set where the proof does not lead to it: by a token that an issuer signed.
    """

    id: str
    expires: float
    name: str = ""
    proof: str = ""
    role: str = ""


class Visits:
    """Makes and reads visits.  The first of ``secrets`` signs and all verify."""

    def __init__(self, secrets: Sequence[bytes], clock: Callable[[], float] = time.time) -> None:
        self._secrets = tuple(secrets)
        self._clock = clock

    def begin(self, name: str = "", proof: str = "", role: str = "", *, until: float | None = None) -> Visit:
        """A new visit, which ends after VISIT_SECONDS, or at ``until`` if that is earlier."""
        latest = self._clock() + VISIT_SECONDS
        return Visit(secrets.token_hex(16), min(latest, until or latest), name, proof, role)

    def write(self, visit: Visit) -> str:
        """The value of its cookie."""
        packed = urlsafe_b64encode(orjson.dumps(astuple(visit)))
        return f"{packed.decode()}.{_sign(self._secrets[0], _VISIT, packed)}"

    def read(self, value: str) -> Visit | None:
        """The visit of a cookie's value; None if it was not given out here, or has ended."""
        packed, _, mac = value.rpartition(".")
        if len(value) > _LENGTH_LIMIT or not value.isascii() or not self._verifies(_VISIT, packed.encode(), mac):
            return None
        visit = Visit(*orjson.loads(urlsafe_b64decode(packed)))
        return visit if visit.expires > self._clock() else None

    def issue_csrf(self, visit: Visit) -> str:
        """What every form of a visit has to bring along."""
        return _sign(self._secrets[0], _CSRF, visit.id.encode())

    def checks_csrf(self, visit: Visit, given: str) -> bool:
        """Whether ``given`` is that."""
        return self._verifies(_CSRF, visit.id.encode(), given)

    def prove(self, token: bytes) -> str:
        """What a visit remembers of its token, to end with it."""
        return _sign(self._secrets[0], _PROOF, sha256(token).digest())

    def _verifies(self, purpose: bytes, text: bytes, mac: str) -> bool:
        if len(mac) != _MAC_LENGTH or not mac.isascii():
            return False
        return any(hmac.compare_digest(mac, _sign(secret, purpose, text)) for secret in self._secrets)


def _sign(secret: bytes, purpose: bytes, text: bytes) -> str:
    return hmac.new(secret, purpose + b"\0" + text, sha256).hexdigest()
