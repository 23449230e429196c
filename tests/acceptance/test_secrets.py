"""What was said stays with its task: it is in no log, metric, span, audit event or other key, and tokens are nowhere.

Spans go to stdout, and so into the logs.
"""

from pathlib import Path
from typing import Any

import httpx2
from redis.asyncio import Redis

from receiver.store.keys import Keys
from tests.acceptance.deployment import APP, TOKENS
from tests.acceptance.requestor import Requestor
from tests.processes import Api, Valkey, Worker, find_free_port

CANARY = "canary-c0ffee"
TRACED = {"OTEL_TRACES_EXPORTER": "console"}
KEYS = Keys()


async def read_keys(redis: Redis) -> dict[str, bytes]:
    """Each key with all that it holds, as the server would hand it to another one."""
    await redis.execute_command("CONFIG", "SET", "rdbcompression", "no")
    names = [name.decode() async for name in redis.scan_iter()]
    return {name: name.encode() + (await redis.execute_command("DUMP", name) or b"") for name in names}


async def scrape(*urls: str) -> bytes:
    async with httpx2.AsyncClient(trust_env=False) as http:
        return b"".join([(await http.get(f"{url}/metrics")).content for url in urls])


async def test_what_was_said_stays_with_its_task(tmp_path: Path) -> None:
    port = find_free_port()
    settings: dict[str, Any] = {"auth_tokens": TOKENS, "metrics_port": port}
    env = {**TRACED, "ACCEPTANCE_FOLDER": str(tmp_path)}
    with Valkey(tmp_path) as store:
        with Api(APP, store.url, env=env, **settings) as api, Worker(APP, store.url, env=env, **settings) as worker:
            async with Requestor(api.url, "alice-token") as alice:
                task_id = await alice.create("failing", reason=CANARY)
                assert CANARY in str(await alice.result(task_id))
                assert CANARY in str(await alice.get(task_id))
                await alice.ask("tools/call", name="failing", arguments={"reason": CANARY})
            metrics = await scrape(api.url, f"http://127.0.0.1:{port}")
            assert worker.terminate() == 0
            assert api.terminate() == 0
        async with Redis.from_url(store.url) as redis:
            keys = await read_keys(redis)
    texts = {"metrics": metrics, "the node's log": api.log.encode(), "the worker's log": worker.log.encode(), **keys}
    told = {name for name, text in texts.items() if CANARY.encode() in text}
    own = (KEYS.task(""), KEYS.stream(""))  # a slow plain call is answered on a stream, which is kept for its client
    assert KEYS.task(task_id) in told, "this is how it would be found"
    assert {name for name in told if not name.startswith(own)} == set()
    assert [(name, token) for name, text in texts.items() for token in TOKENS if token.encode() in text] == []
    for log in (api.log, worker.log):
        assert '"trace_id": "0x' in log, "there were spans"
    assert b"mcp_tasks_finished_total" in metrics
    assert keys[KEYS.audit()]
