"""The floor: what uvicorn, orjson and Redis can do at best, with nothing of the receiver in it.

A bare ASGI application that parses the body, makes one EVALSHA of the same size, and answers: no session, no owner, no
limit, no index.  A wait is ended by the application itself, over pub/sub, since there is no worker.
"""

import asyncio
import os
import secrets
from typing import Any

import orjson
from redis.asyncio import BlockingConnectionPool, Redis

CREATE = """
redis.call('HSET', KEYS[1], unpack(ARGV, 4))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[1])
redis.call('ZADD', KEYS[3], ARGV[3], KEYS[1])
return 1
"""
GET = "return redis.call('HMGET', KEYS[1], unpack(ARGV))"
FINISH = """
redis.call('HSET', KEYS[1], 'status', 'completed', 'payload', ARGV[2])
redis.call('ZREM', KEYS[2], KEYS[1])
redis.call('UNLINK', KEYS[3])
redis.call('PUBLISH', KEYS[4], ARGV[1])
return 1
"""

FIELDS = ("status", "status_message", "created_at", "updated_at", "ttl", "poll_interval")
OWNER, TIME = "a" * 32, "2026-01-01T00:00:00.000Z"
RESULT = orjson.dumps({"content": [{"type": "text", "text": "done"}], "isError": False})
HEADERS = [(b"content-type", b"application/json")]


class Floor:
    """The application; ``url`` is where Redis is."""

    def __init__(self, url: str) -> None:
        self._redis = Redis(connection_pool=BlockingConnectionPool.from_url(url, max_connections=64))
        self._scripts: dict[str, str] = {}
        self._waiting: dict[bytes, asyncio.Future[None]] = {}
        self._listening: asyncio.Task[None] | None = None

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Answers one request."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        if scope["method"] == "GET":
            await self._send(send, b"{}")
            return
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        request = orjson.loads(body)
        result = await self._answer(request["method"], request.get("params") or {})
        await self._send(
            send, orjson.dumps({"jsonrpc": "2.0", "id": request.get("id"), "result": orjson.Fragment(result)})
        )

    async def _answer(self, method: str, params: dict[str, Any]) -> bytes:
        if method == "tools/call":
            return await self._create(params)
        if method == "tasks/get":
            status, *_, ttl, _poll = await self._call(GET, [f"t:{params['taskId']}"], *FIELDS)
            return _render(params["taskId"], status.decode(), int(ttl))
        if method == "tasks/result":
            return await self._wait(params["taskId"])
        return orjson.dumps({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "floor"}})

    async def _create(self, params: dict[str, Any]) -> bytes:
        id, ttl = secrets.token_urlsafe(24), params["task"]["ttl"]
        arguments = orjson.dumps(params["arguments"])
        now = "1780000000000"
        record = (
            *("kind", "task", "status", "working", "created_at", now, "updated_at", now, "expires_at", now),
            *("ttl", ttl, "owner", OWNER, "queue", "default", "run", "0", "attempt", "0", "schema", "1"),
            *("tool", params["name"], "params", arguments, "max_attempts", "3", "poll_interval", "1000"),
            *("session", OWNER, "lane", "default"),
        )
        await self._call(CREATE, [f"t:{id}", f"j:{id}", "queue"], ttl, arguments, 1, *record)
        return b'{"task":' + _render(id, "working", ttl) + b"}"

    async def _wait(self, id: str) -> bytes:
        ended = self._waiting[id.encode()] = asyncio.get_running_loop().create_future()
        await self._call(FINISH, [f"t:{id}", "queue", f"j:{id}", "events"], id, RESULT)
        await ended
        (payload,) = await self._call(GET, [f"t:{id}"], "payload")
        assert isinstance(payload, bytes)
        return payload

    async def _call(self, source: str, keys: list[str], *arguments: object) -> Any:
        sha = self._scripts.get(source)
        if sha is None:
            sha = self._scripts[source] = await self._redis.script_load(source)
        return await self._redis.execute_command("EVALSHA", sha, len(keys), *keys, *arguments)

    async def _live(self, receive: Any, send: Any) -> None:
        await receive()
        pubsub = self._redis.pubsub()
        await pubsub.subscribe("events")
        self._listening = asyncio.create_task(self._listen(pubsub))
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self._listening.cancel()
        await send({"type": "lifespan.shutdown.complete"})

    async def _listen(self, pubsub: Any) -> None:
        async for message in pubsub.listen():
            if message["type"] == "message":
                self._waiting.pop(message["data"]).set_result(None)

    async def _send(self, send: Any, body: bytes) -> None:
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [*HEADERS, (b"content-length", b"%d" % len(body))],
            }
        )
        await send({"type": "http.response.body", "body": body})


def _render(id: str, status: str, ttl: int) -> bytes:
    task = {"taskId": id, "status": status, "createdAt": TIME, "lastUpdatedAt": TIME, "ttl": ttl, "pollInterval": 1000}
    return orjson.dumps(task)


app = Floor(os.environ.get("FLOOR_REDIS_URL", "redis://127.0.0.1:6379/0"))
