"""What changes something: each act has a page that asks for confirmation, and a POST that does it."""

from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from ops.admin import orders, readings
from ops.admin.actions import ACTS_ON, CANCELLED, REASONS
from ops.admin.bulk import CAP, plan_ids
from ops.admin.desk import Desk
from ops.admin.gate import Denial
from ops.console.rendering import render

SHOWN = 20  # ids on a page that asks for confirmation
NOT_ALLOWED = "Only operators may do this, and only where RECEIVER_CONSOLE_WRITE is on"


class Acts:
    """What asks for confirmation, and what does it."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def routes(self) -> APIRouter:
        """The routes."""
        router = APIRouter()
        router.post("/tasks/bulk/confirm")(self.plan)
        router.post("/tasks/bulk")(self.carry_out)
        router.get("/tasks/{task_id}/{action}")(self.ask)
        router.post("/tasks/{task_id}/{action}")(self.act)
        return router

    async def plan(self, request: Request) -> Response:
        entry = orders.entry_of(request)
        action = orders.find_action(entry.value("action"))
        ids = None if entry.value("of") == "filter" else entry.form.get("id", [])
        found = await orders.plan(self._desk, request, action, ids)
        return render(request, "confirm_bulk.html", plan=found, shown=SHOWN, cap=CAP, back=entry.value("back"))

    async def carry_out(self, request: Request) -> Response:
        entry = orders.entry_of(request)
        found = plan_ids(orders.find_action(entry.value("action")), entry.value("ids").split())
        if str(len(found.ids)) != entry.value("count"):
            raise Denial(409, "This is not what was confirmed; go back and choose again")
        return _redirect(request, f"/jobs/{orders.start(self._desk, request, found).id}")

    async def ask(self, request: Request, task_id: str, action: str) -> Response:
        name = orders.find_action(action)
        if not orders.entry_of(request).may_act:
            raise Denial(403, NOT_ALLOWED)
        task = await readings.read_task(self._desk, task_id)
        if task is None:
            raise Denial(404, readings.NO_TASK)
        is_apt = task["kind"] == "task" and task["status"] in ACTS_ON[name]
        return render(request, "confirm.html", task=task, action=name, is_apt=is_apt, message=CANCELLED)

    async def act(self, request: Request, task_id: str, action: str) -> Response:
        verdict = await orders.act(self._desk, request, orders.find_action(action), task_id)
        if not verdict.is_done:
            raise Denial(409, f"Nothing was done to {task_id}: {REASONS[verdict.word]}")
        target = "/tasks" if verdict.word == "purged" else f"/tasks/{verdict.new_id or task_id}"
        return _redirect(request, target, done=verdict.word)


def _redirect(request: Request, path: str, **words: str) -> Response:
    query = f"?{urlencode(words)}" if words else ""
    return RedirectResponse(f"{request.scope.get('root_path', '')}{path}{query}", 303)
