"""A function's return annotation as an output schema, and its return value as a CallToolResult."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Never, NoReturn, Union, get_args, get_origin

from mcp_types import CallToolResult
from pydantic import TypeAdapter, ValidationError

from receiver.protocol.errors import ToolError
from receiver.protocol.handshake import RELATED_TASK
from receiver.tools.content import ANYTHING, Block, content_of, text_block, to_json
from receiver.tools.schema import adapter_of, json_schema, path_of

# Annotations that promise a reader nothing which a schema could say.
UNTYPED = (inspect.Signature.empty, None, NoneType, str, Any, object, Never, NoReturn)
CONTENT = (*get_args(Block), CallToolResult)
PATHS_NAMED = 5


@dataclass(frozen=True, eq=False, slots=True)
class Returns:
    """What a function returns.  ``schema`` is None where its values are unstructured.

    A schema has an object at its root, so values of any other type are ``wrapped``: ``{"result": value}``.
    """

    adapter: TypeAdapter[Any]
    schema: dict[str, Any] | None
    wrapped: bool

    @classmethod
    def of(cls, annotation: Any) -> "Returns":
        """What ``annotation`` promises; TypeError for bytes and for a type that has no JSON Schema."""
        if annotation in (bytes, bytearray, memoryview):
            raise TypeError("a tool can't return bytes; return text, JSON or content blocks")
        if _is_untyped(annotation):
            return cls(ANYTHING, None, False)
        adapter = adapter_of(annotation)
        schema = json_schema(adapter, "serialization")
        wrapped = schema.get("type") != "object"
        return cls(adapter, _wrap(schema) if wrapped else schema, wrapped)

    def render(self, value: Any) -> dict[str, Any]:
        """The CallToolResult of ``value`` as a JSON object; ToolError for one that breaks the schema (L-06)."""
        if isinstance(value, CallToolResult):
            return self._render_result(value)
        if self.schema is None:
            return {"content": content_of(value), "isError": False}
        try:
            fitting = self.adapter.validate_python(value)
        except ValidationError as error:
            raise _misfit(error) from error
        structured, text = to_json(fitting, self.adapter)
        if self.wrapped:
            structured, text = {"result": structured}, f'{{"result":{text}}}'
        return {"content": [text_block(text)], "structuredContent": structured, "isError": False}  # L-10

    def _render_result(self, value: CallToolResult) -> dict[str, Any]:
        result: dict[str, Any] = {"content": content_of(value.content) if value.content else []}
        if value.structured_content is not None:
            result["structuredContent"], text = to_json(value.structured_content)
            if not isinstance(result["structuredContent"], dict):
                raise ToolError("The tool returned structured content that is not an object")
            result["content"] = result["content"] or [text_block(text)]  # L-10
        if not value.is_error:
            self._require_fit(result)
        result["isError"] = value.is_error
        # The server alone says which task a result belongs to (F9).
        if meta := {key: item for key, item in (value.meta or {}).items() if key != RELATED_TASK}:
            result["_meta"] = to_json(meta)[0]
        return result

    def _require_fit(self, result: dict[str, Any]) -> None:
        if self.schema is None:
            return
        structured = result.get("structuredContent")
        if structured is None or (self.wrapped and "result" not in structured):
            raise ToolError("The tool's result lacks the structured content that its output schema promises")
        promised = structured["result"] if self.wrapped else structured
        try:
            self.adapter.validate_json(to_json(promised)[1])
        except ValidationError as error:
            raise _misfit(error) from error


def _is_untyped(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        return _is_untyped(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return _is_content(annotation) or all(map(_is_untyped, get_args(annotation)))
    return annotation in UNTYPED or _is_content(annotation)


def _is_content(annotation: Any) -> bool:
    """Whether values of ``annotation`` are, or may hold, content blocks or a whole result."""
    if get_origin(annotation) in (list, tuple, Sequence, Union, UnionType, Annotated):
        return any(map(_is_content, get_args(annotation)))
    return inspect.isclass(annotation) and issubclass(annotation, CONTENT)


def _wrap(schema: dict[str, Any]) -> dict[str, Any]:
    definitions = {"$defs": schema["$defs"]} if "$defs" in schema else {}
    inner = {key: value for key, value in schema.items() if key != "$defs"}
    return {"type": "object", "properties": {"result": inner}, "required": ["result"], **definitions}


def _misfit(error: ValidationError) -> ToolError:
    """Names where the value is wrong, but not how: a validator's words may hold what callers must not see."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    paths = dict.fromkeys(path_of(fault, "result") for fault in faults)
    return ToolError(f"The tool's result does not fit its output schema at: {', '.join([*paths][:PATHS_NAMED])}")
