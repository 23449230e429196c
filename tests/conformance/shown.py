"""What saboteurs change in the tasks of a message."""

from typing import Any

from ops.client.stream import Message
from tests.conformance.sabotage import Call

GONE = object()


def tasks_in(message: Message) -> list[dict[str, Any]]:
    """The tasks that a response shows: of a CreateTaskResult, tasks/get, tasks/list or tasks/cancel."""
    result = message.get("result", {})
    shown = result.get("tasks", [result.get("task", result)])
    return [task for task in shown if "taskId" in task]


def is_outcome(call: Call, message: Message) -> bool:
    """Whether it is the result that tasks/result gives; status notifications may come before it."""
    return call.method == "tasks/result" and "result" in message


def show_as(call: Call, message: Message, method: str, node: int | None = None, **members: Any) -> Message:
    """A response to ``method``, from ``node`` if one is given, whose tasks have these members instead; GONE is none."""
    if call.method == method and node in (None, call.node):
        for task in tasks_in(message):
            for name, value in members.items():
                task.pop(name, None) if value is GONE else task.update({name: value})
    return message
