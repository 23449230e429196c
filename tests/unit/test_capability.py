from typing import Any

import pytest

from receiver.protocol.capability import ASKABLE, agreed, augmentable, client_supports
from receiver.protocol.handshake import REVISIONS

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


def test_tasks_are_agreed_on_where_the_revision_has_them() -> None:  # L-02, T-03
    declared: dict[str, Any] = {"elicitation": {}, "sampling": {}, "tasks": {"requests": {}}}
    known = {name: [*agreed(declared, tasks=revision.tasks)] for name, revision in REVISIONS.items()}
    without = ["elicitation", "sampling"]
    assert known == {"2025-11-25": [*declared], "2025-06-18": without, "2025-03-26": without}
