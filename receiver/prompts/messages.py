"""What a prompt's function returns, as a GetPromptResult."""

from collections.abc import Mapping
from typing import Any

from mcp_types import GetPromptResult, PromptMessage
from pydantic import BaseModel, ValidationError

from receiver.protocol.errors import ToolError
from receiver.tools.content import text_block, to_json

NOUN = "prompt"


def result_of(value: Any, description: str | None) -> dict[str, Any]:
    """``value`` as a JSON object: a whole result as it is, else one message or a list of them.

    A string is a message of the user, and content that is a string is a text.  ToolError for what is no message.
    """
    if isinstance(value, GetPromptResult):
        written = value.model_dump(by_alias=True, exclude_none=True, include={"meta", "description", "messages"})
        return _plain(({} if description is None else {"description": description}) | written)
    messages = [_message_of(item) for item in (value if isinstance(value, list | tuple) else [value])]
    return {"messages": messages} if description is None else {"description": description, "messages": messages}


def _message_of(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {"role": "user", "content": text_block(value)}
    given = value.model_dump(by_alias=True, exclude_none=True) if isinstance(value, BaseModel) else value
    if isinstance(given, Mapping) and isinstance(given.get("content"), str):
        given = {**given, "content": text_block(given["content"])}
    try:
        message = PromptMessage.model_validate(given)
    except ValidationError as error:
        raise ToolError("The prompt returned something that is no message") from error
    return _plain(message.model_dump(by_alias=True, exclude_none=True))


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = to_json(value, noun=NOUN)[0]
    return plain
