"""What a user is asked, by a form or by a link to open, and what may be taken for the answer.

Forms never ask for secrets: what they hold passes the client, and perhaps a model.  Secrets are asked for on a page
that a link leads to (E-02, E-07).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from receiver.protocol.errors import InvalidAnswer
from receiver.protocol.form_value import find_fault

Action = Literal["accept", "decline", "cancel"]


@dataclass(frozen=True, slots=True)
class Elicited:
    """``content`` is the filled-in form, and None unless a form was accepted."""

    action: Action
    content: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ElicitedLink(Elicited):
    """Whether a user agreed to open a link.  ``elicitation_id`` is for ``ctx.elicitation_complete``."""

    elicitation_id: str = ""


def read_elicited(result: object, schema: Mapping[str, Any] | None) -> Elicited:
    """What an ElicitResult says.  ``schema`` is that of the form, or None if it was a link.

    Raises InvalidAnswer for what is none, and for a form that does not fit (E-06).
    """
    action = result.get("action") if isinstance(result, dict) else None
    if not isinstance(result, dict) or action not in get_args(Action):
        raise InvalidAnswer(f"action: must be one of {', '.join(get_args(Action))}")
    if action != "accept" or schema is None:
        return Elicited(cast(Action, action))
    content = result.get("content", {})
    if isinstance(content, dict):
        content = _keep_fields(content, schema)
    check_answer(schema, content)
    return Elicited("accept", content)


def check_answer(schema: Mapping[str, Any], content: object) -> None:
    """Raises InvalidAnswer unless ``content`` fits ``schema``, which ``form_schema`` made; its text names the field.

    What the form has no field for passes, as in any JSON Schema that does not say otherwise.
    """
    if not isinstance(content, dict):
        raise InvalidAnswer("content: must be an object")
    for name in schema.get("required", ()):
        if name not in content:
            raise InvalidAnswer(f"{name}: required")
    for name, value in content.items():
        field = schema["properties"].get(name)
        if field is not None and (fault := find_fault(field, value)):
            raise InvalidAnswer(f"{name}: {fault}")


def _keep_fields(content: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Nothing but what was asked for; and a null, which the Python client may send, is a field that was left empty."""
    return {name: content[name] for name in schema["properties"] if content.get(name) is not None}
