"""The checks that a request passes before its body counts.  Each raises Refusal."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from receiver.http.refusal import Refusal
from receiver.protocol.handshake import SUPPORTED_VERSIONS

JSON_TYPE = "application/json"
STREAM_TYPE = "text/event-stream"

_REFUSED = re.compile(r"\bq\s*=\s*0(\.0*)?\s*(;|$)")


def join_headers(headers: Iterable[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Headers by name.  Several of one name are one list (RFC 9110, 5.3), so that none of them goes unchecked."""
    joined: dict[bytes, bytes] = {}
    for name, line in headers:
        value = line.strip()  # httptools leaves the spaces at the end of a line
        joined[name] = b"%b, %b" % (joined[name], value) if name in joined else value
    return joined


def check_accept(headers: Mapping[bytes, bytes]) -> None:
    """A client takes JSON and event streams; one that takes neither is refused, one that names nothing takes both."""
    accept = headers.get(b"accept")
    if accept is None:
        return
    if not accepts(headers, JSON_TYPE) and not accepts(headers, STREAM_TYPE):
        raise Refusal(406, f"Accept must include {JSON_TYPE} and {STREAM_TYPE}")  # H-05


def accepts(headers: Mapping[bytes, bytes], type_: str) -> bool:
    """Whether a client takes a type; one that says nothing takes all."""
    accept = headers.get(b"accept")
    return accept is None or _is_accepted(accept, type_)


@lru_cache(maxsize=256)
def _is_accepted(accept: bytes, type_: str) -> bool:
    return _is_wanted(type_, _read_ranges(accept))


def _read_ranges(accept: bytes) -> Mapping[str, bool]:
    """The media ranges of an Accept header, and whether each is wanted: q=0 says that it is not."""
    parts = (part.partition(";") for part in accept.decode("latin-1").lower().split(","))
    return {name.strip(): _REFUSED.search(parameters) is None for name, _, parameters in parts}


def _is_wanted(type_: str, wanted: Mapping[str, bool]) -> bool:
    """The most specific range decides (RFC 9110, 12.5.1)."""
    ranges = (type_, type_.partition("/")[0] + "/*", "*/*")
    return next((wanted[name] for name in ranges if name in wanted), False)


def check_content_type(headers: Mapping[bytes, bytes]) -> None:
    """The body is JSON, and says so; an encoded one is refused."""
    given = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
    if given != JSON_TYPE:
        raise Refusal(415, f"Content-Type must be {JSON_TYPE}")
    if headers.get(b"content-encoding", b"identity") != b"identity":
        raise Refusal(415, "Content-Encoding is not supported")


def check_version(headers: Mapping[bytes, bytes]) -> None:
    """A version header, where there is one, names a version of this server (H-34); a session knows its own."""
    version = headers.get(b"mcp-protocol-version")
    if version is not None and version.decode("latin-1") not in SUPPORTED_VERSIONS:
        supported = ", ".join(SUPPORTED_VERSIONS)
        raise Refusal(400, f"Unsupported MCP-Protocol-Version; this server speaks {supported}")
