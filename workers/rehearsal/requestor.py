"""The imagined requestor: makes tasks and calls as the API tier does, and answers what they ask."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from receiver.operation import Operation
from receiver.principal import Principal
from receiver.protocol.handshake import LATEST
from receiver.protocol.task_id import new_task_id
from receiver.queue import encode_job
from receiver.session import Session, new_session_id
from receiver.settings import Settings
from receiver.store.admission import ANY_RATE, Admission
from receiver.store.client import Client
from receiver.store.inputs import InputStore
from receiver.store.record import Kind, Progress
from receiver.store.scripts import Argument
from receiver.store.sessions import SessionStore
from receiver.store.streams import Stream, StreamStore
from receiver.store.tasks import NewTask, TaskStore
from workers.rehearsal.answers import Prompter, Question

EVERYTHING: dict[str, Any] = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"tools": {}, "context": {}},
    "tasks": {"requests": {"elicitation": {"create": {}}, "sampling": {"createMessage": {}}}, "cancel": {}},
}

_AGES = 10 * 365 * 86_400_000  # ms that no rehearsal lasts: sessions and streams outlive all that is slept
_REQUEST = b"1"


@dataclass(frozen=True)
class Request:
    """What is called, and how: ``params`` are what the operation binds; ``ttl`` and ``timeout`` in ms."""

    method: str
    operation: Operation
    params: Any
    kind: Kind
    ttl: int
    timeout: int | None
    max_attempts: int

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.operation.noun.lower()} {self.operation.key!r}"


class Requestor:
    """One client, with one session."""

    def __init__(
        self,
        client: Client,
        tasks: TaskStore,
        settings: Settings,
        principal: Principal,
        capabilities: Mapping[str, Any],
    ) -> None:
        self._tasks = tasks
        self._settings = settings
        self._principal = principal
        self._session = Session(new_session_id(), principal.owner, LATEST, capabilities)
        self._sessions = SessionStore(client, idle=_AGES, cap=10)
        self._streams = StreamStore(client, lease=_AGES, session_idle=_AGES)
        self._inputs = InputStore(client)

    async def start(self) -> None:
        """Opens the session."""
        await self._sessions.start(self._session, {"name": "rehearsal"})

    async def create(self, request: Request) -> str:
        """Creates the task or the call; returns its id."""
        operation, as_task = request.operation, request.kind == "task"
        fields: dict[str, Argument] = {
            "tool": operation.key,
            "method": request.method,
            "params": orjson.dumps(request.params),
            "protocol": LATEST.version,
            "principal": orjson.dumps(self._principal.to_json()),
            "session": self._session.id,
            "capabilities": orjson.dumps(self._session.capabilities),
            "poll_interval": self._settings.poll_interval,
            "max_attempts": request.max_attempts,
        }
        fields |= {} if as_task else {"request": _REQUEST}
        fields |= {} if request.timeout is None else {"timeout": request.timeout}
        task_id, owner, queue = new_task_id(), self._principal.owner, operation.queue_for(as_task=as_task)
        new = NewTask(task_id, owner, queue, request.kind, request.ttl, encode_job(task_id), fields)
        await self._tasks.create(Admission(owner, self._session.id, owner, "", _AGES, ANY_RATE), new)
        return task_id

    async def look(self, task_id: str, kind: Kind, part: "Part") -> tuple[Progress, bool]:
        """How far the task is, and whether something was answered; raises AssertionError where no answer fits."""
        stream = Stream(f"stream of {task_id}", self._session, _REQUEST)  # by a new connection each time
        news = await self._streams.follow(stream, task_id, kind, "", begins=True)
        answered = False
        for body in (message.body for message in news.messages):
            message = orjson.loads(body)
            if "id" in message and message["id"] not in part.seen:
                part.seen.add(message["id"])
                answered |= await self._answer(message, part.prompter)
        return news.progress, answered

    async def _answer(self, message: dict[str, Any], prompter: Prompter) -> bool:
        params = {name: value for name, value in message["params"].items() if name != "_meta"}
        answer = prompter.answer(Question(message["method"], params))
        return answer is not None and await self._inputs.answer(message["id"], self._session, answer)


class Part:
    """What the requestor has in mind for one task: its answers, and the ids of the requests that it has seen."""

    def __init__(self, prompter: Prompter) -> None:
        self.prompter = prompter
        self.seen: set[str] = set()
