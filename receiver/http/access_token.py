"""Access tokens that are JWTs (RFC 9068): what one of them has to be, and whom it stands for."""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import jwt
from jwt.exceptions import InvalidSignatureError

from receiver.http.claims import TokenError, read_audiences, read_principal
from receiver.http.jwks import ALGORITHMS, IssuerKeys
from receiver.http.resource import canonicalize
from receiver.principal import Principal
from receiver.protocol.errors import StartupError
from receiver.settings import OWNER_CLAIMS, Settings

LEEWAY_SECONDS = 30  # how far an issuer's clock may be ahead; a token that has expired by our own is over
MAX_TOKEN_BYTES = 16_384
MAX_REMEMBERED = 10_000  # verified tokens

OPTIONS: Any = {
    "require": ["exp", "iss"],
    "verify_aud": False,  # it is compared here, since scheme and host of a URL have no case
}


@dataclass(frozen=True)
class Verified:
    """Whom a token stands for, and until when, in seconds since the epoch."""

    principal: Principal
    expires: float


class AccessTokens:
    """The tokens that one issuer gave for this server, which goes by ``audiences``.

    ``owner_claims`` say whose a task is.
    """

    def __init__(
        self,
        keys: IssuerKeys,
        *,
        issuer: str,
        audiences: Iterable[str],
        owner_claims: Sequence[str] = OWNER_CLAIMS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.keys = keys
        self._issuer = issuer
        self._audiences = frozenset(map(canonicalize, audiences))
        self._owner_claims = owner_claims
        self._clock = clock
        self._verified: OrderedDict[bytes, Verified] = OrderedDict()
        self._generation = keys.generation

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """As they are configured.  Raises StartupError if no audience is known."""
        issuer = settings.auth_issuer or ""
        audiences = settings.auth_audience or tuple(filter(None, [settings.resource_url]))
        if not audiences:  # a token that was given for another server would do, and that server could use it here
            raise StartupError("set RECEIVER_AUTH_AUDIENCE to what tokens for this server have in their claim aud")
        keys = IssuerKeys(issuer, settings.auth_jwks_url)
        return cls(keys, issuer=issuer, audiences=audiences, owner_claims=settings.owner_claims)

    async def identify(self, token: bytes, digest: bytes) -> Principal:
        """The principal of ``token``, whose digest is given.  Raises TokenError, and nothing else."""
        self.keys.freshen()
        self._follow_keys()
        found = self._verified.get(digest)
        if found is not None and found.expires > self._clock():
            self._verified.move_to_end(digest)
            return found.principal
        verified = await self._verify(token)
        self._follow_keys()
        self._verified[digest] = verified
        if len(self._verified) > MAX_REMEMBERED:
            self._verified.popitem(last=False)
        return verified.principal

    def _follow_keys(self) -> None:
        if self._generation != self.keys.generation:  # a key may have been withdrawn
            self._verified.clear()
            self._generation = self.keys.generation

    async def _verify(self, token: bytes) -> Verified:
        if len(token) > MAX_TOKEN_BYTES:
            raise TokenError("too long")
        try:
            claims = await self._read_claims(token)
            expires = int(claims["exp"])
            if expires <= self._clock():
                raise TokenError("expired")
            if self._audiences.isdisjoint(read_audiences(claims)):
                raise TokenError("for another audience")
            return Verified(read_principal(claims, self._owner_claims), expires)
        except TokenError:
            raise
        except Exception as error:
            raise TokenError(type(error).__name__) from None  # its text may quote the token

    async def _read_claims(self, token: bytes) -> dict[str, Any]:
        header = jwt.get_unverified_header(token)
        id, algorithm = header.get("kid"), header.get("alg")
        if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
            raise TokenError("signed in a way that is not allowed")
        claims = self._try_keys(token, id, algorithm)
        if claims is None and (id is None or not self.keys.has(id)):
            await self.keys.refresh()
            claims = self._try_keys(token, id, algorithm)
        if claims is None:
            raise TokenError("signed by none of the issuer's keys")
        return claims

    def _try_keys(self, token: bytes, id: str | None, algorithm: str) -> dict[str, Any] | None:
        """The claims, or None where none of the keys has signed them; an exception for claims that do not hold."""
        for key in self.keys.find(id, algorithm):
            try:
                return jwt.decode(token, key.material, [algorithm], OPTIONS, issuer=self._issuer, leeway=LEEWAY_SECONDS)
            except InvalidSignatureError:
                continue
        return None
