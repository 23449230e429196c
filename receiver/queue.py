"""arq's side of a task: its job, as a stock arq would have written and would read it."""

import time
from typing import Any

import orjson
from arq.jobs import serialize_job

FUNCTION = "run_task"  # the one function that jobs name; their one argument is the task id


def encode_job(task_id: str) -> bytes:
    """The job of a task, to be stored under its arq key.  The time in it only serves arq's log."""
    return serialize_job(FUNCTION, (task_id,), {}, None, int(time.time() * 1000), serializer=serialize)


def serialize(job: dict[str, Any]) -> bytes:
    """arq's serializer: JSON, since its default runs code that whoever can write to Redis chose."""
    return orjson.dumps(job)


def deserialize(job: bytes) -> Any:
    """arq's deserializer."""
    return orjson.loads(job)
