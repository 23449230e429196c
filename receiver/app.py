"""``create_app``: the ASGI application of the API tier.

``/mcp`` is answered before FastAPI is reached: its routing alone would cost half of what a node can do.  FastAPI
has all other routes, and the lifespan.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from receiver.http.health import health_routes
from receiver.http.metadata import metadata_routes
from receiver.http.metrics import metrics_routes
from receiver.http.resource import PATH
from receiver.node import Node
from receiver.receiver import Receiver
from receiver.settings import Settings, load_settings


def create_app(app: Receiver, settings: Settings | None = None) -> ASGIApp:
    """An ASGI application that serves ``app``, alone or mounted under a path of another one.

    Mounted, it opens its connections at the first request, since no lifespan reaches it.
    Raises StartupError without a Redis URL, and for settings that contradict each other.
    """
    settings = settings or load_settings()
    node = Node(app, settings)
    fallback = _create_fallback(app, settings, node)

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _route(scope) == PATH:
            await node.endpoint(scope, receive, send)
        else:
            await fallback(scope, receive, send)

    return serve


def _create_fallback(app: Receiver, settings: Settings, node: Node) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await node.open()
        try:
            yield
        finally:
            await node.close()

    fallback = FastAPI(title=app.title or app.name, version=app.version, lifespan=lifespan, openapi_url=None)
    fallback.state.redis = node.redis
    fallback.include_router(health_routes(fallback, settings))
    fallback.include_router(metrics_routes(node.gauges, node.origins))
    if settings.auth_issuer is not None:
        fallback.include_router(
            metadata_routes(settings.auth_issuer, settings.auth_scopes, node.resource, node.origins)
        )
    return fallback


def _route(scope: Scope) -> str:
    """The path below where the application is mounted."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    return path[len(root) :] if root and path.startswith(root) else path
