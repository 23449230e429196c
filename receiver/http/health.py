"""``/livez`` and ``/readyz``."""

import asyncio
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.responses import JSONResponse
from redis.asyncio import Redis

READY_SECONDS = 2.0


def health_routes(app: FastAPI) -> APIRouter:
    """The routes; ``app.state.redis`` is the connection that readiness asks."""
    router = APIRouter()

    @router.get("/livez", summary="Whether this process answers; the store is not asked")
    async def livez() -> dict[str, str]:
        return {"status": "ok"}

    @router.get("/readyz", summary="Whether this node can serve: 503 while the store does not answer")
    async def readyz() -> Any:
        reason = await _find_fault(app.state.redis)
        if reason is None:
            return {"status": "ok"}
        return JSONResponse({"status": "unavailable", "reason": reason}, status_code=503)

    return router


async def _find_fault(redis: Redis) -> str | None:
    try:
        async with asyncio.timeout(READY_SECONDS):
            await redis.ping()
    except Exception as error:
        return f"the store does not answer ({type(error).__name__})"
    return None
