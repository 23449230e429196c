"""The files of ``ops/deploy``, as those read them that run them."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from receiver.settings import Settings
from receiver.telemetry.instruments import SPECS
from tests.deploy.guarded import DEPLOY

BIN = Path(sys.executable).parent  # where pip puts the programs that come as packages
KUBERNETES = DEPLOY / "kubernetes"
FOREIGN = ("kustomization.yaml", "keda.yaml")  # of kinds that Kubernetes itself does not know
COMPOSE = (DEPLOY / "compose.yaml",)
REPLICATED = (*COMPOSE, DEPLOY / "sentinel" / "compose.yaml")
DASHBOARD = DEPLOY / "grafana" / "dashboards" / "mcp-tasks.json"

METRICS = set(SPECS)
EXPORTED = {"redis_memory_used_bytes", "redis_memory_max_bytes"}  # by redis_exporter; test_situations.py sees them


def run(*words: str | Path, env: Mapping[str, str] | None = None) -> str:
    """What a program says; AssertionError with that if it is not content."""
    ended = subprocess.run(
        [str(word) for word in words], env={**os.environ, **(env or {})}, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def read_compose(*files: Path) -> dict[str, Any]:
    """What Docker Compose makes of these files and the example of an environment."""
    options = [word for file in files for word in ("--file", file)]
    words = ("--env-file", DEPLOY / "example.env", "--profile", "*", "config", "--format", "json")
    found: dict[str, Any] = json.loads(run(BIN / "docker-compose", *options, *words))
    return found


def read_kubernetes() -> Iterator[dict[str, Any]]:
    """All objects."""
    for file in sorted(KUBERNETES.glob("*.yaml")):
        yield from yaml.safe_load_all(file.read_text())


def find_object(kind: str, name: str) -> dict[str, Any]:
    """The object of this kind and name; StopIteration without one."""
    return next(it for it in read_kubernetes() if it["kind"] == kind and it["metadata"]["name"] == name)


def read_environment(deployment: Mapping[str, Any]) -> dict[str, str]:
    """The variables of the one container of a deployment, those of its ConfigMap and Secret among them."""
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    found: dict[str, str] = {}
    for source in container["envFrom"]:
        if "configMapRef" in source:
            found |= find_object("ConfigMap", source["configMapRef"]["name"])["data"]
        else:
            found |= find_object("Secret", source["secretRef"]["name"])["stringData"]
    return found | {it["name"]: it["value"] for it in container.get("env", [])}


def name_settings() -> set[str]:
    """The variables that a process knows."""
    return {f"RECEIVER_{name.upper()}" for name in Settings.model_fields}


def find_variables() -> dict[str, str]:
    """Each RECEIVER_ variable that some file or runbook names, with one that does."""
    files = [file for folder in (DEPLOY, DEPLOY.parent / "runbooks") for file in folder.rglob("*") if file.is_file()]
    files.append(DEPLOY.parents[1] / "docs" / "production.md")
    return {name: file.name for file in files for name in re.findall(r"\bRECEIVER_[A-Z_]*[A-Z]\b", file.read_text())}


def read_dashboard() -> list[dict[str, Any]]:
    """The panels, without the rows between them."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    return [panel for panel in panels if panel["type"] != "row"]


def read_queries() -> list[str]:
    """What the dashboard asks, with its variables filled in."""
    found = [target["expr"] for panel in read_dashboard() for target in panel["targets"]]
    return [query.replace("$__rate_interval", "5m").replace("$tool", ".*") for query in found]
