"""``/mcp``: one HTTP request in, one JSON-RPC message handled, one answer out."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog
from starlette.types import Receive, Scope, Send

from receiver.dispatch import Answer, Dispatcher, Later
from receiver.http.auth import Authenticator
from receiver.http.body import Disconnected, read_body
from receiver.http.guards import check_accept, check_content_type, check_version, join_headers
from receiver.http.refusal import Headers, Refusal
from receiver.http.stream import stream_answer
from receiver.methods.services import Services
from receiver.principal import Principal
from receiver.protocol.errors import InternalError, InvalidRequest, ReceiverError, StartupError, Unavailable
from receiver.protocol.jsonrpc import (
    Notification,
    Request,
    RequestId,
    frame_error,
    frame_error_bytes,
    frame_result,
    parse,
)

log = structlog.get_logger(__name__)

_JSON = (b"content-type", b"application/json")
_STOPPING = "This node is stopping and can't wait for the answer"
_NOT_ASKED = "This server has asked nothing that this could answer"


class Endpoint:
    """An ASGI application for one path.  ``open`` gives what answers requests; ``body_limit`` in bytes."""

    def __init__(
        self, open: Callable[[], Awaitable[Dispatcher[Services]]], authenticator: Authenticator, *, body_limit: int
    ) -> None:
        self._open = open
        self._authenticator = authenticator
        self._body_limit = body_limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one HTTP request."""
        try:
            principal, body = await self._admit(scope, receive)
            message = parse(body)
        except Refusal as refusal:
            await _respond(send, refusal.status, frame_error(None, refusal.error), refusal.headers)
        except ReceiverError as error:
            await _respond(send, error.http_status, frame_error(None, error))  # L-05
        except Disconnected:
            return
        else:
            if isinstance(message, Request):
                await self._answer(message, principal, receive, send)
            elif isinstance(message, Notification):
                await _respond(send, 202, b"")  # H-06
            else:
                await _respond(send, 400, frame_error(None, InvalidRequest(_NOT_ASKED)))  # H-07

    async def _admit(self, scope: Scope, receive: Receive) -> tuple[Principal, bytes]:
        headers = join_headers(scope["headers"])
        principal = self._authenticator.authenticate(headers)
        if scope["method"] != "POST":
            raise Refusal(405, "Only POST is supported here", ((b"allow", b"POST"),))  # H-15, H-31
        check_accept(headers)
        check_content_type(headers)
        check_version(headers)
        return principal, await read_body(receive, headers, self._body_limit)

    async def _answer(self, request: Request, principal: Principal, receive: Receive, send: Send) -> None:
        try:
            answer = await self._find_answer(request, principal)
        except (Exception, asyncio.CancelledError) as error:
            await _respond(send, 200, _frame_failure(request, error))
            return
        if isinstance(answer, Later):
            await stream_answer(receive, send, _finish(request, answer))
        else:
            await _respond(send, 200, _frame(request.id, answer))

    async def _find_answer(self, request: Request, principal: Principal) -> Answer | Later:
        dispatcher = await self._open()
        answer = await dispatcher.dispatch(request, principal)
        return await answer.wait() if isinstance(answer, Later) and not answer.streams else answer


async def _finish(request: Request, later: Later) -> bytes:
    try:
        return _frame(request.id, await later.wait())
    except Exception as error:
        return _frame_failure(request, error)


def _frame(id: RequestId, answer: Answer) -> bytes:
    return frame_result(id, answer.body) if answer.kind == "result" else frame_error_bytes(id, answer.body)


def _frame_failure(request: Request, error: BaseException) -> bytes:
    """The JSON-RPC error of a request that could be read: HTTP 200 whatever it is."""
    if isinstance(error, ReceiverError):
        return frame_error(request.id, error)
    if isinstance(error, asyncio.CancelledError):  # by the web server, when its grace period is over
        return frame_error(request.id, InternalError(_STOPPING, data={"reason": "stopping"}))
    if isinstance(error, StartupError):  # mounted, no lifespan could say so; the next request tries again
        log.error("not_started", detail=str(error))
        return frame_error(request.id, Unavailable())
    log.exception("request_failed", method=request.method, exc_info=error)
    return frame_error(request.id, InternalError())  # T-79


async def _respond(send: Send, status: int, body: bytes, headers: Headers = ()) -> None:
    head = [*headers, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": [_JSON, *head] if body else head})
    await send({"type": "http.response.body", "body": body})
