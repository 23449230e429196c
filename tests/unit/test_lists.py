"""Digests of lists: alike where clients are shown alike, and only there."""

from typing import Any

import pytest

from receiver import Receiver
from receiver.lists import LISTS, digest_lists


def make_app(*names: str, **options: Any) -> Receiver:
    app = Receiver("app", **options)
    for name in names:

        @app.tool(name=name)
        def draw(pages: int = 1) -> str:
            """Draws."""
            return ""

    return app


def test_each_list_has_a_digest() -> None:
    assert digest_lists(make_app("a")).keys() == LISTS.keys()


def test_apps_that_show_the_same_have_the_same() -> None:
    assert digest_lists(make_app("a", "b")) == digest_lists(make_app("a", "b", version="2.0.0", title="Another"))


@pytest.mark.parametrize("names", [(), ("a",), ("b", "a"), ("a", "b", "c"), ("a", "B")])
def test_apps_that_show_something_else_have_another(names: tuple[str, ...]) -> None:
    assert digest_lists(make_app(*names))["tools"] != digest_lists(make_app("a", "b"))["tools"]


def test_a_digest_is_of_all_that_is_shown_of_a_tool() -> None:
    app, other = make_app(), make_app()

    @app.tool
    def draw(pages: int = 1) -> str:
        """Draws."""
        return ""

    @other.tool(name="draw")
    def draw_more(pages: int = 2) -> str:
        """Draws."""
        return ""

    assert digest_lists(app) != digest_lists(other)
