"""What a worker counts of its runs."""

import pytest

from receiver import Retry
from receiver.telemetry.instruments import REGISTRY
from tests.samples import Samples
from tests.workers.scene import Scene
from tests.workers.stage import Stage

SECONDS = "mcp_tasks_run_duration_seconds_count"


@pytest.fixture
def scene(stage: Stage) -> Scene:
    return Scene(stage)


async def test_a_run_that_is_repeated_and_the_last_one(scene: Scene) -> None:
    """The wait in the queue is that of the first run alone."""

    @scene.app.tool(max_attempts=2)
    async def stumbles() -> str:
        raise Retry(after=0)

    before = Samples(REGISTRY.collect())
    await scene.run("stumbles")
    (again,) = await scene.claim_again()
    assert (await scene.execute(again)).status == "failed"
    after = Samples(REGISTRY.collect())
    assert after.since(before, SECONDS, tool="stumbles", status="retried") == 1
    assert after.since(before, SECONDS, tool="stumbles", status="failed") == 1
    assert after.since(before, "mcp_tasks_finished_total", tool="stumbles", status="failed") == 1
    assert after.since(before, "mcp_tasks_queue_wait_seconds_count", tool="stumbles") == 1


@pytest.mark.parametrize(("reason", "counted"), [("shutdown", "handed_back"), ("superseded", "superseded")])
async def test_a_run_that_is_stopped(scene: Scene, reason: str, counted: str) -> None:
    @scene.app.tool
    async def stopped() -> str:
        return "never"

    before = Samples(REGISTRY.collect())
    active = await scene.claim("stopped")
    active.stop(reason)  # type: ignore[arg-type] # one of its literals
    await scene.execute(active)
    after = Samples(REGISTRY.collect())
    assert after.since(before, SECONDS, tool="stopped", status=counted) == 1
    assert after.get("mcp_tasks_finished_total", tool="stopped", status="completed") is None
