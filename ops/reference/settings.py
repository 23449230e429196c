"""docs/reference/settings.md, from ``receiver.settings``."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from ops.reference.markdown import write_duration, write_size, write_table
from receiver.settings import Settings, Url

_HEAD = """\
# Settings

Made from [receiver/settings.py](../../receiver/settings.py) by `make docs`; don't edit it by hand.

A setting is an environment variable. API processes and workers read the same ones; give all of a deployment the same
values. What [a command](cli.md) has an option for, the option decides. `create_app` of `receiver.app` takes
`Settings(page_size=20)`, whose arguments win over variables.

A value that can't be used ends the start with exit code 2 and one line that names the variable. A variable that begins
with `RECEIVER_` and is none of these is a warning, which names the nearest one.

Lists are written with commas. Durations are milliseconds, unless the name says seconds. `–` is: not set.
"""  # noqa: RUF001 - the dash of the table

_WORDS: Mapping[object, str] = {Path: "a path", SecretStr: "a secret text", Url: "a URL"}
_BOUNDS = (("gt", "more than"), ("ge", "at least"), ("lt", "less than"), ("le", "at most"))


def render() -> str:
    """The page as Markdown."""
    return "\n".join([_HEAD, *write_table(("variable", "takes", "default", "is"), _rows())]) + "\n"


def _rows() -> Iterator[tuple[str, str, str, str]]:
    for name, field in Settings.model_fields.items():
        yield f"`RECEIVER_{name.upper()}`", describe_type(name, field), describe_default(name), field.description or ""


def describe_type(name: str, field: FieldInfo) -> str:
    """What the variable may hold, in a few words."""
    kind = _without_none(field.annotation)
    if get_origin(kind) is Literal:
        return " or ".join(f"`{choice}`" for choice in get_args(kind))
    if kind is bool:
        return "`1` or `0`"
    if kind in (int, float):
        return _describe_number(name, field)
    if get_origin(kind) is tuple:
        return "a list"
    if get_origin(kind) is dict:
        return "JSON"
    if field.annotation is str and "/" in str(field.default):
        return "requests, `/`, seconds, `s`; or nothing"
    return _WORDS.get(kind, "text")


def describe_default(name: str) -> str:
    """The default as one would write it, and as people read it where that is something else."""
    default: Any = Settings.model_fields[name].default
    if default is None or default in ("", ()) or (isinstance(default, Mapping) and not default):
        return "–"  # noqa: RUF001 - the dash of the table
    if isinstance(default, bool):
        return f"`{int(default)}`"
    written = ",".join(default) if isinstance(default, tuple) else str(default)
    readable = _read_number(name, default) if isinstance(default, int | float) else ""
    return f"`{written}`" + (f" ({readable})" if readable else "")


def unit_of(name: str) -> str:
    """``seconds``, ``ms`` or ``bytes``; empty for what is counted."""
    if name.endswith("_seconds"):
        return "seconds"
    if name.endswith(("_ttl", "_interval")):
        return "ms"
    return "bytes" if name.endswith("_bytes") else ""


def _without_none(annotation: Any) -> Any:
    parts = [part for part in get_args(annotation) if part is not NoneType]
    is_optional = NoneType in get_args(annotation)
    return parts[0] if is_optional and len(parts) == 1 else annotation


def _describe_number(name: str, field: FieldInfo) -> str:
    unit = unit_of(name) or "a number"
    bounds = [
        f"{words} {getattr(rule, word)}" for rule in field.metadata for word, words in _BOUNDS if hasattr(rule, word)
    ]
    return ", ".join([unit, *bounds])


def _read_number(name: str, value: float) -> str:
    match unit_of(name):
        case "ms":
            return write_duration(value)
        case "seconds" if value >= 60:
            return write_duration(value * 1000)
        case "bytes":
            return write_size(round(value))
    return ""
