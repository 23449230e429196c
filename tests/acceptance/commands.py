"""The command line, as a person uses it: what ends by itself, and what a command says."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx2

from tests.http.requestor import INITIALIZE
from tests.processes import ROOT, Child

RECEIVER = [sys.executable, "-m", "ops.cli"]
DEMO = "ops.demo:app"


def run(*words: str, env: Mapping[str, str] | None = None, folder: Path = ROOT) -> "subprocess.CompletedProcess[str]":
    """Runs a command that is expected to end by itself."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("RECEIVER_")}
    environment = {**inherited, "PYTHONPATH": str(ROOT), **(env or {})}
    return subprocess.run([*RECEIVER, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=30)


def refusal(*words: str, env: Mapping[str, str] | None = None, folder: Path = ROOT) -> str:
    """The one line, without its prefix, that a command says before it exits with 2."""
    ended = run(*words, env=env, folder=folder)
    assert ended.returncode == 2, ended.stderr
    assert ended.stdout == ""
    line = ended.stderr.removesuffix("\n")
    assert line.startswith("receiver: ")
    assert "\n" not in line
    return line.removeprefix("receiver: ")


def begin_session(url: str, headers: Mapping[str, str]) -> dict[str, str]:
    """``headers`` for the requests of a new session at the endpoint ``url``."""
    message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE}
    answer = httpx2.post(url, json=message, headers=dict(headers), timeout=30)
    session = answer.headers.get("mcp-session-id")
    return {**headers} if session is None else {**headers, "mcp-session-id": session}


def url_in(process: Child, app: str = DEMO) -> str:
    """What a process says it serves at, without the path."""
    beginning = f"Serving {app} at "
    process.wait_for_log(beginning)
    line = next(line for line in process.log.splitlines() if line.startswith(beginning))
    return line.removeprefix(beginning).removesuffix("/mcp")
