"""What is vendored is what was published, with its licence, and nothing else is loaded."""

import hashlib
import re
from pathlib import Path

import pytest

from tests.console.sites import STATIC

VENDOR = STATIC / "vendor"
PUBLISHED = {
    "htmx-2.0.11.min.js": "htmx.org/dist/htmx.min.js",
    "htmx-LICENSE": "htmx.org/LICENSE",
    "uplot-1.6.32.iife.min.js": "uplot/dist/uPlot.iife.min.js",
    "uplot-1.6.32.min.css": "uplot/dist/uPlot.min.css",
    "uplot-LICENSE": "uplot/LICENSE",
}
SUMS = {
    "htmx-2.0.11.min.js": "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717",
    "htmx-LICENSE": "d3d2456f76414f2456104660ebd65aff1c04cd7966b942bdabd63f3cdb316a38",
    "uplot-1.6.32.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "uplot-1.6.32.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    "uplot-LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
}


def test_nothing_else_is_vendored() -> None:
    assert {path.name for path in VENDOR.iterdir()} == SUMS.keys()


@pytest.mark.parametrize("name", SUMS)
def test_a_vendored_file_has_the_sum_that_was_recorded(name: str) -> None:
    assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == SUMS[name]


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_vendored_file_is_the_published_one(packages: Path, name: str) -> None:
    assert (VENDOR / name).read_bytes() == (packages / PUBLISHED[name]).read_bytes()


def test_no_page_names_another_place() -> None:
    """Neither a host nor an inline script, style or handler: the policy would stop it, and the page would be broken."""
    for path in [*STATIC.glob("*.*"), *STATIC.parent.glob("templates/*.html")]:
        text = path.read_text().replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert "//" not in re.sub(r"^\s*//.*$|\s// .*$", "", text, flags=re.MULTILINE), path
        assert not re.search(r"\s(on\w+|style)=\"", text), path
