"""Rules of the client tier: what clients want of tasks, their own and others', and what they hear of them."""

import secrets
from contextlib import suppress
from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.stateful import rule

from receiver.protocol.cursor import Position
from receiver.protocol.errors import SessionEnded, TaskAlreadyFinished, TaskNotFound
from receiver.protocol.lifecycle import TERMINAL
from receiver.session import Session
from receiver.store.streams import StreamGivenUp
from tests.properties.machine import Known, any_place, anyone, pick, seldom
from tests.properties.runs import NEW
from tests.properties.work import WorkRules, name_of
from tests.store.asked import SAID, TASKS, THEIRS
from tests.store.clients import ANSWER, OTHER_ANSWER, Connection, begin_session, follow, hear
from tests.store.world import by

any_answer = st.sampled_from((ANSWER, OTHER_ANSWER))


class WishRules(WorkRules):
    """``positions``: where pages ended that clients turned, long ago perhaps."""

    def __init__(self) -> None:
        super().__init__()
        self.positions: list[tuple[str, Position]] = []

    @rule(place=any_place, owner=anyone)
    def get(self, place: int, owner: str) -> None:
        """The owner's task is found as long as it lives, and nobody else's ever (T-89)."""
        known = self.choose(place)
        lives = self.lives(known.id)
        found = None
        with suppress(TaskNotFound):
            found = self.run(self.world.tasks.get(by(owner), known.id))
            self.run(self.world.tasks.get_progress(by(owner), known.id))
        if lives is not None:
            assert (found is not None) == (lives and known.owner == owner and known.kind == "task")
        assert found is None or found.status == self.now.record(known.id)["status"]

    @rule(place=any_place, owner=anyone, loses=seldom)
    def cancel(self, place: int, owner: str, loses: bool) -> None:
        known = self.choose(place)
        status = self.now.record(known.id).get("status")
        self.wire.loses = loses
        try:
            task = self.run(self.world.tasks.cancel(by(owner), known.id, ""))
        except TaskNotFound:
            assert known.owner != owner or known.kind == "call" or not self.lives(known.id)
        except TaskAlreadyFinished:
            assert status in TERMINAL  # T-67
        else:
            assert known.owner == owner
            assert (task.status, status in TERMINAL) == ("cancelled", False)

    @rule(owner=anyone, size=st.integers(1, 3), place=any_place, starts=st.booleans())
    def turn_page(self, owner: str, size: int, place: int, starts: bool) -> None:
        """From behind any old position, all that is older and lives is found, each once."""
        ours = [position for of, position in self.positions if of == owner]
        after = None if starts or not ours else pick(ours, place)
        since, found = after, []
        while True:
            tasks, after = self.run(self.world.tasks.list_page(by(owner), size, after))
            found += [task.id for task in tasks]
            if after is None:
                break
            self.positions.append((owner, after))
        self.check_pages(owner, since, found)

    def check_pages(self, owner: str, since: Position | None, found: list[str]) -> None:
        expected = []
        for task_id in self.living(owner, "task"):
            at = int(self.now.record(task_id)["created_at"])
            if since is None or (at, task_id) < (since.created_at, since.task_id):
                expected.append((at, task_id))
        sure = [task_id for task_id in found if self.lives(task_id) is not None]
        assert sure == [task_id for _, task_id in sorted(expected, reverse=True)]

    def choose(self, place: int) -> Known:
        """One of the tasks."""
        if not self.known:
            self.start(place)
        return pick(list(self.known.values()), place)

    # Streams

    def find_stream(self, place: int) -> Connection:
        """One of the streams."""
        if not self.streams:
            self.open_stream(place, place, True)
            self.holds()
        return self.streams[place % len(self.streams)]

    @rule(place=any_place, session=any_place, listens=st.sampled_from((True, True, False)))
    def open_stream(self, place: int, session: int, listens: bool) -> None:
        known = self.choose(place)
        stream = follow(
            self.world,
            pick(self.sessions[known.owner], session),
            known.id,
            kind=known.kind,  # type: ignore[arg-type]
            listens=listens,
        )
        self.streams.append(stream)
        self.look_at(len(self.streams) - 1, loses=False)

    @rule(owner=anyone, session=any_place)
    def open_own(self, owner: str, session: int) -> None:
        self.streams.append(hear(self.world, pick(self.sessions[owner], session)))
        self.look_at(len(self.streams) - 1, loses=False)

    @rule(place=any_place, loses=seldom)
    def look_at(self, place: int, loses: bool) -> None:
        """A stream takes what is new; its task's record agrees with what the stream is told."""
        stream = self.find_stream(place)
        self.wire.loses = loses
        with suppress(TaskNotFound, SessionEnded, StreamGivenUp):
            self.run(stream.look())
            if stream.task_id and stream.progress and self.lives(stream.task_id):
                assert stream.progress.status == self.now.record(stream.task_id)["status"]

    @rule(place=any_place, resumes=st.booleans(), loses=seldom)
    def close_stream(self, place: int, resumes: bool, loses: bool) -> None:
        """A connection ends; its client may have come back on another one before."""
        stream = self.find_stream(place)
        self.streams.remove(stream)
        if resumes:
            self.streams.append(stream.resumed())
            self.look_at(len(self.streams) - 1, loses=False)
        self.wire.loses = loses
        self.run(stream.close())

    @rule(place=any_place, loses=seldom)
    def cancel_request(self, place: int, loses: bool) -> None:
        stream = self.find_stream(place).stream
        self.wire.loses = loses
        self.run(self.world.sessions.cancel_request(stream.session, stream.request))

    # Sessions

    @rule(owner=anyone, able=st.booleans(), ends=st.booleans(), place=any_place, loses=seldom)
    def change_session(self, owner: str, able: bool, ends: bool, place: int, loses: bool) -> None:
        """A client begins a session, and may end another, which it may go on using all the same."""
        session = self.run(begin_session(self.world, owner, TASKS if able else {}))
        if ends:
            self.wire.loses = loses
            self.run(self.world.sessions.end(pick(self.sessions[owner], place)))
        self.sessions[owner] = [*self.sessions[owner][-2:], session]

    # Questions

    def asked(self) -> list[tuple[str, str, str, Session]]:
        """Task, question, its state and a session of its owner, for all questions."""
        return [
            (task_id, name, state, session)
            for task_id in self.living()
            for name, state in self.now.questions(task_id).items()
            for session in self.sessions[self.known[task_id].owner]
        ]

    def find(self, place: int) -> tuple[str, str, str, Session]:
        """One of the questions; if there is none, or a new one is wanted, a run asks and a stream takes it."""
        while not self.asked() or place == NEW:
            run = self.start(place)
            self.put(run, 1 + place % 2, as_task=True)
            self.holds()
            self.open_own(self.known[run.task_id].owner, 0)
            self.holds()
            place = 0
        return pick(self.asked(), place)

    @rule(place=any_place, loses=seldom)
    def wait_for_client(self, place: int, loses: bool) -> None:
        """A run asks, a stream takes it, and the run is parked."""
        run = self.start(place)
        self.put(run, 1, as_task=True)
        self.holds()
        self.open_own(self.known[run.task_id].owner, 0)
        self.holds()
        self.wire.loses = loses
        if self.now.questions(run.task_id).get(name_of(1)) == "open":
            assert self.run(self.world.runs.park(run.task_id, run.run, [name_of(1)]))
            for worker in self.workers.values():
                worker.runs.pop(run.task_id, None)

    def was_asked(self, request: str, session: Session) -> bool:
        return f"asked:{session.id}" in self.now.hash(self.world.keys.ask(request))

    @rule(place=any_place, answer=any_answer, foreign=seldom, loses=seldom)
    def answer(self, place: int, answer: bytes, foreign: bool, loses: bool) -> None:
        """Taken once, from whoever was asked, as long as it is wanted."""
        task_id, name, state, session = self.find(place)
        inputs = self.now.inputs(task_id)
        if foreign:
            session = replace(session, owner="eve")
        may = self.was_asked(inputs[f"{name}:id"], session) and not foreign
        self.wire.loses = loses
        took = self.run(self.world.inputs.answer(inputs[f"{name}:id"], session, answer))
        is_known = inputs.get(f"{name}:answer") == answer.decode()
        is_open = self.now.record(task_id)["status"] == "input_required" and state == "open"
        assert took == (may and (is_open or is_known)), "an answer was lost, or taken from somebody else, or too late"
        if took:
            self.look()
            assert self.now.inputs(task_id)[f"{name}:answer"] == answer.decode()
            assert self.now.places(task_id) != ["parked"], "it was answered, and stays parked"

    @rule(place=any_place, number=st.integers(1, 2), slow=st.booleans(), loses=seldom)
    def accept(self, place: int, number: int, slow: bool, loses: bool) -> None:
        task_id, name, state, session = self.find(place)
        request = self.now.inputs(task_id)[f"{name}:id"]
        task = replace(THEIRS, id=f"theirs-{number}", poll_interval=4000 if slow else 0)
        self.wire.loses = loses
        took = self.run(self.world.inputs.accept(request, session, task))
        assert not took or self.was_asked(request, session)
        if took and state == "open":
            self.look()
            assert self.now.questions(task_id)[name] == "accepted"
            assert "parked" not in self.now.places(task_id), "nobody polls that task"

    @rule(place=any_place, ends=st.booleans(), loses=seldom)
    def answer_poll(self, place: int, ends: bool, loses: bool) -> None:
        """How the client's task stands, or its result, from the session that was asked."""
        task_id, name, state, session = self.find(place)
        request = self.now.inputs(task_id).get(f"{name}/poll:id", f"ask-{secrets.token_hex(16)}")
        may = self.was_asked(request, session) and state == "accepted"
        self.wire.loses = loses
        if ends:
            took = self.run(self.world.inputs.answer(request, session, ANSWER))
            assert took == may
        else:
            took = self.run(self.world.inputs.answer_poll(request, session, SAID, None))
            assert not took or may
