from typing import Any

import pytest

from receiver.protocol.capability import client_supports

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
