"""Elicitation in form mode: what a form may hold, and what is done with one that is filled in."""

from collections.abc import Mapping
from typing import Any

from ops.client.reply import expect, show
from ops.conform.check import check
from ops.conform.inquiry import BLUE, ELICIT, QUESTION, first_text, has_failed, inquire, ways
from ops.conform.server import FORM, Server

PRIMITIVES = ("string", "number", "integer", "boolean")
FORMATS = ("email", "uri", "date", "date-time")
WRONG: tuple[Any, ...] = ({"answer": 7}, {"answer": ["blue"]}, {})  # the form wants a text


@check("E-07", "MUST", "a form has a message, and a flat schema of primitive properties", tools=("elicit",))
async def form_question(server: Server) -> None:
    for as_task in ways(server, "elicit"):
        session = await server.open(FORM)
        asked = await (await inquire(session, "elicit", QUESTION, as_task=as_task)).question()
        params = asked["params"]
        expect(
            params.get("mode", "form") == "form" and isinstance(params.get("message"), str) and params["message"],
            f'came: {show(asked)}\nwanted: a `message`, and the `mode` "form" or none',
        )
        fault = _fault_of(params.get("requestedSchema"))
        expect(not fault, f"came: {show(asked)}\nwanted: `requestedSchema` with {fault}")


@check("E-06", "SHOULD", "a form that does not fit its schema is not taken", tools=("elicit",))
async def wrong_form_is_not_taken(server: Server) -> None:
    for as_task, content in [(way, content) for way in ways(server, "elicit") for content in WRONG]:
        session = await server.open(FORM)
        inquiry = await inquire(session, "elicit", QUESTION, as_task=as_task)
        asked = await inquiry.question()
        await session.answer(asked, {"action": "accept", "content": content})
        session.answers = {ELICIT: BLUE}  # a server may ask again
        await session.answer(asked, BLUE)  # or wait for a form that fits
        reply = await inquiry.call.reply()
        is_taken = not has_failed(reply) and first_text(reply).startswith("accept")
        reply.expect(
            not is_taken or first_text(reply) == "accept blue",
            f"asked: {show(asked)}\nthe form that came first, {show(content)}, is refused or waited out: "
            "an error, or `accept blue`, the form that fits",
        )


def _fault_of(schema: object) -> str:
    """What a form's schema lacks; nothing for one that is as the protocol has it."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return '`type` "object"'
    properties, required = schema.get("properties"), schema.get("required", [])
    if not isinstance(properties, dict):
        return "`properties`"
    if not isinstance(required, list) or not all(name in properties for name in required):
        return "the names of properties in `required`"
    unfit = [name for name, field in properties.items() if not _is_primitive(field)]
    return f"text, number, boolean or enum fields alone: not {', '.join(unfit)}" if unfit else ""


def _is_primitive(field: object) -> bool:
    if not isinstance(field, Mapping):
        return False
    if field.get("type") == "array":
        return _is_choice(field.get("items"))
    return field.get("type") in PRIMITIVES and field.get("format", "email") in FORMATS


def _is_choice(items: object) -> bool:
    """Whether these are the items of a multi-select enum."""
    if not isinstance(items, Mapping):
        return False
    options = items.get("anyOf")
    return isinstance(items.get("enum"), list) or (
        isinstance(options, list) and all(isinstance(option, dict) and "const" in option for option in options)
    )
