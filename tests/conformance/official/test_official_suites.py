"""The official conformance suites: every server scenario of MCP 2025-11-25, each by name, on a node of a deployment.

``npm/package-lock.json`` says which releases of the suites, and the Node that runs them.  Both run once, at the same
time; a test then reads what a scenario found.  A warning is a failure here, and nothing is expected to fail.
"""

import asyncio
import json
import re
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.acceptance.deployment import Deployment
from tests.npm import INSTALL_SECONDS, install
from tests.processes import Child

SOURCE = Path(__file__).parent / "npm"
OLDEST_NODE = 22  # the oldest that the suites run on
RUN_SECONDS = 120.0

SUITES = {
    "conformance-0.1.16": ("--suite", "all"),
    "conformance-0.2.0": ("--requirements", "2025-11-25"),
}
SCENARIOS = [
    "completion-complete",
    "dns-rebinding-protection",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "json-schema-2020-12",
    "logging-set-level",
    "ping",
    "prompts-get-embedded-resource",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-with-image",
    "prompts-list",
    "resources-list",
    "resources-read-binary",
    "resources-read-text",
    "resources-subscribe",
    "resources-templates-read",
    "resources-unsubscribe",
    "server-initialize",
    "server-sse-multiple-streams",
    "server-sse-polling",
    "tools-call-audio",
    "tools-call-elicitation",
    "tools-call-embedded-resource",
    "tools-call-error",
    "tools-call-image",
    "tools-call-mixed-content",
    "tools-call-sampling",
    "tools-call-simple-text",
    "tools-call-with-logging",
    "tools-call-with-progress",
    "tools-list",
]
ALL = [(suite, scenario) for suite in SUITES for scenario in SCENARIOS]
ALL.append(("conformance-0.2.0", "server-session-lifecycle"))

Check = dict[str, Any]

pytestmark = [pytest.mark.timeout(RUN_SECONDS + INSTALL_SECONDS + 60), pytest.mark.asyncio(loop_scope="module")]


@dataclass
class Run:
    """A suite that has run: the exit code of its command, and what each scenario found."""

    code: int
    found: dict[str, list[Check]]


def read_checks(folder: Path) -> dict[str, list[Check]]:
    """What each scenario of a run found."""
    return {scenario_of(file.parent.name): json.loads(file.read_text()) for file in folder.glob("*/checks.json")}


def scenario_of(name: str) -> str:
    """The scenario whose folder has this name, which tells the time as well."""
    named = re.fullmatch(r"server-(.+)-\d{4}-\d\d-\d\dT[-\d]+Z", name)
    assert named, name
    return named[1]


@pytest.fixture(scope="module")
def command() -> Callable[[str], list[str]]:
    """What starts a suite, but for its options."""
    folder, node = install(SOURCE, oldest_node=OLDEST_NODE)
    return lambda suite: [str(node), str(folder / "node_modules" / suite / "dist" / "index.js"), "server"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def runs(command: Callable[[str], list[str]], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """The suites, each of which spoke to a node of its own."""
    folder = tmp_path_factory.mktemp("official")
    async with Deployment(folder, app="tests.conformance.official.app:app", auth_tokens={}) as deployment:
        await deployment.start(nodes=len(SUITES), workers=1)
        with ExitStack() as stack:
            running = {}
            for (suite, chosen), node in zip(SUITES.items(), deployment.nodes, strict=True):
                options = ["--url", f"{node.process.url}/mcp", *chosen, "--output-dir", str(folder / suite)]
                running[suite] = stack.enter_context(Child([*command(suite), *options]))
            codes = {suite: await asyncio.to_thread(child.wait, RUN_SECONDS) for suite, child in running.items()}
            print(*(child.log for child in running.values()))
    return {suite: Run(code, read_checks(folder / suite)) for suite, code in codes.items()}


@pytest.mark.parametrize(("suite", "scenario"), ALL)
async def test_scenario(runs: dict[str, Run], suite: str, scenario: str) -> None:
    checks = runs[suite].found[scenario]
    faults = [check for check in checks if check["status"] in ("FAILURE", "WARNING")]
    assert {check["id"]: check.get("errorMessage") for check in faults} == {}
    assert "SUCCESS" in [check["status"] for check in checks]


@pytest.mark.parametrize("suite", SUITES)
async def test_the_suite_is_content(runs: dict[str, Run], suite: str) -> None:
    assert sorted(runs[suite].found) == sorted(scenario for of, scenario in ALL if of == suite)
    assert runs[suite].code == 0
