"""The alerts of ``ops/deploy/prometheus``, tried by promtool on series that are given to it."""

import shutil
import subprocess
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.deploy.guarded import DEPLOY

RULES = DEPLOY / "prometheus" / "alerts.yml"
MISSING = "promtool is not on PATH (the Debian package is prometheus; .ci/run installs it)"


@dataclass(frozen=True)
class Moment:
    """Which alerts, and no others, fire so many seconds after the first value."""

    seconds: int
    firing: Collection[str]


def read_rules() -> dict[str, dict[str, Any]]:
    """The alerts by name, each as its file has it."""
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return {rule["alert"]: rule for group in groups for rule in group["rules"]}


def write_test(file: Path, series: Mapping[str, str], moments: Collection[Moment], *, interval: int) -> None:
    """Writes a test for promtool.  ``series``: values in its notation, one each ``interval`` seconds."""
    expected = [
        {
            "expr": 'group by (alertname) (ALERTS{alertstate="firing"})',
            "eval_time": f"{moment.seconds}s",
            "exp_samples": [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in sorted(moment.firing)],
        }
        for moment in moments
    ]
    test = {
        "interval": f"{interval}s",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": expected,
    }
    head = {"rule_files": [str(RULES)], "evaluation_interval": f"{interval}s", "tests": [test]}
    file.write_text(yaml.safe_dump(head, sort_keys=False, width=1_000_000))


def run_promtool(*words: str | Path) -> None:
    """Runs promtool; AssertionError with what it says if it is not content."""
    promtool = shutil.which("promtool")
    assert promtool is not None, MISSING
    ended = subprocess.run([promtool, *map(str, words)], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def prove(folder: Path, series: Mapping[str, str], *moments: Moment, interval: int = 15) -> None:
    """Asserts what fires when."""
    file = folder / "test.yml"
    write_test(file, series, moments, interval=interval)
    run_promtool("test", "rules", file)
