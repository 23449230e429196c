"""The Lua scripts: read from ``lua/*.lua`` once, put together with what they include, and called by name.

A script file may hold ``-- include: name`` lines, each of which stands for ``lua/_name.lua`` (once a script), and
calls ``key_<name>(…)`` for the keys of ``keys.py``.  ``python -m receiver.store.scripts DIR`` writes the scripts as
the server gets them, for luacheck and for curious readers.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha1
from importlib.resources import files
from pathlib import Path

from receiver.settings import AUDIT_EVENTS
from receiver.store.keys import SPECS, lua_function

_INCLUDE = re.compile(r"^-- include: (\w+)$", re.MULTILINE)
_FLAGS = re.compile(r"^#!lua[^\n]*\n")
_WRITING = "#!lua flags=allow-oom\n"
_KEY_CALL = re.compile(r"\bkey_(\w+)\(")
_FUNCTION = re.compile(r"^local function (\w+)\(.*?^end\n", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"--[^\n]*")
_WORD = re.compile(r"\w+")

Argument = str | bytes | int


@dataclass(frozen=True)
class Script:
    """One script as the server gets it: ``source`` and its ``sha``."""

    name: str
    source: str
    sha: str


def _read(name: str) -> str:
    return (files("receiver.store") / "lua" / f"{name}.lua").read_text(encoding="utf-8")


def _expand(text: str, included: set[str]) -> str:
    def include(match: re.Match[str]) -> str:
        name = match.group(1)
        if name in included:
            return ""
        included.add(name)
        return _expand(_read(f"_{name}"), included)

    return _INCLUDE.sub(include, text)


def _drop_unused(body: str) -> str:
    """``body`` without the functions that nothing in it calls: Lua makes all of them anew each time a script runs."""
    words = Counter(_WORD.findall(_COMMENT.sub("", body)))
    kept = _FUNCTION.sub(lambda found: "" if words[found.group(1)] == 1 else found.group(), body)
    return body if kept == body else _drop_unused(kept)  # what was called by those alone


def _assemble(name: str, admitted: bool, audit_events: int) -> tuple[str, str]:
    """The flags line of a script (or ``""``) and its whole body."""
    text = _read(name)
    found = _FLAGS.match(text)
    flags = found.group(0) if found else ""
    body = text[len(flags) :]
    if admitted:
        flags = _WRITING if flags else ""  # it counts requests and renews sessions, whatever the script itself does
        body = _read("_admit") + body
    body = _drop_unused(_expand(body, set()))
    called = set(_KEY_CALL.findall(body))
    used = [spec for spec in SPECS if spec in called]
    head = ["local P, J = KEYS[1], KEYS[2]", *map(lua_function, used)]
    if "AUDIT_EVENTS" in body:
        head.append(f"local AUDIT_EVENTS = {audit_events}")
    return flags, "\n".join(head) + "\n" + body


@cache
def load(name: str, *, with_flags: bool = True, admitted: bool = False, audit_events: int = AUDIT_EVENTS) -> Script:
    """The script ``name``.  Without flags for fakeredis, which can't read the ``#!lua`` line.

    ``admitted``: it refuses requests of ended sessions, and too many of them, before it does anything.
    ``audit_events``: how many events the audit trail keeps, 0 for no trail.
    """
    flags, body = _assemble(name, admitted, audit_events)
    source = flags + body if with_flags else body
    return Script(name, source, sha1(source.encode(), usedforsecurity=False).hexdigest())


def names() -> Iterator[str]:
    """The names of all scripts."""
    for file in sorted((files("receiver.store") / "lua").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".lua") and not file.name.startswith("_"):
            yield file.name.removesuffix(".lua")


def write_all(folder: Path) -> None:
    """Writes every script into ``folder``, without the flags line, which is not Lua."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names():
        for admitted, ending in ((False, ".lua"), (True, ".admitted.lua")):
            source = load(name, with_flags=False, admitted=admitted).source
            (folder / f"{name}{ending}").write_text(source, encoding="utf-8")


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
