"""The demo app: tools that show progress, success, failure and cancellation, and a resource and a prompt.

``make run`` serves it, which is ``receiver dev ops.demo:app``.
"""

import asyncio
import hashlib
import os
import re
import uuid
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from ops.demo.archive import list_files, pack
from receiver import Context, Receiver, ToolError, __version__

app = Receiver(
    "mcp-task-receiver-demo",
    version=__version__,
    title="Task receiver demo",
    instructions="Try write_report, archive_folder or slow_compute as a task, and watch its progress.",
)

ARCHIVES = ".receiver/archives"  # below the root
PURE = {"readOnlyHint": True, "openWorldHint": False}


@app.tool(title="Greet", annotations=PURE)
def greet(name: str) -> str:
    """Greet somebody by name."""
    return f"Hello, {name}!"


class WordCount(BaseModel):
    """What count_words found."""

    words: int
    characters: int
    lines: int
    most_common: dict[str, int] = Field(description="The ten most common words, and how often each stands there.")


@app.tool(title="Count words", annotations=PURE)
def count_words(text: str) -> WordCount:
    """Count the words, characters and lines of a text, and name its most common words."""
    words = re.findall(r"\w+(?:['-]\w+)*", text)
    most_common = Counter(map(str.casefold, words)).most_common(10)
    return WordCount(
        words=len(words), characters=len(text), lines=len(text.splitlines()), most_common=dict(most_common)
    )


@app.tool(title="Compute slowly", annotations=PURE)
async def slow_compute(
    seconds: Annotated[float, Field(ge=0, le=3600, description="How long it takes.")],
    label: Annotated[str, Field(max_length=100, description="What to call it.")] = "computation",
    *,
    ctx: Context,
) -> str:
    """Take some seconds, and report progress all the while."""
    await ctx.status(f"Computing {label}")
    steps = max(1, round(seconds * 4))
    for step in range(steps):
        await ctx.progress(step, total=steps)
        await asyncio.sleep(seconds / steps)
    return f"{label}: done after {seconds:g} s"


@app.tool(title="Fail", annotations=PURE)
async def failing_job(ctx: Context) -> str:
    """Work for a second, then fail: to see what a failed task looks like."""
    await ctx.status("About to fail")
    await asyncio.sleep(1)
    raise ToolError("This job fails on purpose: nothing is wrong with the server")


class Page(BaseModel):
    """A page of a report."""

    number: int
    worker: int = Field(description="The process that wrote it.")


class Layout(BaseModel):
    """How a report shall look."""

    format: Literal["html", "pdf", "plain"] = Field("html", description="What to make of it.")
    copies: int = Field(1, ge=1, le=9)


class Report(BaseModel):
    """What write_report made."""

    topic: str
    pages: list[Page]
    format: str
    copies: int


@app.tool(title="Write a report", replay=True, annotations=PURE)
async def write_report(
    topic: Annotated[str, Field(max_length=100, description="What it is about.")],
    pages: Annotated[int, Field(ge=1, le=100, description="How long it is.")] = 6,
    seconds: Annotated[float, Field(ge=0, le=60, description="How long a page takes.")] = 0.5,
    *,
    ctx: Context,
) -> Report:
    """Write a report page by page, and ask how it shall look; no page is written twice, if workers die."""

    async def write(number: int) -> Page:
        await asyncio.sleep(seconds)
        return Page(number=number, worker=os.getpid())

    written = []
    for number in range(1, pages + 1):
        written.append(await ctx.step("page", write, number))
        await ctx.progress(number, total=pages, message=f"Page {number} of {pages}")
    answer = await ctx.elicit(f"How shall the report on {topic} look?", Layout)
    if answer.content is None:
        raise ToolError("Nobody said how the report shall look")
    return Report(topic=topic, pages=written, **Layout(**answer.content).model_dump())


class Archive(BaseModel):
    """What archive_folder made."""

    path: str = Field(description="Where the archive is, on the server's machine.")
    files: int = Field(description="How many files are in it.")
    bytes: int = Field(description="The size of the archive.")
    sha256: str = Field(description="The SHA-256 of the archive, in hexadecimal.")


@app.tool(title="Archive a folder", max_attempts=3, annotations={"destructiveHint": False, "openWorldHint": False})
def archive_folder(
    path: Annotated[str, Field(description="The folder, relative to the root that the server may read.")],
    ctx: Context,
) -> Archive:
    """Pack a folder into a .tar.gz file, without links and without folders whose names begin with a dot."""
    root = find_root()
    folder = find_folder(root, path)
    # Named after the task: a second attempt, after a lost worker, writes the same file again.
    target = root / ARCHIVES / f"{folder.name}-{ctx.task_id or uuid.uuid4().hex}.tar.gz"
    try:
        files = list_files(folder)
        ctx.sync.status(f"Packing {len(files)} files")
        target.parent.mkdir(parents=True, exist_ok=True)
        pack(folder, files, target, meter(ctx, sum(file.stat().st_size for file in files)))
        with target.open("rb") as archive:
            digest = hashlib.file_digest(archive, "sha256").hexdigest()
        return Archive(path=str(target), files=len(files), bytes=target.stat().st_size, sha256=digest)
    except OSError as error:
        raise ToolError(f"Can't pack {path!r}: {error.strerror or error}") from error


@app.resource("demo://folders", title="Folders", annotations={"audience": ["user"]})
def list_folders() -> list[str]:
    """The folders that archive_folder can pack, as their names below the root."""
    return sorted(it.name for it in find_root().iterdir() if it.is_dir() and not it.name.startswith("."))


@app.prompt(title="Archive a folder")
def archive(folder: Annotated[str, Field(description="The folder, as demo://folders has it.")]) -> str:
    """Have a folder archived, and be told what came of it."""
    return f"Call archive_folder as a task for the folder {folder!r}. When it is done, tell me its size and SHA-256."


@app.completion("archive", "folder")
def complete_folder(value: str) -> list[str]:
    """The folders whose names begin so."""
    return [name for name in list_folders() if name.startswith(value)]


def find_root() -> Path:
    """The folder that the server may read."""
    return Path(os.environ.get("DEMO_ROOT", ".")).resolve()


def meter(ctx: Context, total: int) -> Callable[[int], None]:
    """What takes numbers of bytes, and reports how much of ``total`` they are; it raises when the work shall stop."""
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        if ctx.cancelled:  # a plain function has to look by itself
            raise ToolError("Stopped")
        done += count
        ctx.sync.progress(done, total)

    return advance


def find_folder(root: Path, path: str) -> Path:
    """The folder ``path`` below ``root``; ToolError if it lies elsewhere, also by links, or is none."""
    try:
        folder = (root / path).resolve()
        if folder.is_relative_to(root) and folder.is_dir():
            return folder
    except (OSError, ValueError, RuntimeError):  # no access; a NUL in the name; links that go round in a circle
        pass
    raise ToolError(f"There is no folder {path!r} below the root that this server may read")
