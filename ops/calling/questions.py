"""Answers what a server asks while it works: forms and links by the person at the terminal, or by ``--answer``."""

import asyncio
import textwrap
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Protocol
from urllib.parse import urlsplit

from ops.calling.display import Display, one_line
from ops.calling.form import Form, choices_of, describe, read_line, show_value
from ops.calling.terminal import Terminal
from ops.client.stream import Message
from receiver.protocol.errors import MethodNotFound
from receiver.telemetry.logs import escape_text

CAPABILITIES: Mapping[str, Any] = {"elicitation": {"form": {}, "url": {}}}
DECLINE: dict[str, Any] = {"action": "decline"}
CANCEL: dict[str, Any] = {"action": "cancel"}
ANSWERS = {"d": DECLINE, "c": CANCEL}
MENU = "Answer with [Enter], [e]dit it, [d]ecline, or [c]ancel? "
LEAVE = "Go on with [Enter], [d]ecline, or [c]ancel? "
URL_LENGTH = 4096
OPEN = "Say that you open it with [Enter], [d]ecline, or [c]ancel? "


class Respond(Protocol):
    """Sends the answer to a request: its ``result`` or its ``error``."""

    async def __call__(self, request: Message, **answer: Any) -> None: ...


class Questions:
    """``answers`` are lines by the names of fields.  ``terminal``: None where there is nobody to ask."""

    def __init__(self, display: Display, terminal: Terminal | None, answers: Mapping[str, str]) -> None:
        self._display = display
        self._terminal = terminal
        self._answers = answers
        self._turn = asyncio.Lock()
        self._open: dict[object, asyncio.Task[None]] = {}
        self._given: dict[object, dict[str, Any]] = {}

    def take(self, request: Message, respond: Respond) -> None:
        """Answers a request of the server's in the background; the same one again gets the same answer again."""
        id = request.get("id")
        if id not in self._open:
            self._open[id] = asyncio.create_task(self._answer(request, respond))
            self._open[id].add_done_callback(lambda _: self._open.pop(id, None))

    def withdraw(self, id: object) -> None:
        """The server does not want the answer any more."""
        if (asking := self._open.get(id)) is not None:
            asking.cancel()
            self._display.say("The question was taken back.")

    async def close(self) -> None:
        """Asks no more."""
        asking = list(self._open.values())
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)

    async def _answer(self, request: Message, respond: Respond) -> None:
        id, params = request["id"], request.get("params")
        match request.get("method"), self._given.get(id):
            case _, dict(given):
                await respond(request, result=given)
            case "ping", _:
                await respond(request, result={})
            case "elicitation/create", _ if isinstance(params, dict):
                async with self._turn:
                    self._given[id] = given = await self._elicit(params)
                await respond(request, result=given)
            case method, _:
                self._display.say(f"The tool asked for {method}, which `receiver call` has nobody for: declined.")
                error = {"code": MethodNotFound.default_code, "message": f"This client can't do {method}"}
                await respond(request, error=error)

    async def _elicit(self, params: Mapping[str, Any]) -> dict[str, Any]:
        message = str(params.get("message"))
        if params.get("mode") == "url":
            return await self._offer_link(message, str(params.get("url")))
        try:
            form = Form(params.get("requestedSchema"))
        except ValueError as error:
            return self._decline(message, f"its form can't be shown: {error}")
        content, faults = form.fill(self._answers)
        if not faults and (self._terminal is None or self._answers) and (self._answers or not form.fields):
            self._display.say(f"{message} (answered by --answer)")
            return {"action": "accept", "content": content}
        if self._terminal is None:
            reason = next((f"{name} {fault}" for name, fault in faults.items()), "there is no terminal to ask at")
            return self._decline(message, f"{reason}; --answer NAME=VALUE would answer it")
        with self._display.quiet():
            self._terminal.write(f"\n{_quote(message)}\n")
            return await self._fill_in(self._terminal, form)

    def _decline(self, message: str, reason: str) -> dict[str, Any]:
        self._display.say(f"Declined: {message} ({reason})")
        return DECLINE

    async def _fill_in(self, terminal: Terminal, form: Form) -> dict[str, Any]:
        while True:
            content: dict[str, Any] | None = None
            with suppress(EOFError):
                content = await self._ask_fields(terminal, form)
            said = await terminal.read(LEAVE if content is None else MENU)
            choice = "c" if said is None else said.strip().lower()[:1]
            if choice in ANSWERS:
                return ANSWERS[choice]
            if content is not None and choice in ("", "y", "a"):
                return {"action": "accept", "content": content}

    async def _ask_fields(self, terminal: Terminal, form: Form) -> dict[str, Any]:
        """The filled-in form.  Raises EOFError where the person ends the input."""
        content = {}
        for name, field in form.fields.items():
            required = name in form.required
            terminal.write(f"  {escape_text(describe(name, field, required))}\n")
            for number, choice in enumerate(choices_of(field), 1):
                terminal.write(f"    {number}) {escape_text(choice.title)}\n")
            preset = self._answers.get(name)
            default = (
                preset if preset is not None else show_value(field, field["default"]) if "default" in field else ""
            )
            value = await _ask_field(terminal, field, required, default)
            if value is not None:
                content[name] = value
        return content

    async def _offer_link(self, message: str, url: str) -> dict[str, Any]:
        """The person sees the whole URL and its host, and opens it by their own hand."""
        if self._terminal is None:
            return self._decline(message, f"there is no terminal to ask at; it wants you to open {url}")
        with self._display.quiet():
            host = _host_of(url)
            self._terminal.write(f"\n{_quote(message)}\n  {one_line(url, URL_LENGTH)}\n  (a page of {host})\n")
            said = await self._terminal.read(OPEN)
        choice = "c" if said is None else said.strip().lower()[:1]
        return ANSWERS.get(choice, {"action": "accept"})


def _quote(message: str) -> str:
    """The words of the server, so that they can't be taken for ours."""
    return textwrap.indent(escape_text(message), "| ", lambda _: True)


def _host_of(url: str) -> str:
    try:
        return escape_text(urlsplit(url).hostname or "no host")
    except ValueError:
        return "no host"


async def _ask_field(terminal: Terminal, field: Mapping[str, Any], required: bool, default: str) -> Any:
    prompt = f"  [{escape_text(default)}]> " if default else "  > "
    while True:
        line = await terminal.read(prompt)
        if line is None:
            raise EOFError
        try:
            return read_line(field, line.strip() or default, required)
        except ValueError as error:
            terminal.write(f"  That {error}.\n")
