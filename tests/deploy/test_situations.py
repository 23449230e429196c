"""What really happens fires the right alert, and no other: a rule test made from metrics recorded in it."""

import shutil
from pathlib import Path

import pytest

from tests.deploy.promtool import MISSING, run_promtool
from tests.deploy.situations import EXPORTER, SITUATIONS, record_situation

pytestmark = [
    pytest.mark.skipif(shutil.which("promtool") is None, reason=MISSING),
    pytest.mark.skipif(shutil.which(EXPORTER) is None, reason=f"{EXPORTER} is not on PATH (it is a Debian package)"),
    pytest.mark.alone,
    pytest.mark.timeout(180),
]


@pytest.mark.parametrize("alert", SITUATIONS)
async def test_a_situation_fires_its_alert_alone(alert: str, tmp_path: Path) -> None:
    exporter = shutil.which(EXPORTER)
    assert exporter is not None
    run_promtool("test", "rules", await record_situation(tmp_path, alert, exporter))
