"""``receiver keys``: what each key is, and the redis-cli command that shows it."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from ops import report
from ops.commands.connection import REFUSED, Store
from ops.render import make_table, open_console, print_json
from receiver.protocol.task_id import is_task_id
from receiver.settings import load_settings
from receiver.store.inspect import Dossier
from receiver.store.keys import SPECS, Keys

SHOW = {
    "hash": ("HGETALL", ()),
    "zset": ("ZRANGE", ("0", "99", "REV", "WITHSCORES")),  # there may be a million entries
    "list": ("LRANGE", ("0", "99")),
    "set": ("SSCAN", ("0", "COUNT", "100")),
    "string": ("GET", ()),
    "stream": ("XREVRANGE", ("+", "-", "COUNT", "20")),
    "channel": ("SUBSCRIBE", ()),
}
TOLD_LENGTH = {"secret"}  # nobody needs to read it, and who does could forge cursors

OF_ITS_ID = ("task", "inputs", "steps", "history", "retries", "outbox", "listeners", "arq_job", "events")


@dataclass(frozen=True, slots=True)
class Entry:
    """A key, and the command that shows it."""

    name: str
    key: str
    command: str


def show_keys(namespace: str | None, *, as_json: bool) -> int:
    """Prints the whole map; the store is not asked."""
    settings = load_settings() if namespace is None else load_settings(namespace=namespace)
    entries = list_keys(Keys(settings.namespace))
    if as_json:
        print_json({"keys": [_to_json(entry) for entry in entries]})
    else:
        open_console().print(draw_keys(entries))
    return 0


async def show_task_keys(store: Store, task_id: str, *, as_json: bool) -> int:
    """Prints the commands for one task: its own keys, and what it stands in."""
    dossier = await store.inspector.examine(task_id) if is_task_id(task_id) else None
    if dossier is None:
        report.complain("there is no such task, or its time is over")
        return REFUSED
    entries = list_task_keys(store.keys, dossier)
    if as_json:
        print_json({"id": task_id, "keys": [_to_json(entry) for entry in entries]})
    else:
        for entry in entries:
            print(f"{entry.command}  # {SPECS[entry.name].holds}")
    return 0


def list_keys(keys: Keys) -> list[Entry]:
    """Every key that there can be, with names in angle brackets for what differs."""
    return [_make_entry(name, _example(keys, name)) for name in SPECS]


def list_task_keys(keys: Keys, dossier: Dossier) -> list[Entry]:
    """The keys of one task, and those of others that it stands in just now."""
    entries = [_make_entry(name, getattr(keys, name)(dossier.id)) for name in OF_ITS_ID]
    return entries + list(_list_places(keys, dossier))


def draw_keys(entries: list[Entry]) -> Table:
    """A table of them."""
    rows = [(entry.command, SPECS[entry.name].expiry or "-", SPECS[entry.name].holds) for entry in entries]
    return make_table(["COMMAND", "TTL", "HOLDS"], rows, wrapped="HOLDS")


def _list_places(keys: Keys, dossier: Dossier) -> Iterator[Entry]:
    """Where a task is found: by a command that answers with its score, or place."""
    fields = {name: value.decode(errors="replace") for name, value in dossier.record.items()}
    label = f"{fields.get('kind')}:{fields.get('tool')}"
    owner, queue, worker = fields.get("owner", ""), fields.get("queue", ""), fields.get("worker")
    entry = "/".join((owner, dossier.id, queue, label))
    members = {
        ("status", keys.status(fields["status"], label)): dossier.id,
        ("owner", keys.owner(owner)): dossier.id,
        ("active", keys.active(owner)): dossier.id,
        ("expiry", keys.expiry()): entry,
        ("queue", keys.queue(queue)): keys.job_id(dossier.id),
        ("leases", keys.leases()): dossier.id,
        ("later", keys.later()): dossier.id,
    }
    for (name, key), member in members.items():
        yield Entry(name, key, _write("ZSCORE", key, member))
    if worker:
        yield _make_entry("worker", keys.worker(worker))


def _make_entry(name: str, key: str) -> Entry:
    command, tail = SHOW[SPECS[name].type]
    if name in TOLD_LENGTH:
        return Entry(name, key, _write("STRLEN", key))
    return Entry(name, key, _write(command, key, *tail))


def _example(keys: Keys, name: str) -> str:
    method = getattr(keys, name)
    parameters = method.__code__.co_varnames[1 : method.__code__.co_argcount]
    return str(method(*(f"<{parameter}>" for parameter in parameters)))


def _write(*words: str) -> str:
    """As a shell takes it, also what a hostile name is part of: nothing in it is more than text."""
    return " ".join(["redis-cli", *map(_quote, words)])


def _quote(word: str) -> str:
    if word.isprintable():
        return shlex.quote(word)
    escaped = "".join(
        c if c.isprintable() and c not in "\\'" else "".join(f"\\x{b:02x}" for b in c.encode(errors="replace"))
        for c in word
    )
    return f"$'{escaped}'"


def _to_json(entry: Entry) -> Mapping[str, Any]:
    spec = SPECS[entry.name]
    head = {"name": entry.name, "key": entry.key, "type": spec.type, "ttl": spec.expiry or None, "holds": spec.holds}
    return {**head, "command": entry.command}
