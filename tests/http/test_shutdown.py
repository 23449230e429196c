"""SIGTERM while requestors wait."""

import asyncio
import re

import httpx2
from redis.asyncio import Redis

from tests.http.conftest import APP
from tests.http.records import Records
from tests.http.requestor import Requestor
from tests.processes import Api, Valkey


async def test_nobody_hears_a_connection_break(http: httpx2.AsyncClient, valkey: Valkey, redis: Redis) -> None:
    """H-10: a stream ends whole, and so does a plain call, with where to go on; the task stays, the log is clean."""
    with Api(APP, valkey.url, namespace="stopped") as api:
        requestor = Requestor(http, f"{api.url}/mcp")
        task_id = await requestor.create("echo", text="x")
        calling = asyncio.create_task(
            requestor.ask("tools/call", {"name": "echo", "arguments": {"text": "x"}}),
        )
        async with requestor.waiting_for(task_id) as stream:
            await Records(redis, "stopped").until_there_are(2)
            stopping = asyncio.create_task(asyncio.to_thread(api.terminate))
            assert await stream.rest() == b""
            answered = await calling
            assert answered.headers["content-type"] == "text/event-stream"
            assert re.fullmatch(rb"id: [!-~]+\nretry: 2000\ndata: \n\n", answered.content)
            assert await stopping == 0
        assert "Traceback" not in api.log
    with Api(APP, valkey.url, namespace="stopped") as api:
        assert (await Requestor(http, f"{api.url}/mcp").get(task_id))["status"] == "working"
