"""The fixtures that the official suites ask for by name: what each returns is what its scenario describes."""

import asyncio
from base64 import b64decode, b64encode
from typing import Annotated, Literal

from mcp_types import AudioContent, EmbeddedResource, ImageContent, PromptMessage, TextContent, TextResourceContents
from pydantic import BaseModel, ConfigDict, Field

from receiver import Context, Receiver, ToolError

PAUSE_SECONDS = 0.05  # between the messages of a tool that the suites want apart
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SILENCE = b64encode(b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0@\x1f\0\0\1\0\x08\0data\0\0\0\0").decode()

app = Receiver("official-conformance", version="1.0.0")


class Person(BaseModel):
    """The form of ``test_elicitation``."""

    username: str = Field(description="User's response")
    email: str = Field(description="User's email address")


class address(BaseModel):  # the suites look for this name among the definitions
    """A part of the arguments of ``json_schema_2020_12_tool``."""

    model_config = ConfigDict(json_schema_extra={"$anchor": "addressDef"})

    street: str | None = None
    city: str | None = None


class Contact(BaseModel):
    """The arguments of ``json_schema_2020_12_tool``, with the keywords whose way to the client the suites look at."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
            "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
        },
    )

    name: str | None = None
    place: address | None = Field(default=None, alias="address")
    method: Literal["phone", "email"] | None = Field(default=None, alias="contactMethod")
    phone: str | None = None
    email: str | None = None


DEFAULTS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
}
OPTIONS = ["option1", "option2", "option3"]
TITLED = [
    {"const": "value1", "title": "First"},
    {"const": "value2", "title": "Second"},
    {"const": "value3", "title": "Third"},
]
CHOICES = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": OPTIONS},
        "titledSingle": {"type": "string", "oneOf": TITLED},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
        "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
    },
}


def image() -> ImageContent:
    return ImageContent(type="image", data=PIXEL, mime_type="image/png")


def text(words: str) -> TextContent:
    return TextContent(type="text", text=words)


def embedded(uri: str, words: str) -> EmbeddedResource:
    resource = TextResourceContents(uri=uri, mime_type="text/plain", text=words)
    return EmbeddedResource(type="resource", resource=resource)


def from_user(content: EmbeddedResource | ImageContent | TextContent) -> PromptMessage:
    return PromptMessage(role="user", content=content)


@app.tool
async def test_simple_text() -> str:
    """Returns a text."""
    return "This is a simple text response for testing."


@app.tool
async def test_image_content() -> ImageContent:
    """Returns an image."""
    return image()


@app.tool
async def test_audio_content() -> AudioContent:
    """Returns a sound."""
    return AudioContent(type="audio", data=SILENCE, mime_type="audio/wav")


@app.tool
async def test_embedded_resource() -> EmbeddedResource:
    """Returns a resource."""
    return embedded("test://embedded-resource", "This is an embedded resource content.")


@app.tool
async def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
    """Returns a text, an image and a resource."""
    mixed = embedded("test://mixed-content-resource", '{"test":"data","value":123}')
    return [text("Multiple content types test:"), image(), mixed]


@app.tool
async def test_tool_with_logging(ctx: Context) -> str:
    """Sends three log messages."""
    await ctx.log("info", "Tool execution started")
    await asyncio.sleep(PAUSE_SECONDS)
    await ctx.log("info", "Tool processing data")
    await asyncio.sleep(PAUSE_SECONDS)
    await ctx.log("info", "Tool execution completed")
    return "Logged."


@app.tool
async def test_error_handling() -> str:
    """Fails."""
    raise ToolError("This tool intentionally returns an error for testing")


@app.tool
async def test_tool_with_progress(ctx: Context) -> str:
    """Says three times how far it is."""
    for done in (0, 50, 100):
        await ctx.progress(done, total=100)
        await asyncio.sleep(PAUSE_SECONDS)
    return "Done."


@app.tool
async def test_sampling(prompt: str, ctx: Context) -> str:
    """Asks the client's model."""
    written = await ctx.sample(prompt, 100)
    return f"LLM response: {written['content']['text']}"


@app.tool
async def test_elicitation(message: str, ctx: Context) -> str:
    """Asks the user for two texts."""
    answer = await ctx.elicit(message, Person)
    return f"User response: action={answer.action}, content={answer.content}"


@app.tool
async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    """Asks for a field of each type, with a default."""
    answer = await ctx.elicit("Please review and update the form fields with defaults", DEFAULTS)
    return f"Elicitation completed: action={answer.action}, content={answer.content}"


@app.tool
async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    """Asks for a choice in each of the five ways to write one."""
    answer = await ctx.elicit("Please select options from the enum fields", CHOICES)
    return f"Elicitation completed: action={answer.action}, content={answer.content}"


@app.tool
async def test_reconnection(ctx: Context) -> str:
    """Closes its stream before it returns."""
    await ctx.close_stream()
    await asyncio.sleep(PAUSE_SECONDS)
    return "Reconnection test completed"


@app.tool(input_schema=Contact)
async def json_schema_2020_12_tool(
    name: str | None, place: address | None, method: str | None, phone: str | None, email: str | None
) -> str:
    """Takes arguments whose schema has more keywords than annotations can say."""
    return "ok"


@app.resource("test://static-text", mime_type="text/plain")
async def static_text() -> str:
    """A text."""
    return "This is the content of the static text resource."


@app.resource("test://static-binary", mime_type="image/png")
async def static_binary() -> bytes:
    """An image."""
    return b64decode(PIXEL)


@app.resource("test://template/{id}/data", mime_type="application/json")
async def template_data(id: str) -> dict[str, str | bool]:
    """Tells what its URI held."""
    return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}


@app.resource("test://watched-resource", mime_type="text/plain")
async def watched() -> str:
    """May be subscribed to."""
    return "Watched resource content"


@app.prompt
async def test_simple_prompt() -> str:
    """A prompt without arguments."""
    return "This is a simple prompt for testing."


@app.prompt
async def test_prompt_with_arguments(
    arg1: Annotated[str, Field(description="First test argument")],
    arg2: Annotated[str, Field(description="Second test argument")],
) -> str:
    """A prompt with arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@app.completion("test_prompt_with_arguments", "arg1")
async def complete_first(value: str) -> list[str]:
    return [word for word in ("paris", "park", "party", "testing") if word.startswith(value)]


@app.prompt
async def test_prompt_with_embedded_resource(
    resourceUri: Annotated[str, Field(description="URI of the resource to embed")],
) -> list[PromptMessage]:
    """A prompt with a resource in it."""
    resource = embedded(resourceUri, "Embedded resource content for testing.")
    return [from_user(resource), from_user(text("Please process the embedded resource above."))]


@app.prompt
async def test_prompt_with_image() -> list[PromptMessage]:
    """A prompt with an image in it."""
    return [from_user(image()), from_user(text("Please analyze the image above."))]
