"""``/mcp``: the three verbs of Streamable HTTP."""

from collections.abc import Awaitable, Callable, Mapping

import structlog
from starlette.types import Receive, Scope, Send

from receiver.dispatch import Dispatcher
from receiver.http.auth import Authenticator
from receiver.http.body import Disconnected, read_body
from receiver.http.exchange import Exchange
from receiver.http.guards import accepts, check_accept, check_content_type, check_version, join_headers
from receiver.http.limits import StreamLimit
from receiver.http.origins import Origins
from receiver.http.refusal import Refusal
from receiver.http.reply import respond
from receiver.methods.services import Services
from receiver.principal import Principal
from receiver.protocol.errors import ReceiverError, SessionEnded, StartupError, Unavailable
from receiver.protocol.jsonrpc import Notification, Request, frame_error, parse
from receiver.session import Session, digest_session
from receiver.store.backlog import Backlog
from receiver.telemetry import audit
from receiver.telemetry.logs import bound

log = structlog.get_logger(__name__)

_VERBS = b"POST, GET, DELETE"
_STREAM_TYPE = "text/event-stream"


class Endpoint:
    """An ASGI application for one path.  ``open`` gives what answers requests; ``backlog`` takes who was refused.

    ``body_limit`` in bytes; ``stream_limit``: open streams of one principal on this node.
    """

    def __init__(
        self,
        open: Callable[[], Awaitable[Dispatcher[Services]]],
        origins: Origins,
        authenticator: Authenticator,
        backlog: Backlog,
        *,
        body_limit: int,
        stream_limit: int,
    ) -> None:
        self._limit = StreamLimit(stream_limit)
        self._open = open
        self._origins = origins
        self._authenticator = authenticator
        self._backlog = backlog
        self._body_limit = body_limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one HTTP request."""
        try:
            await self._serve(scope, receive, send)
        except Refusal as refusal:
            await respond(send, refusal.status, frame_error(None, refusal.error), refusal.headers)
        except ReceiverError as error:
            status = 503 if isinstance(error, Unavailable) else error.http_status  # no request is answered here (H-07)
            await respond(send, status, frame_error(None, error))  # L-05
        except Disconnected:
            return

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = join_headers(scope["headers"])
        self._origins.check(headers)  # H-03
        address = _address_of(scope)
        principal = await self._authenticate(scope, headers, address)
        verbs = {"POST": self._post, "GET": self._get, "DELETE": self._delete}
        verb = verbs.get(scope["method"])
        if verb is None:
            raise Refusal(405, "Only POST, GET and DELETE are supported here", ((b"allow", _VERBS),))
        check_version(headers)
        try:
            exchange = Exchange(receive, send, headers, principal, self._limit, address)
            with bound(principal=principal.owner):
                await verb(exchange, headers, principal, receive, send)
        except SessionEnded:
            raise Refusal(404, "This session has ended; begin a new one with initialize") from None  # H-30

    async def _authenticate(self, scope: Scope, headers: Mapping[bytes, bytes], address: str) -> Principal:
        try:
            return await self._authenticator.authenticate(scope, headers)  # A-08, S-01
        except Refusal as refusal:
            self._backlog.note(audit.stranger(address, refusal.reason))
            raise

    async def _post(
        self, exchange: Exchange, headers: Mapping[bytes, bytes], principal: Principal, receive: Receive, _: Send
    ) -> None:
        check_accept(headers)
        check_content_type(headers)
        message = parse(await read_body(receive, headers, self._body_limit))
        if isinstance(message, Request):
            await exchange.answer(message, self._open, self._find_session)
            return
        services = (await self._open_or_refuse()).services
        session = await self._find_session(services, headers, principal)
        with bound(session_id=digest_session(session.id)):
            if isinstance(message, Notification):
                await exchange.take_notification(message, services, session)
            else:
                await exchange.take_response(message, services, session)

    async def _get(
        self, exchange: Exchange, headers: Mapping[bytes, bytes], principal: Principal, _: Receive, __: Send
    ) -> None:
        if not accepts(headers, _STREAM_TYPE):
            raise Refusal(406, f"Accept must include {_STREAM_TYPE}")
        services = (await self._open_or_refuse()).services
        session = await self._find_session(services, headers, principal)
        with bound(session_id=digest_session(session.id)):
            await exchange.open_stream(services, session)

    async def _delete(
        self, _: Exchange, headers: Mapping[bytes, bytes], principal: Principal, __: Receive, send: Send
    ) -> None:
        services = (await self._open_or_refuse()).services
        session = await self._find_session(services, headers, principal)
        if not await services.sessions.end(session):
            raise SessionEnded
        await respond(send, 204)  # H-31

    async def _find_session(self, services: Services, headers: Mapping[bytes, bytes], principal: Principal) -> Session:
        """The session that a request names.  It says nothing of who asks: it has to be that one's own (S-01)."""
        given = headers.get(b"mcp-session-id")
        if given is None:
            raise Refusal(400, "Mcp-Session-Id is missing; initialize gives one")  # H-29
        session = await services.sessions.find(given.decode("latin-1"), principal.owner)
        if session is None:
            raise SessionEnded
        return session

    async def _open_or_refuse(self) -> Dispatcher[Services]:
        try:
            return await self._open()
        except StartupError as error:  # mounted, no lifespan could say so; the next request tries again
            log.error("not_started", detail=str(error))
            raise Unavailable from None


def _address_of(scope: Scope) -> str:
    """Where a request comes from, as far as the web server knows, which hears of proxies that it trusts."""
    client = scope.get("client")
    return str(client[0]) if client else ""
