"""Who sets up tracing, and when; each in a process of its own, since a process has one provider for all its life."""

import json
import os
import subprocess
import sys

import pytest

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
TRACE = """
import json, sys
{before}
from opentelemetry import trace
from receiver.protocol.errors import StartupError
from receiver.telemetry.logs import configure_logs
from receiver.telemetry.provider import open_tracing
from receiver.telemetry.target import Target
from receiver.telemetry.tracing import enqueueing, serving
configure_logs("json")
try:
    open_tracing("the app")
except StartupError as error:
    sys.exit(str(error))
with serving(Target("ping"), 1, {{"_meta": {meta!r}}}, {{}}) as span:
    with enqueueing(Target("ping"), "0-0", "default") as written:
        print(json.dumps([span.is_recording(), written]), file=sys.stderr)
print("opentelemetry.sdk" in sys.modules, file=sys.stderr)
"""
WITHOUT_SDK = 'sys.modules["opentelemetry.sdk"] = None'
WITH_ANOTHER = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
trace.set_tracer_provider(TracerProvider())
"""


def run(before: str = "", meta: object = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """The spans that were sent are its output; the rest is its errors."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    command = [sys.executable, "-c", TRACE.format(before=before, meta=meta)]
    return subprocess.run(command, env={**env, **variables}, capture_output=True, text=True)


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"OTEL_TRACES_EXPORTER": "none"},
        {"OTEL_TRACES_EXPORTER": "console", "OTEL_SDK_DISABLED": "true"},
        {"OTEL_SERVICE_NAME": "mine"},
    ],
)
def test_nothing_is_set_up_that_was_not_asked_for(variables: dict[str, str]) -> None:
    done = run(**variables)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines() == ['[false, ""]', "False"]


def test_what_a_client_says_is_passed_on_without_spans() -> None:
    done = run(meta={"traceparent": PARENT})
    assert done.stderr.splitlines() == [f'[false, "{PARENT}"]', "False"]


@pytest.mark.parametrize(("variables", "service"), [({}, "the app"), ({"OTEL_SERVICE_NAME": "mine"}, "mine")])
def test_spans_are_sent_at_the_end_at_the_latest(variables: dict[str, str], service: str) -> None:
    done = run(OTEL_TRACES_EXPORTER="console", **variables)
    assert (done.returncode, json.loads(done.stderr.splitlines()[0])[0]) == (0, True)
    names = [line.split('"')[3] for line in done.stdout.splitlines() if line.startswith('    "name"')]
    assert names == ["enqueue ping", "ping"]
    assert f'"service.name": "{service}"' in done.stdout


def test_a_provider_that_is_there_stays() -> None:
    done = run(WITH_ANOTHER, OTEL_TRACES_EXPORTER="console")
    assert (done.returncode, done.stdout, json.loads(done.stderr.splitlines()[0])[0]) == (0, "", True)


def test_a_missing_sdk_is_a_warning() -> None:
    done = run(WITHOUT_SDK, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1")
    warning, recorded, _ = done.stderr.splitlines()
    assert (json.loads(warning)["event"], recorded) == ("no_traces", '[false, ""]')


def test_an_exporter_that_is_not_there_ends_the_start() -> None:
    done = run(OTEL_TRACES_EXPORTER="nowhere")
    assert done.returncode == 1
    assert done.stderr == "OTEL_* variables ask for the exporter 'nowhere', which is not installed\n"
