"""The console as an ASGI application, alone or below a path of another one."""

from urllib.parse import urlsplit

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from redis.exceptions import RedisError
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from ops.admin.api import ActApi, ReadApi
from ops.admin.desk import Desk
from ops.admin.gate import Denial, Gate, path_of
from ops.admin.roles import Roles
from ops.console.acts import Acts
from ops.console.live import Pulse, live_routes
from ops.console.login import login_routes
from ops.console.pages import Pages
from ops.console.rendering import TEMPLATES, render
from receiver.http.origins import LOOPBACK_HOSTS, Origins
from receiver.protocol.errors import Unavailable
from receiver.receiver import Receiver
from receiver.settings import Settings

PATH = "/console"  # where it is mounted
TITLES = {401: "Log in", 403: "Not allowed", 404: "Not found", 405: "Read-only", 409: "Not done", 503: "Unavailable"}


class Console:
    """Opens its connections with the first request; ``close`` ends them."""

    def __init__(self, settings: Settings, roles: Roles, *, is_local: bool) -> None:
        self._desk = Desk(settings)
        self._roles = roles
        self._pulse = Pulse(self._desk.client)
        self._gate = Gate(
            self._make_app(),
            roles,
            _make_origins(settings, roles, is_local=is_local),
            self._desk.open_visits,
            self._refuse,
            can_write=settings.console_write,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one HTTP request."""
        await self._gate(scope, receive, send)

    async def close(self) -> None:
        """Ends what was opened."""
        await self._pulse.close()
        await self._roles.close()
        await self._desk.close()

    def _make_app(self) -> FastAPI:
        desk = self._desk
        app = FastAPI(title="receiver console", openapi_url=None)
        app.state.desk = desk
        self._app = app
        app.mount("/static", StaticFiles(directory=TEMPLATES.parent / "static"), name="static")
        for router in (login_routes(desk, self._roles), live_routes(self._pulse)):
            app.include_router(router)
        for part in (ReadApi(desk), ActApi(desk), Pages(desk), Acts(desk)):
            app.include_router(part.routes())

        @app.exception_handler(Denial)
        async def deny(request: Request, denial: Denial) -> Response:
            return _respond(request, denial)

        @app.exception_handler(HTTPException)
        async def fail(request: Request, error: HTTPException) -> Response:
            return _respond(request, Denial(error.status_code, error.detail, error.headers))

        async def despair(request: Request, error: Exception) -> Response:
            return _respond(request, Denial(503, "The store can't be reached"))

        for kind in (Unavailable, RedisError, OSError, TimeoutError):
            app.add_exception_handler(kind, despair)

        @app.exception_handler(Exception)  # which is logged all the same
        async def break_down(request: Request, error: Exception) -> Response:
            return _respond(request, Denial(500, "This is a fault of the console; its log says more"))

        return app

    def _refuse(self, scope: Scope, denial: Denial) -> Response:
        """The answer for what the gate does not let in."""
        return _respond(Request({**scope, "app": self._app}), denial)


def make_console(settings: Settings, app: Receiver | None = None, *, is_local: bool) -> Console | None:
    """The console that settings ask for; None where nobody may use it.

    That is where it can be reached from other machines (not ``is_local``) and nothing says who may.
    """
    roles = Roles(settings, app)
    if not is_local and not roles.is_reachable:
        return None
    return Console(settings, roles, is_local=is_local)


def _respond(request: Request, denial: Denial) -> Response:
    path = path_of(request.scope)
    if path.startswith("/api/"):
        return JSONResponse({"error": denial.message}, denial.status, dict(denial.headers))
    if denial.status == 401 and request.method == "GET":
        following = path + (f"?{request.url.query}" if request.url.query else "")
        page = render(request, "login.html", status=401, next=following, trouble="")
    else:
        title = TITLES.get(denial.status, "Something is wrong")
        page = render(
            request, "error.html", status=denial.status, code=denial.status, title=title, message=denial.message
        )
    page.headers.update(denial.headers)
    return page


def _make_origins(settings: Settings, roles: Roles, *, is_local: bool) -> Origins:
    """Who need not say who it is may come by the names of this machine alone."""
    if not roles.asks:
        hosts: tuple[str, ...] = LOOPBACK_HOSTS
    else:
        hosts = settings.allowed_hosts or (LOOPBACK_HOSTS if is_local else ())
        if hosts and settings.resource_url:
            hosts = (*hosts, urlsplit(settings.resource_url).netloc)
    return Origins(hosts, (), trusts_any_host=True)  # it is compared with Origin for what changes something
