"""What nodes and workers count of questions."""

import asyncio
from collections.abc import Callable, Iterator

import httpx2
import pytest

from tests.processes import HOST, Valkey, find_free_port
from tests.samples import Samples
from tests.wire.client import Client
from tests.wire.conftest import Site, deploy
from tests.wire.forms import ADA, ASK, FORMS, next_question

QUESTIONS = "mcp_tasks_input_requests_total"


@pytest.fixture(scope="module")
def port() -> int:
    return find_free_port()


@pytest.fixture(scope="module")
def watched(valkey: Valkey, port: int) -> Iterator[Site]:
    with deploy(valkey, namespace="watched", workers=1, metrics_port=port) as site:
        yield site


async def test_questions_and_answers(http: httpx2.AsyncClient, watched: Site, port: int) -> None:
    """T-97; an answer that comes twice is counted as ignored the second time."""

    async def scrape(url: str) -> Samples:
        return Samples.read((await http.get(f"{url}/metrics")).text)

    async def until(url: str, holds: Callable[[Samples], bool]) -> None:
        while not holds(await scrape(url)):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.01)

    node, worker = watched.nodes[1].url, f"http://{HOST}:{port}"
    alice = Client(http, watched.urls, "alice-token")
    await alice.open(FORMS)
    task_id = await alice.script(ASK, node=0)
    async with alice.waiting_for(task_id, node=1) as stream:
        asked = await next_question(stream)
        await alice.answer(asked, ADA, node=1)
        await stream.rest()
    await alice.answer(asked, ADA | {"action": "decline"}, node=1)
    await until(worker, lambda it: it.get(QUESTIONS, kind="elicitation", outcome="asked") == 1)
    await until(node, lambda it: it.get(QUESTIONS, kind="elicitation", outcome="accept") == 1)
    await until(node, lambda it: it.get(QUESTIONS, kind="elicitation", outcome="ignored") == 1)
    assert (await scrape(node)).get(QUESTIONS, kind="elicitation", outcome="decline") is None
