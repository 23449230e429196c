"""Everything is broken for a minute, three times in different ways, and nothing that was promised is."""

from pathlib import Path

import pytest

from receiver.store import scripts
from tests.chaos.bugs import BUGS, spoil
from tests.chaos.campaign import Campaign, run
from tests.chaos.nemesis import WEIGHTS, plan

SECONDS = 60.0
LEASE = 2.0
LEAST_CREATED = 100  # fewer would prove little
LEAST_STRUCK = 10


@pytest.mark.timeout(240)
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_nothing_is_lost(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = await run(Campaign(seed, SECONDS, lease=LEASE), tmp_path)
    lines = "\n".join(report.lines())
    with capsys.disabled():
        print(f"\n{lines}")
    assert report.violations == [], lines
    assert sum(each.op == "create" and each.outcome == "ok" for each in report.evidence.operations) >= LEAST_CREATED
    assert len(report.evidence.faults) >= LEAST_STRUCK


def test_a_seed_gives_one_schedule() -> None:
    assert plan(7, SECONDS, LEASE) == plan(7, SECONDS, LEASE) != plan(8, SECONDS, LEASE)


def test_every_kind_of_fault_comes_up() -> None:
    assert {step.kind for step in plan(7, 3600, LEASE)} == set(WEIGHTS)


@pytest.mark.parametrize("name", sorted(BUGS))
def test_every_bug_changes_what_it_names(name: str) -> None:
    bug = BUGS[name]
    assert bug.edits or bug.patch
    for edit in bug.edits:
        text = scripts._read(edit.file)
        assert spoil(bug, edit.file, text) != text
