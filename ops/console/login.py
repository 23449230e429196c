"""Logging in by a token, and out again."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from ops.admin.desk import Desk
from ops.admin.gate import write_cookie
from ops.admin.orders import entry_of
from ops.admin.roles import Roles
from ops.console.rendering import render


def login_routes(desk: Desk, roles: Roles) -> APIRouter:
    """The form, and where it goes."""
    router = APIRouter()

    @router.get("/login")
    async def show(request: Request) -> Response:
        return render(request, "login.html", next="", trouble="")

    @router.post("/login")
    async def log_in(request: Request) -> Response:
        entry = entry_of(request)
        visits = await desk.open_visits()
        token = entry.value("token").strip().encode()
        visit = await roles.log_in(request.scope, token, visits) if token else None
        if visit is None:
            trouble = "This token opens nothing here"
            return render(request, "login.html", status=403, next=entry.value("next"), trouble=trouble)
        response = RedirectResponse(_target(request, entry.value("next")), 303)
        cookie = write_cookie(request.scope, visits.write(visit), round(visit.expires))
        response.headers["set-cookie"] = cookie
        return response

    @router.post("/logout")
    async def log_out(request: Request) -> Response:
        response = RedirectResponse(_target(request, ""), 303)
        response.headers["set-cookie"] = write_cookie(request.scope, "", None)
        return response

    return router


def _target(request: Request, wanted: str) -> str:
    """Where to go on: a path of the console, and nothing that leads elsewhere."""
    root = str(request.scope.get("root_path", ""))
    is_ours = wanted.startswith("/") and not wanted.startswith(("//", "/\\")) and wanted.isprintable()
    return root + (wanted if is_ours else "/")
