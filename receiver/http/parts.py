"""What a stream is fed with, as JSON-RPC messages for its client."""

import asyncio
from collections.abc import Callable

from receiver.dispatch import Answer
from receiver.feed import SessionFeed, TaskFeed
from receiver.http.account import Account
from receiver.http.reply import Part
from receiver.protocol.errors import SessionEnded
from receiver.protocol.jsonrpc import RequestId, frame_error, frame_error_bytes, frame_result
from receiver.store.record import Progress
from receiver.store.streams import Message, StreamGivenUp

_NO_MORE = Part("", b"", is_last=True)


class AnswerParts:
    """The messages of a task, and at last the answer to the request ``id``, which ``finish`` makes of its end."""

    __slots__ = ("_account", "_feed", "_finish", "_id")

    def __init__(self, feed: TaskFeed, id: RequestId, finish: Callable[[Progress], Answer], account: Account) -> None:
        self._feed = feed
        self._id = id
        self._finish = finish
        self._account = account

    async def next(self, until: float) -> Part | None:
        """The next one; None if there is none by then."""
        try:
            entry = await self._feed.next(until)
            if entry is None:
                return None
            if isinstance(entry, Message):
                return Part(entry.position, entry.body, closes=entry.closes)
            answer = frame_answer(self._id, self._account.note(self._finish(entry)))
            return Part(self._feed.position, answer, is_last=True)
        except StreamGivenUp:
            return _NO_MORE  # L-07
        except Exception as error:
            return self._explain(error)

    def stop(self) -> Part:
        """That this node is stopping."""
        return self._explain(asyncio.CancelledError())

    def close(self) -> None:
        """Ends the stream."""
        self._feed.close()

    def _explain(self, error: BaseException) -> Part:
        return Part(self._feed.position, frame_error(self._id, self._account.explain(error)), is_last=True)


class EventParts:
    """What a session is told."""

    __slots__ = ("_feed",)

    def __init__(self, feed: SessionFeed) -> None:
        self._feed = feed

    async def next(self, until: float) -> Part | None:
        """The next one; None if there is none by then."""
        try:
            entry = await self._feed.next(until)
        except (SessionEnded, StreamGivenUp):  # H-13
            return _NO_MORE
        return Part(entry.position, entry.body) if isinstance(entry, Message) else None

    def stop(self) -> None:
        """There is no request that could be answered."""

    def close(self) -> None:
        """Ends the stream."""
        self._feed.close()


def frame_answer(id: RequestId, answer: Answer) -> bytes:
    """An answer as a JSON-RPC response."""
    return frame_result(id, answer.body) if answer.kind == "result" else frame_error_bytes(id, answer.body)
