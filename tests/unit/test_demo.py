"""The tools of the demo app: they work, and stay where they may be."""

import hashlib
import os
import tarfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import pytest

from ops.demo import app, archive_folder, complete_folder, count_words, failing_job, greet, list_folders, slow_compute
from ops.demo.archive import list_files, pack
from receiver import Context, ToolError
from receiver.context import SyncContext
from receiver.principal import ANONYMOUS
from receiver.protocol.loglevel import LogLevel

T = TypeVar("T")


class Watched(Context):
    """A Context that keeps what a tool reports, and runs what ``sync`` is asked for."""

    task_id: str | None = "0-abc"
    run = 1
    attempt = 1
    state = None
    principal = ANONYMOUS
    cancelled = False

    def __init__(self) -> None:
        self.progressed: list[tuple[float, float | None]] = []
        self.statuses: list[str] = []

    @property
    def sync(self) -> SyncContext:
        return SyncContext(self, self._finish)

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        self.progressed.append((done, total))

    async def status(self, message: str) -> None:
        self.statuses.append(message)

    async def log(self, level: LogLevel, data: Any) -> None: ...

    async def close_stream(self) -> NoReturn:
        raise NotImplementedError

    async def step(self, name: str, function: Any, /, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError

    async def sleep(self, seconds: float) -> NoReturn:
        raise NotImplementedError

    async def elicit(self, message: str, form: Any, *, as_task: bool = False) -> NoReturn:
        raise NotImplementedError

    async def elicit_url(self, message: str, url: str, *, as_task: bool = False) -> NoReturn:
        raise NotImplementedError

    async def elicitation_complete(self, elicitation_id: str) -> NoReturn:
        raise NotImplementedError

    async def sample(self, messages: Any, max_tokens: int, *, as_task: bool = False, **params: Any) -> NoReturn:
        raise NotImplementedError

    async def resource_updated(self, uri: str) -> None:
        raise NotImplementedError

    @staticmethod
    def _finish(work: Coroutine[Any, Any, T]) -> T:
        with pytest.raises(StopIteration) as ended:
            work.send(None)
        result: T = ended.value.value
        return result


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "root"
    (root / "docs" / "deep").mkdir(parents=True)
    (root / "docs" / "a.txt").write_text("a" * 1000)
    (root / "docs" / "deep" / ".b").write_bytes(os.urandom(100_000))
    (root / "docs" / ".git").mkdir()
    (root / "docs" / ".git" / "config").touch()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").touch()
    monkeypatch.setenv("DEMO_ROOT", str(root))
    return root


@pytest.fixture
def ctx() -> Watched:
    return Watched()


def test_an_archive_holds_the_files_of_its_folder(root: Path, ctx: Watched) -> None:
    archive = archive_folder("docs", ctx)
    path = Path(archive.path)
    assert path.parent == root / ".receiver" / "archives"
    assert archive.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert archive.bytes == path.stat().st_size
    with tarfile.open(path, "r:gz") as tar:
        assert tar.getnames() == ["a.txt", "deep/.b"]
        assert archive.files == 2
        content = tar.extractfile("deep/.b")
        assert content is not None
        assert content.read() == (root / "docs" / "deep" / ".b").read_bytes()


def test_progress_rises_to_the_size_of_all_files(root: Path, ctx: Watched) -> None:
    archive_folder("docs", ctx)
    done = [step for step, _ in ctx.progressed]
    assert done == sorted(done)
    assert len(done) > 2
    assert {total for _, total in ctx.progressed} == {101_000}
    assert done[-1] == 101_000
    assert ctx.statuses == ["Packing 2 files"]


def test_a_second_attempt_writes_the_same_file_and_clears_what_the_first_left(root: Path, ctx: Watched) -> None:
    first = archive_folder("docs", ctx)
    partial = Path(first.path).with_name(f".{Path(first.path).name}.killed")
    partial.touch()
    assert archive_folder("docs", ctx).path == first.path
    assert os.listdir(root / ".receiver" / "archives") == [Path(first.path).name]


def test_a_plain_call_has_an_archive_of_its_own(root: Path, ctx: Watched) -> None:
    ctx.task_id = None
    assert archive_folder("docs", ctx).path != archive_folder("docs", ctx).path


def test_the_root_itself_can_be_archived_without_the_archives(root: Path, ctx: Watched) -> None:
    archive_folder(".", ctx)
    assert archive_folder(".", ctx).files == 2


@pytest.mark.parametrize(
    "path", ["..", "../outside", "/", "docs/../../outside", "link", "none", "docs/a.txt", "\0", "loop"]
)
def test_what_is_outside_or_no_folder_is_refused(root: Path, ctx: Watched, path: str) -> None:
    (root / "link").symlink_to(root.parent / "outside")
    (root / "loop").symlink_to("loop")
    with pytest.raises(ToolError, match="There is no folder"):
        archive_folder(path, ctx)
    assert not (root / ".receiver").exists()


def test_links_are_left_out(root: Path, ctx: Watched) -> None:
    (root / "docs" / "file").symlink_to(root.parent / "outside" / "secret")
    (root / "docs" / "folder").symlink_to(root.parent / "outside")
    os.mkfifo(root / "docs" / "pipe")
    assert archive_folder("docs", ctx).files == 2


def test_a_file_that_became_a_link_is_not_followed(root: Path) -> None:
    files = list_files(root / "docs")
    files[0].unlink()
    files[0].symlink_to(root.parent / "outside" / "secret")
    with pytest.raises(OSError, match="symbolic link"):
        pack(root / "docs", files, root / "out.tar.gz", lambda count: None)
    assert [path for path in os.listdir(root) if "out" in path] == []


def test_a_file_that_went_away_is_named_in_the_answer(
    root: Path, ctx: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ops.demo.list_files", lambda folder: [folder / "gone"])
    with pytest.raises(ToolError, match="Can't pack 'docs': No such file"):
        archive_folder("docs", ctx)


def test_cancelling_ends_it_and_leaves_nothing(root: Path, ctx: Watched) -> None:
    ctx.cancelled = True
    with pytest.raises(ToolError):
        archive_folder("docs", ctx)
    assert os.listdir(root / ".receiver" / "archives") == []


def test_words_are_counted() -> None:
    found = count_words("To be, or not to be:\nthat isn't mine.\n")
    assert (found.words, found.characters, found.lines) == (9, 38, 2)
    assert list(found.most_common.items())[:2] == [("to", 2), ("be", 2)]
    assert count_words("").words == 0


def test_greeting() -> None:
    assert greet("Ada") == "Hello, Ada!"


def test_folders_are_listed_and_completed(root: Path) -> None:
    for name in ("drafts", "data", ".git"):
        (root / name).mkdir()
    (root / "dust.txt").touch()
    assert list_folders() == ["data", "docs", "drafts"]
    assert complete_folder("d") == ["data", "docs", "drafts"]
    assert complete_folder("dr") == ["drafts"]


async def test_slow_computing_reports_all_the_while(ctx: Watched) -> None:
    assert await slow_compute(0.02, "sums", ctx=ctx) == "sums: done after 0.02 s"
    assert await slow_compute(0.75, "sums", ctx=ctx) == "sums: done after 0.75 s"
    assert ctx.progressed == [(0, 1), (0, 3), (1, 3), (2, 3)]


async def test_the_failing_job_says_that_it_means_to_fail(ctx: Watched) -> None:
    with pytest.raises(ToolError, match="on purpose"):
        await failing_job(ctx)


def test_every_tool_can_be_called_either_way_and_is_described() -> None:
    definitions = [tool.definition() for tool in app.tools]
    assert len(definitions) == 6
    for definition in definitions:
        assert definition["execution"] == {"taskSupport": "optional"}
        assert definition["description"]
        assert definition["annotations"]["openWorldHint"] is False
