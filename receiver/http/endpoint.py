"""``/mcp``: the three verbs of Streamable HTTP."""

from collections.abc import Awaitable, Callable, Mapping

import structlog
from starlette.types import Receive, Scope, Send

from receiver.dispatch import Dispatcher
from receiver.http.account import Account
from receiver.http.auth import Authenticator
from receiver.http.body import Disconnected
from receiver.http.exchange import Exchange
from receiver.http.guards import accepts, check_accept, check_content_type, check_version, join_headers
from receiver.http.limits import StreamLimit
from receiver.http.origins import Origins
from receiver.http.refusal import Refusal
from receiver.http.reply import Reply, respond
from receiver.methods.services import Services
from receiver.principal import Principal
from receiver.protocol.errors import InvalidRequest, ReceiverError, SessionEnded, StartupError, Unavailable
from receiver.protocol.jsonrpc import Notification, Request, frame_error, parse
from receiver.session import Session
from receiver.store.backlog import Backlog
from receiver.telemetry import audit

log = structlog.get_logger(__name__)

_VERBS = b"POST, GET, DELETE"
_STREAM_TYPE = "text/event-stream"
_ENDED = "This session has ended; begin a new one with initialize"


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
        self._verbs = {"POST": self._post, "GET": self._get, "DELETE": self._delete}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one HTTP request."""
        try:
            with Account() as account:
                reply = await self._serve(scope, receive, send, account)
                if reply is not None:
                    await reply.send()  # from here: what waits is all that is left of the request
        except Refusal as refusal:
            await respond(send, refusal.status, frame_error(None, refusal.error), refusal.headers)
        except SessionEnded:
            await respond(send, 404, frame_error(None, InvalidRequest(_ENDED)))  # H-30
        except ReceiverError as error:
            status = 503 if isinstance(error, Unavailable) else error.http_status  # no request is answered here (H-07)
            await respond(send, status, frame_error(None, error))  # L-05
        except Disconnected:
            return

    async def _serve(self, scope: Scope, receive: Receive, send: Send, account: Account) -> Reply | None:
        """Answers it, or says what will."""
        headers = join_headers(scope["headers"])
        self._origins.check(headers)  # H-03
        address = _address_of(scope)
        principal = await self._authenticate(scope, headers, address)
        account.of(principal.owner)
        verb = self._verbs.get(scope["method"])
        if verb is None:
            raise Refusal(405, "Only POST, GET and DELETE are supported here", ((b"allow", _VERBS),))
        check_version(headers)
        exchange = Exchange(receive, send, headers, principal, self._limit, address, account)
        return await verb(exchange, headers, principal, account)

    async def _authenticate(self, scope: Scope, headers: Mapping[bytes, bytes], address: str) -> Principal:
        try:
            return await self._authenticator.authenticate(scope, headers)  # A-08, S-01
        except Refusal as refusal:
            self._backlog.note(audit.stranger(address, refusal.reason))
            raise

    async def _post(
        self, exchange: Exchange, headers: Mapping[bytes, bytes], principal: Principal, account: Account
    ) -> Reply | None:
        check_accept(headers)
        check_content_type(headers)
        message = parse(await exchange.read(self._body_limit))
        if isinstance(message, Request):
            return await exchange.answer(message, self._open, self._find_session)
        services = (await self._open_or_refuse()).services
        session = await self._find_session(services, headers, principal)
        account.within(session)
        if isinstance(message, Notification):
            await exchange.take_notification(message, services, session)
        else:
            await exchange.take_response(message, services, session)
        return None

    async def _get(
        self, exchange: Exchange, headers: Mapping[bytes, bytes], principal: Principal, account: Account
    ) -> Reply:
        if not accepts(headers, _STREAM_TYPE):
            raise Refusal(406, f"Accept must include {_STREAM_TYPE}")
        services = (await self._open_or_refuse()).services
        session = await self._find_session(services, headers, principal)
        account.within(session)
        return await exchange.open_stream(services, session)

    async def _delete(
        self, exchange: Exchange, headers: Mapping[bytes, bytes], principal: Principal, _: Account
    ) -> None:
        services = (await self._open_or_refuse()).services
        session = await self._find_session(services, headers, principal)
        if not await services.sessions.end(session):
            raise SessionEnded
        await exchange.confirm_end()

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
