"""Metrics: their names and labels are what was agreed on, and stay bounded."""

import re
import socket
from pathlib import Path
from urllib.request import urlopen

import pytest

from receiver.protocol.errors import StartupError
from receiver.telemetry import metrics
from receiver.telemetry.exposition import MetricsServer, render
from receiver.telemetry.instruments import ACTIVE, REGISTRY, SPECS
from receiver.telemetry.reference import render as render_reference
from tests.processes import HOST, find_free_port
from tests.samples import Samples

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"
NAMES = {
    "mcp_server_operation_duration_seconds": ("mcp_method_name", "error_type"),
    "mcp_tasks_active": ("status",),
    "mcp_tasks_auth_failures_total": ("reason",),
    "mcp_tasks_build_info": ("version",),
    "mcp_tasks_cancelled_total": ("phase",),
    "mcp_tasks_created_total": ("tool",),
    "mcp_tasks_expired_total": ("status",),
    "mcp_tasks_finished_total": ("tool", "status"),
    "mcp_tasks_input_requests_total": ("kind", "outcome"),
    "mcp_tasks_lookup_misses_total": (),
    "mcp_tasks_pubsub_reconnects_total": (),
    "mcp_tasks_queue_oldest_seconds": ("queue",),
    "mcp_tasks_queue_size": ("queue", "state"),
    "mcp_tasks_queue_wait_seconds": ("tool",),
    "mcp_tasks_rate_limited_total": ("reason",),
    "mcp_tasks_recovered_total": ("reason",),
    "mcp_tasks_result_wait_seconds": ("outcome",),
    "mcp_tasks_result_waiters": (),
    "mcp_tasks_run_duration_seconds": ("tool", "status"),
    "mcp_tasks_store_errors_total": ("kind",),
    "mcp_tasks_store_script_seconds": ("script",),
    "mcp_tasks_transitions_rejected_total": ("from", "to"),
    "mcp_tasks_wakeups_total": ("source",),
    "mcp_tasks_workers_up": ("queue",),
}


def now() -> Samples:
    return Samples(REGISTRY.collect())


def test_the_page_is_current() -> None:
    command = "python -m receiver.telemetry.reference > docs/reference/metrics.md"
    assert REFERENCE.read_text() == render_reference(), f"run: {command}"


def test_names_and_labels_are_what_dashboards_and_alerts_rely_on() -> None:
    assert {spec.name: spec.label_names for spec in SPECS.values()} == NAMES
    assert all(re.fullmatch(r"[A-Z].*\.", spec.says) for spec in SPECS.values())


def test_what_is_registered_is_what_is_explained() -> None:
    registered = {f"{name}_total" if metric.type == "counter" else name for name, metric in now().families.items()}
    read_from_the_store = {name for name, spec in SPECS.items() if spec.type == "gauge" and name not in registered}
    assert {name for name in registered if not name.startswith("process_")} | read_from_the_store == NAMES.keys()


@pytest.mark.parametrize(("reason", "counted"), [("queue_full", "queue_full"), ("<script>", "other")])
def test_a_limit_that_nobody_listed_is_an_other_one(reason: str, counted: str) -> None:
    before = now()
    metrics.count_limited(reason)
    assert now().since(before, "mcp_tasks_rate_limited_total", reason=counted) == 1
    assert "<script>" not in now().labels("reason")


@pytest.mark.parametrize(("code", "counted"), [(-32602, "-32602"), (123456, "other"), ("refused", "refused")])
def test_a_code_that_a_tool_made_up_is_an_other_one(code: int | str, counted: str) -> None:
    before = now()
    with metrics.Operation("ping") as operation:
        operation.end(str(code))
    series = {"mcp_method_name": "ping", "error_type": counted}
    assert now().since(before, "mcp_server_operation_duration_seconds_count", **series) == 1


@pytest.mark.parametrize("with_tool_error", [False, True])
def test_a_result_that_says_it_is_an_error_is_one(with_tool_error: bool) -> None:
    before = now()
    with metrics.Operation("tools/call") as operation:
        operation.end("tool_error" if with_tool_error else "")
    series = {"mcp_method_name": "tools/call", "error_type": "tool_error" if with_tool_error else ""}
    assert now().since(before, "mcp_server_operation_duration_seconds_count", **series) == 1


def test_an_operation_that_nobody_answered_is_counted_as_such() -> None:
    before = now()
    with metrics.Operation("tasks/result"):
        pass
    series = {"mcp_method_name": "tasks/result", "error_type": "unanswered"}
    assert now().since(before, "mcp_server_operation_duration_seconds_count", **series) == 1


@pytest.mark.parametrize("is_counted", [False, True])
def test_who_waits_is_counted_until_the_end(is_counted: bool) -> None:
    before = now()
    wait = metrics.ResultWait(is_counted=is_counted)
    assert now().since(before, "mcp_tasks_result_waiters") == is_counted
    wait.outcome = "completed"
    wait.end()
    assert now().since(before, "mcp_tasks_result_waiters") == 0
    assert now().since(before, "mcp_tasks_result_wait_seconds_count", outcome="completed") == is_counted


def test_a_lost_worker_fails_a_task_and_no_plain_call() -> None:
    before = now()
    metrics.count_lost("task", "lost_tool", "failed")
    metrics.count_lost("call", "lost_tool", "failed")
    metrics.count_lost("", "", "gone")
    after = now()
    assert after.since(before, "mcp_tasks_recovered_total", reason="attempts_spent") == 2
    assert after.since(before, "mcp_tasks_finished_total", tool="lost_tool", status="failed") == 1
    assert "" not in after.labels("tool")


def test_counters_are_there_before_the_first_increase() -> None:
    metrics.introduce("1.0", ["brand_new"])
    assert now().get("mcp_tasks_created_total", tool="brand_new") == 0
    assert now().get("mcp_tasks_finished_total", tool="brand_new", status="failed") == 0
    assert now().get("mcp_tasks_auth_failures_total", reason="missing") is not None
    assert now().get("mcp_tasks_build_info", version="1.0") == 1


def test_a_page_has_what_it_is_given_and_not_when_series_began() -> None:
    page = render([ACTIVE.family([(("working",), 3)])]).decode()
    assert Samples.read(page).get("mcp_tasks_active", status="working") == 3
    assert "_created " not in page.replace("# ", "")
    assert "process_resident_memory_bytes" in page


def test_a_worker_serves_its_own_until_it_ends() -> None:
    port = find_free_port()
    server = MetricsServer(port)
    try:
        with urlopen(f"http://{HOST}:{port}/metrics", timeout=10) as response:
            assert "mcp_tasks_queue_wait_seconds" in response.read().decode()
        with pytest.raises(StartupError, match=f"RECEIVER_METRICS_PORT: can't listen on port {port}"):
            MetricsServer(port)
    finally:
        server.close()
    with socket.socket() as probe:
        assert probe.connect_ex((HOST, port)) != 0
