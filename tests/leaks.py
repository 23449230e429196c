"""Finds keys that would stay for ever: whatever a test did, nothing may be left of it in the end."""

from typing import Any

from receiver.store.diagnosis.strays import find_spec
from receiver.store.keys import Keys
from receiver.store.scripts import load

# What may stand in a store whose tasks are all gone: of a size that does not grow with tasks or owners, or with a TTL
# that has nothing to do with tasks.
LASTING = {"served", "clock", "workers", "secret", "labels", "tally", "bell", "own_bell", "worker", "held"}
LASTING |= {"session", "sessions", "requests", "talking", "hearers", "listeners", "stream", "replay", "rate", "ask"}
LASTING |= {"session_outbox", "subscribed", "subscribers", "announced", "all_sessions", "nodes", "node"}
LASTING |= {"audit", "audited"}

FOREVER = -1  # what PTTL says of a key without a TTL


def find_leaks(redis: Any, keys: Keys) -> list[str]:
    """Each key that no TTL takes away and that is not on the permanent list, or is not what the list says it is."""
    return [leak for key in _all_keys(redis) if (leak := _find_leak(redis, keys, key))]


def expire_all(redis: Any, keys: Keys, *, with_flags: bool = True) -> None:
    """Lets the time of every task be over, and sweeps."""
    for entry in redis.zrange(keys.expiry(), 0, -1):
        _, task_id, *_ = entry.decode().split("/", 2)
        own = (keys.task, keys.arq_job, keys.outbox, keys.inputs, keys.steps, keys.history, keys.retries)
        redis.delete(*(name(task_id) for name in own))
        redis.zadd(keys.expiry(), {entry: 0})
    source = load("sweep", with_flags=with_flags).source
    while redis.eval(source, 2, keys.prefix, keys.job_prefix, "500", "86400000"):
        pass


def find_remains(redis: Any, keys: Keys) -> list[str]:
    """Each key that should have gone with the last task."""
    return [key for key in _all_keys(redis) if (spec := find_spec(keys, key)) is None or spec.name not in LASTING]


def _find_leak(redis: Any, keys: Keys, key: str) -> str | None:
    spec = find_spec(keys, key)
    if spec is None:
        return f"{key} is not in the table of keys"
    type_ = _decode(redis.type(key))
    if type_ == "none":
        return None  # its TTL ended just now
    if type_ != spec.type:
        return f"{key} is a {type_}, and should be a {spec.type}"
    if redis.pttl(key) == FOREVER and not spec.is_permanent:
        return f"{key} has no TTL"
    return None


def _all_keys(redis: Any) -> list[str]:
    found: Any = redis.keys("*")
    return sorted(map(_decode, found))


def _decode(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
