"""``receiver dev --reload``: which files are the application's, and when they change."""

import importlib.util
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from watchfiles import PythonFilter, awatch

from receiver.protocol.errors import StartupError


def find_folder(app: str) -> Path:
    """The folder with the code of ``app``, named as MODULE:attribute: its package, or where its module is.

    Nothing of it is imported.
    """
    package = app.partition(":")[0].partition(".")[0]
    if (here := os.getcwd()) not in sys.path:
        sys.path.insert(0, here)
    spec = importlib.util.find_spec(package) if package else None
    if spec is None or spec.origin is None:
        raise StartupError(f"can't watch the files of {app}: there is no module named {package!r}")
    return Path(spec.origin).parent


async def watch(folder: Path) -> AsyncIterator[Path]:
    """One of the files that changed, each time that Python files below ``folder`` did."""
    async for changes in awatch(folder, watch_filter=PythonFilter()):
        yield min(Path(path) for _, path in changes)
