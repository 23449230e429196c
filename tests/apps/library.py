"""Resources, prompts and completions for every case of the wire."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Literal

from mcp_types import BlobResourceContents, ImageContent, PromptMessage, ResourceLink, TextContent, TextResourceContents
from pydantic import BaseModel, Field

from receiver import Context, Receiver, ReceiverError, ResourceNotFound, ToolError
from tests.apps.wire import open_gates, pass_gate

ICON = {"src": "https://acme.example/i.png", "mimeType": "image/png", "sizes": ["48x48"]}
WORDS = [f"word {number:03}" for number in range(250)]

app = Receiver(
    "library", version="1.2.3", icons=[ICON], website_url="https://acme.example/library", lifespan=open_gates
)


class Book(BaseModel):
    """What stands on a shelf."""

    title: str
    pages: int


class Color(Enum):
    """The colors of covers."""

    RED = "red"
    ROSE = "rose"
    BLUE = "blue"


@app.tool(title="Link", icons=[ICON])
async def link() -> ResourceLink:
    """A link to a resource."""
    return ResourceLink(name="hours", uri="library://hours", type="resource_link")


@app.resource(
    "library://hours",
    title="Hours",
    mime_type="text/plain",
    size=6,
    icons=[ICON],
    annotations={"audience": ["user"], "priority": 0.5},
)
def hours() -> str:
    """When it is open, from a plain function."""
    return "9 to 5"


@app.resource("library://seal", mime_type="image/png")
async def seal() -> bytes:
    """A picture."""
    return b"\x89PNG\0"


@app.resource("library://catalog")
async def catalog() -> list[Book]:
    """All books."""
    return [Book(title="One", pages=1), Book(title="Two", pages=2)]


@app.resource("library://bundle")
async def bundle() -> list[TextResourceContents | BlobResourceContents]:
    """Two contents, one of them with a URI of its own."""
    text = TextResourceContents(uri="", mime_type="text/plain", text="first")
    return [text, BlobResourceContents(uri="library://bundle/2", blob="AAAA")]


@app.resource("library://books/{number}", title="A book", icons=[ICON])
async def book(number: int, ctx: Context) -> dict[str, Any]:
    """A book by its number."""
    if number > 99:
        raise ResourceNotFound(f"library://books/{number}")
    return {"number": number, "subject": ctx.principal.subject, "task": ctx.task_id}


@app.resource("library://books/mine", name="mine")
async def my_book() -> str:
    """Stands before all that fit the template."""
    return "mine"


@app.resource("library://files/{+path}")
async def file(path: str) -> str:
    """A file in any folder."""
    return path


@app.resource("library://gates/{label}")
async def gated(label: str, ctx: Context) -> dict[str, Any]:
    """Waits at its gate."""
    await ctx.progress(1, total=2)
    await pass_gate(ctx.state, label)
    return {"run": ctx.run, "attempt": ctx.attempt}


@app.resource("library://card")
async def card(ctx: Context) -> str:
    """Has to know whose."""
    answer = await ctx.elicit("Who?", {"type": "object", "properties": {"name": {"type": "string"}}})
    return f"The card of {answer.content and answer.content['name']}"


@app.resource("library://large/{size}")
async def large(size: int) -> str:
    """Many bytes."""
    return "x" * size


@app.resource("library://slow", timeout=0.2)
async def slow(ctx: Context) -> str:
    """Takes longer than it may."""
    await pass_gate(ctx.state, "never")
    return "done"


@app.resource("library://broken/{way}")
async def broken(way: str) -> str | None:
    """Can't be read."""
    if way == "refuse":
        raise ToolError("The shelf is empty")
    if way == "code":
        raise ReceiverError("closed", code=-32050, data={"until": 9})
    if way == "nothing":
        return None
    raise RuntimeError("the password is swordfish")


@app.prompt(title="Review", icons=[ICON])
def review(
    book: str = Field(description="Which book."),
    stars: int = Field(3, ge=1, le=5),
    tone: Literal["kind", "keen", "harsh"] = "kind",
    color: Color | None = None,
) -> str:
    """Ask for a review."""
    return f"Review {book}, {stars} stars, {tone}, {color and color.value}"


@app.prompt
async def dialog(topic: str) -> list[PromptMessage | dict[str, Any] | str]:
    """Messages of every kind."""
    image = ImageContent(type="image", data="AAAA", mime_type="image/png")
    shelf = ResourceLink(type="resource_link", name="hours", title="Hours", uri="library://hours")
    return [
        topic,
        {"role": "assistant", "content": "Which one?"},
        PromptMessage(role="user", content=image),
        {"role": "user", "content": shelf},
        PromptMessage(role="assistant", content=TextContent(type="text", text="This one")),
    ]


@app.prompt(name="gated.prompt")
async def gated_prompt(label: str, ctx: Context) -> str:
    """Waits at its gate."""
    await pass_gate(ctx.state, label)
    return f"run {ctx.run}"


@app.prompt
async def broken_prompt() -> Any:
    """Returns what is no message."""
    return {"role": "system", "content": "no"}


@app.completion("dialog", "topic")
def complete_topic(value: str) -> list[str]:
    """More than one answer may hold."""
    return [word for word in WORDS if word.startswith(value)]


@app.completion("library://books/{number}", "number")
async def complete_number(value: str, known: Mapping[str, str], ctx: Context) -> list[str]:
    """Tells what it was given."""
    return [value, *(f"{name}={text}" for name, text in known.items()), ctx.principal.subject]


@app.completion("library://files/{+path}", "path")
async def complete_path(value: str) -> str:
    """Returns what is no list."""
    return value
