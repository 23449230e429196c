from receiver.principal import ANONYMOUS
from receiver.protocol.handshake import LATEST
from receiver.session import Session, new_session_id
from receiver.store.client import Client
from receiver.store.inputs import Question
from receiver.store.streams import Stream, StreamStore
from tests.workers.claims import new_claim
from tests.workers.house import House
from tests.workers.stage import Stage, until
from workers.actor import Actors
from workers.listener import keep_hearing
from workers.roster import Roster


async def start_hearing(stage: Stage, actors: Actors, roster: Roster) -> None:
    """Returns when the listener of the stage's worker hears."""
    kit = stage.kit
    actors.spawn(keep_hearing(kit.redis, kit.keys, kit.worker, kit.tasks, roster))
    channel = stage.keys.signals(kit.worker)

    async def is_heard() -> bool:
        return bool((await stage.redis.pubsub_numsub(channel))[0][1])

    await until(is_heard)


async def test_only_the_run_whose_task_was_cancelled_is_stopped(any_stage: Stage) -> None:
    stage, app, roster, actors = any_stage, House().app, Roster(3, 0), Actors()
    for _ in range(2):
        await stage.create(app, "greet")
    claims = [active.claim for active in await stage.claim(app, 2)]
    cancelled, other, gone = roster.add([*claims, new_claim()], 1)
    await start_hearing(stage, actors, roster)
    await stage.cancel(cancelled.claim.task_id)
    await until(lambda: cancelled.stop_reason)
    await actors.stop()
    assert [run.stop_reason for run in (cancelled, other, gone)] == ["cancelled", None, None]


async def test_a_run_hears_that_it_was_answered(any_stage: Stage) -> None:
    stage, app, roster, actors = any_stage, House().app, Roster(2, 0), Actors()
    session = Session(new_session_id(), ANONYMOUS.owner, LATEST, {})
    await stage.create(app, "greet", record={"session": session.id})
    (active,) = roster.add([run.claim for run in await stage.claim(app)], 1)
    await start_hearing(stage, actors, roster)
    task_id = active.claim.task_id
    question = Question("elicitation/create#1", "digest", "ask-1", "elicitation/create", b"{}")
    await stage.kit.inputs.ask(task_id, active.claim.run, question)
    streams = StreamStore(Client(stage.redis, stage.keys, with_flags=stage.with_flags), lease=1000, session_idle=1000)
    await streams.follow(Stream("a stream", session, b"1"), task_id, "task", "", begins=True)  # which asks the client
    (other,) = roster.add([new_claim()], 2)
    with active.waits.wait(question.name) as heard, other.waits.wait(question.name) as unheard:
        assert not heard.is_set()
        assert await stage.kit.inputs.answer("ask-1", session, b"{}")
        await heard.wait()
        assert not unheard.is_set()
    await actors.stop()
    assert active.stop_reason is None
