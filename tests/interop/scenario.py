"""A client's script, played by a child process on a deployment whose nodes its requests go to by turns.

The script gets a token and the URLs of the nodes, and prints one line of JSON a step: what the client was told.
"""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.acceptance.deployment import TOKENS, Deployment
from tests.processes import Child

RUN_SECONDS = 100.0
APP = "tests.apps.interop:app"
ALICE = next(iter(TOKENS))
RELATED_TASK = "io.modelcontextprotocol/related-task"
BOOKED = {"action": "accept", "trip": {"city": "Oslo", "nights": 3}}

Step = dict[str, Any]


async def play(command: Sequence[str | Path], folder: Path) -> dict[str, Step]:
    """What the client was told, by step.  What else it wrote is a complaint: there must be nothing."""
    async with Deployment(folder, app=APP, poll_interval=20, page_size=3) as deployment:
        await deployment.start(nodes=2, workers=1)
        urls = [node.process.url for node in deployment.nodes]
        with Child([*command, ALICE, *urls]) as client:
            try:
                code = await asyncio.to_thread(client.wait, RUN_SECONDS)
            finally:
                print(client.log)
    lines = client.log.splitlines()
    assert [line for line in lines if not line.startswith('{"step":')] == []
    assert code == 0
    return {step.pop("step"): step for step in map(json.loads, lines)}


def structured(result: Any) -> Any:
    assert not result.get("isError")
    return result["structuredContent"]


def text_of(result: Any) -> Any:
    assert not result.get("isError")
    return result["content"][0]["text"]


def assert_taken_by_turns(requests: Sequence[int]) -> None:
    """So many requests went to each node."""
    assert min(requests) > 5
    assert max(requests) - min(requests) <= 1
