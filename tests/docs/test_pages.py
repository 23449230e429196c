"""The quickstart and the how-tos do what they say: all that they show is written and run, from top to bottom."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.docs.markdown import ROOT, Block, read_blocks
from tests.docs.play import Play

PAGES = [
    "quickstart.md",
    "how-to/wrap-a-slow-function.md",
    "how-to/ask-the-user.md",
    "how-to/cancel.md",
    "how-to/deploy.md",
    "how-to/secure.md",
    "how-to/inspect-with-redis-cli.md",
    "how-to/measure.md",
]


@pytest.fixture
def folder() -> Iterator[Path]:
    """An empty folder with a short path: the server's socket is then in it, where the pages say."""
    with TemporaryDirectory(prefix="reader-") as name:
        yield Path(name)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("page", PAGES)
def test_a_page(page: str, folder: Path) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    if "$ redis-cli" in text and shutil.which("redis-cli") is None:
        pytest.skip("redis-cli is not on PATH")
    with Play(folder) as play:
        for block in read_blocks(text):
            play.play(block)


@pytest.mark.timeout(120)
def test_the_client_of_the_readme(folder: Path) -> None:
    """Against the demo app, whose root is the reader's folder."""
    blocks = read_blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    client = next(block for block in blocks if "call_tool_as_task" in block.text)
    (folder / "docs").mkdir()
    (folder / "docs" / "index.md").write_text("# Pages\n")
    with Play(folder) as play:
        play.play(Block("python", f"# client.py\n{client.text}", client.line))
        play.play(Block("console", "$ receiver dev ops.demo:app\nServing ops.demo:app at …\n", 1))
        play.play(Block("console", '$ python client.py\n…\ncompleted…\n{…docs-….tar.gz…"files":1,…}\n', 1))
