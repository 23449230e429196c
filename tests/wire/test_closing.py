"""A tool that ends the connection on which its caller waits: ``ctx.close_stream``."""

from tests.http.gates import Gates
from tests.wire.client import JSON, Client, Message, Stream, methods_of, skip_priming

CLOSE = ["close_stream"]


def say(text: str) -> list[str]:
    """A step that logs."""
    return ["log", "info", text]


def call(client: Client, *steps: list[str]) -> Message:
    """The request to do these steps."""
    return client.frame("tools/call", {"name": "talk", "arguments": {"script": steps}})


async def last_of(stream: Stream) -> str:
    """Reads what is left of a stream that closes, which is no message; returns where to go on."""
    assert await stream.rest() == []
    assert stream.last is not None
    return stream.last


def text_of(message: Message) -> str:
    """What was logged."""
    return str(message["params"]["data"])


async def test_a_call_goes_on_while_its_client_is_away(alice: Client, gates: Gates, label: str) -> None:
    """H-10, H-11, H-14: and is answered on another node."""
    await alice.open()
    request = call(alice, CLOSE, ["gate", label], say("b"))
    async with alice.stream(request, node=0) as stream:
        await skip_priming(stream)
        last = await last_of(stream)
    await gates.reached(label)
    async with alice.listen(node=1, last=last) as stream:
        await gates.open(label)
        said, answer = await stream.take(2)
        assert await stream.rest() == []
    assert text_of(said) == "b"
    assert (answer["id"], answer["result"]["isError"]) == (request["id"], False)


async def test_nothing_is_lost_around_the_end(alice: Client) -> None:
    """H-23: whether it was said before or after."""
    await alice.open()
    heard = []
    async with alice.stream(call(alice, say("a"), CLOSE, say("b"), CLOSE, say("c"))) as stream:
        heard += await stream.rest()
        last = stream.last
    while methods_of(heard)[-1:] != ["response"]:
        async with alice.listen(node=1, last=last) as stream:
            heard += await stream.rest()
            last = stream.last
    assert [text_of(message) for message in heard[:-1]] == ["a", "b", "c"]


async def test_a_client_that_did_not_see_the_end_is_sent_away_once_more(alice: Client) -> None:
    """It goes on from the event before; what it is told then takes it further."""
    await alice.open()
    async with alice.stream(call(alice, CLOSE)) as stream:
        opening = await stream.next()
        await last_of(stream)
    async with alice.listen(node=1, last=opening.id) as stream:
        last = await last_of(stream)
    async with alice.listen(node=0, last=last) as stream:
        assert methods_of(await stream.rest()) == ["response"]


async def test_a_client_that_could_not_come_back_stays(alice: Client) -> None:
    """H-09: its revision knows no event without data."""
    await alice.open(version="2025-06-18")
    async with alice.stream(call(alice, say("a"), CLOSE, say("b"))) as stream:
        assert methods_of(await stream.rest()) == [*["notifications/message"] * 2, "response"]


async def test_a_client_that_takes_json_only_stays(alice: Client) -> None:
    await alice.open()
    response = await alice.send(call(alice, CLOSE, say("a")), headers={"accept": JSON})
    assert response.json()["result"]["isError"] is False


async def test_who_waits_for_a_task_stays(alice: Client, gates: Gates, label: str) -> None:
    await alice.open()
    task_id = await alice.script(["gate", label], CLOSE, say("a"))
    async with alice.waiting_for(task_id) as stream:
        await gates.open(label)
        assert methods_of(await stream.rest())[-1] == "response"
