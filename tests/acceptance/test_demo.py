"""``receiver demo``: it plays to the end, and leaves nothing behind."""

import os
import re
from pathlib import Path

from tests.acceptance.commands import RECEIVER, run
from tests.processes import Child


def test_it_plays_to_the_end(tmp_path: Path) -> None:
    played = run("demo", "--fast", env={"TMPDIR": str(tmp_path), "RECEIVER_REDIS_URL": "redis://127.0.0.1:1"})
    assert played.returncode == 0, played.stdout + played.stderr
    assert played.stderr == ""
    killed, other = re.findall(r"(?:kill -9|worker) (\d+)", played.stdout)[:2]
    (written,) = re.findall(r"Each page was written once: (.*)", played.stdout)
    assert re.findall(r"(\d+) by", written) == ["1", "2", "3", "4", "5", "6"]
    assert set(re.findall(r"by (\d+)", written)) == {killed, other}
    assert "The tool asks: How shall the report on rain look?" in played.stdout
    assert "tasks/cancel: cancelled" in played.stdout
    assert re.search(r'> HGETALL mcp:\{0\}:task:0-\w+\n 1\) "status"\n 2\) "completed"\n', played.stdout)
    assert os.listdir(tmp_path) == []


def test_an_interrupt_leaves_nothing_either(tmp_path: Path) -> None:
    with Child([*RECEIVER, "demo", "--fast"], env={"TMPDIR": str(tmp_path)}) as child:
        child.wait_for_log("Page 1 of 6")
        child.interrupt()
        assert child.wait() == 130
        assert "Traceback" not in child.log
    assert os.listdir(tmp_path) == []
