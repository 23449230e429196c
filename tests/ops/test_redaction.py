"""The hook that decides what operators are shown."""

from typing import Any

import pytest

from ops.admin.redaction import HIDDEN, Redaction, load_redaction
from receiver.protocol.errors import StartupError

SHOWN = {"id": "0-1", "tool": "draw", "params": {"card": "4111", "size": 3}, "result": None, "error": {"code": 1}}


def hide_card(shown: dict[str, Any]) -> dict[str, Any]:
    """What a deployment would write."""
    shown["params"]["card"] = "****"
    return shown


def test_without_a_hook_all_is_shown() -> None:
    assert Redaction().apply(SHOWN) == SHOWN


def test_a_hook_changes_what_is_shown() -> None:
    assert Redaction(hide_card).apply(SHOWN) == {**SHOWN, "params": {"card": "****", "size": 3}}
    assert SHOWN["params"] == {"card": "4111", "size": 3}, "its own copy is what it changes"


def test_what_a_hook_leaves_out_is_hidden() -> None:
    assert Redaction(lambda shown: {"error": shown["error"]}).apply(SHOWN) == {**SHOWN, "params": HIDDEN}


def test_a_hook_changes_nothing_else() -> None:
    assert Redaction(lambda shown: {**shown, "id": "other", "extra": 1}).apply(SHOWN) == SHOWN


def fail(shown: dict[str, Any]) -> dict[str, Any]:
    raise KeyError("card")


@pytest.mark.parametrize("hook", [fail, lambda shown: None, lambda shown: "all"])
def test_a_hook_that_fails_shows_nothing(hook: Any) -> None:
    assert Redaction(hook).apply(SHOWN) == {**SHOWN, "params": HIDDEN, "error": HIDDEN}


def test_a_hook_is_loaded_by_name() -> None:
    assert load_redaction(None) == load_redaction("") == Redaction()
    assert load_redaction("json:dumps").hook is not None


@pytest.mark.parametrize("name", ["json", "json:nothing", "nowhere:hook", "json:__name__", ":dumps"])
def test_a_name_that_means_no_function(name: str) -> None:
    with pytest.raises(StartupError, match="RECEIVER_REDACT"):
        load_redaction(name)
