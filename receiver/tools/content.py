"""A tool's return value as the content of a CallToolResult."""

import math
from collections.abc import Mapping
from typing import Any

import orjson
from mcp_types import AudioContent, EmbeddedResource, ImageContent, ResourceLink, TextContent
from pydantic import TypeAdapter

from receiver.protocol.errors import ToolError

Block = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource

ANYTHING: TypeAdapter[Any] = TypeAdapter(Any)


def error_result(text: str) -> dict[str, Any]:
    """The CallToolResult that tells a caller what went wrong in the tool."""
    return {"content": [text_block(text)], "isError": True}


def content_of(value: Any) -> list[dict[str, Any]]:
    """``value`` as content blocks: blocks as they are, a string as text, everything else as JSON text.

    A list or tuple with a block in it is a list of contents; any other is one JSON array.  ToolError for bytes
    and for what JSON can't express.
    """
    if isinstance(value, list | tuple) and any(isinstance(item, Block) for item in value):
        return [_block_of(item) for item in value]
    return [_block_of(value)]


def text_block(text: str) -> dict[str, Any]:
    """A text content block.  Lone surrogates, as in the names of badly encoded files, become question marks."""
    return {"type": "text", "text": text.encode("utf-8", "replace").decode()}


def to_json(value: Any, adapter: TypeAdapter[Any] = ANYTHING, noun: str = "tool") -> tuple[Any, str]:
    """``value`` as a JSON value and as JSON text, written the way ``adapter`` writes its type.

    ToolError, with a text that names the ``noun`` that returned it and tells nothing of the value, where JSON can't
    express it; its cause is for the log.
    """
    if isinstance(value, bytes | bytearray | memoryview):
        raise ToolError(f"The {noun} returned bytes; it has to return text, JSON or content blocks")
    try:
        plain = adapter.dump_python(value, mode="json", by_alias=True, warnings="error")
        text = orjson.dumps(plain)
    except (TypeError, ValueError) as error:
        raise ToolError(f"The {noun} returned a value that can't be written as JSON") from error
    if b"null" in text and _has_non_finite(adapter.dump_python(value, warnings=False)):
        raise ToolError(f"The {noun} returned NaN or Infinity, which JSON can't express")
    return plain, text.decode()


def _block_of(value: Any) -> dict[str, Any]:
    if isinstance(value, Block):
        block: dict[str, Any] = to_json(value.model_dump(by_alias=True, exclude_none=True))[0]
        return block
    return text_block(value if isinstance(value, str) else to_json(value)[1])


def _has_non_finite(value: Any) -> bool:
    """pydantic and orjson write NaN as null without a word; a null in the text is what makes this worth a look."""
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, Mapping):
        return any(map(_has_non_finite, value.values()))
    return isinstance(value, list | tuple | set | frozenset) and any(map(_has_non_finite, value))
