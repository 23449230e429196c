"""Event streams."""

import uuid

from ops.client.exchange import Exchange
from ops.client.reply import expect, show
from ops.client.stream import Message
from ops.conform.check import NotApplicable, check
from ops.conform.checks.tools import text_of
from ops.conform.server import Server
from ops.conform.session import Session

JUNE = "2025-06-18"
TICKS = 60
ENOUGH = 10  # ticks, after which a call is held to go on


async def listen_everywhere(session: Session) -> list[Exchange]:
    """A GET stream on each node; none where the server offers none."""
    try:
        return [await session.listen(node) for node in (0, 1)]
    except NotApplicable:
        return []


def begin_progress(session: Session, steps: int, token: object, node: int = 0) -> Exchange:
    """A plain call that reports progress, whose stream is not resumed by itself."""
    params = session.call_params("progress", {"steps": steps}, _meta={"progressToken": token})
    return session.begin("tools/call", params, node, resumes=False)


def progress_on(exchange: Exchange) -> list[Message]:
    """The params of the progress notifications on a stream, in their order."""
    found = [message for message in exchange.messages if message.get("method") == "notifications/progress"]
    return [message.get("params") or {} for message in found]


@check("H-02 H-15", "MUST", "GET on the path of POST is answered by an event stream, or by 405")
async def get_stream_or_405(server: Server) -> None:
    session = await server.open()
    for node in (0, 1):
        stream = await session.start("GET", None, node).opened()
        type_ = stream.headers.get("content-type", "").partition(";")[0].strip().lower()
        came = f"sent: GET, with Accept: text/event-stream\ncame: HTTP {stream.status}, Content-Type: {type_}"
        fits = stream.status == 405 or (stream.status == 200 and type_ == "text/event-stream")
        expect(fits, f"{came}\nwanted: HTTP 200 and text/event-stream, or HTTP 405")


@check("H-09", "SHOULD", "a stream opens with an event that has an id and empty data", tools=("sleep",))
async def opens_with_priming(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("sleep", {"seconds": 1})).task_id
    waiting = session.begin("tasks/result", {"taskId": task_id})
    reply = await waiting.reply()
    if not reply.is_stream:
        raise NotApplicable("tasks/result is answered without a stream")
    first = waiting.events[0]
    expect(first.id and first.data == "", f"{reply}\nfirst event: {first}\nwanted: an `id`, and empty `data`")


@check("H-09", "SHOULD", "no event of a stream is empty for a client of 2025-06-18", tools=("progress",))
async def no_priming_for_older_clients(server: Server) -> None:
    session = await server.open(version=JUNE)
    if session.version != JUNE:
        raise NotApplicable(f"the server does not speak {JUNE}")
    call = begin_progress(session, 3, "june", node=1)
    reply = await call.reply()
    if not reply.is_stream:
        raise NotApplicable("a call that reports progress is answered without a stream")
    for event in call.events:
        expect(
            event.data, f"{reply}\nan event: {event}\nwanted: a JSON-RPC message in every event; {JUNE} has no others"
        )


@check("H-10 H-11", "SHOULD", "a stream that is closed before its response says when to come back", tools=("close",))
async def retry_before_close(server: Server) -> None:
    session = await server.open()
    call = session.begin("tools/call", session.call_params("close", {}), resumes=False)
    await call.end()
    if call.answer is not None:
        raise NotApplicable("the stream was not closed before its response")  # H-10 is a MAY
    retries = [event.retry for event in call.events if event.retry is not None]
    expect(
        retries, f"events of a stream that ended without its response: {call.events}\nwanted: a `retry` in one of them"
    )


@check("H-12", "SHOULD", "a stream brings the response, and ends behind it", tools=("progress",))
async def ends_with_response(server: Server) -> None:
    session = await server.open()
    for node in (0, 1):
        call = session.begin(
            "tools/call", session.call_params("progress", {"steps": 3}, _meta={"progressToken": "h12"}), node
        )
        reply = await call.reply()
        reply.expect(reply.message is not None, "the response to the request, before the stream ends for good")
        await call.end()
        expect(call.messages[-1] is call.answer, f"{reply}\nthen came: {show(call.messages[-1])}\nwanted: the end")


@check("H-12", "SHOULD", "the stream of a request carries what belongs to that request", tools=("progress",))
async def streams_are_kept_apart(server: Server) -> None:
    session = await server.open()
    tokens = ("h12-a", "h12-b", "h12-c")
    calls = {token: begin_progress(session, 5, token, node=number % 2) for number, token in enumerate(tokens)}
    for token, call in calls.items():
        await call.end()
        for params in progress_on(call):
            wanted = f"none but of {token} on the stream of the call with that progressToken"
            expect(params.get("progressToken") == token, f"came: progress {show(params)}\nwanted: {wanted}")


@check("H-14", "SHOULD", "a connection that breaks does not cancel its call", tools=("tick", "ticks"))
async def disconnect_is_no_cancel(server: Server) -> None:
    session = await server.open()
    label = uuid.uuid4().hex
    call = session.begin("tools/call", session.call_params("tick", {"label": label, "ticks": TICKS}), resumes=False)
    await count_until(session, label, 1)
    await call.drop()
    await count_until(session, label, min(await count(session, label) + ENOUGH, TICKS))


@check("H-16", "SHOULD", "a GET stream carries nothing of a request that has a stream of its own", tools=("progress",))
async def get_stream_is_unrelated(server: Server) -> None:
    session = await server.open()
    streams = [await session.listen(node) for node in (0, 1)]
    call = begin_progress(session, 5, "h16")
    await call.end()
    for stream in streams:
        wanted = "progress of a running call on the stream of that call"
        expect(not progress_on(stream), f"came on a GET stream: {show(stream.messages)}\nwanted: {wanted}")


@check("H-17", "MUST", "no response comes on a GET stream that resumes nothing", tools=("sleep",))
async def no_response_on_get_stream(server: Server) -> None:
    session = await server.open()
    streams = [await session.listen(node) for node in (0, 1)]
    tasks = [(await session.call_task("sleep", {"seconds": 1})).task_id for _ in range(2)]
    for node, task_id in enumerate(tasks):
        await session.get_result(task_id, node)
    await session.call("sleep", {"seconds": 0}, node=1)
    for stream in [stream for stream in streams if stream.status == 200]:  # the second may be refused: H-19
        responses = [message for message in stream.messages if "method" not in message]
        expect(
            not responses, f"came on a GET stream: {show(responses)}\nwanted: responses on the stream of their request"
        )


@check("L-04", "MUST", "ping is answered while a tasks/result is blocked", tools=("sleep",))
async def ping_meanwhile(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("sleep", {"seconds": 30})).task_id
    for node in (0, 1):
        session.begin("tasks/result", {"taskId": task_id}, node)
    for node in (0, 1):
        reply = await session.request("ping", node=node)
        reply.expect(reply.result == {}, "the result `{}`")


async def count(session: Session, label: str) -> int:
    """How far ``tick`` has counted."""
    reply = await session.call("ticks", {"label": label}, node=1)
    text = text_of(reply)
    reply.expect(text.isdecimal(), "the count as text, `12`")
    return int(text)


async def count_until(session: Session, label: str, wanted: int) -> None:
    """Returns when ``tick`` has counted so far."""
    with session.server.waiting(f"tick to go on to {wanted}"):
        while await count(session, label) < wanted:
            pass
