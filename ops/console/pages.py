"""The pages that read."""

import time
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from ops.admin import readings
from ops.admin.bulk import CAP
from ops.admin.desk import Desk
from ops.admin.filters import BadFilter, Search, read_search
from ops.admin.gate import Denial
from ops.admin.jobs import show_job
from ops.console.rendering import render
from receiver.protocol.task_id import is_task_id

SINCE = ("5m", "1h", "24h", "7d")


class Pages:
    """A method a page."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def routes(self) -> APIRouter:
        """The routes."""
        router = APIRouter()
        router.get("/")(self.overview)
        router.get("/tasks")(self.tasks)
        router.get("/tasks/find")(self.find)
        router.get("/tasks/{task_id}")(self.task)
        router.get("/queues")(self.queues)
        router.get("/workers")(self.workers)
        router.get("/sessions")(self.sessions)
        router.get("/audit")(self.audit)
        router.get("/doctor")(self.doctor)
        router.get("/jobs/{job_id}")(self.job)
        return router

    async def overview(self, request: Request) -> Response:
        return render(request, "overview.html", **await readings.read_overview(self._desk))

    async def tasks(self, request: Request) -> Response:
        words, search, trouble = _read_words(request)
        found = await readings.read_tasks(self._desk, search)
        return render(request, "tasks.html", **found, words=words, search=search, trouble=trouble, spans=SINCE, cap=CAP)

    async def find(self, request: Request, id: str = "") -> Response:
        root = request.scope.get("root_path", "")
        if is_task_id(id.strip()):
            return RedirectResponse(f"{root}/tasks/{id.strip()}", 303)
        raise Denial(404, "That is not the id of a task: they look like 0- and 32 characters of 0-9 and a-f")

    async def task(self, request: Request, task_id: str, done: str = "") -> Response:
        found = await readings.read_task(self._desk, task_id)
        if found is None:
            raise Denial(404, readings.NO_TASK)
        return render(request, "task.html", task=found, now=found["now_ms"], done=done)

    async def queues(self, request: Request) -> Response:
        return render(request, "queues.html", **await readings.read_queues(self._desk))

    async def workers(self, request: Request) -> Response:
        return render(request, "workers.html", **await readings.read_workers(self._desk))

    async def sessions(self, request: Request, owner: str = "", after: str = "") -> Response:
        found = await _read_or_refuse(readings.read_sessions(self._desk, owner, after))
        waiting = await readings.read_waiters(self._desk)
        return render(request, "sessions.html", **found, waiters=waiting["waiters"], owner=owner)

    async def audit(self, request: Request) -> Response:
        words = {name: request.query_params.get(name, "") for name in readings.AUDIT_WORDS}
        found = await _read_or_refuse(readings.read_audit(self._desk, words, request.query_params.get("before", "")))
        return render(request, "audit.html", **found, words=words)

    async def doctor(self, request: Request) -> Response:
        return render(request, "doctor.html", **await self._desk.doctor.consult())

    async def job(self, request: Request, job_id: str) -> Response:
        found = self._desk.jobs.find(job_id)
        if found is None:
            raise Denial(404, "This process knows no such bulk action: another node may have it, or it is long over")
        return render(request, "job.html", job=show_job(found))


def _read_words(request: Request) -> tuple[dict[str, list[str]], Search, str]:
    """The filter of a URL; what can't be read is no filter, and said so."""
    query = request.query_params
    words = {name: query.getlist(name) for name in query}
    try:
        search, trouble = read_search(words, round(time.time() * 1000)), ""
    except BadFilter as error:
        search, trouble = Search(), str(error)
    return words, search, trouble


async def _read_or_refuse(reading: Any) -> Any:
    try:
        return await reading
    except ValueError:
        raise Denial(400, "That is no place where a page begins") from None
