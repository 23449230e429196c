"""``receiver conform`` as a command: exit codes, and the report."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ops.conform.checks import creation, posts
from tests.conformance.proxy import sabotaged
from tests.conformance.sabotage import Answer, Call, Saboteur
from tests.processes import HOST, ROOT, find_free_port


async def conform(*words: str) -> tuple[int | None, str]:
    """The exit code, and all that it printed."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "ops.cli", "conform", *words),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    return process.returncode, output.decode()


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return tmp_path / "report.json"


def read(report: Path) -> Any:
    return json.loads(report.read_text())


async def test_a_server_that_passes(urls: list[str], report: Path) -> None:
    only = ("--only", "begins-as-working", "--only", "unknown-version")
    code, output = await conform(urls[0], "--token", "alice-token", *only, "--json", str(report))
    assert code == 0, output
    written = read(report)
    assert written["server"] == {"name": "conform", "version": "1.0.0"}
    assert written["summary"]["families"].keys() == {"H", "T"}
    assert written["summary"]["all"] == {"passed": 2, "failed": 0, "warning": 0, "skipped": 0}
    assert {row for check in written["checks"] for row in check["rows"]} == {"H-34", "T-31"}


async def test_what_a_server_should_do_fails_a_strict_run_alone(urls: list[str], report: Path) -> None:
    def take_batches(call: Call) -> Answer | None:
        return Answer.json([]) if call.body.startswith(b"[") else None

    async with sabotaged(urls, Saboteur(posts.batch, "request", take_batches, "", 10)) as spoiled:
        words = (spoiled[0], "--token", "alice-token", "--only", "H-05", "--json", str(report))
        codes = [(await conform(*words))[0], (await conform(*words, "--strict"))[0]]
    assert codes == [0, 1]
    assert read(report)["checks"][0]["status"] == "warning"


async def test_a_server_that_fails(urls: list[str], report: Path) -> None:
    def refuse(call: Call) -> Answer | None:
        return call.error(-32603) if call.method == "tools/call" else None

    async with sabotaged(urls, Saboteur(creation.begins_as_working, "request", refuse, "", 10)) as spoiled:
        code, output = await conform(spoiled[0], "--token", "alice-token", "--only", "begins-as-working")
    assert code == 1, output
    assert '"code": -32603' in output


async def test_a_role_under_another_name(urls: list[str], report: Path) -> None:
    words = (urls[0], "--token", "alice-token", "--only", "begins-as-working", "--json", str(report))
    code, output = await conform(*words, "--tool", "echo=conform_structured")
    assert code == 0, output
    await conform(*words, "--tool", "echo=missing")
    (check,) = read(report)["checks"]
    assert (check["status"], check["detail"]) == ("skipped", "the server has no tool 'missing': see docs/conform.md")


@pytest.mark.parametrize(
    "words",
    [(), ("http://x/mcp", "--token2", "t"), ("http://x/mcp", "--only", "T-999"), ("http://x/mcp", "--tool", "x=y")],
)
async def test_what_can_not_be_run(words: tuple[str, ...]) -> None:
    code, output = await conform(*words)
    assert code == 2
    assert output.startswith("receiver: ")
    assert output.count("\n") == 1


async def test_a_server_that_is_not_there() -> None:
    code, output = await conform(f"http://{HOST}:{find_free_port()}/mcp")
    assert code == 2
    assert "can't be checked" in output


async def test_a_server_that_wants_a_token(urls: list[str]) -> None:
    code, output = await conform(urls[0])
    assert code == 2
    assert "HTTP 401" in output


async def test_list() -> None:
    code, output = await conform("--list", "--only", "T-31")
    assert code == 0
    assert "begins-as-working" in output
    assert "T-51" not in output
