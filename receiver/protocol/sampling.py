"""What a server may ask a client's model to write, and what may be taken for the answer."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from receiver.protocol.errors import InvalidAnswer

Block = Mapping[str, Any]

_ROLES = ("user", "assistant")
_TOOL_BLOCKS = {"tool_use": "id", "tool_result": "toolUseId"}  # each with the member that pairs it
_CONTEXTS = ("thisServer", "allServers")
_UNPAIRED = "behind a message that uses tools comes one with the result of each use, and nowhere else"


def needed_capabilities(params: Mapping[str, Any]) -> list[str]:
    """What a client must have declared to be asked this (E-08), by the names of ``capability.client_supports``."""
    needed = ["sampling"]
    kinds = {block.get("type") for message in params["messages"] for block in _blocks_of(message)}
    if "tools" in params or "toolChoice" in params or kinds & _TOOL_BLOCKS.keys():
        needed.append("sampling.tools")
    if params.get("includeContext") in _CONTEXTS:
        needed.append("sampling.context")
    return needed


def check_sampling(params: Mapping[str, Any]) -> None:
    """Raises ValueError unless ``params`` can be those of ``sampling/createMessage``.

    Every use of a tool is answered by the very next message, which holds the results and nothing else (E-08).
    """
    tokens = params.get("maxTokens")
    if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 1:
        raise ValueError("maxTokens must be a whole number, 1 or more")
    messages = params.get("messages")
    if not isinstance(messages, list) or not messages:
        raise ValueError("messages must be a list with a message in it")
    for message in messages:
        _require_message(message)
    _require_pairs(messages)


def check_sampled(result: object) -> None:
    """Raises InvalidAnswer unless ``result`` is a CreateMessageResult."""
    if not isinstance(result, dict):
        raise InvalidAnswer("the result must be an object")
    if not isinstance(result.get("model"), str):
        raise InvalidAnswer("model: must be a text")
    try:
        _require_message(result)
    except ValueError as error:
        raise InvalidAnswer(str(error)) from None


def _require_message(message: object) -> None:
    if not isinstance(message, Mapping) or message.get("role") not in _ROLES:
        raise ValueError("role: must be user or assistant")
    if not all(map(_is_block, _blocks_of(message))):
        raise ValueError("content: must be a content block, or a list of them")


def _is_block(block: object) -> bool:
    kind = block.get("type") if isinstance(block, Mapping) else None
    if not isinstance(block, Mapping) or not isinstance(kind, str):
        return False
    return kind not in _TOOL_BLOCKS or isinstance(block.get(_TOOL_BLOCKS[kind]), str)


def _require_pairs(messages: Iterable[Mapping[str, Any]]) -> None:
    open_uses: list[str] = []
    for message in messages:
        blocks = _blocks_of(message)
        results = [block["toolUseId"] for block in blocks if block["type"] == "tool_result"]
        if results and (len(results) < len(blocks) or message["role"] != "user"):
            raise ValueError("a message with tool results is the user's, and holds nothing else")
        if sorted(results) != sorted(open_uses):
            raise ValueError(_UNPAIRED)
        open_uses = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if open_uses and message["role"] != "assistant":
            raise ValueError("only an assistant uses tools")
    if open_uses:
        raise ValueError(_UNPAIRED)


def _blocks_of(message: Mapping[str, Any]) -> Sequence[Any]:
    content = message.get("content")
    return content if isinstance(content, list) else [content]
