"""``receiver queue``."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from ops.commands.connection import REFUSED, Store
from ops.render import clip, make_table, open_console, print_json, show_duration
from receiver.store.inspect import Survey


async def show_queues(store: Store, *, as_json: bool) -> int:
    """Prints a line for each queue."""
    survey = await survey_queues(store)
    queues = describe_queues(survey)
    if as_json:
        print_json({"queues": queues, "leases": survey.leases, "lost": survey.lost, "later": survey.later})
    else:
        open_console().print(draw_queues(queues) if queues else "No queues: nothing was ever asked for.")
    return 0 if queues else REFUSED


async def survey_queues(store: Store) -> Survey:
    """A survey that has the queues that were used, and those that a living worker serves."""
    served = {name for worker in await store.census.list_workers() if worker.is_live for name in worker.queues}
    return await store.inspector.survey(sorted(served))


def describe_queues(survey: Survey) -> list[dict[str, Any]]:
    """The queues, by name."""
    return [
        {
            "queue": queue.name,
            "ready": queue.ready,
            "oldest_ms": queue.oldest,
            "running": queue.leased,
            "later": queue.later,
            "workers": queue.workers,
        }
        for queue in survey.queues
    ]


def draw_queues(queues: Sequence[Mapping[str, Any]]) -> Table:
    """A table of them."""
    rows = [
        (
            clip(queue["queue"], 48),
            f"{queue['ready']:,}",
            show_duration(queue["oldest_ms"]),
            f"{queue['running']:,}",
            f"{queue['later']:,}",
            queue["workers"],
        )
        for queue in queues
    ]
    return make_table(["QUEUE", "READY>", "OLDEST>", "RUNNING>", "LATER>", "WORKERS>"], rows)
