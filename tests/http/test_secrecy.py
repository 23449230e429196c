"""Tokens leave no trace: neither in the store, nor on its disk, nor in a log (A-09, A-10, F7)."""

from pathlib import Path
from typing import Any

import httpx2
from redis.asyncio import Redis

from tests.forgeries import KEY
from tests.http.requestor import Requestor, frame
from tests.issuer import AUDIENCE, Issuer
from tests.processes import Api, Valkey, Worker

APP = "tests.apps.authorized:app"
STATIC = "static-canary-token"
UNKNOWN = "unknown-canary-token"


async def read_store(redis: Redis) -> bytes:
    """All that is in it, as the server would hand it to another one, and the name of each key."""
    found = b""
    await redis.execute_command("CONFIG", "SET", "rdbcompression", "no")
    async for key in redis.scan_iter():
        found += key + (await redis.execute_command("DUMP", key) or b"")
    return found


def read_folder(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def use(requestor: Requestor) -> None:
    """Every way of a token through the server."""
    await requestor.result("initialize", {"protocolVersion": "2025-11-25"})
    await requestor.call("whoami")
    for tool in ("whoami", "fail", "crash"):
        task_id = await requestor.finish(tool)
        await requestor.get(task_id)
    await requestor.error("tasks/get", {"taskId": "x"})
    await requestor.result("tasks/list")
    await requestor.send(b"", {"accept": "application/json"}, verb="GET")
    await requestor.send(b"", verb="DELETE")


async def test_no_trace(http: httpx2.AsyncClient, tmp_path: Path, issuer: Issuer) -> None:
    good = issuer.sign(KEY, sub="canary subject", scope="canary-scope", jti="canary-jti")
    expired = issuer.sign(KEY, exp=1, jti="canary-jti")
    settings: dict[str, Any] = {
        "auth_issuer": issuer.url,
        "auth_audience": AUDIENCE,
        "auth_tokens": {STATIC: {"subject": "static canary subject"}},
    }
    with Valkey(tmp_path, durable=True) as store, Api(APP, store.url, **settings) as api:
        url = f"{api.url}/mcp"
        with Worker(APP, store.url, **settings) as worker:
            for token in (good, STATIC):
                await use(Requestor(http, url, token))
            for token in (expired, UNKNOWN, f"{UNKNOWN} {UNKNOWN}"):
                assert (await Requestor(http, url, token).send(frame("ping"))).status_code in (400, 401)
                await http.post(f"{url}?access_token={token}")
            async with Redis.from_url(store.url) as redis:
                stored = await read_store(redis)
            assert worker.terminate() == 0
        assert api.terminate() == 0
        logs = {"api": api.log.encode(), "worker": worker.log.encode()}
    traces = {"store": stored, "disk": read_folder(tmp_path), **logs}
    secrets = [*good.split("."), *expired.split("."), STATIC, UNKNOWN, "canary-jti", "Bearer"]
    assert [(place, secret) for place, text in traces.items() for secret in secrets if secret.encode() in text] == []
    for place in ("store", "disk"):  # and this is how one would be found
        assert b"canary subject" in traces[place]
        assert b"static canary subject" in traces[place]
    assert b"crash" in traces["worker"]
    assert b"token_refused" in traces["api"]
