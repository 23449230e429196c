"""``/livez`` and ``/readyz``."""

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse


def health_routes(find_reason: Callable[[], Awaitable[str | None]]) -> APIRouter:
    """The routes; ``find_reason`` says why this node is not ready, None if it is."""
    router = APIRouter()

    @router.get("/livez", summary="Whether this process answers; the store is not asked")
    async def livez() -> dict[str, str]:
        return {"status": "ok"}

    @router.get("/readyz", summary="Whether this node should be sent requests: 503 with the reason if not")
    async def readyz() -> Any:
        reason = await find_reason()
        if reason is None:
            return {"status": "ok"}
        return JSONResponse({"status": "unavailable", "reason": reason}, status_code=503)

    return router
