"""Figures go between their markers, and nothing else of a page changes."""

from pathlib import Path

import pytest

from tests.bench.page import PAGE, replace_between, write_between


def test_only_what_is_between_the_markers_is_replaced() -> None:
    page = "# A\n<!-- a -->\nold\n<!-- /a -->\nrest\n<!-- b -->\nkept\n<!-- /b -->\n"
    assert replace_between(page, "a", "new\n") == page.replace("\nold\n", "\n\nnew\n\n")


def test_a_page_that_was_written_is_written_again(tmp_path: Path) -> None:
    (page := tmp_path / "page.md").write_text("<!-- a --><!-- /a -->", encoding="utf-8")
    write_between("a", "first ≥ one", page)
    write_between("a", "second ≥ one", page)
    assert page.read_text(encoding="utf-8") == "<!-- a -->\n\nsecond ≥ one\n\n<!-- /a -->"


@pytest.mark.parametrize("page", ["", "<!-- a -->", "<!-- /a --><!-- a -->", 2 * "<!-- a --><!-- /a -->"])
def test_a_page_without_its_markers_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match="<!-- a -->"):
        replace_between(page, "a", "new")


def test_the_page_has_the_markers_of_the_peers() -> None:
    replace_between(PAGE.read_text(encoding="utf-8"), "peers", "")
