"""A test kit for authors: runs tools, resources and prompts in process, and proves tools replayable::

    from receiver.testing import accept, rehearse

    async def test_render() -> None:
        async with rehearse(app) as stage:
            played = await stage.call("render_report", {"quarter": "Q3"}, answers=[accept(template="a")])
            assert played.result["structuredContent"] == {"pages": 3}

    async def test_render_is_replayable() -> None:
        async with rehearse(app) as stage:
            await stage.prove_replayable("render_report", {"quarter": "Q3"}, answers=[accept(template="a")])

It needs the extra ``mcp-task-receiver[testing]``.  This is its name for authors; as it runs workers, it is a part of
them, and no other module imports it.
"""

from workers.rehearsal.answers import Answer, Question, Refusal, accept, decline, dismiss, refuse, say
from workers.rehearsal.performance import Log, Performance, Progress
from workers.rehearsal.rehearsal import Rehearsal, rehearse

__all__ = [
    "Answer",
    "Log",
    "Performance",
    "Progress",
    "Question",
    "Refusal",
    "Rehearsal",
    "accept",
    "decline",
    "dismiss",
    "refuse",
    "rehearse",
    "say",
]
