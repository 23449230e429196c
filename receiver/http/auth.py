"""Who asks: the principal that a request's credentials stand for."""

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import structlog

from receiver.http.challenge import Challenges
from receiver.http.claims import TokenError
from receiver.http.hook import Hook
from receiver.http.resource import Resource
from receiver.principal import ANONYMOUS, Principal
from receiver.protocol.errors import StartupError
from receiver.receiver import Receiver
from receiver.settings import Settings

if TYPE_CHECKING:
    from receiver.http.access_token import AccessTokens

_ONE_TOKEN = re.compile(rb"[!-+\--~]+")  # two of them, from two headers, have a comma between them

log = structlog.get_logger(__name__)


class Authenticator:
    """Knows requestors by static tokens, and by what the app's hook says, or else by the JWTs of an issuer.

    Where there is none of these, every requestor is the one anonymous principal.
    Raises StartupError for settings that would leave a door open.
    """

    def __init__(self, app: Receiver, settings: Settings, resource: Resource) -> None:
        self._static = {
            _digest(token.encode()): Principal(who.subject, issuer="static", scopes=frozenset(who.scopes))
            for token, who in settings.auth_tokens.items()
        }
        self._hook = None if app.authenticate is None else Hook(app.authenticate)
        self._tokens = _make_tokens(settings) if self._hook is None else None
        self._scopes = frozenset(settings.auth_scopes)
        self.identifies = bool(self._static or self._tokens or self._hook)  # whether requestors can be told apart
        self._challenges = Challenges(resource if settings.auth_issuer else None, settings.auth_scopes)
        if self._scopes and not self.identifies:
            raise StartupError("RECEIVER_AUTH_SCOPES asks for scopes, and nothing says who has them")

    @property
    def takes_tokens_alone(self) -> bool:
        """Whether all credentials are tokens, which a browser adds to no request by itself; a hook may take cookies."""
        return self.identifies and self._hook is None

    def open(self) -> None:
        """Has the issuer's keys fetched, so that the first request need not wait for them."""
        if self._tokens is not None:
            self._tokens.keys.freshen()

    async def close(self) -> None:
        """Ends what ``open`` or a request began."""
        if self._tokens is not None:
            await self._tokens.keys.close()

    async def authenticate(self, scope: Mapping[str, Any], headers: Mapping[bytes, bytes]) -> Principal:
        """The principal of the request of ``scope``, whose ``headers`` are joined by name.

        Raises Refusal with a challenge: 401 where a token is missing or not valid (A-05), 403 where it lacks a scope
        (A-07), 400 where there is something else in place of one.  A token in the query is not looked at (A-08).
        """
        if not self.identifies:
            return ANONYMOUS
        scheme, _, rest = headers.get(b"authorization", b"").partition(b" ")
        bears = scheme.lower() == b"bearer"
        principal = await self._identify(scope, rest.strip()) if bears else None
        if principal is None and self._hook is not None:
            principal = await self._hook.identify(headers)
        if principal is None:
            raise self._challenges.refuse(scope, "invalid_token" if bears else None)
        if not self._scopes <= principal.scopes:
            raise self._challenges.refuse(scope, "insufficient_scope")
        return principal

    async def _identify(self, scope: Mapping[str, Any], token: bytes) -> Principal | None:
        """The principal of a bearer token, as far as tokens are known here."""
        digest = _digest(token)
        if (principal := self._static.get(digest)) is not None:
            return principal
        if _ONE_TOKEN.fullmatch(token) is None:
            raise self._challenges.refuse(scope, "invalid_request")
        if self._tokens is None:
            return None
        try:
            return await self._tokens.identify(token, digest)
        except TokenError as error:
            log.info("token_refused", reason=str(error))
            return None


def _make_tokens(settings: Settings) -> "AccessTokens | None":
    if settings.auth_issuer is None:
        return None
    from receiver.http.access_token import AccessTokens  # an HTTP client, which few need

    return AccessTokens.of(settings)


def _digest(token: bytes) -> bytes:
    """Tokens are looked up by digest, so that the time of a look-up says nothing of how much of one was right."""
    return sha256(token).digest()
