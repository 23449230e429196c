"""Everything is broken for a minute, three times in different ways, and nothing that was promised is."""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from receiver.store import scripts
from tests.chaos.bugs import BUGS, spoil
from tests.chaos.nemesis import WEIGHTS, plan
from tests.processes import Child

SEEDS = (1, 2, 3)
SECONDS = 60.0
LEASE = 2.0
RATE = 10.0  # of each campaign: three at once share a small machine
PATIENCE_SECONDS = 300.0
LEAST_CREATED = 100  # fewer would prove little
LEAST_STRUCK = 10


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Where each seed's campaign leaves its evidence."""
    return {seed: tmp_path_factory.mktemp(f"seed{seed}") for seed in SEEDS}


@pytest.fixture(scope="module")
def campaigns(folders: dict[int, Path]) -> Iterator[dict[int, Child]]:
    """All campaigns, side by side: most of the time each of them waits."""
    started = {seed: Child(_command(seed, folder)) for seed, folder in folders.items()}
    yield started
    for campaign in started.values():
        campaign.kill()


def _command(seed: int, folder: Path) -> list[str | Path]:
    options = {"seed": seed, "seconds": SECONDS, "lease": LEASE, "rate": RATE, "folder": folder}
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    return [sys.executable, "-m", "tests.chaos", *words]


@pytest.mark.alone
@pytest.mark.timeout(PATIENCE_SECONDS + 20)
@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_lost(
    seed: int, campaigns: dict[int, Child], folders: dict[int, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    code = campaigns[seed].wait(PATIENCE_SECONDS)
    with capsys.disabled():
        print(f"\n{campaigns[seed].log}")
    assert code == 0, campaigns[seed].log
    lines = map(json.loads, (folders[seed] / "history.jsonl").read_text().splitlines())
    seen = Counter(
        " ".join(line["kind"].split()[:2]) if line["what"] == "Fault" else f"{line['op']} {line['outcome']}"
        for line in lines
    )
    assert seen["create ok"] >= LEAST_CREATED
    assert sum(seen[kind] for kind in WEIGHTS) >= LEAST_STRUCK


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
