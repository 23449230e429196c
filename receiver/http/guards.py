"""The checks that a request passes before its body counts.  Each raises Refusal."""

from collections.abc import Mapping

from receiver.http.refusal import Refusal
from receiver.protocol.handshake import SUPPORTED_VERSIONS

JSON_TYPE = "application/json"
STREAM_TYPE = "text/event-stream"


def check_accept(headers: Mapping[bytes, bytes]) -> None:
    """A client takes JSON and event streams; one that names neither is refused, one that names nothing takes both."""
    accept = headers.get(b"accept")
    if accept is None:
        return
    ranges = [part.partition(";")[0].strip().lower() for part in accept.decode("latin-1").split(",")]
    if not any(taken in ranges for taken in (JSON_TYPE, STREAM_TYPE, "application/*", "text/*", "*/*")):
        raise Refusal(406, f"Accept must include {JSON_TYPE} and {STREAM_TYPE}")  # H-05


def check_content_type(headers: Mapping[bytes, bytes]) -> None:
    """The body is JSON, and says so; an encoded one is refused."""
    given = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
    if given != JSON_TYPE:
        raise Refusal(415, f"Content-Type must be {JSON_TYPE}")
    if headers.get(b"content-encoding", b"identity") != b"identity":
        raise Refusal(415, "Content-Encoding is not supported")


def check_version(headers: Mapping[bytes, bytes]) -> None:
    """A version header, where there is one, names a version of this server (H-34)."""
    version = headers.get(b"mcp-protocol-version")
    if version is not None and version.decode("latin-1") not in SUPPORTED_VERSIONS:
        supported = ", ".join(SUPPORTED_VERSIONS)
        raise Refusal(400, f"Unsupported MCP-Protocol-Version; this server speaks {supported}")
