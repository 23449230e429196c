"""A form that tasks of the tests have filled in, and how a client hears of it."""

from typing import Any

from tests.wire.client import Message, Stream

FORMS: dict[str, Any] = {"elicitation": {}}  # what a client declares that fills in forms
NAME = {"type": "object", "properties": {"name": {"type": "string", "minLength": 2}}, "required": ["name"]}
ASK = ["elicit", "Who?", NAME]  # a step of a script
ADA = {"action": "accept", "content": {"name": "Ada"}}
ELICIT = "elicitation/create"
STATUS = "notifications/tasks/status"


async def next_question(stream: Stream) -> Message:
    """The next question on a stream, behind changes of status."""
    while (message := await stream.message()).get("method") != ELICIT:
        assert message.get("method") == STATUS, message
    return message
