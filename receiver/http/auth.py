"""Who asks: the principal that a request's credentials stand for."""

from collections.abc import Mapping
from hashlib import sha256

from receiver.http.refusal import Refusal
from receiver.principal import ANONYMOUS, Principal
from receiver.settings import StaticToken

_CHALLENGE = ((b"www-authenticate", b"Bearer"),)


class Authenticator:
    """Knows static tokens, by their digests; without any, every requestor is the one anonymous principal."""

    def __init__(self, tokens: Mapping[str, StaticToken]) -> None:
        self._principals = {
            _digest(token.encode()): Principal(who.subject, issuer="static", scopes=frozenset(who.scopes))
            for token, who in tokens.items()
        }

    @property
    def identifies(self) -> bool:
        """Whether requestors can be told apart."""
        return bool(self._principals)

    def authenticate(self, headers: Mapping[bytes, bytes]) -> Principal:
        """The principal of a request; Refusal with 401 where a token is missing or unknown (A-05, A-08)."""
        if not self._principals:
            return ANONYMOUS
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        principal = self._principals.get(_digest(token.strip())) if scheme.lower() == b"bearer" else None
        if principal is None:
            raise Refusal(401, "A valid bearer token is required", _CHALLENGE)
        return principal


def _digest(token: bytes) -> bytes:
    """Tokens are looked up by digest, so that the time of a look-up says nothing of how much of one was right."""
    return sha256(token).digest()
