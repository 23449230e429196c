"""Sessions."""

import itertools

from ops.client.reply import expect
from ops.conform.check import NotApplicable, check
from ops.conform.checks.posts import VERBS, send_nothing
from ops.conform.server import Server
from ops.conform.session import Session

SAMPLES = 6  # session ids that are compared
DIFFERENT = 12  # characters at least, in which two ids differ that can't be guessed from each other


@check("H-25 H-26", "MUST", "a session id is of visible ASCII characters")
async def id_is_visible_ascii(server: Server) -> None:
    for node in (0, 1):
        id = await _begin(server, node)
        visible = all("\x21" <= character <= "\x7e" for character in id)
        expect(
            visible and id,
            f"came: MCP-Session-Id: {id!r}\nwanted: characters 0x21 to 0x7E, and one at least",
        )


@check("H-26 S-01", "SHOULD", "session ids are long, and none can be told from another")
async def id_is_unguessable(server: Server) -> None:
    ids = [await _begin(server, number % 2) for number in range(SAMPLES)]
    for one, other in itertools.combinations(ids, 2):
        different = sum(a != b for a, b in itertools.zip_longest(one, other))
        wanted = f"random ids: any two differ in {DIFFERENT} characters at least, these in {different}"
        expect(different >= DIFFERENT, f"came: MCP-Session-Id: {one} and {other}\nwanted: {wanted}")


@check("H-25", "MUST", "a session that began on one node goes on on every other")
async def session_on_every_node(server: Server) -> None:
    for node in (0, 1):
        session = await server.open(node=node)
        reply = await session.request("ping", node=1 - node)
        answer = (reply.message or {}).get("result")
        reply.expect(answer == {}, "the result `{}`, in a session that another node began")


@check("H-29", "SHOULD", "a request without the session id is refused with 400, where one is required")
async def session_id_is_missing(server: Server) -> None:
    session = await _open_with_id(server)
    without = {"mcp-session-id": None}
    if "result" in ((await session.request("ping", headers=without)).message or {}):
        raise NotApplicable("the server requires no session id")
    for node in (0, 1):
        for verb in VERBS:
            reply = await send_nothing(session, verb, node, without)
            wanted = "HTTP status 400 for a request without MCP-Session-Id"
            reply.expect(reply.status == 400 or (verb != "POST" and reply.status == 405), wanted)


@check("H-30", "MUST", "a session that was ended is answered with 404, on every node")
async def ended_session(server: Server) -> None:
    session = await _open_with_id(server)
    if (await session.send(verb="DELETE")).status == 405:
        raise NotApplicable("clients can't end a session (405)")  # H-31
    (await session.request("ping", node=1)).expect_status(404)
    for verb in ("GET", "DELETE"):
        reply = await send_nothing(session, verb, 1, {})
        reply.expect(reply.status in (404, 405), "HTTP status 404: this session was ended")


@check("H-30", "SHOULD", "a session id that was never given is answered with 404")
async def invented_session(server: Server) -> None:
    session = await _open_with_id(server)
    invented = {"mcp-session-id": str(session.id)[:-1] + ("x" if str(session.id)[-1] != "x" else "y")}
    for node in (0, 1):
        for verb in VERBS:
            reply = await send_nothing(session, verb, node, invented)
            wanted = "HTTP status 404: clients begin anew where their session is unknown"
            reply.expect(reply.status == 404 or (verb != "POST" and reply.status == 405), wanted)
    (await session.request("ping")).expect_status(200)


@check("H-31", "MUST", "DELETE ends a session, or is answered with 405")
async def delete_or_405(server: Server) -> None:
    session = await _open_with_id(server)
    reply = await session.send(node=1, verb="DELETE")
    reply.expect(200 <= reply.status < 300 or reply.status == 405, "HTTP status 2xx, or 405")
    later = await session.request("ping")
    if reply.status == 405:
        later.expect(later.result == {}, "the result `{}` in a session that can't be ended")
    else:
        later.expect_status(404)


@check("H-31 T-85 X-15", "SHOULD", "a task outlives the session that began it", tools=("sleep",), needs=("token",))
async def task_outlives_its_session(server: Server) -> None:
    session, later = await _open_with_id(server), await server.open()
    task_id = (await session.call_task("sleep", {"seconds": 1})).task_id
    if (await session.send(verb="DELETE", node=1)).status == 405:
        raise NotApplicable("clients can't end a session (405)")
    await later.wait_until(task_id, "completed", node=1)


async def _begin(server: Server, node: int) -> str:
    """The id of a session that has but begun: one that is no good is not sent back."""
    session = server.session()
    await session.initialize({}, node=node)
    if session.id is None:
        raise NotApplicable("the server has no sessions")
    return session.id


async def _open_with_id(server: Server, node: int = 0) -> Session:
    session = await server.open(node=node)
    if session.id is None:
        raise NotApplicable("the server has no sessions")
    return session
