"""What a resource's function returns, as the contents of a ReadResourceResult."""

from base64 import b64encode
from typing import Any

from mcp_types import BlobResourceContents, TextResourceContents

from receiver.protocol.errors import ToolError
from receiver.tools.content import to_json

Contents = TextResourceContents | BlobResourceContents

JSON = "application/json"
NOUN = "resource"


def contents_of(value: Any, uri: str, mime_type: str | None) -> list[dict[str, Any]]:
    """``value`` as contents of ``uri``: a string as text, bytes as Base64, contents as they are, all else as JSON.

    A list or tuple with contents in it is a list of them; any other is one JSON array.  Contents whose URI is empty
    get ``uri``.  ToolError for None, and for what JSON can't express.
    """
    if isinstance(value, list | tuple) and any(isinstance(item, Contents) for item in value):
        return [_content_of(item, uri, mime_type) for item in value]
    return [_content_of(value, uri, mime_type)]


def _content_of(value: Any, uri: str, mime_type: str | None) -> dict[str, Any]:
    if value is None:
        raise ToolError("The resource returned nothing")
    if isinstance(value, Contents):
        written: dict[str, Any] = to_json(value.model_dump(by_alias=True, exclude_none=True), noun=NOUN)[0]
        return written if written["uri"] else {**written, "uri": uri}
    described = {"uri": uri} if mime_type is None else {"uri": uri, "mimeType": mime_type}
    if isinstance(value, bytes | bytearray | memoryview):
        return {**described, "blob": b64encode(value).decode()}
    if isinstance(value, str):
        return {**described, "text": value.encode("utf-8", "replace").decode()}  # lone surrogates are no text
    return {"uri": uri, "mimeType": mime_type or JSON, "text": to_json(value, noun=NOUN)[1]}
