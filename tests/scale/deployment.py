"""What is measured: a deployment with no limits in the way, on an AOF that is synced every second."""

import resource
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from tests.acceptance.deployment import TOKENS, Deployment

APP = "tests.scale.app:app"
GATE = "open"  # a file: while it is not there, runs of ``held`` go on
ALICE, BOB = TOKENS
SETTINGS: dict[str, Any] = {
    "rate_limit": "",
    "miss_limit": "",
    "max_tasks_per_principal": 1_000_000,
    "max_streams_per_principal": 100_000,
    "lease_seconds": 10,
}


@asynccontextmanager
async def deploy(folder: Path, *, nodes: int = 1, workers: int = 1, **settings: Any) -> AsyncIterator[Deployment]:
    """A deployment that has started.  Its logs are in ``log``, in its folder, when it has ended."""
    log = StringIO()
    try:
        with redirect_stdout(log):  # where a deployment leaves them
            async with Deployment(folder, APP, **{**SETTINGS, **settings}) as deployment:
                yield await deployment.start(nodes, workers)
    finally:
        (folder / "log").write_text(log.getvalue())


def raise_file_limit() -> None:
    """As many open files as the machine allows, for this process and its children."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
