"""The metadata of the protected resource (RFC 9728), which tells clients where to get a token (A-01)."""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, HTTPException, Request

from receiver.http.origins import Origins
from receiver.http.refusal import Refusal
from receiver.http.resource import METADATA_PATH, PATH, Resource


def metadata_routes(issuer: str, scopes: Sequence[str], resource: Resource, origins: Origins) -> APIRouter:
    """The routes.  Everyone may read them, and no token is asked for."""
    router = APIRouter()

    @router.get(METADATA_PATH, summary="The metadata of the protected resource")
    @router.get(METADATA_PATH + PATH, summary="The same, at the address that belongs to the endpoint's")
    async def metadata(request: Request) -> dict[str, Any]:
        _check_host(request, origins)
        offered = {"scopes_supported": list(scopes)} if scopes else {}
        return {
            "resource": resource.url_for(request.scope),
            "authorization_servers": [issuer],
            **offered,
            "bearer_methods_supported": ["header"],
        }

    return router


def _check_host(request: Request, origins: Origins) -> None:
    """The answer may name the Host of the request.  Its Origin is left alone: there is nothing here to protect."""
    try:
        origins.check({b"host": ", ".join(request.headers.getlist("host")).encode("latin-1")})
    except Refusal as refusal:
        raise HTTPException(refusal.status, str(refusal)) from None
