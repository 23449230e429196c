"""The image, compose and Kubernetes: valid, and in keeping with the settings, with each other and with the docs."""

import json
import re
import sys
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml

from receiver.settings import Settings
from tests.deploy.guarded import DEPLOY, USERS
from tests.deploy.manifests import (
    BIN,
    COMPOSE,
    DASHBOARD,
    EXPORTED,
    FOREIGN,
    KUBERNETES,
    METRICS,
    REPLICATED,
    find_object,
    find_variables,
    name_settings,
    read_compose,
    read_dashboard,
    read_environment,
    read_kubernetes,
    read_queries,
    run,
)
from tests.deploy.promtool import read_rules
from tests.deploy.recording import name_metrics
from tests.processes import ROOT

SUFFIXES = re.compile(r"_(bucket|count|sum)$")
RUNBOOKS = ROOT / "ops" / "runbooks"
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="its programs come as packages for Linux alone")


@on_linux
def test_the_image_is_made_as_hadolint_wants_it() -> None:
    run(BIN / "hadolint", "--failure-threshold", "style", DEPLOY / "Dockerfile")


def test_the_image_has_all_that_the_package_is_made_of() -> None:
    copied = set(
        re.findall(
            r"\S+", " ".join(re.findall(r"^COPY (?!--)(.+) \S+$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE))
        )
    )
    let_in = {line[1:] for line in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines() if line[:1] == "!"}
    assert (
        copied == let_in == {"LICENSE", "README.md", "constraints.txt", "ops", "pyproject.toml", "receiver", "workers"}
    )
    assert all((ROOT / name).exists() for name in copied)


@pytest.mark.parametrize("file", sorted(it for it in KUBERNETES.glob("*.yaml") if it.name not in FOREIGN))
def test_kubernetes_knows_what_a_manifest_says(file: Path) -> None:
    run(BIN / "kubernetes-validate", "--strict", file)


def test_kustomize_takes_all_that_needs_nothing_installed() -> None:
    listed = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())["resources"]
    assert sorted(listed) == sorted(file.name for file in KUBERNETES.glob("*.yaml") if file.name not in FOREIGN)


def test_every_variable_is_a_setting() -> None:
    unknown = {name: file for name, file in find_variables().items() if name not in name_settings()}
    assert unknown == {}


@on_linux
@pytest.mark.parametrize("files", [COMPOSE, REPLICATED], ids=["one server", "replicated"])
def test_compose_takes_its_files(files: tuple[Path, ...]) -> None:
    found = read_compose(*files)
    commands = sorted(it["command"][0] for it in found["services"].values() if it.get("image") == "mcp-task-receiver")
    assert commands == ["console", "serve", "serve", "work", "work"]
    for service in found["services"].values():
        if service.get("image") == "mcp-task-receiver":
            check_settings(service["environment"], user={"serve": "api", "work": "worker"}.get(service["command"][0]))


def test_compose_wants_no_variable_that_the_example_lacks() -> None:
    wanted = {name for file in REPLICATED for name in re.findall(r"\$\{(\w+):\?", file.read_text())}
    given = set(re.findall(r"^(\w+)=", (DEPLOY / "example.env").read_text(), re.MULTILINE))
    assert wanted <= given
    assert {f"{user.upper()}_PASSWORD" for user in USERS} <= set(re.findall(r"\w+_PASSWORD", REPLICATED[1].read_text()))


@pytest.mark.parametrize("name", ["receiver-api", "receiver-worker"])
def test_a_pod_starts_with_settings_that_are_valid(name: str) -> None:
    check_settings(read_environment(find_object("Deployment", name)), user=name.removeprefix("receiver-"))


def check_settings(environment: Mapping[str, str], user: str | None) -> None:
    """``user`` is the one that it is in Redis."""
    given = {name.removeprefix("RECEIVER_").lower(): value for name, value in environment.items()}
    given = {name: value for name, value in given.items() if name in Settings.model_fields}
    for tokens in ("auth_tokens", "console_tokens"):
        if given.get(tokens):
            given[tokens] = json.loads(given[tokens])
    settings = Settings(**given)
    if user is not None:
        assert f"//{user}:" in settings.require_redis_url()


@on_linux
def test_workers_have_longer_to_stop_than_their_grace() -> None:
    deployment = find_object("Deployment", "receiver-worker")
    grace = float(read_environment(deployment)["RECEIVER_SHUTDOWN_GRACE_SECONDS"])
    assert deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] >= grace + 10
    for name, service in read_compose(*COMPOSE)["services"].items():
        if name.startswith("worker"):
            assert service["stop_grace_period"] == "40s"
            assert float(service["environment"]["RECEIVER_SHUTDOWN_GRACE_SECONDS"]) + 10 <= 40


