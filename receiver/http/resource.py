"""Where this server is, as its clients see it: the protected resource of RFC 9728."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

PATH = "/mcp"
METADATA_PATH = "/.well-known/oauth-protected-resource"

_ORIGIN = re.compile(r"\A[a-z][a-z0-9+.-]*://[^/]*", re.IGNORECASE)


class Resource:
    """``url`` is the endpoint's, where it is set; else each request says by Host and path how it came here."""

    def __init__(self, url: str | None) -> None:
        self._url = None if url is None else canonicalize(url)

    def url_for(self, scope: Mapping[str, Any]) -> str:
        """The URL of the endpoint, for whoever sent this request.  Its Host has to be checked already."""
        return self._url or _base_of(scope) + PATH

    def metadata_url_for(self, scope: Mapping[str, Any]) -> str:
        """Where that client finds the metadata.

        It is served next to the endpoint; for an application that is not mounted, that is where RFC 9728 (3.1) wants
        it.  Where a proxy gave the endpoint another path, only that rule is left.
        """
        url = self.url_for(scope)
        if url.endswith(PATH):
            return url.removesuffix(PATH) + METADATA_PATH + PATH
        return _ORIGIN.sub(lambda origin: origin[0] + METADATA_PATH, url)


def canonicalize(uri: str) -> str:
    """A resource's URI with scheme and host in lower case, as they compare (A-11); other identifiers as they are."""
    return _ORIGIN.sub(lambda origin: origin[0].lower(), uri)


def _base_of(scope: Mapping[str, Any]) -> str:
    named = next((value.decode("latin-1").strip().lower() for name, value in scope["headers"] if name == b"host"), "")
    host = named or "{}:{}".format(*scope["server"])  # HTTP/1.0 may go without
    return f"{scope['scheme']}://{host}{quote(scope.get('root_path', ''))}"
