"""What must not be left in a store at rest."""

import fnmatch
from collections import defaultdict
from collections.abc import Iterator

from receiver.protocol.lifecycle import STATUSES, TERMINAL
from receiver.store.keys import SPECS, Keys
from tests.chaos.evidence import Dump

KEYS = Keys()


def find_leftovers(dump: Dump) -> Iterator[str]:
    """A line for each key or entry that should not be there."""
    yield from _find_lasting(dump)
    yield from _find_work(dump)
    yield from _find_entries(dump)


def _find_lasting(dump: Dump) -> Iterator[str]:
    """Keys for ever, and tasks for longer than they were promised."""
    for key, ttl in dump.ttls.items():
        if ttl < 0 and not any(fnmatch.fnmatchcase(key, pattern) for pattern in _PERMANENT):
            yield f"{key} has no TTL"
    for task, record in dump.records.items():
        if dump.ttls[KEYS.task(task)] > int(record["ttl"]):
            yield f"{task} lives longer than its ttl"


def _find_work(dump: Dump) -> Iterator[str]:
    """Queues, leases and jobs: of tasks that are over, or of none."""
    is_open = {task: record["status"] not in TERMINAL for task, record in dump.records.items()}
    for key, value in dump.values.items():
        if key.startswith("arq:"):
            tasks = [key.rpartition(KEYS.job_prefix)[2]]
        elif fnmatch.fnmatchcase(key, _pattern("queue")):
            tasks = [member.removeprefix(KEYS.job_prefix) for member in value]
        elif key in (KEYS.leases(), KEYS.later()) or fnmatch.fnmatchcase(key, _pattern("running")):
            tasks = list(value)
        elif any(fnmatch.fnmatchcase(key, _pattern(name)) for name in ("held", "active")):
            tasks = [name for name in value if name in is_open]  # what expired goes with the key
        else:
            continue
        yield from (f"{task} is over, and in {key}" for task in tasks if not is_open.get(task, False))


def _find_entries(dump: Dump) -> Iterator[str]:
    """Each record stands in the index of its status alone, in its owner's, and in that of ends; nothing else does."""
    found: dict[str, list[str]] = defaultdict(list)
    for status in STATUSES:
        for key, value in dump.values.items():
            if key.startswith(KEYS.status(status, "")):
                for task in value:
                    found[task].append(status)
    ends = {entry.split("/")[1] for entry in dump.values.get(KEYS.expiry(), [])}
    for task, record in dump.records.items():
        if found[task] != [record["status"]]:
            yield f"{task} is {record['status']}, and indexed as {found[task]}"
        is_listed = task in dump.values.get(KEYS.owner(record["owner"]), [])
        if is_listed != (record.get("kind", "task") == "task"):
            yield f"{task}, a {record.get('kind')}, is {'' if is_listed else 'not '}in its owner's index"
        if task not in ends:
            yield f"{task} would never be swept"
    yield from (f"{task} has no record, and is indexed" for task in (ends | set(found)) - set(dump.records))


def _pattern(name: str) -> str:
    method = getattr(KEYS, name)
    argument = ["*"] * (method.__code__.co_argcount - 1)
    return str(method(*argument))


_PERMANENT = [_pattern(name) for name, spec in SPECS.items() if spec.is_permanent and spec.type != "channel"]
