"""logging/setLevel and what comes of it."""

import asyncio
from collections.abc import Sequence

from ops.client.reply import expect, show
from ops.client.stream import Message
from ops.conform.check import NotApplicable, check
from ops.conform.checks.streams import listen_everywhere
from ops.conform.server import Server
from ops.conform.session import Session

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


@check("L-09", "MUST", "a server that sends log messages declares logging", tools=("log",))
async def logging_is_declared(server: Server) -> None:
    session = server.session()
    initialized = await session.initialize({})
    await session.notify("notifications/initialized")
    await listen_everywhere(session)
    messages = await _log(session, ["emergency"])
    if not messages:
        raise NotApplicable("no log message came")
    declared = (initialized.result.get("capabilities") or {}).get("logging")
    initialized.expect(
        isinstance(declared, dict), f"`capabilities.logging`, an object, for there came {show(messages)}"
    )


@check("L-09", "MUST", "nothing below the level that was set is sent, on any node", tools=("log",), needs=("logging",))
async def nothing_below_the_level(server: Server) -> None:
    for threshold in ("info", "warning", "emergency"):
        session = await _open_at(server, threshold)
        sent = [message.get("level") for message in await _log(session, LEVELS)]
        below = [level for level in sent if level in LEVELS[: LEVELS.index(threshold)]]
        expect(
            not below,
            f"sent: logging/setLevel {threshold}\ncame: log messages of {below}\nwanted: none below {threshold}",
        )


@check("L-09", "SHOULD", "what reaches the level that was set is sent", tools=("log",), needs=("logging",))
async def all_from_the_level_on(server: Server) -> None:
    for threshold in ("debug", "error"):
        session = await _open_at(server, threshold)
        wanted = LEVELS[LEVELS.index(threshold) :]
        with server.waiting(f"log messages of {', '.join(wanted)}, after logging/setLevel {threshold}"):
            await _log(session, LEVELS)
            for level in wanted:
                await _hear_level(session, level)


@check("L-09", "SHOULD", "a level can be changed", tools=("log",), needs=("logging",))
async def level_can_be_changed(server: Server) -> None:
    session = await _open_at(server, "emergency")
    await _log(session, ["info"])
    (await session.request("logging/setLevel", {"level": "debug"}, node=1)).expect_status(200)
    with server.waiting("a log message of info, after logging/setLevel debug"):
        await _log(session, ["info"])
        await session.hear("notifications/message")


@check("L-09", "SHOULD", "a level that there is not is refused with -32602", needs=("logging",))
async def bad_levels(server: Server) -> None:
    session = await server.open()
    for number, level in enumerate(("loud", "", "WARNING", 5, None, ["info"])):
        (await session.request("logging/setLevel", {"level": level}, number % 2)).expect_error(-32602)
    (await session.request("logging/setLevel", {})).expect_error(-32602)


@check("L-09", "MUST", "a log message has a level and data", tools=("log",), needs=("logging",))
async def shape_of_log_messages(server: Server) -> None:
    session = await _open_at(server, "debug")
    for params in await _log(session, ["info", "error"]):
        fits = params.get("level") in LEVELS and "data" in params and isinstance(params.get("logger", ""), str)
        expect(
            fits,
            f"came: {show(params)}\nwanted: `level`, one of the eight, `data`, and `logger` a string if it is there",
        )


async def _open_at(server: Server, level: str) -> Session:
    session = await server.open()
    await listen_everywhere(session)
    reply = await session.request("logging/setLevel", {"level": level})
    reply.expect(reply.result == {}, "the result `{}`")
    return session


async def _log(session: Session, levels: Sequence[str]) -> list[Message]:
    """Has a message of each level logged, on the other node; the params of all log messages so far."""
    await asyncio.gather(*[session.call("log", {"level": level, "message": f"at {level}"}, 1) for level in levels])
    return [_params(one.message) for one in session.heard_of("notifications/message")]


async def _hear_level(session: Session, level: str) -> None:
    await session.hear("notifications/message", where=lambda message: _params(message).get("level") == level)


def _params(message: Message) -> Message:
    return message.get("params") or {}
