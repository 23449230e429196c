"""What the audit trail says of one thing that was done or denied, and its line in the log (T-97 to T-99).

Who, from where, which operation, which task; of arguments a digest and their size.  Never an argument, a result or a
token.
"""

import hashlib
import itertools
import os
import secrets
from collections.abc import Iterator
from typing import Literal, NamedTuple

import structlog

from receiver.principal import Principal

# As they stand in an entry of the stream, in the order of Event; then what only a buffer knows.
FIELDS = ("by", "op", "who", "owner", "from", "req", "args", "size", "task", "label", "outcome", "detail")
STORED = (*FIELDS, "count", "ago")

DIGEST_LENGTH = 16
LONGEST = 128  # characters of what a client or an issuer chose

Outcome = Literal["success", "failure", "denied"]

_PROCESS, _calls = secrets.token_hex(8), itertools.count()

log = structlog.get_logger("receiver.audit")


class Caller(NamedTuple):
    """Who calls, from ``address``, by which operation.  ``by``: client, worker or operator.

    ``digest`` and ``size`` are of the arguments as they are stored; ``mark`` is that of this one call.
    """

    by: str
    operation: str
    who: str
    owner: str
    address: str
    request: str
    digest: str
    size: str
    mark: str

    def to_note(self) -> str:
        """What a script takes, to note the call in the step that does what it asks for: a line each."""
        return "\n".join(self) + "\n"


class Event(NamedTuple):
    """One thing that was done to ``task``, or denied.  All are text, and ``""`` where there is nothing to say.

    ``label`` is kind and name of what the task runs; ``detail`` the status that it got or has, or why not.
    """

    by: str = ""
    operation: str = ""
    who: str = ""
    owner: str = ""
    address: str = ""
    request: str = ""
    digest: str = ""
    size: str = ""
    task: str = ""
    label: str = ""
    outcome: str = ""
    detail: str = ""


class Entry(NamedTuple):
    """An event in the trail: its ``id`` there, when it happened (ms, by Redis's clock), and how often."""

    id: str
    time: int
    times: int
    event: Event


def client(principal: Principal, operation: str, request: object, address: str, arguments: bytes = b"") -> Caller:
    """A client as the caller of ``operation``; ``request`` is the JSON-RPC id."""
    return Caller(
        "client",
        operation,
        clean(principal.subject),
        principal.owner,
        clean(address),
        clean(str(request)),
        hashlib.sha256(arguments).hexdigest()[:DIGEST_LENGTH] if arguments else "",
        str(len(arguments)) if arguments else "",
        _new_mark(),
    )


def operator(name: str, operation: str, address: str = "") -> Caller:
    """An operator as the caller of ``operation``; the owner in the entry will be that of the task."""
    return Caller("operator", operation, clean(name), "", clean(address), "", "", "", _new_mark())


def _new_mark() -> str:
    """Of this process and this call alone; a random one would cost a system call."""
    return f"{_PROCESS}{os.getpid():x}-{next(_calls):x}"


def event_of(caller: Caller, outcome: Outcome, detail: str = "", task: str = "") -> Event:
    """What became of a call."""
    return Event(*caller[:-1], task, "", outcome, detail)


def stranger(address: str, reason: str) -> Event:
    """A request whose credentials did not do."""
    return Event("client", "authenticate", address=clean(address), outcome="denied", detail=reason)


def clean(text: str) -> str:
    """``text`` in one short line: it was chosen by others."""
    if len(text) <= LONGEST and text.isprintable():
        return text
    return "".join(_show(text[:LONGEST]))


def _show(text: str) -> Iterator[str]:
    return (character if character.isprintable() else "?" for character in text)


def record(event: str, principal: Principal, **about: object) -> None:
    """Writes a log line: ``task_cancelled``, ``answer_taken``, ``denied`` …"""
    log.info(event, subject=principal.subject, owner=principal.owner, **about)


def mention(event: str, principal: Principal, **about: object) -> None:
    """The same of what happens all the time, and is in the trail anyway: ``task_created``, ``task_retrieved``."""
    log.debug(event, subject=principal.subject, owner=principal.owner, **about)
