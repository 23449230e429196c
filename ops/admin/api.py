"""The API for operators: JSON of what the pages show, and the same actions, below ``/api``.

Whoever sends ``Authorization: Bearer`` needs nothing else.  With a cookie, what changes something needs the token of
``/api/session`` too, in ``X-CSRF-Token``.
"""

import time
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from ops.admin import orders, readings
from ops.admin.actions import REASONS
from ops.admin.bulk import Plan
from ops.admin.desk import Desk
from ops.admin.filters import BadFilter, read_search
from ops.admin.gate import Denial
from ops.admin.jobs import show_job


class ReadApi:
    """What is read."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def routes(self) -> APIRouter:
        """The routes."""
        router = APIRouter(prefix="/api")
        router.get("/session")(self.session)
        router.get("/overview")(self.overview)
        router.get("/tasks")(self.tasks)
        router.get("/tasks/{task_id}")(self.task)
        router.get("/queues")(self.queues)
        router.get("/workers")(self.workers)
        router.get("/waiters")(self.waiters)
        router.get("/sessions")(self.sessions)
        router.get("/audit")(self.audit)
        router.get("/doctor")(self.doctor)
        router.get("/jobs/{job_id}")(self.job)
        return router

    async def session(self, request: Request) -> dict[str, Any]:
        entry, visitor = orders.entry_of(request), orders.visitor_of(request)
        return {"name": visitor.name, "role": visitor.role, "may_act": entry.may_act, "csrf": entry.csrf or None}

    async def overview(self) -> dict[str, Any]:
        return await readings.read_overview(self._desk)

    async def tasks(self, request: Request) -> dict[str, Any]:
        query = request.query_params
        try:
            search = read_search({name: query.getlist(name) for name in query}, round(time.time() * 1000))
        except BadFilter as error:
            raise Denial(400, str(error)) from None
        return await readings.read_tasks(self._desk, search)

    async def task(self, task_id: str) -> dict[str, Any]:
        found = await readings.read_task(self._desk, task_id)
        if found is None:
            raise Denial(404, readings.NO_TASK)
        return found

    async def queues(self) -> dict[str, Any]:
        return await readings.read_queues(self._desk)

    async def workers(self) -> dict[str, Any]:
        return await readings.read_workers(self._desk)

    async def waiters(self) -> dict[str, Any]:
        return await readings.read_waiters(self._desk)

    async def sessions(self, owner: str = "", after: str = "") -> dict[str, Any]:
        try:
            return await readings.read_sessions(self._desk, owner, after)
        except ValueError:
            raise Denial(400, "after is what an earlier page said") from None

    async def audit(self, request: Request) -> dict[str, Any]:
        try:
            return await readings.read_audit(self._desk, request.query_params, request.query_params.get("before", ""))
        except ValueError:
            raise Denial(400, "before is what an earlier page said") from None

    async def doctor(self) -> dict[str, Any]:
        return await self._desk.doctor.consult()

    async def job(self, job_id: str) -> dict[str, Any]:
        found = self._desk.jobs.find(job_id)
        if found is None:
            raise Denial(404, "This process knows no such bulk action")
        return show_job(found)


class ActApi:
    """What changes something."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def routes(self) -> APIRouter:
        """The routes."""
        router = APIRouter(prefix="/api")
        router.post("/tasks/{task_id}/{action}")(self.act)
        router.post("/bulk/{action}")(self.bulk)
        return router

    async def act(self, request: Request, task_id: str, action: str) -> JSONResponse:
        verdict = await orders.act(self._desk, request, orders.find_action(action), task_id)
        reason = None if verdict.is_done else REASONS[verdict.word]
        status = 200 if verdict.is_done else 404 if verdict.word == "gone" else 409
        shown = {"task": task_id, "outcome": verdict.word, "new_task": verdict.new_id, "reason": reason}
        return JSONResponse(shown, status)

    async def bulk(self, request: Request, action: str) -> JSONResponse:
        """Without ``count`` it says what would be done; with the very count that it says, it begins."""
        entry = orders.entry_of(request)
        plan = await orders.plan(self._desk, request, orders.find_action(action), entry.form.get("ids"))
        if entry.value("count") != str(len(plan.ids)):
            return JSONResponse(_show_plan(plan), 409 if entry.value("count") else 200)
        return JSONResponse(show_job(orders.start(self._desk, request, plan)), 202)


def _show_plan(plan: Plan) -> dict[str, Any]:
    return {"action": plan.action, "count": len(plan.ids), "is_capped": plan.is_capped, "frozen_at": plan.frozen_at}
