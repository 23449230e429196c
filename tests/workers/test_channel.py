import asyncio
import socket
from collections.abc import AsyncIterator

import pytest

from workers.channel import LENGTH, Channel


@pytest.fixture
async def ends() -> AsyncIterator[tuple[Channel, Channel]]:
    near, far = socket.socketpair()
    channels = await Channel.open(near, 100), await Channel.open(far, 100)
    yield channels
    for channel in channels:
        channel.close()
    await asyncio.sleep(0)


async def test_messages_arrive_in_order_and_then_the_end(ends: tuple[Channel, Channel]) -> None:
    near, far = ends
    near.send({"call": 1})
    near.send({"drop": 1})
    near.close()
    assert [await far.receive() for _ in range(3)] == [{"call": 1}, {"drop": 1}, None]


async def test_a_message_that_is_cut_off_is_none(ends: tuple[Channel, Channel]) -> None:
    near, far = ends
    near._writer.write(LENGTH.pack(10) + b"{")
    near.close()
    assert await far.receive() is None


@pytest.mark.parametrize("body", [b"[]", b"{", b'"' + b"x" * 99 + b'"'])
async def test_what_is_no_message_is_an_error(ends: tuple[Channel, Channel], body: bytes) -> None:
    near, far = ends
    near._writer.write(LENGTH.pack(len(body)) + body)
    with pytest.raises(ValueError, match=r"message|JSON|unexpected"):
        await far.receive()


async def test_what_is_too_long_or_no_json_is_not_sent(ends: tuple[Channel, Channel]) -> None:
    near, far = ends
    with pytest.raises(ValueError, match="are too long; 100 are allowed"):
        near.send({"text": "x" * 100})
    with pytest.raises(TypeError):
        near.send({"text": object()})
    near.send({"stop": True})
    assert await far.receive() == {"stop": True}
