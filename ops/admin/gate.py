"""The gate of the console: what every request passes before a page or an action sees it.

In this order: the Host (against rebound names), the method (405 while read-only), who asks (401), what they may (403),
and that a request which changes something was sent by a page of ours (403).
"""

import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ops.admin.roles import Roles, Visitor
from ops.admin.visits import COOKIE, Visit, Visits
from receiver.http.body import Disconnected, read_body
from receiver.http.guards import join_headers
from receiver.http.origins import Origins
from receiver.http.refusal import Refusal
from receiver.protocol.errors import InvalidRequest, StartupError, Unavailable

SAFE = ("GET", "HEAD")
LOGIN, LOGOUT, STATIC = "/login", "/logout", "/static/"
BODY_LIMIT = 262_144  # bytes: a thousand ids and more
FORM_TYPE, JSON_TYPE = "application/x-www-form-urlencoded", "application/json"
READ_ONLY = "This console is read-only; RECEIVER_CONSOLE_WRITE=1 lets operators act"

# `same-origin` and not `no-referrer`, with which browsers send forms with `Origin: null`.
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class Denial(Exception):
    """A request that is not served."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers or {}


@dataclass
class Entry:
    """A request that was let in, or is being judged.  ``form`` holds what it brings, by name."""

    nonce: str
    can_write: bool
    visitor: Visitor | None = None
    visit: Visit | None = None
    csrf: str = ""
    form: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def may_act(self) -> bool:
        """Whether this visitor may change anything here."""
        return self.can_write and self.visitor is not None and self.visitor.is_operator

    def value(self, name: str) -> str:
        """One value of the form; ``""`` where there is none."""
        return next(iter(self.form.get(name, ())), "")


class Gate:
    """An ASGI application in front of another one.  ``refuse`` makes the answer for what it does not let in."""

    def __init__(
        self,
        app: ASGIApp,
        roles: Roles,
        origins: Origins,
        open_visits: Callable[[], Awaitable[Visits]],
        refuse: Callable[[Scope, Denial], Response],
        *,
        can_write: bool,
    ) -> None:
        self._app = app
        self._roles = roles
        self._origins = origins
        self._open_visits = open_visits
        self._refuse = refuse
        self._can_write = can_write

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one HTTP request."""
        if scope["type"] != "http":
            raise RuntimeError("the console serves HTTP alone")
        entry = Entry(secrets.token_urlsafe(18), self._can_write)
        method = "GET" if scope["method"] == "HEAD" else scope["method"]  # the server leaves out the body
        scope = {**scope, "method": method, "state": {**scope.get("state", {}), "entry": entry}}
        before = _Outgoing(scope, send, entry)
        try:
            receive = await self._judge(scope, receive, entry, before)
        except Denial as denial:
            await self._refuse(scope, denial)(scope, receive, before)
        except Disconnected:
            return
        else:
            await self._app(scope, receive, before)

    async def _judge(self, scope: Scope, receive: Receive, entry: Entry, out: "_Outgoing") -> Receive:
        headers, path = join_headers(scope["headers"]), path_of(scope)
        try:
            self._origins.check(headers)
        except Refusal as refusal:
            raise Denial(refusal.status, str(refusal)) from None
        is_safe, is_login = scope["method"] in SAFE, path in (LOGIN, LOGOUT)
        if not is_safe and not self._can_write and not is_login:
            raise Denial(405, READ_ONLY, {"allow": ", ".join(SAFE)})
        if path.startswith(STATIC) and is_safe:
            return receive
        entry.visitor = await self._identify(scope, headers, entry, out)
        if entry.visitor is None and path != LOGIN:
            raise Denial(401, "Who are you? This console needs a token", {"www-authenticate": "Bearer"})
        if is_safe:
            return receive
        if not is_login and not entry.may_act:
            raise Denial(403, "Only operators may do this")
        return await self._take_form(receive, headers, entry)

    async def _identify(
        self, scope: Scope, headers: Mapping[bytes, bytes], entry: Entry, out: "_Outgoing"
    ) -> Visitor | None:
        """Who asks; a browser that brings no visit is given one."""
        if b"authorization" in headers and self._roles.asks:
            return await self._roles.identify(scope, headers)
        try:
            visits = await self._open_visits()
        except (StartupError, Unavailable):
            raise Denial(503, "The store can't be reached") from None
        visit = _read_cookie(headers, visits)
        if visit is None:
            visit = visits.begin()
            out.cookie = write_cookie(scope, visits.write(visit), round(visit.expires))
        entry.visit, entry.csrf = visit, visits.issue_csrf(visit)
        found = self._roles.recall(visit, visits) or self._roles.welcome(headers)
        return found or await self._roles.identify(scope, headers)

    async def _take_form(self, receive: Receive, headers: Mapping[bytes, bytes], entry: Entry) -> Receive:
        """Reads the body, and checks that a page of ours sent it."""
        _check_source(headers)
        body = await _read(receive, headers)
        entry.form = _parse(body, headers)
        if entry.visit is not None:  # else there is an Authorization header, which no browser adds by itself
            given = headers.get(b"x-csrf-token", b"").decode("latin-1") or entry.value("csrf")
            if not (await self._open_visits()).checks_csrf(entry.visit, given):
                raise Denial(403, "This form is too old, or not ours; reload its page and try again")
        return _replay(body)


