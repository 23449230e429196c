"""What becomes of one message, and of one stream, once it is known who sends it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

import orjson
from starlette.types import Receive, Send

from receiver.dispatch import Answer, Dispatcher, Later
from receiver.http.account import Account
from receiver.http.body import read_body
from receiver.http.guards import accepts
from receiver.http.limits import StreamLimit
from receiver.http.parts import AnswerParts, EventParts, frame_answer
from receiver.http.refusal import Headers, Refusal
from receiver.http.reply import AT_ONCE_SECONDS, Form, Parts, Reply, respond
from receiver.http.stream import EventStream
from receiver.methods import HANDLERS
from receiver.methods.answers import take_answer
from receiver.methods.resumption import open_session_stream, resume
from receiver.methods.services import Services
from receiver.methods.targets import find_target
from receiver.principal import Principal
from receiver.protocol.errors import (
    InternalError,
    InvalidParams,
    InvalidRequest,
    MethodNotFound,
    Refused,
    ResourceNotFound,
    SessionEnded,
    Unavailable,
)
from receiver.protocol.event_id import EventIds, StreamPosition
from receiver.protocol.jsonrpc import (
    Notification,
    Request,
    RequestId,
    Response,
    frame_error,
)
from receiver.session import Session
from receiver.telemetry import audit, metrics

OPEN_SECONDS = 5.0  # after which a plain call that says nothing becomes a stream

FindSession = Callable[[Services, Mapping[bytes, bytes], Principal], Awaitable[Session]]

_JSON_TYPE, _STREAM_TYPE = "application/json", "text/event-stream"
_CANCELLED = "The request that this stream answered was cancelled"
_NOT_ASKED = "This server has asked nothing that this could answer"


class Exchange:
    """One HTTP request of ``principal``, from ``address``; ``limit`` is that of this node's streams."""

    def __init__(
        self,
        receive: Receive,
        send: Send,
        headers: Mapping[bytes, bytes],
        principal: Principal,
        limit: StreamLimit,
        address: str,
        account: Account,
    ) -> None:
        self._account = account
        self._address = address
        self._limit = limit
        self._receive = receive
        self._send = send
        self._headers = headers
        self._principal = principal

    async def read(self, limit: int) -> bytes:
        """Its body, of at most so many bytes."""
        return await read_body(self._receive, self._headers, limit)

    async def answer(
        self, request: Request, open: Callable[[], Awaitable[Dispatcher[Services]]], find_session: FindSession
    ) -> Reply | None:
        """Answers a request: whatever it is, a request that could be read is answered with HTTP 200.

        What this returns, if anything, answers it when it is sent.
        """
        account = self._account
        account.begin(request.method if request.method in HANDLERS else "other")
        try:
            dispatcher = await open()
            account.open(find_target(dispatcher, request), request, self._headers)
            begins = request.method == "initialize" and b"mcp-session-id" not in self._headers
            session = None if begins else await find_session(dispatcher.services, self._headers, self._principal)
            if session is not None:
                account.within(session)
            answer = await self._dispatch(dispatcher, request, session)
            if isinstance(answer, Later):
                account.wait_for(answer.stream.task_id, self._limit)
                if answer.begin is not None:
                    await answer.begin()
        except (Refusal, SessionEnded):
            account.refuse()
            raise
        except (Exception, asyncio.CancelledError) as error:
            await self._send_whole(frame_error(request.id, account.explain(error)), _retry_after(error))
            return None
        if isinstance(answer, Later):
            return self._answer_later(request.id, answer, dispatcher.services, session)
        await self._send_whole(frame_answer(request.id, account.note(answer)), _session_header(answer))
        return None

    async def _dispatch(
        self, dispatcher: Dispatcher[Services], request: Request, session: Session | None
    ) -> Answer | Later:
        try:
            return await dispatcher.dispatch(request, self._principal, session, self._address)
        except (InvalidParams, InvalidRequest, MethodNotFound, ResourceNotFound):
            if session is not None:  # it may have been refused without a look at its session (H-30)
                with suppress(Unavailable):
                    await dispatcher.services.sessions.confirm(session)
            raise

    def _answer_later(self, id: RequestId, later: Later, services: Services, session: Session | None) -> Reply:
        takes_json = accepts(self._headers, _JSON_TYPE)
        form = self._form(later.stream, services.event_ids, session, at_once=later.at_once, takes_json=takes_json)
        feed = later.feed(accepts(self._headers, _STREAM_TYPE))
        return Reply(self._receive, self._send, form, AnswerParts(feed, id, later.finish, self._account))

    async def take_notification(self, notification: Notification, services: Services, session: Session) -> None:
        """Accepts any notification (H-06); a cancelled one ends its request, on whatever node that is (L-07)."""
        with suppress(Unavailable):  # no notification is worth a client's connection
            await services.sessions.confirm(session)
            if notification.method == "notifications/cancelled":
                request = notification.params.get("requestId")
                if isinstance(request, str | int) and not isinstance(request, bool):
                    caller = audit.client(self._principal, notification.method, request, self._address)
                    await services.sessions.cancel_request(session, orjson.dumps(request), caller)
        await respond(self._send, 202)

    async def take_response(self, response: Response, services: Services, session: Session) -> None:
        """Takes a client's answer to a request of ours, which any node may have sent (X-9)."""
        await services.sessions.confirm(session)
        if not await take_answer(services, session, self._principal, response, self._address):
            raise Refusal(400, _NOT_ASKED)  # H-07
        await respond(self._send, 202)

    async def confirm_end(self) -> None:
        """Says that its session has ended."""
        await respond(self._send, 204)  # H-31

    async def open_stream(self, services: Services, session: Session) -> Reply:
        """Opens the stream of a session, or goes on with any stream of it that its client lost (H-23)."""
        await services.sessions.confirm(session)
        stood = self._read_position(services.event_ids, session)
        parts: Parts
        if stood is None or stood.kind == "session":
            start, feed = open_session_stream(services, session, stood)
            parts = EventParts(feed)
        elif not await services.feeds.is_wanted(stood.stream, stood.task_id):
            raise Refusal(405, _CANCELLED, ((b"allow", b"POST, DELETE"),))  # H-15; a stream that ends is tried again
        else:
            request, later = resume(services, session, stood)
            start, parts = later.stream, AnswerParts(later.feed(True), request, later.finish, self._account)
        try:
            self._account.wait_for(start.task_id, self._limit)
        except Refused as refused:
            metrics.count_limited(refused.reason)
            raise Refusal(429, refused.message, _retry_after(refused)) from None
        form = self._form(start, services.event_ids, session, at_once=True, takes_json=False)  # H-15
        return Reply(self._receive, self._send, form, parts)

    def _read_position(self, ids: EventIds, session: Session) -> StreamPosition | None:
        last = self._headers.get(b"last-event-id")
        if last is None:
            return None
        stood = ids.decode(last.decode("latin-1"))
        if stood is None or stood.session != session.id or stood.owner != self._principal.owner:
            raise Refusal(400, "Last-Event-ID is not of a stream of this session")  # H-24
        return stood

    def _form(
        self, start: StreamPosition, ids: EventIds, session: Session | None, *, at_once: bool, takes_json: bool
    ) -> Form:
        takes_stream = accepts(self._headers, _STREAM_TYPE)
        at_once = takes_stream and (at_once or not takes_json)
        opens_after = AT_ONCE_SECONDS if at_once else OPEN_SECONDS
        return Form(
            opens_after=opens_after if takes_stream else None,
            at_once=at_once,
            takes_json=takes_json,
            start=start.position,
            name_event=lambda position: ids.encode(start.at(position)),
            is_primed=session is not None and session.revision.priming,
        )

    async def _send_whole(self, frame: bytes, headers: Headers = ()) -> None:
        if accepts(self._headers, _JSON_TYPE):
            await respond(self._send, 200, frame, headers)
            return
        stream = await EventStream.open(self._send, headers, None)
        await stream.write(None, frame)
        await stream.end()


def _session_header(answer: Answer) -> Headers:
    return () if answer.session is None else ((b"mcp-session-id", answer.session.id.encode()),)  # H-25


def _retry_after(error: BaseException) -> Headers:
    hint = error.data.get("retryAfterMs") if isinstance(error, InternalError) and isinstance(error.data, dict) else None
    return () if hint is None else ((b"retry-after", b"%d" % -(-hint // 1000)),)
