"""What to try with the demo app, for whoever has just started it."""

import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from ops.embedded import EmbeddedServer

DEMO = "ops.demo:app"
FIRST_STEPS = Path(__file__).with_name("first_steps.sh")


def hints_for(app: str, url: str, server: EmbeddedServer | None) -> list[str]:
    """Three lines to try; none for any other app."""
    return [f"  {line}" for line in _hints(url, server)] if app == DEMO else []


def _hints(url: str, server: EmbeddedServer | None) -> Iterator[str]:
    yield f"sh {_shown(FIRST_STEPS)} {url}"
    if server is not None and (program := _find_client()):
        yield f"{program} -s {_shown(server.socket_path)} --scan --pattern '*:task:*'"
    else:
        yield f"curl {url.removesuffix('/mcp')}/readyz"
    yield f"npx @modelcontextprotocol/inspector --cli {url} --transport http --method tools/list"


def _find_client() -> str | None:
    return next((program for program in ("valkey-cli", "redis-cli") if shutil.which(program)), None)


def _shown(path: Path) -> str:
    """As short as it can be, and safe to paste."""
    return shlex.quote(min(str(path), os.path.relpath(path), key=len))
