"""Scrapes become what promtool reads."""

import shutil
from pathlib import Path

import pytest

from tests.deploy.promtool import MISSING, Moment, prove
from tests.deploy.recording import Recording, name_metrics

NODE, WORKER = ("api", "node:1"), ("worker", "worker:2")
PAGE = """\
# HELP mcp_tasks_workers_up Workers that serve a queue.
# TYPE mcp_tasks_workers_up gauge
mcp_tasks_workers_up{queue="default"} 2.0
# TYPE mcp_tasks_finished_total counter
mcp_tasks_finished_total{status="failed",tool="a \\"b\\" \\\\ c"} 3.0
# TYPE process_open_fds gauge
process_open_fds 7.0
"""


def test_the_values_of_a_series_stand_side_by_side() -> None:
    recording = Recording()
    recording.add({NODE: PAGE})
    recording.add({NODE: PAGE.replace("2.0", "0.0")})
    assert recording.to_series() == {
        r'mcp_tasks_finished_total{instance="node:1",job="api",status="failed",tool="a \"b\" \\ c"}': "3 3",
        'mcp_tasks_workers_up{instance="node:1",job="api",queue="default"}': "2 0",
    }


def test_who_does_not_answer_leaves_a_gap() -> None:
    recording = Recording(["mcp_tasks_workers_up"])
    for pages in ({NODE: PAGE}, {WORKER: PAGE}, {NODE: PAGE, WORKER: PAGE}):
        recording.add(pages)
    assert recording.to_series() == {
        'mcp_tasks_workers_up{instance="node:1",job="api",queue="default"}': "2 stale 2",
        'mcp_tasks_workers_up{instance="worker:2",job="worker",queue="default"}': "_ 2 2",
    }


def test_series_are_found_in_rules() -> None:
    rule = (
        'sum by (tool) (rate(mcp_tasks_finished_total{status="failed"}[5m])) > 0 and on () redis_memory_max_bytes > 0'
    )
    assert name_metrics([rule]) == {"mcp_tasks_finished_total", "redis_memory_max_bytes"}


@pytest.mark.skipif(shutil.which("promtool") is None, reason=MISSING)
def test_promtool_reads_it(tmp_path: Path) -> None:
    recording = Recording()
    for workers in (2, 2, 2, 2, 0, 0, 0, 0):
        recording.add({NODE: PAGE.replace("2.0", str(workers))})
    prove(tmp_path, recording.to_series(), Moment(90, ()), Moment(210, ("NoWorkers",)), interval=30)
