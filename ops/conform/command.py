"""``receiver conform``, behind its options."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from ops.conform.check import Check, load_checks
from ops.conform.fixtures import FIXTURES
from ops.conform.report import print_list, print_report, to_json
from ops.conform.runner import Verdict, open_client, run_checks, survey
from ops.conform.server import Target
from receiver.protocol.errors import StartupError


@dataclass(frozen=True)
class Options:
    """As on the command line: ``tools`` are ``ROLE=NAME``; ``timeout`` in seconds; ``jobs`` at the same time."""

    urls: Sequence[str]
    tokens: Sequence[str]
    tools: Sequence[str]
    only: Sequence[str]
    timeout: float
    jobs: int
    strict: bool
    json: Path | None


def run_conform(options: Options) -> int:
    """Checks a server and prints what it found; the exit code: 1 for failures, with ``strict`` for warnings too."""
    checks = choose_checks(options.only)
    target, verdicts = asyncio.run(_run(options, checks))
    console = Console()
    print_report(verdicts, console)
    if options.json is not None:
        _write(options.json, json.dumps(to_json(verdicts, target), indent=2, ensure_ascii=False) + "\n")
    bad = ("failed", "warning") if options.strict else ("failed",)
    return int(any(verdict.status in bad for verdict in verdicts))


def list_checks(only: Sequence[str]) -> None:
    """Prints the checks that would be run."""
    print_list(choose_checks(only), Console())


def choose_checks(only: Sequence[str]) -> list[Check]:
    """The checks that ``only`` means; StartupError if one of its parts means none."""
    checks = load_checks()
    for part in only:
        if not any(check.is_wanted([part]) for check in checks):
            raise StartupError(f"no check is meant by --only {part}: see --list")
    return [check for check in checks if check.is_wanted(only)]


def read_names(tools: Sequence[str]) -> dict[str, str]:
    """The names of tools by role; StartupError if a role is unknown."""
    names = dict(tool.partition("=")[::2] for tool in tools)
    for role, name in names.items():
        if role not in FIXTURES or not name:
            raise StartupError(f"--tool takes ROLE=NAME, where ROLE is one of {', '.join(FIXTURES)}; not {role!r}")
    return names


async def _run(options: Options, checks: Sequence[Check]) -> tuple[Target, list[Verdict]]:
    async with open_client() as http:
        target = await survey(http, options.urls, options.tokens, read_names(options.tools))
        found = {
            verdict.check.name: verdict
            async for verdict in run_checks(checks, target, http, options.timeout, options.jobs)
        }
    return target, [found[check.name] for check in checks]


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StartupError(f"the report can't be written: {error}") from None
