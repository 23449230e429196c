"""What a request, or a run, is about: the same names in log lines and in spans."""

from dataclasses import dataclass

OTHER = "_OTHER"  # a method that is none of ours: each text that clients come up with would be a name of its own

# Where the semantic conventions want the key.
_ATTRIBUTES = {
    "tools/call": "gen_ai.tool.name",
    "prompts/get": "gen_ai.prompt.name",
    "resources/read": "mcp.resource.uri",
    "resources/subscribe": "mcp.resource.uri",
    "resources/unsubscribe": "mcp.resource.uri",
}
_NAMING = ("tools/call", "prompts/get")  # those whose key is part of a span's name: a URI is not, by the conventions


@dataclass(frozen=True, slots=True)
class Target:
    """``method`` is that of MCP, or OTHER; ``key`` what of the app it names, as in a record's ``tool``, or ``""``.

    A key is what an author declared, never what a client wrote: of a template the template, not the URI with its
    arguments.
    """

    method: str
    key: str = ""

    @property
    def log_fields(self) -> dict[str, str]:
        """``method``, and ``tool`` if it is one; what else is named is the ``target``."""
        if not self.key:
            return {"method": self.method}
        return {"method": self.method, "tool" if self.method == "tools/call" else "target": self.key}

    @property
    def attributes(self) -> dict[str, str]:
        """Those of the semantic conventions."""
        found = {"mcp.method.name": self.method}
        if self.method == "tools/call":
            found["gen_ai.operation.name"] = "execute_tool"
        if self.key and self.method in _ATTRIBUTES:
            found[_ATTRIBUTES[self.method]] = self.key
        return found

    @property
    def noun(self) -> str:
        """The tool or prompt, or else the method: what stands in the names of spans of tasks."""
        return self.key if self.key and self.method in _NAMING else self.method

    @property
    def title(self) -> str:
        """The name of a request's span: ``{mcp.method.name} {gen_ai.tool.name}``."""
        return self.method if self.noun == self.method else f"{self.method} {self.noun}"
