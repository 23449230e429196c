"""What a task asks its requestor, and the answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from receiver.session import Session
from receiver.store.client import Client
from receiver.store.runs import Verdict


@dataclass(frozen=True, slots=True)
class Question:
    """A request of ours to a client: ``name`` is which one of its run, ``digest`` what makes it the same one.

    ``needs``: what a client must have declared to be sent it.
    """

    name: str
    digest: str
    request_id: str
    method: str
    body: bytes
    needs: Sequence[str] = ()


class AskedOtherwise(Exception):
    """An earlier run asked something else in this place: the tool does not repeat itself."""


class InputStore:
    """The questions of all tasks."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def ask(self, task_id: str, run: int, question: Question) -> Verdict | bytes:
        """Asks; the answer as JSON if an earlier run got one.  Raises AskedOtherwise."""
        head = (task_id, run, question.name, question.digest, question.request_id)
        tail = (question.method, question.body, " ".join(question.needs))
        code, *answer = await self._client.call("ask", *head, *tail)
        if code == 2:
            return bytes(answer[0])
        if code == -5:
            raise AskedOtherwise(question.name)
        return Verdict(code)

    async def find(self, request_id: str, session: Session) -> dict[str, Any] | None:
        """The request that has this id, {} if its task has expired, None if this session was never asked that."""
        found = await self._client.call("find_question", request_id, session.owner, session.id)
        if not found:
            return None
        request: dict[str, Any] = orjson.loads(found[0] or b"{}")
        return request

    async def answer(self, request_id: str, session: Session, answer: bytes) -> bool:
        """Answers a question; False if it is too late, or was answered before."""
        return int(await self._client.call("answer", request_id, session.owner, session.id, answer)) == 1

    async def read_answers(self, task_id: str, questions: list[str]) -> dict[str, bytes]:
        """The answers that are there, as JSON, by question."""
        answers = await self._client.call("read_answers", task_id, *questions)
        return {question: answer for question, answer in zip(questions, answers, strict=True) if answer}
