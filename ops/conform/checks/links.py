"""Elicitation in url mode."""

from typing import Any
from urllib.parse import SplitResult, urlsplit

from ops.client.reply import expect, show
from ops.client.stream import Message
from ops.conform.check import NotApplicable, check
from ops.conform.inquiry import LINK, first_text, inquire, ways
from ops.conform.server import EVERYTHING, Server

URL_REQUIRED = -32042
COMPLETE = "notifications/elicitation/complete"
REQUIRED = {"elicitations": [{"mode": "url", "elicitationId": "conform-1", **LINK}]}


@check("E-02", "MUST", "a url elicitation has mode, message, a valid url and an id of its own", tools=("elicit_url",))
async def url_question(server: Server) -> None:
    ids = []
    for as_task in [way for way in ways(server, "elicit_url") for _ in range(2)]:
        session = await server.open(EVERYTHING)
        inquiry = await inquire(session, "elicit_url", LINK, as_task=as_task)
        asked = await inquiry.question()
        _expect_link(asked["params"], asked)
        ids.append(asked["params"]["elicitationId"])
        await session.answer(asked, {"action": "accept"})
        reply = await inquiry.call.reply()
        reply.expect(first_text(reply) == "accept", "the text `accept`, the user's action")
    expect(len(set(ids)) == len(ids), f"came: the ids {ids}\nwanted: an `elicitationId` of its own for each")


@check("E-07", "SHOULD", "the url that a user is to open is one of https, without credentials", tools=("elicit_url",))
async def url_is_safe(server: Server) -> None:
    session = await server.open(EVERYTHING)
    asked = await (await inquire(session, "elicit_url", LINK, as_task=ways(server, "elicit_url")[0])).question()
    parts = _split(asked["params"].get("url"))
    expect(
        (parts.scheme == "https" or parts.hostname in ("localhost", "127.0.0.1", "::1")) and "@" not in parts.netloc,
        f"came: {show(asked)}\nwanted: `url` with https (http only to this machine), and no credentials in it",
    )


@check("E-03", "MUST", "the error -32042 lists the urls to open, each with its elicitationId", tools=("error",))
async def url_required(server: Server) -> None:
    arguments = {"code": URL_REQUIRED, "message": "Sign in first.", "data": REQUIRED}
    for as_task in ways(server, "error"):
        session = await server.open(EVERYTHING)
        reply = await (await inquire(session, "error", arguments, as_task=as_task)).call.reply()
        error = (reply.message or {}).get("error", {})
        if error.get("code") != URL_REQUIRED:
            raise NotApplicable("the server does not send the error -32042")
        listed = (error.get("data") or {}).get("elicitations")
        reply.expect(isinstance(listed, list) and listed, "`data.elicitations`, a list with an elicitation in it")
        for one in listed or ():
            _expect_link(one, error)


@check("E-04", "MUST", "only the client that was asked is told that its url is done", tools=("elicit_url",))
async def told_when_done(server: Server) -> None:
    session, other = await server.open(EVERYTHING), await server.open(EVERYTHING)
    await other.start("GET", None).opened()
    inquiry = await inquire(session, "elicit_url", LINK, as_task=ways(server, "elicit_url")[0])
    asked = await inquiry.question()
    await session.answer(asked, {"action": "accept"})
    await inquiry.call.reply()
    await other.request("ping")
    overheard = [one.message for one in other.heard_of(COMPLETE)]
    expect(not overheard, f"another client was told: {show(overheard)}\nwanted: {COMPLETE} only to whom was asked")
    if not session.heard_of(COMPLETE):
        raise NotApplicable(f"the server does not send {COMPLETE}")
    for one in session.heard_of(COMPLETE):
        told = one.message.get("params", {}).get("elicitationId")
        expect(
            told == asked["params"].get("elicitationId"),
            f"asked: {show(asked)}\ncame: {show(one.message)}\nwanted: the `elicitationId` of the question",
        )


def _expect_link(link: Any, whole: Message) -> None:
    fits = (
        isinstance(link, dict)
        and link.get("mode") == "url"
        and all(isinstance(link.get(name), str) and link[name] for name in ("message", "url", "elicitationId"))
    )
    expect(
        fits and _split(link["url"]).scheme and _split(link["url"]).netloc,
        f'came: {show(whole)}\nwanted: `mode` "url", and texts for `message`, `elicitationId` and a valid `url`',
    )


def _split(url: object) -> SplitResult:
    try:
        return urlsplit(str(url))
    except ValueError:
        return urlsplit("")
