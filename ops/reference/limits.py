"""docs/reference/limits.md, from ``ops.reference.bounds`` and the numbers in the code."""

import importlib
import re
from pathlib import Path

from ops.reference.bounds import BOUNDS, Bound
from ops.reference.markdown import write_count, write_duration, write_size, write_table
from receiver.settings import Settings

ROOT = Path(__file__).parents[2]

_HEAD = """\
# Limits

Made from [ops/reference/bounds.py](../../ops/reference/bounds.py) by `make docs`, with the numbers that stand in the
code; don't edit it by hand.

A limit that is a variable can be [set](settings.md); the others are fixed. What each error looks like stands in
[errors.md](errors.md).
"""


def render() -> str:
    """The page as Markdown."""
    parts = [_HEAD]
    for title, bounds in BOUNDS.items():
        rows = map(_write_bound, bounds)
        parts += [f"## {title}\n", *write_table(("limit on", "is", "set by", "beyond"), rows), ""]
    return "\n".join(parts)


def read_number(bound: Bound) -> float | str:
    """The number as the code has it; text for a rate."""
    path, _, name = bound.source.partition(":")
    if not name:
        found: float | str = Settings.model_fields[path].default
    elif path.endswith(".lua"):
        found = _read_lua(ROOT / path, name)
    else:
        found = getattr(importlib.import_module(path.removesuffix(".py").replace("/", ".")), name)
    return found


def _read_lua(path: Path, name: str) -> int:
    found = re.search(rf"^local {name} = (\d+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise LookupError(f"{path} has no number {name}")
    return int(found[1])


def _write_bound(bound: Bound) -> tuple[str, str, str, str]:
    path, _, name = bound.source.partition(":")
    place = f"[{Path(path).name}](../../{path})" if name else f"`RECEIVER_{path.upper()}`"
    return bound.what, _write_number(bound), place, bound.beyond


def _write_number(bound: Bound) -> str:
    number = read_number(bound)
    if isinstance(number, str):
        return f"`{number}`"
    match bound.unit:
        case "bytes":
            return write_size(round(number))
        case "ms" | "s":
            return write_duration(number * (1000 if bound.unit == "s" else 1))
        case "characters":
            return f"{write_count(number)} characters"
    return write_count(number)
