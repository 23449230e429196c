"""Whatever happens, in whatever order: what always holds of the store.

The same histories are tried every time.  With ``HYPOTHESIS_PROFILE=explore`` in its environment ``make test`` tries
others, ``EXAMPLES_TIMES`` (10) as many, and twice as long.
"""

import os

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.properties.passing import TimeRules
from tests.store.backends import Backend

EXAMPLES = {"fakeredis": 30, "valkey": 10, "redis": 10}
STEPS = 50

SAME = settings(
    stateful_step_count=STEPS,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
EXPLORE = settings(SAME, derandomize=False, stateful_step_count=2 * STEPS, phases=list(Phase))


def choose_settings(backend: str) -> settings:
    examples = EXAMPLES[backend]
    if os.environ.get("HYPOTHESIS_PROFILE") == "explore":
        return settings(EXPLORE, max_examples=examples * int(os.environ.get("EXAMPLES_TIMES", "10")))
    return settings(SAME, max_examples=examples)


@pytest.mark.timeout(0 if "HYPOTHESIS_PROFILE" in os.environ else 240)
def test_the_store(backend: Backend) -> None:
    machine = type("Store", (TimeRules,), {"backend": backend})
    run_state_machine_as_test(machine, settings=choose_settings(backend.name))
