"""Ids of events, and what goes on behind them."""

from collections import Counter

from ops.client.exchange import Exchange
from ops.client.reply import expect, show
from ops.client.stream import Message
from ops.conform.check import NotApplicable, check
from ops.conform.checks.streams import begin_progress, listen_everywhere, progress_on
from ops.conform.server import Server
from ops.conform.session import Session

STEPS = 20  # two seconds of progress, time enough to lose a stream and come back


@check(
    "H-20 H-21", "MUST", "no two events of a session have the same id, on whatever node", tools=("progress", "sleep")
)
async def event_ids_are_unique(server: Server) -> None:
    session = await server.open()
    exchanges = [*await listen_everywhere(session)]
    exchanges += [begin_progress(session, 3, f"h21-{number}", number % 2) for number in range(4)]
    if server.declares("tasks.requests.tools.call"):
        tasks = [(await session.call_task("sleep", {"seconds": 1})).task_id for _ in range(2)]
        exchanges += [
            session.begin("tasks/result", {"taskId": task_id}, node, resumes=False)
            for node, task_id in enumerate(tasks)
        ]
    for exchange in exchanges:
        if exchange.sent is not None:
            await exchange.end()
    counted = Counter(event.id for exchange in exchanges for event in exchange.events if event.id)
    if not counted:
        raise NotApplicable("no event has an id")
    repeated = {id: count for id, count in counted.items() if count > 1}
    expect(
        not repeated,
        f"ids of events on several streams of a session, and how often: {show(repeated)}\nwanted: each once",
    )


@check("H-22 H-23", "MAY", "a stream that was lost goes on at another node, up to its response", tools=("progress",))
async def resumes_elsewhere(server: Server) -> None:
    session = await server.open()
    call, last = await _lose_call(session, "h23")
    stream = await session.listen(node=1, last=last)
    came = f"sent: GET with Last-Event-ID {last}\ncame: HTTP {stream.status}"
    expect(stream.status == 200, f"{came}\nwanted: HTTP 200, for the event with this id has just been sent")
    response = await _wait_for_response(server, stream, call)
    expect(
        response is not None,
        f"{came} and {show(stream.messages)}\nwanted: the response to the call, its id {_id(call)}",
    )


@check("H-23 H-27", "MUST", "a stream goes on behind the last event, not before it", tools=("progress",))
async def resumes_behind_last_event(server: Server) -> None:
    session = await server.open()
    call, last = await _lose_call(session, "h23-behind")
    seen = _steps_until(call, last)
    stream = await _resume(session, last)
    await _wait_for_response(server, stream, call)
    again = [params for params in progress_on(stream) if params.get("progress") in seen]
    expect(not again, f"came again: {show(again)}\nwanted: what follows the event {last}, the Last-Event-ID")


@check("H-24", "MUST", "a stream that goes on carries nothing of another", tools=("progress",))
async def replays_nothing_of_others(server: Server) -> None:
    session = await server.open()
    other = begin_progress(session, STEPS, "h24-other", node=1)
    call, last = await _lose_call(session, "h24")
    await other.until(lambda: other.last_event_id)
    await other.drop()
    stream = await _resume(session, last)
    await _wait_for_response(server, stream, call)
    foreign = [params for params in progress_on(stream) if params.get("progressToken") != "h24"]
    foreign += [message for message in stream.messages if "method" not in message and message.get("id") != _id(call)]
    expect(not foreign, f"came: {show(foreign)}\nwanted: messages of the stream of event {last} alone")


@check("H-23", "SHOULD", "a Last-Event-ID that was never given does not break the server")
async def invented_event_id(server: Server) -> None:
    session = await server.open()
    for node, last in ((0, "no-such-event"), (1, "0")):
        stream = await session.listen(node, last)
        came = f"sent: GET with Last-Event-ID: {last}\ncame: HTTP {stream.status}"
        expect(stream.status < 500, f"{came}\nwanted: HTTP 4xx, or a stream")
        (await session.request("ping", node=node)).expect_status(200)


@check(
    "H-24 S-01", "MUST", "the id of an event opens no stream to another user", tools=("progress",), needs=("token2",)
)
async def event_id_is_no_key(server: Server) -> None:
    session, other = await server.open(), await server.open(user=1)
    call, last = await _lose_call(session, "h24-secret")
    for node in (0, 1):
        stream = await other.listen(node, last)
        if stream.status == 200:
            await begin_progress(other, STEPS, "h24-own", node).end()  # as long as the call of the first user
        leaked = [message for message in stream.messages if _is_of(message, call, "h24-secret")]
        expect(not leaked, f"another user's GET with Last-Event-ID {last}\ncame: {show(leaked)}\nwanted: nothing of it")


async def _lose_call(session: Session, token: str) -> tuple[Exchange, str]:
    """A plain call that reports progress, whose connection broke, and the id of the last event of it."""
    call = begin_progress(session, STEPS, token)
    await call.until(lambda: call.last_event_id if progress_on(call) else None)
    await call.drop()
    if call.last_event_id is None or call.answer is not None:
        raise NotApplicable("a call that reports progress is answered without events that have ids")
    return call, call.last_event_id


async def _resume(session: Session, last: str) -> Exchange:
    stream = await session.listen(node=1, last=last)
    if stream.status != 200:
        raise NotApplicable(f"streams can't be resumed (HTTP {stream.status})")
    return stream


async def _wait_for_response(server: Server, stream: Exchange, call: Exchange) -> Message | None:
    """The response to ``call`` on another stream; None if that ends without."""

    def find() -> Message | None:
        found = (message for message in stream.messages if "method" not in message and message.get("id") == _id(call))
        return next(found, None)

    with server.waiting(f"the response {_id(call)} on the stream that was resumed"):
        return await stream.until(find)


def _steps_until(call: Exchange, last: str) -> list[object]:
    """The progress in the events up to the one with the id ``last``."""
    ids = [event.id for event in call.events]
    seen = [event.message for event in call.events[: ids.index(last) + 1]]
    return [(message.get("params") or {}).get("progress") for message in seen if message is not None]


def _is_of(message: Message, call: Exchange, token: str) -> bool:
    if "method" in message:
        return (message.get("params") or {}).get("progressToken") == token
    return message.get("id") == _id(call)


def _id(call: Exchange) -> object:
    return call.sent.get("id") if isinstance(call.sent, dict) else None
