"""A request that its client has cancelled, and whose stream it tries to go on with all the same, as real ones do."""

from tests.http.gates import Gates
from tests.http.requestor import Requestor, Stream


async def cancel(requestor: Requestor, stream: Stream) -> None:
    """Cancels the request that ``stream`` answers, and reads to the end of it."""
    notification = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "it"}}
    assert (await requestor.send(notification)).status_code == 202
    assert b'"id":"it"' not in await stream.rest()


async def go_on(requestor: Requestor, event: bytes) -> int:
    """The HTTP status of the attempt to go on behind an event."""
    event_id = next(line for line in event.decode().split("\n") if line.startswith("id: ")).removeprefix("id: ")
    headers = {"accept": "text/event-stream", "last-event-id": event_id}
    return (await requestor.send(b"", headers, verb="GET")).status_code


async def test_a_wait_that_was_cancelled_is_not_gone_on_with(requestor: Requestor, gates: Gates, label: str) -> None:
    """L-07, H-15: no response comes of it later, and the client is not called to try again."""
    task_id = await requestor.create("gated", label=label)
    async with requestor.stream("tasks/result", {"taskId": task_id}, id="it") as stream:
        opening = await stream.next()
        await cancel(requestor, stream)
    assert [await go_on(requestor, opening) for _ in range(2)] == [405, 405]
    assert (await requestor.get(task_id))["status"] == "working"
    await gates.open(label)
    await requestor.ask("tasks/result", {"taskId": task_id})


async def test_a_plain_call_that_was_cancelled_is_not_gone_on_with(
    requestor: Requestor, gates: Gates, label: str
) -> None:
    params = {"name": "talking", "arguments": {"label": label}, "_meta": {"progressToken": 1}}
    async with requestor.stream("tools/call", params, id="it") as stream:
        await gates.open(label)
        opening = await stream.next()
        await cancel(requestor, stream)
    assert await go_on(requestor, opening) == 405
