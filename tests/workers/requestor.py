"""The client of tasks that ask it something."""

from typing import Any

import orjson

from receiver import Receiver
from receiver.principal import ANONYMOUS
from receiver.protocol.handshake import LATEST
from receiver.session import Session, new_session_id
from receiver.store.client import Client
from receiver.store.sessions import SessionStore
from receiver.store.streams import Stream, StreamStore
from tests.workers.stage import Stage, until

CAPABILITIES: dict[str, Any] = {"elicitation": {"form": {}}}
ACCEPT = b'{"result":{"action":"accept","content":{"name":"plain"}}}'


class Requestor:
    """The client of all tasks; ``answer`` takes whatever a task asks."""

    def __init__(self, stage: Stage, app: Receiver) -> None:
        self.stage, self.app = stage, app
        self.session = Session(new_session_id(), ANONYMOUS.owner, LATEST, CAPABILITIES)
        client = Client(stage.redis, stage.keys, with_flags=stage.with_flags)
        self._streams = StreamStore(client, lease=60_000, session_idle=60_000)
        self._sessions = SessionStore(client, idle=600_000, cap=10)

    async def start(self) -> None:
        await self._sessions.start(self.session, {"name": "test"})

    async def create(self, tool: str, **options: Any) -> str:
        record = {"session": self.session.id, "capabilities": orjson.dumps(CAPABILITIES), "protocol": LATEST.version}
        return await self.stage.create(self.app, tool, record=record, **options)

    async def asked(self, task_id: str) -> str:
        """The id of the request that a task made."""
        found: list[str] = []

        async def is_there() -> bool:
            stream = Stream(f"stream of {task_id}", self.session, b"1")  # by a new connection each time
            news = await self._streams.follow(stream, task_id, "task", "", begins=True)
            messages = [orjson.loads(message.body) for message in news.messages]
            found[:] = [message["id"] for message in messages if "id" in message]
            return bool(found)

        await until(is_there)
        return found[0]

    async def answer(self, task_id: str) -> None:
        assert await self.stage.kit.inputs.answer(await self.asked(task_id), self.session, ACCEPT)
