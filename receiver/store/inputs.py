"""What a task asks its requestor, and the answers."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import orjson

from receiver.protocol.capability import CANCEL_TASKS, client_supports
from receiver.protocol.client_task import ClientTask
from receiver.protocol.messages import render_task_request
from receiver.session import Session
from receiver.store.client import Client
from receiver.store.runs import Verdict
from receiver.store.tasks import new_nonce
from receiver.telemetry import metrics
from receiver.telemetry.audit import Caller

State = Literal["", "open", "accepted", "answered", "closed"]


@dataclass(frozen=True, slots=True)
class Question:
    """A request of ours to a client: ``name`` is which one of its run, ``digest`` what makes it the same one.

    ``needs``: what a client must have declared to be sent it.  ``withdrawal``: the notification that takes it back,
    b"" for a request that asks for a task, which is not taken back that way (T-73).
    """

    name: str
    digest: str
    request_id: str
    method: str
    body: bytes
    needs: Sequence[str] = ()
    withdrawal: bytes = b""


@dataclass(frozen=True, slots=True)
class Asked:
    """A ``request`` of ours, made by ``task_id``, as whoever answers it has to know it.

    ``question`` is the request itself, or, where that polls a client's task, the one that the task is for.
    Both are {} once they are over and forgotten.
    """

    task_id: str
    request: dict[str, Any]
    question: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Standing:
    """How a question stands.  ``client_task`` is the id of the task by which the client answers, "" for none.

    ``rest``: ms until that task expires, None for never.  ``is_polled``: a poll of it waits for its answer;
    ``said`` is the answer to the last one, as JSON.  ``is_reachable``: the session that was asked lives.
    """

    state: State
    answer: bytes
    client_task: str
    rest: int | None
    is_polled: bool
    said: bytes
    is_reachable: bool


def new_request_id() -> str:
    """An id for a request of ours: whoever answers it must have been sent it."""
    return f"ask-{secrets.token_hex(16)}"


class AskedOtherwise(Exception):
    """An earlier run asked something else in this place: the tool does not repeat itself."""


class InputStore:
    """The questions of all tasks."""

    def __init__(self, client: Client) -> None:
        self._client = client

    # Runs

    async def ask(self, task_id: str, run: int, question: Question) -> Verdict | bytes:
        """Asks; the answer as JSON if an earlier run got one.  Raises AskedOtherwise."""
        head = (task_id, run, question.name, question.digest, question.request_id)
        tail = (question.method, question.body, " ".join(question.needs), question.withdrawal)
        code, *answer = await self._client.call("ask", *head, *tail)
        if code == 2:
            return bytes(answer[0])
        if code == -5:
            raise AskedOtherwise(question.name)
        verdict = Verdict(code)
        if verdict is Verdict.DONE:
            metrics.count_question(question.method, "asked")
        else:
            metrics.count_rejected(verdict.name.lower(), "input_required")
        return verdict

    async def look(self, task_id: str, question: str) -> Standing:
        """How a question stands."""
        state, answer, client_task, rest, poll, said, lives = await self._client.call(
            "read_question", task_id, question
        )
        return Standing(
            state=cast(State, state.decode()),
            answer=bytes(answer),
            client_task=client_task.decode(),
            rest=rest,
            is_polled=poll == b"polling",
            said=bytes(said),
            is_reachable=lives == 1,
        )

    async def get_states(self, questions: Sequence[tuple[str, str]]) -> list[State]:
        """The state of each question, named by its task and itself."""
        flat = [item for question in questions for item in question]
        return [cast(State, state.decode()) for state in await self._client.call("question_states", *flat)]

    async def poll(
        self, task_id: str, run: int, question: str, method: Literal["tasks/get", "tasks/result"], client_task: str
    ) -> int | None:
        """Asks the client of an accepted question how its task stands, or for its result.

        Returns None if that is asked, or need not be any more; else the ms until it may be asked (T-18).
        """
        request_id = new_request_id()
        body = render_task_request(request_id, method, client_task)
        head = (task_id, run, question, request_id, body)
        code, *early = await self._client.call("poll", *head, int(method == "tasks/result"))
        return int(early[0]) if code == 2 else None

    async def withdraw(self, task_id: str, run: int, question: str, answer: bytes = b"") -> Verdict:
        """Gives up on a question, and its client is told; with an ``answer`` the run has answered it itself."""
        verdict = Verdict(await self._client.call("withdraw", task_id, run, question, answer))
        if verdict is Verdict.DONE and not answer:
            metrics.count_question(question.partition("#")[0], "withdrawn")
        return verdict

    async def tell(self, task_id: str, run: int, question: str, notification: bytes) -> Verdict:
        """Sends a notification to the session that was asked a question, and to no other (E-04)."""
        return Verdict(await self._client.call("tell", task_id, run, question, new_nonce(), notification))

    # Clients

    async def find(self, request_id: str, session: Session) -> Asked | None:
        """What the request with this id asked; None if this session was never asked that."""
        found = await self._client.call("find_question", request_id, session.owner, session.id)
        if not found:
            return None
        task_id, request, question = found
        return Asked(task_id.decode(), orjson.loads(request or b"{}"), orjson.loads(question or b"{}"))

    async def answer(self, request_id: str, session: Session, answer: bytes, caller: Caller | None = None) -> bool:
        """Answers a question; False if it is too late, or was answered before."""
        head = (request_id, session.owner, session.id, answer)
        return int(await self._client.call("answer", *head, "" if caller is None else caller.to_note())) == 1

    async def accept(self, request_id: str, session: Session, task: ClientTask, caller: Caller | None = None) -> bool:
        """The client answers a question by a task of its own.  False if it is too late: that task is cancelled.

        It can be cancelled only if the client declared so.
        """
        cancel_id, cancel = new_request_id(), b""
        if client_supports(session.capabilities, CANCEL_TASKS):
            cancel = render_task_request(cancel_id, "tasks/cancel", task.id)
        head = (request_id, session.owner, session.id, task.id, "" if task.ttl is None else task.ttl)
        tail = (cancel_id, cancel, "" if caller is None else caller.to_note())
        return int(await self._client.call("accept", *head, task.poll_interval, *tail)) == 1

    async def answer_poll(self, request_id: str, session: Session, answer: bytes, interval: int | None) -> bool:
        """How a task of the client's stands; it is asked again after ``interval`` ms, or as many as before."""
        head = (request_id, session.owner, session.id, answer)
        return int(await self._client.call("answer_poll", *head, "" if interval is None else interval)) == 1
