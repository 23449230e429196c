"""The arguments of a call, from the words of a command line, typed by the tool's input schema."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Schema = Mapping[str, Any]

# Which type is tried first: "1" is a number where it may be one, and a text only where it can be nothing else.
ORDER = ("null", "boolean", "integer", "number", "array", "object", "any", "string")
BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
DEPTH = 20  # of references to references


def read_arguments(words: Sequence[str], given: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """``given``, and over it ``words``: ``name=text``, or ``name:=JSON``; a list may be named several times.

    Raises ValueError that names the word which does not fit.
    """
    found: dict[str, list[str]] = {}
    arguments = dict(given)
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise ValueError(f"an argument is NAME=VALUE, or NAME:=JSON; {word!r} is neither")
        if name.endswith(":"):
            arguments[name[:-1]] = _read_json(name[:-1], text)
        else:
            found.setdefault(name, []).append(text)
    fields = schema.get("properties") or {}
    for name, texts in found.items():
        arguments[name] = _read(name, texts, fields.get(name, {}), schema)
    return arguments


def missing_arguments(arguments: Mapping[str, Any], schema: Schema) -> list[str]:
    """The names of the arguments that the tool can't do without."""
    return [str(name) for name in schema.get("required") or [] if name not in arguments]


def describe_arguments(schema: Schema) -> Iterator[str]:
    """The arguments of a tool, a word each: ``name=type``, in brackets if it can be left out."""
    required = schema.get("required") or []
    for name, field in (schema.get("properties") or {}).items():
        kinds = "|".join(dict.fromkeys(_kind_of(leaf) for leaf in _leaves(field, schema)))
        word = f"{name}={kinds}"
        yield word if name in required else f"[{word}]"


def read_value(text: str, field: Schema, schema: Schema) -> Any:
    """What ``text`` means where ``field``, a part of ``schema``, is wanted; ValueError if nothing."""
    leaves = sorted(_leaves(field, schema), key=lambda leaf: ORDER.index(_kind_of(leaf)))
    faults = []
    for leaf in leaves:
        try:
            return _read_leaf(text, leaf, schema)
        except ValueError as error:
            faults.append(str(error))
    raise ValueError(faults[-1])


def _read(name: str, texts: Sequence[str], field: Schema, schema: Schema) -> Any:
    lists = [leaf for leaf in _leaves(field, schema) if _kind_of(leaf) == "array"]
    if len(texts) > 1 and not lists:
        raise ValueError(f"{name} is given {len(texts)} times, and is no list")
    try:
        if len(texts) > 1:
            return [read_value(text, lists[0].get("items") or {}, schema) for text in texts]
        return read_value(texts[0], field, schema)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _leaves(field: object, schema: Schema, depth: int = DEPTH) -> list[Schema]:
    """The schemas that a value may have, each with one type at most."""
    if not isinstance(field, Mapping) or depth == 0:
        return [{}]
    if isinstance(reference := field.get("$ref"), str):
        return _leaves(_resolve(reference, schema), schema, depth - 1)
    for keyword in ("anyOf", "oneOf"):
        if isinstance(branches := field.get(keyword), list) and branches:
            return [leaf for branch in branches for leaf in _leaves(branch, schema, depth - 1)]
    if isinstance(kinds := field.get("type"), list) and kinds:
        return [{**field, "type": kind} for kind in kinds]
    return [field]


def _resolve(reference: str, schema: Schema) -> object:
    found: object = schema
    for part in reference.removeprefix("#/").split("/"):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _kind_of(leaf: Schema) -> str:
    kind = leaf.get("type", "any")
    return kind if kind in ORDER else "any"


def _read_leaf(text: str, leaf: Schema, schema: Schema) -> Any:
    choices = [leaf["const"]] if "const" in leaf else leaf.get("enum")
    if isinstance(choices, list):
        return _choose(text, choices)
    match _kind_of(leaf):
        case "string":
            return text
        case "boolean" if text.lower() in BOOLEANS:
            return BOOLEANS[text.lower()]
        case "array":
            return _read_list(text, leaf, schema)
        case "any":
            return _read_anything(text)
        case kind:
            return _read_typed(text, kind)


def _choose(text: str, choices: Sequence[Any]) -> Any:
    for choice in choices:
        if text == (choice if isinstance(choice, str) else json.dumps(choice)):
            return choice
    raise ValueError(f"must be one of {', '.join(map(str, choices))}")


def _read_list(text: str, leaf: Schema, schema: Schema) -> Any:
    if text.lstrip().startswith("["):
        return _read_typed(text, "array")
    return [read_value(text, leaf.get("items") or {}, schema)]


def _read_anything(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


_TYPES: dict[str, tuple[type, ...]] = {
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
}


def _read_typed(text: str, kind: str) -> Any:
    value = _read_anything(text)
    if kind not in _TYPES or isinstance(value, bool) or not isinstance(value, _TYPES[kind]):
        raise ValueError(f"must be {'true or false' if kind == 'boolean' else _article(kind)}, not {text!r}")
    return value


def _article(kind: str) -> str:
    return kind if kind == "null" else f"an {kind}" if kind[0] in "aio" else f"a {kind}"


def _read_json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"{name} is no JSON: {error}") from None
