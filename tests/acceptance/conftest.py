"""A deployment for each test, with nothing in it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.deployment import Deploy, Deployment


@pytest.fixture
async def deploy(tmp_path: Path) -> AsyncIterator[Deploy]:
    async with AsyncExitStack() as stack:

        async def deploy(*, nodes: int = 2, workers: int = 2, **settings: Any) -> Deployment:
            deployment = await stack.enter_async_context(Deployment(tmp_path, **settings))
            return await deployment.start(nodes, workers)

        yield deploy
