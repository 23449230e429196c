"""Commands of one process on their way to the store: those that are ready at the same time go out together.

A round trip of its own costs a command more than all that the command does.  Whatever is asked in one turn of the event
loop is one write and one read on one connection; each command has its own answer, and its own error.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, cast

import hiredis
from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ResponseError

Command = tuple[str | bytes | int, ...]

MOST = 128  # commands in one flight; the rest take the next


class Flights:
    """``seconds``: after which a connection that does not answer is given up."""

    def __init__(self, redis: Redis, *, seconds: float) -> None:
        self._redis = redis
        self._seconds = seconds
        self._boarding: list[tuple[Command, asyncio.Future[Any]]] = []
        self._flying: set[asyncio.Task[None]] = set()

    async def send(self, *command: str | bytes | int) -> Any:
        """The answer to a command.  Raises what redis-py raises; who gives up waiting takes no other along."""
        answer = asyncio.get_running_loop().create_future()
        self._boarding.append((command, answer))
        if len(self._boarding) == 1:
            flight = asyncio.create_task(self._depart())
            self._flying.add(flight)
            flight.add_done_callback(self._flying.discard)
        return await answer

    async def _depart(self) -> None:
        """By now all are there that became ready in the same turn of the loop."""
        boarded, self._boarding = self._boarding, []
        if len(boarded) <= MOST:
            await self._fly(boarded)
        else:
            await asyncio.gather(*(self._fly(boarded[start : start + MOST]) for start in range(0, len(boarded), MOST)))

    async def _fly(self, batch: Sequence[tuple[Command, "asyncio.Future[Any]"]]) -> None:
        answers: list[Any] = []
        try:
            async with asyncio.timeout(self._seconds):
                await self._exchange([command for command, _ in batch], answers)
        except asyncio.CancelledError:
            for _, future in batch:
                future.cancel()
            raise
        except Exception as error:
            answers += [error] * (len(batch) - len(answers))  # those that came are good
        for (_, future), answer in zip(batch, answers, strict=True):
            if future.done():  # nobody waits for it any more
                continue
            if isinstance(answer, Exception):
                future.set_exception(answer)
            else:
                future.set_result(answer)

    async def _exchange(self, commands: Sequence[Command], answers: list[Any]) -> None:
        """Adds the answers as they come.  hiredis packs several times as fast as redis-py's own connections do."""
        pool = self._redis.connection_pool
        connection = await pool.get_connection()
        try:
            await connection.send_packed_command(list(map(_pack, commands)))
            for _ in commands:
                answers.append(await _read(connection))
        except BaseException:
            await connection.disconnect(nowait=True)  # answers may still come, and would be taken for those of others
            raise
        finally:
            await pool.release(connection)


# Its stub wants one argument.
_pack = cast(Callable[[Command], bytes], hiredis.pack_command)


async def _read(connection: AbstractConnection) -> Any:
    try:
        return await connection.read_response()
    except ResponseError as error:
        return error
