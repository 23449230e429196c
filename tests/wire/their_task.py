"""A task that a client of the tests runs for the server, and how the client hears of it."""

from dataclasses import dataclass
from typing import Any

from tests.wire.client import RELATED_TASK, Message, Stream
from tests.wire.forms import NAME, STATUS

CAN_RUN: dict[str, Any] = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {},
    "tasks": {
        "list": {},
        "cancel": {},
        "requests": {"elicitation": {"create": {}}, "sampling": {"createMessage": {}}},
    },
}
ASK_FOR_TASK = ["elicit", "Who?", NAME, {"as_task": True}]  # a step of a script
HOUR = 3_600_000
GONE = {"code": -32602, "message": "Failed to retrieve task: Task has expired"}
_AT = "2025-11-25T10:30:00Z"


@dataclass(frozen=True)
class TheirTask:
    """``ttl`` and ``interval`` in ms; without an ``interval`` it says none."""

    id: str
    ttl: int | None = HOUR
    interval: int | None = 0

    def at(self, status: str) -> Message:
        """What ``tasks/get`` answers."""
        task = {"taskId": self.id, "status": status, "ttl": self.ttl, "createdAt": _AT, "lastUpdatedAt": _AT}
        return task if self.interval is None else task | {"pollInterval": self.interval}

    @property
    def created(self) -> Message:
        """The CreateTaskResult."""
        return {"task": self.at("working")}

    def result(self, result: Message) -> Message:
        """What ``tasks/result`` answers."""
        return result | {"_meta": {RELATED_TASK: {"taskId": self.id}}}


async def next_request(stream: Stream, method: str) -> Message:
    """The next request on a stream, behind changes of status."""
    while (message := await stream.message()).get("method") == STATUS:
        pass
    assert message.get("method") == method, message
    return message
