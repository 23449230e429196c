"""An answer as an event stream: a sign at once, comments while it takes its time, then the response, then the end."""

import asyncio
import secrets
from collections.abc import Awaitable

from starlette.types import Receive, Send

KEEP_ALIVE_SECONDS = 15.0
RETRY_MS = 2000

_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


async def stream_answer(receive: Receive, send: Send, answer: Awaitable[bytes]) -> None:
    """Streams one response.  A client that goes away ends the wait for it, and nothing else (H-14)."""
    waiting = asyncio.ensure_future(answer)
    gone = asyncio.create_task(_wait_for_disconnect(receive))
    try:
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        await _send_part(send, b"id: %b\nretry: %d\ndata: \n\n" % (secrets.token_hex(8).encode(), RETRY_MS))  # H-09
        while not waiting.done() and not gone.done():
            await asyncio.wait({waiting, gone}, timeout=KEEP_ALIVE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done() and not gone.done():
                await _send_part(send, b": keep-alive\n\n")
        if waiting.done():
            await _send_part(send, b"event: message\ndata: %b\n\n" % waiting.result())
            await _send_end(send)  # H-12
    except asyncio.CancelledError:  # by the web server, when its grace period is over: the client comes back (H-10)
        await _send_end(send)
    finally:
        for task in (waiting, gone):
            task.cancel()
        await asyncio.gather(waiting, gone, return_exceptions=True)


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send_end(send: Send) -> None:
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _send_part(send: Send, part: bytes) -> None:
    await send({"type": "http.response.body", "body": part, "more_body": True})
