"""Who asks the console, and what they may: look (``viewer``), or act as well (``operator``)."""

import hmac
import time
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

import jwt

from ops.admin.visits import Visit, Visits
from receiver.http.auth import Authenticator
from receiver.http.refusal import Refusal
from receiver.http.resource import Resource
from receiver.principal import Principal
from receiver.receiver import Receiver
from receiver.settings import Settings

Role = Literal["viewer", "operator"]

VIEW, OPERATE = "console:view", "console:operate"  # scopes
WITHDRAWN_SECONDS = 3600  # after which an issuer is asked again, by a new log-in
LOCAL = "local"  # the name of whoever is at this machine
PROXY_HEADERS = (b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip", b"via")


@dataclass(frozen=True, slots=True)
class Visitor:
    """Someone who may look.  ``name`` is what the audit calls them."""

    name: str
    role: Role

    @property
    def is_operator(self) -> bool:
        """Whether they may act."""
        return self.role == "operator"


class Roles:
    """Knows visitors by the tokens of the console, and by what the receiver's own authentication says.

    Where neither is configured, whoever is at this machine is a viewer, and an operator if writing is on; that is for
    servers that listen on loopback alone, and nobody else is let in.
    """

    def __init__(self, settings: Settings, app: Receiver | None = None) -> None:
        self._settings = settings
        self._tokens = {
            sha256(token.encode()).digest(): (token.encode(), role) for token, role in settings.console_tokens.items()
        }
        own = settings.model_copy(update={"auth_scopes": ()})  # those are what clients of the endpoint need
        self._authenticator = Authenticator(app or Receiver("console"), own, Resource(settings.resource_url))
        self.asks = bool(self._tokens) or self._authenticator.identifies

    @property
    def is_reachable(self) -> bool:
        """Whether anyone may be let in who is not at this machine."""
        given = [scope for token in self._settings.auth_tokens.values() for scope in token.scopes]
        return bool(self._tokens or self._settings.auth_issuer or {VIEW, OPERATE} & set(given))

    async def close(self) -> None:
        """Ends what a request began."""
        await self._authenticator.close()

    async def identify(self, scope: Mapping[str, Any], headers: Mapping[bytes, bytes]) -> Visitor | None:
        """Who sends a request, by its Authorization header, or by what the app's own function says."""
        scheme, _, rest = headers.get(b"authorization", b"").partition(b" ")
        if scheme.lower() == b"bearer" and (role := self._find_role(rest.strip())):
            return Visitor(name_of(rest.strip()), role)
        if not self._authenticator.identifies:
            return None
        try:
            return _visitor_of(await self._authenticator.authenticate(scope, headers))
        except Refusal:
            return None

    def recall(self, visit: Visit, visits: Visits) -> Visitor | None:
        """Who a visit is of, if it began with a token that is still good."""
        if visit.role:
            return Visitor(visit.name, "operator" if visit.role == "operator" else "viewer")
        known = [(token, role) for token, role in self._tokens.values() if visit.proof]
        for token, role in known:
            if hmac.compare_digest(visits.prove(token), visit.proof):
                return Visitor(visit.name, role)
        return None

    def welcome(self, headers: Mapping[bytes, bytes]) -> Visitor | None:
        """Who need not say who they are: nobody, where anyone is asked, or where a proxy brings them."""
        if self.asks or any(name in headers for name in PROXY_HEADERS):
            return None
        return Visitor(LOCAL, "operator" if self._settings.console_write else "viewer")

    async def log_in(self, scope: Mapping[str, Any], token: bytes, visits: Visits) -> Visit | None:
        """The visit that a token begins; None if it is no good."""
        if self._find_role(token):
            return visits.begin(name_of(token), visits.prove(token))
        visitor = await self.identify(scope, {b"authorization": b"Bearer " + token})
        if visitor is None:
            return None
        return visits.begin(visitor.name, role=visitor.role, until=_expiry_of(token))

    def _find_role(self, token: bytes) -> Role | None:
        """Compares digests with each of the known ones, all of them in the same time."""
        digest, found = sha256(token).digest(), None
        for known, (_, role) in self._tokens.items():
            if hmac.compare_digest(known, digest):
                found = role
        return found


def name_of(token: bytes) -> str:
    """What a token of the console is called: some of its digest, which does not lead back to it."""
    return f"token {sha256(b'console name ' + token).hexdigest()[:8]}"


def _visitor_of(principal: Principal) -> Visitor | None:
    if OPERATE in principal.scopes:
        return Visitor(principal.subject, "operator")
    return Visitor(principal.subject, "viewer") if VIEW in principal.scopes else None


def _expiry_of(token: bytes) -> float:
    """When a visit by a token that was verified already has to end: with it, and soon, since it may be withdrawn."""
    soon = time.time() + WITHDRAWN_SECONDS
    try:
        return min(soon, float(jwt.decode(token, options={"verify_signature": False})["exp"]))
    except (jwt.PyJWTError, KeyError, ValueError):
        return soon
