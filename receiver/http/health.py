"""``/livez`` and ``/readyz``."""

from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.responses import JSONResponse

from receiver.settings import Settings
from receiver.store.condition import find_fault


def health_routes(app: FastAPI, settings: Settings) -> APIRouter:
    """The routes; ``app.state.redis`` is the connection that readiness asks."""
    router = APIRouter()

    @router.get("/livez", summary="Whether this process answers; the store is not asked")
    async def livez() -> dict[str, str]:
        return {"status": "ok"}

    @router.get("/readyz", summary="Whether this node can serve: 503 while the store can't take tasks")
    async def readyz() -> Any:
        reason = await find_fault(app.state.redis, settings.durability)
        if reason is None:
            return {"status": "ok"}
        return JSONResponse({"status": "unavailable", "reason": reason}, status_code=503)

    return router