@pytest.mark.parametrize("name", ["receiver-api", "receiver-worker"])
def test_whatever_means_a_pod_finds_it(name: str) -> None:
    deployment = find_object("Deployment", name)
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert deployment["spec"]["selector"]["matchLabels"] == labels
    assert find_object("PodDisruptionBudget", name)["spec"]["selector"]["matchLabels"] == labels
    policy = find_object("NetworkPolicy", name)["spec"]
    assert policy["podSelector"]["matchLabels"] == labels
    annotations = deployment["spec"]["template"]["metadata"]["annotations"]
    assert {"port": int(annotations["prometheus.io/port"])} in policy["ingress"][0]["ports"]


@pytest.mark.parametrize("name", ["receiver-api", "receiver-worker"])
def test_a_pod_has_no_rights_that_it_does_not_need(name: str) -> None:
    pod = find_object("Deployment", name)["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["automountServiceAccountToken"] is False
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_keda_scales_workers_that_are_there_and_never_to_none() -> None:
    scaled = next(it for it in read_kubernetes() if it["kind"] == "ScaledObject")["spec"]
    find_object("Deployment", scaled["scaleTargetRef"]["name"])
    assert scaled["minReplicaCount"] > 0  # else no node is ready, and nothing brings the first task
    environment = read_environment(find_object("Deployment", "receiver-worker"))
    (trigger,) = scaled["triggers"]
    assert 0 < int(trigger["metadata"]["threshold"]) <= int(environment["RECEIVER_WORKER_CONCURRENCY"])
    assert name_metrics([trigger["metadata"]["query"]]) == {"mcp_tasks_queue_size"}


def test_every_metric_that_an_alert_or_the_dashboard_names_exists() -> None:
    rules = [rule["expr"] for rule in read_rules().values()]
    named = {
        SUFFIXES.sub("", name) if name not in METRICS else name for name in name_metrics([*rules, *read_queries()])
    }
    assert named - METRICS - EXPORTED == set()
    assert METRICS - named == set()  # and the dashboard shows all there are


def test_panels_do_not_overlap() -> None:
    for one, other in combinations([panel["gridPos"] for panel in json.loads(DASHBOARD.read_text())["panels"]], 2):
        aside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        assert aside or one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"], (one, other)


def test_every_panel_has_a_title_and_a_unit() -> None:
    for panel in read_dashboard():
        assert panel["title"], panel
        assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]


def test_every_alert_has_a_runbook_and_every_runbook_an_alert() -> None:
    rules = read_rules()
    assert {rule["annotations"]["runbook"] for rule in rules.values()} == {f"ops/runbooks/{name}.md" for name in rules}
    assert {file.stem for file in RUNBOOKS.glob("*.md")} - {"README"} == set(rules)
    assert {rule["labels"]["severity"] for rule in rules.values()} == {"page", "ticket"}


@pytest.mark.parametrize("file", sorted(RUNBOOKS.glob("[A-Z]*[a-z].md")), ids=lambda file: file.stem)
def test_a_runbook_says_what_it_means_what_to_look_at_and_what_to_do(file: Path) -> None:
    text = file.read_text()
    assert text.startswith(f"# {file.stem}\n")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["What it means", "Look", "Fix"]
    assert "```console" in text


def prometheus_targets() -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    config: dict[str, Any] = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())
    for job in config["scrape_configs"]:
        for names in job.get("dns_sd_configs", []):
            found += [(name, names["port"]) for name in names["names"]]
        for targets in job.get("static_configs", []):
            found += [(host, int(port)) for host, port in (it.split(":") for it in targets["targets"])]
    return found


@on_linux
def test_prometheus_scrapes_what_compose_starts() -> None:
    services = read_compose(*COMPOSE)["services"]
    told = {("serve", 8000), ("work", 9464)}
    for name, port in prometheus_targets():
        assert "inside" in services[name]["networks"]
        assert name == "redis-exporter" or (services[name]["command"][0], port) in told
    scraped = {name for name, _ in prometheus_targets()}
    assert scraped == {"redis-exporter"} | {name for name in services if re.match(r"(receiver|worker)-", name)}
