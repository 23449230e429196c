"""Files of JSON lines that other processes are writing to."""

import json
from pathlib import Path
from typing import Any


def read_lines(file: Path) -> list[dict[str, Any]]:
    """What is in each line that was written to its end; none if there is no file yet.

    A reader may see the first half of a write, and a process that is killed may leave one.
    """
    whole = file.read_bytes().split(b"\n")[:-1] if file.exists() else []
    return [found for line in whole if (found := _parse(line)) is not None]


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(line)
    except ValueError:
        return None  # half a line of a process that was killed, and the next line of another
    return found
