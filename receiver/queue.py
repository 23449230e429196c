"""arq's side of a task: its job, as a stock arq would have written and would read it."""

import time
from typing import Any

import orjson
from arq.jobs import serialize_job

FUNCTION = "run_task"  # the one function that jobs name; their one argument is the task id


def encode_job(task_id: str) -> bytes:
    """The job of a task, to be stored under its arq key.  The time in it only serves arq's log."""
    return serialize_job(FUNCTION, (task_id,), {}, None, int(time.time() * 1000), serializer=serialize)


def is_job_of(task_id: str, job: bytes) -> bool:
    """Whether ``job`` is what ``encode_job`` wrote for a task."""
    try:
        read = deserialize(job)
    except orjson.JSONDecodeError:
        return False
    enqueued = read.get("et") if isinstance(read, dict) else None
    return isinstance(enqueued, int) and read == {"f": FUNCTION, "a": [task_id], "k": {}, "t": None, "et": enqueued}


def serialize(job: dict[str, Any]) -> bytes:
    """arq's serializer: JSON, since its default runs code that whoever can write to Redis chose."""
    return orjson.dumps(job)


def deserialize(job: bytes) -> Any:
    """arq's deserializer."""
    return orjson.loads(job)
