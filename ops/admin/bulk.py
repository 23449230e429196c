"""The same act on many tasks: those that a filter finds, or those with given ids.

A plan is made first, and shown with its count; what it holds is what is acted on, and nothing that comes or changes
later.  Then it is carried out in batches, and says how far it is.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace

from ops.admin.actions import ACTS_ON, Action, Actions, Verdict, Word
from receiver.protocol.cursor import Position
from receiver.store.inspect import Filter, Inspector

CAP = 1_000
MOST = 10_000  # tasks that one action may touch
PAGE = CAP + 1  # so that a plan within the cap is one search
BATCH = 25  # of acts at the same time: others want the store too


@dataclass(frozen=True, slots=True)
class Plan:
    """Which tasks ``action`` is to be done to: ``ids``.

    ``frozen_at``: in ms; of a filter, what was changed after that time is left alone.  ``is_capped``: there are more.
    """

    action: Action
    ids: tuple[str, ...]
    frozen_at: int = 0
    is_capped: bool = False


@dataclass(slots=True)
class Tally:
    """What came of a plan so far: ``done`` of ``total``; ``words`` counts the verdicts, ``latest`` are new ones."""

    total: int
    done: int = 0
    words: Counter[Word] = field(default_factory=Counter)
    latest: list[Verdict] = field(default_factory=list)

    def add(self, verdicts: list[Verdict]) -> None:
        """Counts the verdicts of a batch."""
        self.done += len(verdicts)
        self.words.update(verdict.word for verdict in verdicts)
        self.latest = verdicts


def plan_ids(action: Action, ids: Sequence[str], *, cap: int = CAP) -> Plan:
    """A plan for these tasks, each once."""
    unique = tuple(dict.fromkeys(ids))
    return Plan(action, unique[: _bound(cap)], is_capped=len(unique) > _bound(cap))


async def plan_filter(inspector: Inspector, action: Action, filter: Filter, frozen_at: int, *, cap: int = CAP) -> Plan:
    """A plan for the newest tasks that ``filter`` finds and ``action`` acts on, and that did not change since.

    Plain calls are never among them.  ``frozen_at`` is a time of the store's clock, in ms: that of the page where the
    operator saw the tasks.
    """
    wanted, bound = restrict(filter, action), _bound(cap)
    ids: list[str] = []
    position: Position | None = Position(frozen_at + 1, "")
    while wanted is not None and position is not None and len(ids) <= bound:
        page, position = await inspector.search(wanted, min(PAGE, bound + 1 - len(ids)), position)
        ids += [found.id for found in page if int(found.fields["updated_at"]) <= frozen_at]
    return Plan(action, tuple(ids[:bound]), frozen_at, is_capped=len(ids) > bound)


def restrict(filter: Filter, action: Action) -> Filter | None:
    """``filter`` without the tasks that ``action`` does nothing to; None if that leaves none."""
    statuses = tuple(status for status in ACTS_ON[action] if status in (filter.statuses or ACTS_ON[action]))
    if not statuses or filter.kind == "call":
        return None
    return replace(filter, statuses=statuses, kind="task")


async def carry_out(plan: Plan, actions: Actions, *, force: bool = False) -> AsyncIterator[Tally]:
    """Does what is planned; after each batch says how far it is.  ``force`` as for a retry.

    Whoever stops asking stops it.  What was done stays done, so the same plan may be carried out again.
    """
    tally = Tally(len(plan.ids))
    for start in range(0, len(plan.ids), BATCH):
        batch = plan.ids[start : start + BATCH]
        tally.add(await _act(plan.action, batch, actions, force=force))
        yield tally


async def _act(action: Action, batch: Sequence[str], actions: Actions, *, force: bool) -> list[Verdict]:
    if action == "purge":
        return await actions.purge(batch)
    if action == "cancel":
        return await asyncio.gather(*(actions.cancel(task_id) for task_id in batch))
    return await asyncio.gather(*(actions.retry(task_id, force=force) for task_id in batch))


def _bound(cap: int) -> int:
    return max(0, min(cap, MOST))
