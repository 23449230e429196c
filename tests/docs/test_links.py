"""Every link between pages leads somewhere, and every page is found from docs/index.md."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, Block, read_anchors, read_blocks, read_links

INDEX = ROOT / "docs" / "index.md"


def list_pages() -> list[Path]:
    """All pages that git tracks or would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / path for path in sorted(listing.rstrip("\0").split("\0")) if (ROOT / path).is_file()]


PAGES = list_pages() if (ROOT / ".git").exists() else sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def find_broken(page: Path) -> Iterator[str]:
    """The relative links of a page that lead nowhere."""
    for link in read_links(page.read_text(encoding="utf-8")):
        path, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        target = (page.parent / path).resolve() if path else page
        known = target.suffix == ".md" and anchor and target.exists()
        if not target.exists() or (known and anchor not in read_anchors(target.read_text(encoding="utf-8"))):
            yield link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert list(find_broken(page)) == []


def test_all_pages_are_found_from_the_index() -> None:
    found, new = set[Path](), {INDEX}
    while new:
        page = new.pop()
        found.add(page)
        links = (link.partition("#")[0] for link in read_links(page.read_text(encoding="utf-8")))
        targets = {(page.parent / path).resolve() for path in links if path.endswith(".md") and ":" not in path}
        new |= targets - found
    assert {page for page in PAGES if page.is_relative_to(ROOT / "docs")} - found == set()


def test_the_site_has_every_page_once() -> None:
    named = re.findall(r"^ +- [^:]+: (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    docs = ROOT / "docs"
    assert sorted(named) == sorted(str(page.relative_to(docs)) for page in PAGES if page.is_relative_to(docs))


BROKEN = """\
# A `page`, and more
[1](page.md#a-page-and-more) [2](#again-1) [3](https://example.com/x.md) [`4`](other.md) [[5]](page.md#nothing)
`[6](other.md)`

## Again
## Again
```
[7](other.md)
```
"""


def test_what_is_broken_is_found(tmp_path: Path) -> None:
    (page := tmp_path / "page.md").write_text(BROKEN)
    assert list(find_broken(page)) == ["other.md", "page.md#nothing"]


def test_blocks_are_read() -> None:
    page = "one\n```python\na = 1\n```\n\n```\nb\n```\n"
    assert list(read_blocks(page)) == [Block("python", "a = 1\n", 3), Block("", "b\n", 7)]
