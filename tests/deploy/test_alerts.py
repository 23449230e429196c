"""Each alert fires where things are bad, alone, and is silent where they are well."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.deploy.promtool import MISSING, RULES, Moment, prove, read_rules, run_promtool
from tests.processes import ROOT

pytestmark = pytest.mark.skipif(shutil.which("promtool") is None, reason=MISSING)

HOURS = 3600
STEPS = 1200  # of 15 s: five hours
NODE = 'instance="receiver-1:8000",job="api"'
OTHER_NODE = 'instance="receiver-2:8000",job="api"'
WORKER = 'instance="worker-1:9464",job="worker"'
REDIS = 'instance="redis-exporter:9121",job="redis"'

# A server at work, as two nodes, a worker and the exporter of Redis tell it.
WELL = {
    f'mcp_tasks_workers_up{{queue="default",{NODE}}}': f"2x{STEPS}",
    f'mcp_tasks_workers_up{{queue="default",{OTHER_NODE}}}': f"2x{STEPS}",
    f'mcp_tasks_queue_oldest_seconds{{queue="default",{NODE}}}': f"4x{STEPS}",
    f'mcp_tasks_active{{status="working",{NODE}}}': f"12x{STEPS}",
    f'mcp_tasks_active{{status="input_required",{NODE}}}': f"3x{STEPS}",
    f'mcp_tasks_finished_total{{tool="render",status="completed",{WORKER}}}': f"0+5x{STEPS}",
    f'mcp_tasks_finished_total{{tool="render",status="failed",{WORKER}}}': f"0+1x{STEPS}",
    f'mcp_tasks_finished_total{{tool="render",status="cancelled",{NODE}}}': f"0+9x{STEPS}",
    f'mcp_tasks_input_requests_total{{kind="elicitation",outcome="accept",{NODE}}}': f"0+1x{STEPS}",
    f"mcp_tasks_result_waiters{{{NODE}}}": f"4000x{STEPS}",
    f"mcp_tasks_result_waiters{{{OTHER_NODE}}}": f"4000x{STEPS}",
    f"mcp_tasks_pubsub_reconnects_total{{{NODE}}}": f"0x{STEPS // 2} 1x{STEPS // 2}",
    f"redis_memory_used_bytes{{{REDIS}}}": f"700x{STEPS}",
    f"redis_memory_max_bytes{{{REDIS}}}": f"1000x{STEPS}",
    f'mcp_tasks_store_errors_total{{kind="connection",{NODE}}}': f"0x{STEPS // 2} 4x{STEPS // 2}",
    f'mcp_tasks_rate_limited_total{{reason="rate_limited",{NODE}}}': f"0+3x{STEPS}",
    f'mcp_tasks_auth_failures_total{{reason="missing",{NODE}}}': f"0+3x{STEPS}",
}


@dataclass(frozen=True)
class Case:
    """What is different where an alert fires, from when on it does, and when not yet."""

    alert: str
    series: dict[str, str]
    without: str = "-"  # what is not told at all: series whose names begin so
    silent: int = 0
    fires: int = 1800


def replaced(name: str, values: str) -> dict[str, str]:
    """The one series of WELL whose name begins with ``name``, with other values."""
    return {key: values if key.startswith(name) else WELL[key] for key in WELL if key.startswith(name)}


CASES = [
    Case("NoWorkers", replaced("mcp_tasks_workers_up", f"2x10 0x{STEPS}"), silent=180, fires=300),
    Case("NoWorkers", {}, without="mcp_tasks_workers_up", silent=30, fires=120),
    Case(
        "NoWorkers",
        {f'mcp_tasks_workers_up{{queue="gpu",{NODE}}}': f"0x{STEPS}"},
        silent=30,
        fires=120,
    ),
    Case("QueueOldestTooOld", replaced("mcp_tasks_queue_oldest_seconds", f"0+15x{STEPS}"), silent=540, fires=700),
    Case(
        "FailureRatioHigh",
        {f'mcp_tasks_finished_total{{tool="fail",status="failed",{WORKER}}}': f"0+1x{STEPS}"},
        silent=300,
        fires=900,
    ),
    Case("TasksStuckWorking", {}, without="mcp_tasks_finished_total", silent=3500, fires=2 * HOURS),
    Case(
        "TasksStuckWorking",
        replaced("mcp_tasks_finished_total", f"7x{STEPS}"),
        silent=3500,
        fires=2 * HOURS,
    ),
    Case(
        "InputRequiredStale", replaced("mcp_tasks_input_requests_total", f"3x{STEPS}"), silent=3 * HOURS, fires=16_200
    ),
    Case(
        "InputRequiredStale",
        {
            **replaced("mcp_tasks_input_requests_total", f"3x{STEPS}"),
            f'mcp_tasks_input_requests_total{{kind="elicitation",outcome="asked",{WORKER}}}': f"0+1x{STEPS}",
        },
        fires=16_200,
    ),
    Case(
        "ResultWaitersHigh",
        {f"mcp_tasks_result_waiters{{{NODE}}}": f"5001x{STEPS}"},
        silent=540,
        fires=700,
    ),
    Case("PubSubReconnecting", replaced("mcp_tasks_pubsub_reconnects_total", f"0x20 0+0.2x{STEPS}"), silent=300),
    Case("RedisMemoryHigh", replaced("redis_memory_used_bytes", f"700x20 801x{STEPS}"), silent=315, fires=600),
    Case("ScriptErrors", replaced("mcp_tasks_store_errors_total", f"0x20 0+1x{STEPS}"), silent=300, fires=900),
    Case("RateLimitedSpike", replaced("mcp_tasks_rate_limited_total", f"0x20 0+30x{STEPS}"), silent=300, fires=1200),
    Case("AuthFailuresSpike", replaced("mcp_tasks_auth_failures_total", f"0x20 0+30x{STEPS}"), silent=300, fires=1200),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.alert)
def test_an_alert_fires_alone_when_it_should(case: Case, tmp_path: Path) -> None:
    told = {name: values for name, values in {**WELL, **case.series}.items() if not name.startswith(case.without)}
    prove(tmp_path, told, Moment(case.silent, ()), Moment(case.fires, (case.alert,)))


def test_no_alert_fires_where_all_is_well(tmp_path: Path) -> None:
    prove(tmp_path, WELL, *(Moment(seconds, ()) for seconds in range(0, 5 * HOURS, 300)))


def test_a_server_that_nobody_uses_is_well(tmp_path: Path) -> None:
    gauges = {f'mcp_tasks_active{{status="{status}",{NODE}}}': f"0x{STEPS}" for status in ("working", "input_required")}
    workers = {f'mcp_tasks_workers_up{{queue="default",{NODE}}}': f"1x{STEPS}"}
    prove(tmp_path, {**gauges, **workers}, Moment(5 * HOURS - 15, ()))


@pytest.mark.parametrize(
    ("series", "values"),
    [
        (f"redis_memory_max_bytes{{{REDIS}}}", f"0x{STEPS}"),  # as much as there is
        (f'mcp_tasks_store_errors_total{{kind="full",{NODE}}}', f"0+9x{STEPS}"),  # RedisMemoryHigh says so, once
        (f'mcp_tasks_finished_total{{tool="rare",status="failed",{WORKER}}}', f"0x99 4x{STEPS}"),
    ],
)
def test_what_looks_bad_and_is_not_fires_nothing(series: str, values: str, tmp_path: Path) -> None:
    prove(tmp_path, {**WELL, series: values}, *(Moment(seconds, ()) for seconds in range(0, 2 * HOURS, 300)))


@pytest.mark.parametrize("firing", [(), ("NoWorkers", "ScriptErrors"), ("ScriptErrors",)])
def test_what_does_not_fire_as_expected_is_found(firing: tuple[str, ...], tmp_path: Path) -> None:
    told = {**WELL, **replaced("mcp_tasks_workers_up", f"0x{STEPS}")}
    with pytest.raises(AssertionError, match="FAILED"):
        prove(tmp_path, told, Moment(600, firing))


def test_every_alert_has_a_case() -> None:
    assert {case.alert for case in CASES} == set(read_rules())


def test_the_rules_and_the_configuration_are_valid() -> None:
    run_promtool("check", "rules", RULES)
    run_promtool("check", "config", RULES.with_name("prometheus.yml"))


def test_a_summary_says_which_queue_and_how_long(tmp_path: Path) -> None:
    series = f'mcp_tasks_queue_oldest_seconds{{queue="gpu",{NODE}}}'
    rule = read_rules()["QueueOldestTooOld"]
    test = tmp_path / "test.yml"
    test.write_text(f"""\
rule_files: ['{RULES}']
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series: [{{series: '{series}', values: '720x30'}}]
    alert_rule_test:
      - eval_time: 10m
        alertname: QueueOldestTooOld
        exp_alerts:
          - exp_labels: {{severity: page, queue: gpu}}
            exp_annotations:
              summary: In the queue gpu a task has waited for 12m 0s
              description: {rule["annotations"]["description"]}
              runbook: {rule["annotations"]["runbook"]}
""")
    run_promtool("test", "rules", test)
    assert (ROOT / rule["annotations"]["runbook"]).is_file()
