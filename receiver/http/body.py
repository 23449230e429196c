"""Reads a request body, up to a limit that holds while it arrives."""

from collections.abc import Mapping

from starlette.types import Receive

from receiver.http.refusal import Refusal


class Disconnected(Exception):
    """The client went away before its request was complete."""


async def read_body(receive: Receive, headers: Mapping[bytes, bytes], limit: int) -> bytes:
    """The whole body.  Raises Refusal with 413 over ``limit`` bytes, whatever Content-Length says."""
    announced = headers.get(b"content-length", b"0")
    if announced.isdigit() and int(announced) > limit:
        raise _too_large(limit)
    chunks, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        chunks.append(message.get("body", b""))
        size += len(chunks[-1])
        if size > limit:
            raise _too_large(limit)
        more = message.get("more_body", False)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _too_large(limit: int) -> Refusal:
    # The server reads past the rest of it.  To close the connection would destroy this answer on its way to a client
    # that is still sending.
    return Refusal(413, f"The body is larger than {limit} bytes")
