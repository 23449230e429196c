"""The command line of the MCP Inspector, 1.0.3, whose requests go to two nodes by turns.

It lists tools and calls them plainly.  It has no method for tasks, declares no capability, and so can be asked nothing.
"""

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.acceptance.deployment import Deployment
from tests.interop.scenario import ALICE, APP, RUN_SECONDS, structured
from tests.npm import INSTALL_SECONDS, install

SOURCE = Path(__file__).parent / "inspector"
OLDEST_NODE = 18  # the oldest that the SDK below it runs on

pytestmark = [pytest.mark.timeout(RUN_SECONDS + INSTALL_SECONDS + 60), pytest.mark.asyncio(loop_scope="module")]


@dataclass(frozen=True)
class Said:
    """What one command said, and the node that each of its requests went to."""

    code: int
    output: str
    complaints: str
    turns: list[int]

    @property
    def result(self) -> Any:
        """What the server answered."""
        assert self.code == 0, self.complaints
        return json.loads(self.output)


class Inspector:
    """Starts commands."""

    def __init__(self, folder: Path, node: Path, deployment: Deployment) -> None:
        self._modules = folder / "node_modules"
        self._preload = folder / "turns.mjs"
        self._node = node
        self._turns = deployment.folder / "turns"
        self._nodes = [each.process.url for each in deployment.nodes]

    async def __call__(self, method: str, *words: str) -> Said:
        return await asyncio.to_thread(self._run, "--method", method, *words)

    def _run(self, *words: str) -> Said:
        program = self._modules / "@modelcontextprotocol" / "inspector-cli" / "build" / "cli.js"
        target = ["--cli", f"{self._nodes[0]}/mcp", "--transport", "http"]
        header = ["--header", f"Authorization: Bearer {ALICE}"]
        self._turns.write_text("")
        done = subprocess.run(
            [self._node, program, *target, *words, *header],
            # It looks for its own package.json in the folder above the one that it is run in.
            cwd=self._modules,
            env={**os.environ, **self._variables()},
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
        )
        turns = [int(line) for line in self._turns.read_text().split()]
        return Said(done.returncode, done.stdout, done.stderr, turns)

    def _variables(self) -> dict[str, str]:
        return {
            "NODE_OPTIONS": f"--import={self._preload.as_uri()}",
            "NODES": " ".join(self._nodes),
            "TURNS": str(self._turns),
            "PATH": f"{self._node.parent}{os.pathsep}{os.environ['PATH']}",  # it starts a node of its own
        }


@pytest.fixture(scope="module")
def program() -> tuple[Path, Path]:
    """Where it is installed, and the node for it."""
    return install(SOURCE, oldest_node=OLDEST_NODE)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def deployment(program: object, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Deployment]:
    async with Deployment(tmp_path_factory.mktemp("deployment"), app=APP) as deployment:
        yield await deployment.start(nodes=2, workers=1)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def inspect(program: tuple[Path, Path], deployment: Deployment) -> Inspector:
    return Inspector(*program, deployment)


async def test_list_tools(inspect: Inspector) -> None:
    said = await inspect("tools/list")
    support = {tool["name"]: tool["execution"]["taskSupport"] for tool in said.result["tools"]}
    assert (support["add"], support["only_as_task"], support["release"]) == ("optional", "required", "forbidden")


async def test_call_a_tool_on_nodes_by_turns(inspect: Inspector) -> None:
    said = await inspect("tools/call", "--tool-name", "add", "--tool-arg", "a=2", "b=3")
    assert structured(said.result) == {"result": 5}
    assert len(said.turns) >= 4  # initialize, initialized, tools/list, tools/call; and what it opens beside them
    assert said.turns == [number % 2 for number in range(len(said.turns))]


async def test_a_tool_that_fails(inspect: Inspector) -> None:
    said = await inspect("tools/call", "--tool-name", "refuse", "--tool-arg", "reason=no paper")
    assert said.result == {"content": [{"type": "text", "text": "no paper"}], "isError": True}


async def test_a_tool_that_asks_is_told_that_it_can_not(inspect: Inspector) -> None:
    said = await inspect("tools/call", "--tool-name", "book")
    assert said.result["isError"]  # E-01: at once
    assert "The client does not support" in said.result["content"][0]["text"]


async def test_a_tool_that_has_to_be_a_task_is_out_of_its_reach(inspect: Inspector) -> None:
    said = await inspect("tools/call", "--tool-name", "only_as_task")
    assert said.code == 1
    assert "requires task-based execution" in said.complaints


async def test_set_the_log_level(inspect: Inspector) -> None:
    assert (await inspect("logging/setLevel", "--log-level", "error")).result == {}


async def test_it_knows_no_tasks(inspect: Inspector) -> None:
    said = await inspect("tasks/list")
    assert said.code == 1
    assert "Unsupported method: tasks/list" in said.complaints
