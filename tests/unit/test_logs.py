"""Log lines: what clients write stays text of one line."""

import json
import subprocess
import sys

import pytest

SAY = """
import structlog
from receiver.telemetry.logs import configure_logs
configure_logs({format!r})
structlog.get_logger("test").info("said", by="a\\nFAKE level=critical\\r\\x1b[2J", short="\\x1b[2J\\x9b1m")
"""


def say(format: str) -> str:
    """What is logged by a process of its own: the settings are those of all loggers."""
    done = subprocess.run([sys.executable, "-c", SAY.format(format=format)], capture_output=True, check=True, text=True)
    return done.stderr


def test_json_is_one_line() -> None:  # F26
    (line,) = say("json").splitlines()
    assert json.loads(line)["by"] == "a\nFAKE level=critical\r\x1b[2J"
    assert "\x1b" not in line


@pytest.mark.parametrize("control", ["\x1b[2J", "\r", "\x9b", "a\nFAKE"])
def test_a_terminal_is_told_nothing(control: str) -> None:  # F26
    assert control not in say("console")
