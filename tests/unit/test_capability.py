from typing import Any

import pytest

from receiver.protocol.capability import ASKABLE, augmentable, client_supports
from receiver.protocol.handshake import REVISIONS
from receiver.session import Session

EVERYTHING = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"tools": {}, "context": {}},
    "roots": {"listChanged": True},
    "tasks": {"list": {}, "cancel": {}, "requests": {"elicitation": {"create": {}}, "sampling": {"createMessage": {}}}},
}
NAMES = [
    "elicitation.form",
    "elicitation.url",
    "sampling",
    "sampling.tools",
    "sampling.context",
    "roots",
    "tasks",
    "tasks.requests.elicitation.create",
    "tasks.requests.sampling.createMessage",
]


@pytest.mark.parametrize("name", NAMES)
def test_only_what_is_declared_may_be_used(name: str) -> None:  # L-02, T-02, T-03, E-08
    assert client_supports(EVERYTHING, name)
    assert not client_supports({}, name)


@pytest.mark.parametrize(
    ("modes", "form", "url"),
    [
        ({}, True, False),  # which is all that 2025-06-18 knew
        ({"form": {}}, True, False),
        ({"url": {}}, False, True),
        ({"form": {}, "url": {}}, True, True),
        ({"form": {"applyDefaults": True}}, True, False),
        ({"vendor": {}}, True, False),
        ({"form": False}, False, False),
        ({"form": None, "url": {}}, False, True),
        (True, False, False),
        (None, False, False),
    ],
)
def test_modes_of_elicitation(modes: Any, form: bool, url: bool) -> None:  # E-01
    declared = {"elicitation": modes}
    assert client_supports(declared, "elicitation.form") is form
    assert client_supports(declared, "elicitation.url") is url


@pytest.mark.parametrize("declared", [True, False, None, 1, "yes", []])
def test_a_capability_is_an_object(declared: Any) -> None:  # T-104
    assert not client_supports({"sampling": declared}, "sampling")
    assert not client_supports({"sampling": declared}, "sampling.tools")
    assert not client_supports({"tasks": {"requests": declared}}, "tasks.requests.elicitation.create")


@pytest.mark.parametrize("method", ["elicitation/create", "sampling/createMessage"])
def test_requests_that_a_client_runs_as_tasks(method: str) -> None:  # T-02, T-03
    family, _, verb = method.partition("/")
    able: dict[str, Any] = {"tasks": {"requests": {family: {verb: {}}}}}
    assert augmentable(method) in ASKABLE
    assert client_supports(able, augmentable(method))
    unable: list[dict[str, Any]] = [{}, {"tasks": {}}, {"tasks": {"requests": {family: {}}}}, {family: {verb: {}}}]
    for declared in unable:
        assert not client_supports(declared, augmentable(method))


def test_a_session_without_tasks_is_asked_for_none() -> None:  # T-03
    able: dict[str, Any] = {"sampling": {}, "tasks": {"requests": {"sampling": {"createMessage": {}}}}}
    asked = {name: Session("s", "ada", revision, able).askable for name, revision in REVISIONS.items()}
    assert asked["2025-11-25"] == "sampling tasks.requests.sampling.createMessage"
    assert {asked["2025-06-18"], asked["2025-03-26"]} == {"sampling"}
