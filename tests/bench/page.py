"""The page that figures are written to, between markers: ``<!-- name -->`` and ``<!-- /name -->``."""

from pathlib import Path

from tests.processes import ROOT

PAGE = ROOT / "docs" / "benchmarks.md"


def write_between(name: str, text: str, page: Path = PAGE) -> None:
    """Replaces what is between the markers of ``name``.  ValueError if the page does not have both, once."""
    page.write_text(replace_between(page.read_text(encoding="utf-8"), name, text), encoding="utf-8")


def replace_between(page: str, name: str, text: str) -> str:
    """The page with ``text`` between the markers of ``name``.  ValueError if it does not have both, once."""
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    if (page.count(start), page.count(end)) != (1, 1) or page.index(start) > page.index(end):
        raise ValueError(f"the page has to have {start} and {end}, once, in this order")
    before, _, rest = page.partition(start)
    return f"{before}{start}\n\n{text.strip()}\n\n{end}{rest.partition(end)[2]}"
