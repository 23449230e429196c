"""``receiver doctor``: what is wrong with a deployment, why that matters, and what to do about it."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict

from redis.exceptions import RedisError
from rich.console import Console
from rich.text import Text

from ops.commands.store import locate_store
from receiver.protocol.errors import StartupError, Unavailable
from receiver.settings import Settings, load_settings
from receiver.store.client import ATTEMPT_SECONDS, Client, connect
from receiver.store.condition import describe
from receiver.store.diagnosis.examination import examine
from receiver.store.diagnosis.finding import Finding
from receiver.store.diagnosis.verdict import judge, judge_silence
from receiver.store.keys import Keys

STYLES = {"error": "bold red", "warning": "yellow"}
EXIT_WRONG = 1


def run_doctor(*, as_json: bool) -> int:
    """Prints all findings; returns the exit code, which is 1 if any of them is an error."""
    findings = asyncio.run(_find(load_settings()))
    if as_json:
        print(json.dumps({"findings": [asdict(finding) for finding in findings]}, indent=2))
    else:
        _show(findings)
    return EXIT_WRONG if any(finding.severity == "error" for finding in findings) else 0


async def _find(settings: Settings) -> list[Finding]:
    url = locate_store(settings)
    try:
        redis = connect(url)
    except ValueError as error:
        raise StartupError(f"RECEIVER_REDIS_URL is not the URL of a Redis: {error}") from None
    try:
        async with asyncio.timeout(6 * ATTEMPT_SECONDS):
            return judge(await examine(Client(redis, Keys(settings.namespace)), settings.durability))
    except (RedisError, OSError, TimeoutError) as error:
        return [judge_silence(describe(error))]
    except Unavailable as error:
        return [judge_silence(describe(error.__cause__ if isinstance(error.__cause__, Exception) else error))]
    finally:
        await redis.aclose(close_connection_pool=True)


def _show(findings: Sequence[Finding]) -> None:
    console = Console(highlight=False)
    if not findings:
        console.print("Nothing is wrong.")
    for finding in findings:
        severity = (finding.severity, STYLES[finding.severity])
        console.print(Text.assemble(severity, f"  {finding.what} [{finding.name}]"))
        lines = [finding.why, f"Fix: {finding.fix}", *finding.examples]
        console.print(Text("".join(f"  {line}\n" for line in lines)), soft_wrap=True)  # to be copied as it is
