"""Bulk actions under way: each an asyncio task of this process, which pages and the API ask how far it is."""

import asyncio
import secrets
from collections import OrderedDict
from dataclasses import dataclass

import structlog

from ops.admin.actions import Actions
from ops.admin.bulk import Plan, Tally, carry_out
from receiver.cancellation import cancel_all

KEPT = 100  # jobs that are remembered
RUNNING = 5  # at the same time in this process

log = structlog.get_logger(__name__)


class TooManyJobs(Exception):
    """As many bulk actions as may are under way here already."""


@dataclass
class Job:
    """``tally`` is how far it is; ``trouble`` why it ended early, ``""`` if it did not."""

    id: str
    plan: Plan
    who: str
    tally: Tally
    is_over: bool = False
    trouble: str = ""


class Jobs:
    """The jobs of this process, the newest last."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, plan: Plan, who: str, actions: Actions, *, force: bool = False) -> Job:
        """Begins to carry out a plan.  Raises TooManyJobs."""
        if len(self._tasks) >= RUNNING:
            raise TooManyJobs
        job = Job(secrets.token_hex(8), plan, who, Tally(len(plan.ids)))
        self._jobs[job.id] = job
        while len(self._jobs) > KEPT:
            self._jobs.popitem(last=False)
        task = asyncio.create_task(_run(job, actions, force=force))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return job

    def find(self, job_id: str) -> Job | None:
        """A job of this process, by its id."""
        return self._jobs.get(job_id)

    async def close(self) -> None:
        """Ends what is under way; what was done stays done."""
        await cancel_all(list(self._tasks))


def show_job(job: Job) -> dict[str, object]:
    """A job as JSON."""
    return {
        "id": job.id,
        "action": job.plan.action,
        "who": job.who,
        "total": job.tally.total,
        "done": job.tally.done,
        "outcomes": dict(job.tally.words),
        "is_capped": job.plan.is_capped,
        "is_over": job.is_over,
        "trouble": job.trouble or None,
    }


async def _run(job: Job, actions: Actions, *, force: bool) -> None:
    try:
        async for tally in carry_out(job.plan, actions, force=force):
            job.tally = tally
    except asyncio.CancelledError:
        job.trouble = "this process ended"
        raise
    except Exception as error:
        log.exception("bulk_failed", action=job.plan.action)
        job.trouble = type(error).__name__
    finally:
        job.is_over = True
