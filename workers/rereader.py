"""The re-reader: looks at what the runs of a worker asked, in case a signal was lost."""

import asyncio

from receiver.store.inputs import InputStore
from workers.roster import Roster

INTERVAL_SECONDS = 5.0
BATCH = 500


async def keep_rereading(inputs: InputStore, roster: Roster, interval: float = INTERVAL_SECONDS) -> None:
    """Has every run look again whose question is not simply open any more, every ``interval`` seconds, for ever."""
    while True:
        await asyncio.sleep(interval)
        asked = [(run, call) for run in roster.runs() for call in run.waits.calls]
        for start in range(0, len(asked), BATCH):
            batch = asked[start : start + BATCH]
            states = await inputs.get_states([(run.claim.task_id, call) for run, call in batch])
            for (run, _), state in zip(batch, states, strict=True):
                if state not in ("", "open"):
                    run.on_news()
