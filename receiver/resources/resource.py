"""A resource, or all that have a URI of one template: a function that reads it, and what clients are told of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypedDict

from mcp_types import Annotations
from pydantic import ValidationError

from receiver.operation import PlainOperation
from receiver.protocol.errors import InvalidArguments, InvalidParams, ResourceNotFound
from receiver.resources.contents import contents_of
from receiver.resources.template import UriTemplate
from receiver.tools.duration import Duration, milliseconds
from receiver.tools.function import docstring_of, is_async, name_of
from receiver.tools.icons import Icons, written_icons
from receiver.tools.schema import Parameters, signature_of


class ResourceOptions(TypedDict, total=False):
    """What ``Receiver.resource`` takes by name; each may be left out."""

    name: str | None
    title: str | None
    description: str | None
    mime_type: str | None
    size: int | None
    annotations: Mapping[str, Any] | Annotations | None
    icons: Icons | None
    timeout: Duration | None


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Resource(PlainOperation):
    """Made by ``of``.  ``size`` in bytes."""

    noun: ClassVar[str] = "Resource"

    uri: UriTemplate
    name: str
    title: str | None
    description: str | None
    mime_type: str | None
    size: int | None
    annotations: dict[str, Any] | None
    icons: list[dict[str, Any]] | None
    function: Callable[..., Any]
    is_async: bool
    parameters: Parameters
    timeout_ms: int | None

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        uri: str,
        *,
        context: type,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        size: int | None = None,
        annotations: Mapping[str, Any] | Annotations | None = None,
        icons: Icons | None = None,
        timeout: Duration | None = None,
    ) -> "Resource":
        """The resource that ``function`` reads; the server fills its parameter annotated with the class ``context``."""
        template, parameters = UriTemplate.of(uri), Parameters.of(signature_of(function), context)
        if set(template.names) != set(parameters.names):
            theirs, its = _list(parameters.names), _list(template.names)
            raise TypeError(f"the parameters of its URI are {its}, those of its function {theirs}")
        if size is not None and template.names:
            raise ValueError("the resources of a template have no common size")
        return cls(
            uri=template,
            name=name_of(function) if name is None else name,
            title=title,
            description=docstring_of(function) if description is None else description,
            mime_type=mime_type,
            size=size,
            annotations=_written(annotations),
            icons=written_icons(icons),
            function=function,
            is_async=is_async(function),
            parameters=parameters,
            timeout_ms=None if timeout is None else milliseconds(timeout),
        )

    @property
    def key(self) -> str:
        """Its URI, or its template."""
        return self.uri.text

    @property
    def is_template(self) -> bool:
        """Whether its URI has parameters."""
        return bool(self.uri.names)

    @property
    def context_parameter(self) -> str | None:
        """The name of the parameter that takes the Context, if there is one."""
        return self.parameters.injected

    def definition(self) -> dict[str, Any]:
        """The Resource of ``resources/list``, or the ResourceTemplate of ``resources/templates/list``."""
        written = {
            "uriTemplate" if self.is_template else "uri": self.key,
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "mimeType": self.mime_type,
            "size": self.size,
            "annotations": self.annotations,
            "icons": self.icons,
        }
        return {key: value for key, value in written.items() if value is not None}

    def arguments_of(self, uri: str) -> dict[str, Any] | None:
        """The keyword arguments that ``uri`` stands for, or None: a parameter that does not fit names no resource."""
        values = self.uri.match(uri)
        try:
            return None if values is None else self.parameters.bind(values)
        except InvalidArguments:
            return None

    def bind(self, params: Any) -> dict[str, Any]:
        """``{"uri": ...}`` as keyword arguments, without the context; ResourceNotFound if it is none of this URI."""
        arguments = self.arguments_of(params["uri"])
        if arguments is None:
            raise ResourceNotFound(params["uri"])
        return arguments

    def render(self, value: Any, params: Any) -> dict[str, Any]:
        """The ReadResourceResult of a return value, as a JSON object; ToolError for a value that can't be one."""
        return {"contents": contents_of(value, params["uri"], self.mime_type)}


def read_uri(params: Mapping[str, Any]) -> str:
    """The URI that a request names."""
    uri = params.get("uri")
    if not isinstance(uri, str):
        raise InvalidParams("params.uri must be a string")
    return uri


def _list(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none"


def _written(annotations: Mapping[str, Any] | Annotations | None) -> dict[str, Any] | None:
    """``annotations`` by their wire names; TypeError for a name that the protocol lacks, ValueError for a value."""
    if annotations is None:
        return None
    given = annotations if isinstance(annotations, Annotations) else dict(annotations)
    if isinstance(given, dict) and (strange := sorted(given.keys() - {"audience", "priority", "lastModified"})):
        raise TypeError(f"unknown annotation {strange[0]!r}; there are audience, priority, lastModified")
    try:
        return Annotations.model_validate(given).model_dump(by_alias=True, exclude_none=True)
    except ValidationError as error:
        fault = error.errors()[0]
        raise ValueError(f"annotation {'.'.join(map(str, fault['loc']))}: {fault['msg']}") from None
