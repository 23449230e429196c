"""A form that a tool has filled in, line by line: what a field wants, and what a line means for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from receiver.protocol.form_schema import requested_schema
from receiver.protocol.form_value import find_fault

Field = Mapping[str, Any]
KINDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "yes or no"}
BOOLEANS = {"yes": True, "y": True, "true": True, "no": False, "n": False, "false": False}


@dataclass(frozen=True)
class Choice:
    """One of several texts, with what it is called."""

    value: str
    title: str


class Form:
    """``schema`` is the requestedSchema of an elicitation.  Raises ValueError for what is no form of the protocol."""

    def __init__(self, schema: object) -> None:
        if not isinstance(schema, Mapping):
            raise ValueError("it has no schema")
        try:
            restricted = requested_schema(schema)
        except (AttributeError, TypeError) as error:
            raise ValueError(str(error)) from None
        self.fields: Mapping[str, Field] = restricted["properties"]
        self.required: Sequence[str] = restricted.get("required", [])

    def fill(self, answers: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
        """The form as ``answers``, by name, and its defaults fill it; and what is wrong with it, by name."""
        content: dict[str, Any] = {}
        faults: dict[str, str] = {}
        for name, field in self.fields.items():
            try:
                value = read_line(field, answers.get(name, ""), name in self.required)
            except ValueError as error:
                faults[name] = str(error)
                continue
            if value is not None:
                content[name] = value
        return content, faults


def read_line(field: Field, line: str, required: bool) -> Any:
    """What a line means: a value, the default for an empty one, or None for a field that is left out.

    Raises ValueError that says what is wanted.
    """
    text = line.strip()
    if not text:
        if "default" in field:
            return field["default"]
        if required:
            raise ValueError("is needed")
        return None
    value = _read(field, text)
    if fault := find_fault(field, value):
        raise ValueError(fault)
    return value


def describe(name: str, field: Field, required: bool) -> str:
    """The line above which an answer is asked for, with all that it has to fit."""
    wanted = [_describe_kind(field)]
    units = {"Length": "characters", "Items": "choices", "imum": ""}
    for end, unit in units.items():
        for begin, word in (("min", "at least"), ("max", "at most")):
            if begin + end in field:
                wanted.append(f"{word} {field[begin + end]} {unit}".rstrip())
    wanted += [f"like {field['pattern']}"] if "pattern" in field else []
    wanted += [] if required else ["may be left out"]
    title = field.get("title") or name
    about = f": {field['description']}" if field.get("description") else ""
    return f"{title} ({', '.join(wanted)}){about}"


def choices_of(field: Field) -> list[Choice]:
    """What there is to choose from; empty for a field that is free."""
    source = field.get("items", field)
    if titled := source.get("oneOf", source.get("anyOf")):
        return [Choice(option["const"], option["title"]) for option in titled]
    values = source.get("enum", [])
    titles = source.get("enumNames", [])
    return [Choice(value, titles[n] if n < len(titles) else value) for n, value in enumerate(values)]


def show_value(field: Field, value: Any) -> str:
    """A value as a person would type it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _describe_kind(field: Field) -> str:
    if field["type"] == "array":
        return "choices, separated by commas"
    if choices_of(field):
        return "a choice"
    return str(field.get("format", KINDS[field["type"]]))


def _read(field: Field, text: str) -> Any:
    kind, choices = field["type"], choices_of(field)
    if kind == "array":
        return [_choose(choices, part.strip()) for part in text.split(",") if part.strip()]
    if choices:
        return _choose(choices, text)
    if kind == "boolean":
        if text.lower() not in BOOLEANS:
            raise ValueError("must be yes or no")
        return BOOLEANS[text.lower()]
    return text if kind == "string" else _read_number(text, kind)


def _read_number(text: str, kind: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if number != number or abs(number) == float("inf"):
        raise ValueError("must be a whole number" if kind == "integer" else "must be a number")
    return number


def _choose(choices: Sequence[Choice], text: str) -> str:
    """By its value, its title, or its number in the list: whatever fits first."""
    for choice in choices:
        if text in (choice.value, choice.title):
            return choice.value
    if text.isdecimal() and 1 <= int(text) <= len(choices):
        return choices[int(text) - 1].value
    raise ValueError("must be one of the choices")
