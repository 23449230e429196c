"""JSON-RPC 2.0 frames: what a body says, and how an answer is put together.

``parse`` refuses whatever is not one JSON-RPC message, and such a refusal carries no id and HTTP status 400.  All
else about a request is for those who handle it: their refusals are answered with its id and HTTP status 200.
Answers are spliced round bytes that were encoded before, and never encode them again.
"""

from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import orjson

from receiver.protocol.errors import InvalidRequest, ParseError, ReceiverError

RequestId = str | int

DEPTH_LIMIT = 128  # half of what orjson can encode: an argument that was read can be stored, in an envelope too

_NOT_BRACKETS = bytes(set(range(256)) - set(b"[{]}"))
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")  # one deeper, one less deep: signed bytes


@dataclass(frozen=True, slots=True)
class Request:
    """A message that wants an answer.  ``params`` is {} where it is missing, and None where it is no object.

    JSON-RPC also knows params by position and MCP does not: whoever dispatches answers None with InvalidParams.
    """

    id: RequestId
    method: str
    params: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Notification:
    """A message without an answer.  ``params`` is {} where it is missing or no object: such a one has no effect."""

    method: str
    params: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Response:
    """A client's answer to a request of ours.  Neither member is checked: a bad answer is accepted, and ignored."""

    id: RequestId
    result: Any | None
    error: Any | None


Message = Request | Notification | Response


def parse(body: bytes) -> Message:
    """The one JSON-RPC message in ``body``.

    Raises ParseError for what is not JSON, and InvalidRequest for what is not one JSON-RPC message (H-05, L-05).
    """
    frame = _decode(body)
    if not isinstance(frame, dict):
        raise InvalidRequest("The body must be exactly one JSON-RPC object")
    if frame.get("jsonrpc") != "2.0":
        raise InvalidRequest('"jsonrpc" must be "2.0"')
    if "method" in frame:
        return _read_call(frame)
    return _read_response(frame)


def frame_result(id: RequestId, result: bytes) -> bytes:
    """The response that carries ``result``, a JSON value."""
    return b"".join((b'{"jsonrpc":"2.0","id":', orjson.dumps(id), b',"result":', result, b"}"))


def frame_error(id: RequestId | None, error: ReceiverError) -> bytes:
    """The response that carries ``error``; None for a message whose id could not be read, and then there is no id.

    Raises TypeError if the ``data`` of the error has no JSON form.
    """
    encoded = orjson.dumps(error.to_json())
    if id is None:
        return b'{"jsonrpc":"2.0","error":%b}' % encoded  # L-05
    return frame_error_bytes(id, encoded)


def frame_error_bytes(id: RequestId, error: bytes) -> bytes:
    """The response that carries ``error``, the JSON object of an error."""
    return b"".join((b'{"jsonrpc":"2.0","id":', orjson.dumps(id), b',"error":', error, b"}"))


def _decode(body: bytes) -> Any:
    """The JSON value in ``body``.  Every reason not to trust a text before its meaning is looked at belongs here."""
    try:
        # It refuses NaN, numbers beyond a double, bad UTF-8 and lone surrogates; an integer beyond 64 bits is read as a
        # double, as JavaScript reads it.
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ParseError(f"Parse error: {error}") from None
    if body.count(b"[") + body.count(b"{") > DEPTH_LIMIT and _measure_depth(body) > DEPTH_LIMIT:
        raise ParseError(f"Parse error: nested deeper than {DEPTH_LIMIT} levels")
    if _count_colons(body) != orjson.dumps(value).count(b":"):
        raise ParseError("Parse error: an object has two members of the same name")  # F14
    return value


def _count_colons(text: bytes) -> int:
    """How many colons ``text`` would have with none of them written as an escape, which is how orjson writes.

    Each member has one, and strings hold the others.  Of members with the same name orjson reads the last and no
    other, so what it read has fewer colons than the text; if no name was repeated, it has just as many.
    """
    colons = text.count(b":")
    if b"\\u003" in text:
        unpaired = text.replace(b"\\\\", b"")  # each backslash that is left begins an escape
        colons += unpaired.count(b"\\u003a") + unpaired.count(b"\\u003A")
    return colons


def _measure_depth(text: bytes) -> int:
    """How deep the arrays and objects of ``text`` nest.  It must be JSON."""
    steps = memoryview(_cut_strings(text).translate(_STEPS, _NOT_BRACKETS)).cast("b")
    return max(accumulate(steps), default=0)


def _cut_strings(text: bytes) -> bytes:
    without_quotes_in_strings = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(without_quotes_in_strings.split(b'"')[::2])


def _read_call(frame: dict[str, Any]) -> Request | Notification:
    method = frame["method"]
    if not isinstance(method, str):
        raise InvalidRequest('"method" must be a string')
    params = frame.get("params", {})
    fitting = params if isinstance(params, dict) else None
    if "id" in frame:
        return Request(_read_id(frame["id"]), method, fitting)
    return Notification(method, fitting or {})  # H-07: a malformed notification is accepted


def _read_response(frame: dict[str, Any]) -> Response:
    if ("result" in frame) == ("error" in frame):
        raise InvalidRequest('A message has "method", or either "result" or "error"')
    return Response(_read_id(frame.get("id")), frame.get("result"), frame.get("error"))


def _read_id(id: object) -> RequestId:
    """``id`` as it must be echoed.  An integer beyond 64 bits arrives as a float, and is refused with them."""
    if isinstance(id, str) or (isinstance(id, int) and not isinstance(id, bool)):
        return id
    raise InvalidRequest('"id" must be a string or an integer of at most 64 bits')  # L-05
