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


class Application:
    """An ASGI application."""

    def __init__(self, node: Node, fallback: ASGIApp) -> None:
        self._node = node
        self._fallback = fallback

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one HTTP request, or is the lifespan."""
        if scope["type"] == "http" and _route(scope) == PATH:
            await self._node.endpoint(scope, receive, send)
        else:
            await self._fallback(scope, receive, send)

    def drain(self) -> None:
        """Turns ``/readyz`` red for load balancers to see, before the server that runs this ends."""
        self._node.drain()


def create_app(app: Receiver, settings: Settings | None = None, *, url: str = "") -> Application:
    """An ASGI application that serves ``app``, alone or mounted under a path of another one.

    Mounted, it opens its connections at the first request, since no lifespan reaches it.
    ``url`` is where it listens, as operators shall see it.
    Raises StartupError without a Redis URL, and for settings that contradict each other.
    """
    settings = settings or load_settings()
    node = Node(app, settings, url)
    return Application(node, _create_fallback(app, settings, node))


def _create_fallback(app: Receiver, settings: Settings, node: Node) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await node.open()
        try:
            yield
        finally:
            await node.close()

    fallback = FastAPI(title=app.title or app.name, version=app.version, lifespan=lifespan, openapi_url=None)
    fallback.include_router(health_routes(node.readiness.find_reason))
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
