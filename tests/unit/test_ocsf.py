"""OCSF: what class 6003 requires is there in every event, whatever it tells of."""

from typing import Any

import orjson
import pytest

from receiver.telemetry.audit import Entry, Event
from receiver.telemetry.ocsf import to_ocsf

TASK = "0-" + "0" * 32
CREATED = Event("client", "tools/call", "ada", "f00d", "192.0.2.1", "7", "c0ffee", "21", TASK, "task:draw", "success")
FINISHED = Event("worker", "finish", "w1", "f00d", task=TASK, label="task:draw", outcome="failure", detail="failed")
FOREIGN = Event("client", "tasks/get", "bob", "beef", "192.0.2.2", "8", "", "", TASK, "task:draw", "denied", "foreign")
ANONYMOUS = Event("client", "tasks/list", "", "feed", "192.0.2.1", "9", outcome="success", detail="3 tasks")
STRANGER = Event("client", "authenticate", address="192.0.2.3", outcome="denied", detail="invalid_token")
PURGED = Event("operator", "purge", "carol", "f00d", task=TASK, label="task:draw", outcome="success")
EVENTS = (CREATED, FINISHED, FOREIGN, ANONYMOUS, STRANGER, PURGED, Event(), Event("new", "new", outcome="new"))

REQUIRED = {"activity_id", "category_uid", "class_uid", "type_uid", "severity_id", "time", "metadata"}
REQUIRED |= {"actor", "api", "src_endpoint"}


def render(event: Event, times: int = 1) -> dict[str, Any]:
    return to_ocsf(Entry("1700000000000-0", 1_700_000_000_000, times, event), "1.2.3")


@pytest.mark.parametrize("event", EVENTS)
def test_what_the_class_requires(event: Event) -> None:
    found = render(event)
    assert set(found) >= REQUIRED
    assert (found["category_uid"], found["class_uid"]) == (6, 6003)
    assert found["type_uid"] == 600_300 + found["activity_id"]
    assert found["activity_id"] in {1, 2, 3, 4, 99}
    assert found["severity_id"] in {0, 1, 2, 3}
    assert found["status_id"] in {0, 1, 2}
    assert set(found["metadata"]) >= {"version", "product"}
    assert set(found["metadata"]["product"]) >= {"name", "vendor_name"}
    assert "operation" in found["api"]
    assert set(found["actor"]) & {"user", "app_name", "app_uid"}
    assert any(found["src_endpoint"].values())
    assert orjson.loads(orjson.dumps(found)) == found


@pytest.mark.parametrize("event", EVENTS)
def test_nothing_is_empty(event: Event) -> None:
    """Of an object with an alternative, OCSF wants one that says something."""
    found = render(event)
    assert all(found["actor"].values())
    if "user" in found["actor"]:
        assert all(found["actor"]["user"].values())
    assert all(all(resource.values()) for resource in found.get("resources", ()))


def test_a_creation() -> None:
    found = render(CREATED)
    assert (found["activity_name"], found["status"], found["severity"]) == ("Create", "Success", "Informational")
    assert found["time"] == 1_700_000_000_000
    assert found["actor"] == {"user": {"name": "ada", "uid": "f00d"}}
    assert found["api"]["operation"] == "tools/call"
    assert found["api"]["request"] == {"uid": "7"}
    assert found["src_endpoint"] == {"ip": "192.0.2.1"}
    assert found["resources"] == [{"uid": TASK, "type": "task", "name": "draw", "owner": {"uid": "f00d"}}]
    assert found["unmapped"]["arguments"] == {"sha256_prefix": "c0ffee", "size": 21}
    assert found["metadata"]["uid"] == "1700000000000-0"
    assert found["metadata"]["product"]["version"] == "1.2.3"
    assert "count" not in found


def test_an_end() -> None:
    found = render(FINISHED)
    assert (found["activity_name"], found["status"], found["status_detail"]) == ("Update", "Failure", "failed")
    assert found["actor"] == {"app_name": "worker", "app_uid": "w1"}
    assert found["resources"][0]["owner"] == {"uid": "f00d"}


def test_a_denial_does_not_say_that_who_was_denied_owns_it() -> None:
    found = render(FOREIGN)
    assert (found["activity_name"], found["status"], found["severity"]) == ("Read", "Failure", "Medium")
    assert found["status_detail"] == "foreign"
    assert found["actor"]["user"]["uid"] == "beef"
    assert "owner" not in found["resources"][0]


def test_who_is_not_known() -> None:
    assert render(STRANGER)["actor"] == {"user": {"name": "unknown"}}
    assert render(ANONYMOUS)["actor"] == {"user": {"name": "anonymous", "uid": "feed"}}


def test_an_operator_is_not_the_owner() -> None:
    found = render(PURGED)
    assert found["activity_name"] == "Delete"
    assert found["actor"] == {"user": {"name": "carol"}, "app_name": "operator"}
    assert found["resources"][0]["owner"] == {"uid": "f00d"}


def test_what_happened_often_is_counted() -> None:
    assert render(STRANGER, 12)["count"] == 12
