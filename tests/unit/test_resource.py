"""Where clients see this server, and what a challenge says of that."""

from collections.abc import Mapping
from typing import Any

import pytest

from receiver.http.challenge import Challenges
from receiver.http.resource import Resource, canonicalize


def scope(host: str | None = "mcp.example.com", **members: Any) -> Mapping[str, Any]:
    headers = [(b"accept", b"*/*")] + ([] if host is None else [(b"host", host.encode())])
    return {"scheme": "https", "headers": headers, "server": ("127.0.0.1", 8000), **members}


@pytest.mark.parametrize(
    ("request_scope", "url"),
    [
        (scope(), "https://mcp.example.com/mcp"),
        (scope("MCP.example.com:8443"), "https://mcp.example.com:8443/mcp"),
        (scope("[::1]:8000", scheme="http"), "http://[::1]:8000/mcp"),
        (scope(root_path="/tools"), "https://mcp.example.com/tools/mcp"),
        (scope(root_path="/a b/\u00e9"), "https://mcp.example.com/a%20b/%C3%A9/mcp"),
        (scope(None, scheme="http"), "http://127.0.0.1:8000/mcp"),
    ],
)
def test_a_request_says_where_it_came_to(request_scope: Mapping[str, Any], url: str) -> None:
    """The metadata stands next to the endpoint, where this application serves it."""
    resource = Resource(None)
    assert resource.url_for(request_scope) == url
    metadata_url = url.removesuffix("/mcp") + "/.well-known/oauth-protected-resource/mcp"
    assert resource.metadata_url_for(request_scope) == metadata_url


@pytest.mark.parametrize(
    ("configured", "url", "metadata_url"),
    [
        (
            "https://Tools.example.com/mcp",
            "https://tools.example.com/mcp",
            "https://tools.example.com/.well-known/oauth-protected-resource/mcp",
        ),
        (
            "https://tools.example.com/Team/mcp",
            "https://tools.example.com/Team/mcp",
            "https://tools.example.com/Team/.well-known/oauth-protected-resource/mcp",
        ),
        (
            "https://tools.example.com",
            "https://tools.example.com",
            "https://tools.example.com/.well-known/oauth-protected-resource",
        ),
        (
            "https://tools.example.com/v1",
            "https://tools.example.com/v1",
            "https://tools.example.com/.well-known/oauth-protected-resource/v1",
        ),
    ],
)
def test_a_configured_resource_wins(configured: str, url: str, metadata_url: str) -> None:
    """A-11; RFC 9728, 3.1"""
    resource = Resource(configured)
    assert resource.url_for(scope("evil.example.com", root_path="/x")) == url
    assert resource.metadata_url_for(scope("evil.example.com", root_path="/x")) == metadata_url


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("HTTPS://Example.COM:8443/Mcp", "https://example.com:8443/Mcp"),
        ("https://example.com", "https://example.com"),
        ("api://Client-ID/A", "api://client-id/A"),
        ("urn:Example:A", "urn:Example:A"),
        ("Client-ID", "Client-ID"),
        ("a b://C", "a b://C"),
        ("", ""),
    ],
)
def test_the_case_of_scheme_and_host_is_no_difference(given: str, canonical: str) -> None:
    """A-11"""
    assert canonicalize(given) == canonical


METADATA = 'resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"'


@pytest.mark.parametrize(
    ("fault", "status", "error"),
    [
        (None, 401, ""),
        ("invalid_token", 401, ', error="invalid_token"'),
        ("invalid_request", 400, ', error="invalid_request"'),
        ("insufficient_scope", 403, ', error="insufficient_scope"'),
    ],
)
def test_challenges(fault: Any, status: int, error: str) -> None:
    """A-02, A-03, A-06, A-07"""
    refusal = Challenges(Resource(None), ["tasks:read", "tasks:run"]).refuse(scope(), fault)
    challenge = f'Bearer {METADATA}, scope="tasks:read tasks:run"{error}'
    assert (refusal.status, refusal.headers) == (status, ((b"www-authenticate", challenge.encode()),))


def test_challenges_without_metadata_and_scopes() -> None:
    challenges = Challenges(None, [])
    assert challenges.refuse(scope(), None).headers == ((b"www-authenticate", b"Bearer"),)
    assert challenges.refuse(scope(), "invalid_token").headers == (
        (b"www-authenticate", b'Bearer error="invalid_token"'),
    )