class _Outgoing:
    """Adds the headers that every response has, and the cookie of a new visit."""

    def __init__(self, scope: Scope, send: Send, entry: Entry) -> None:
        self._send = send
        self._entry = entry
        self._is_static = path_of(scope).startswith(STATIC)
        self.cookie: str | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            headers["content-security-policy"] = make_policy(self._entry.nonce)
            headers["cache-control"] = "no-cache" if self._is_static else "no-store"
            if self.cookie is not None and "set-cookie" not in headers:
                headers["set-cookie"] = self.cookie
        await self._send(message)


def make_policy(nonce: str) -> str:
    """What a page may load and run: what is ours, and scripts only with this page's nonce."""
    parts = ("default-src 'none'", f"script-src 'nonce-{nonce}'", "style-src 'self'", "img-src 'self'")
    rest = ("connect-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'")
    return "; ".join(parts + rest)


def path_of(scope: Mapping[str, Any]) -> str:
    """The path below where the console is mounted."""
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    return path[len(root) :] if root and path.startswith(root) else path


def write_cookie(scope: Mapping[str, Any], value: str, expires: int | None) -> str:
    """A Set-Cookie of this console; ``expires`` in seconds since the epoch, None for at once."""
    parts = [f"{COOKIE}={value}", f"Path={scope.get('root_path') or '/'}", "HttpOnly", "SameSite=Strict"]
    parts.append("Max-Age=0" if expires is None else f"Expires={formatdate(expires, usegmt=True)}")
    return "; ".join([*parts, "Secure"] if scope["scheme"] == "https" else parts)


def _read_cookie(headers: Mapping[bytes, bytes], visits: Visits) -> Visit | None:
    """Cookies from several headers were joined by commas, which no value of ours has."""
    pairs = re.split(r"[;,]", headers.get(b"cookie", b"").decode("latin-1"))
    values = [value for name, _, value in (pair.strip().partition("=") for pair in pairs) if name == COOKIE]
    return next(filter(None, map(visits.read, values)), None)


def _check_source(headers: Mapping[bytes, bytes]) -> None:
    """The browser says which page sent a request; other ports of this host are other sites to us."""
    site, origin = headers.get(b"sec-fetch-site"), headers.get(b"origin")
    is_foreign = site not in (None, b"same-origin", b"none")
    if origin is not None:
        is_foreign |= urlsplit(origin.decode("latin-1")).netloc.lower().encode() != headers.get(b"host", b"").lower()
    if is_foreign:
        raise Denial(403, "This request comes from another site")


async def _read(receive: Receive, headers: Mapping[bytes, bytes]) -> bytes:
    try:
        return await read_body(receive, headers, BODY_LIMIT)
    except (Refusal, InvalidRequest) as error:
        raise Denial(413, str(error)) from None


def _parse(body: bytes, headers: Mapping[bytes, bytes]) -> dict[str, list[str]]:
    """A form, or a JSON object whose values are texts, numbers or lists of them."""
    type_ = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
    try:
        if type_ == FORM_TYPE or not body:
            return parse_qs(body.decode(), keep_blank_values=True, max_num_fields=5_000)
        found = orjson.loads(body) if type_ == JSON_TYPE else None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise Denial(415, f"Send a form ({FORM_TYPE}), or a JSON object ({JSON_TYPE})")
    return {name: [str(it) for it in (value if isinstance(value, list) else [value])] for name, value in found.items()}


def _replay(body: bytes) -> Receive:
    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive
