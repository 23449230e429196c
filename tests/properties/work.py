"""Rules of runs: what they write, whether they still may or not."""

from typing import Any, Literal

from hypothesis import strategies as st
from hypothesis.stateful import rule

from receiver.protocol.errors import InternalError
from receiver.protocol.outcome import Outcome
from receiver.store.inputs import AskedOtherwise
from receiver.store.record import ClaimedRun
from receiver.store.runs import Verdict
from receiver.store.steps import Recorded
from tests.properties.machine import any_place, seldom
from tests.properties.runs import RunRules
from tests.store.asked import THEIRS, question_of
from tests.store.clients import ANSWER
from tests.store.world import DONE, FAILED, finish

HOUR = 3_600_000
BROKEN = Outcome.of_error(InternalError("Broken"))
OUTCOMES = {"result": DONE, "isError": FAILED, "error": BROKEN}

number = st.integers(1, 2)


def name_of(question: int) -> str:
    return f"elicitation/create#{question}"


class WorkRules(RunRules):
    """``unheard``: the worker knows nothing of what its run wrote, and goes on with it."""

    @rule(place=any_place, how=st.sampled_from(sorted(OUTCOMES)), unheard=seldom, loses=seldom)
    def finish(self, place: int, how: str, unheard: bool, loses: bool) -> None:
        worker, run = self.begin(place, loses)
        done = self.run(finish(self.world, run, OUTCOMES[how])) is Verdict.DONE
        self.check_fence(run, done)
        if done:
            self.finished.append(run.task_id)
            self.look()
            record = self.now.record(run.task_id)
            assert record["status"] == ("completed" if how == "result" else "failed")
            assert record["payload"].encode() == OUTCOMES[how].payload
        if not unheard:
            worker.runs.pop(run.task_id, None)

    @rule(place=any_place, retries=st.booleans(), delay=st.sampled_from((0, 0, 30_000)), unheard=seldom, loses=seldom)
    def requeue(self, place: int, retries: bool, delay: int, unheard: bool, loses: bool) -> None:
        worker, run = self.begin(place, loses)
        reason: Literal["retry", "handed_back"] = (
            "retry" if retries and run.attempt < run.max_attempts else "handed_back"
        )
        done = self.run(self.world.runs.requeue(run.task_id, run.run, reason, delay)) is Verdict.DONE
        self.check_fence(run, done)
        if not unheard:
            worker.runs.pop(run.task_id, None)

    @rule(place=any_place, on_all=seldom, sleeps=st.booleans(), unheard=seldom, loses=seldom)
    def park(self, place: int, on_all: bool, sleeps: bool, unheard: bool, loses: bool) -> None:
        """A run that waits for all that it ever asked, or for what is open, and perhaps for a sleep beside it."""
        worker, run = self.begin(place, loses)
        questions = self.now.questions(run.task_id)
        waits = [name for name, state in questions.items() if on_all or state == "open"]
        if sleeps or not waits:
            waits.append("sleep#1")
            self.run(self.world.steps.sleep(run.task_id, run.run, "sleep#1", 30_000))
            self.holds()
            self.wire.loses = loses
        has_news = any(questions[name] != "open" for name in waits if name in questions)
        parked = self.run(self.world.runs.park(run.task_id, run.run, waits))
        assert not parked or (self.now.holds_fence(run.task_id, run.run) and not has_news)
        if parked and not unheard:
            worker.runs.pop(run.task_id, None)

    @rule(place=any_place, question=number, as_task=st.booleans(), loses=seldom)
    def ask(self, place: int, question: int, as_task: bool, loses: bool) -> None:
        self.put(self.begin(place, loses)[1], question, as_task=as_task)

    def put(self, run: ClaimedRun, question: int, *, as_task: bool) -> None:
        """A run asks: again what an earlier one asked, or something new."""
        known = self.now.inputs(run.task_id).get(f"{name_of(question)}:answer")
        asked = question_of(question, as_task=as_task)
        try:
            verdict = self.run(self.world.inputs.ask(run.task_id, run.run, asked))
        except AskedOtherwise:
            raise AssertionError("it was asked this before") from None
        may_ask = self.now.holds_fence(run.task_id, run.run)
        if isinstance(verdict, bytes):
            assert may_ask
            assert verdict.decode() == known, "an answer that nobody gave"
        else:
            assert (verdict is Verdict.DONE) == may_ask
            assert not may_ask or known is None, "it was asked again, though it was answered"

    @rule(place=any_place, question=number, answer=st.sampled_from((b"", ANSWER)), loses=seldom)
    def withdraw(self, place: int, question: int, answer: bytes, loses: bool) -> None:
        _, run = self.begin(place, loses)
        verdict = self.run(self.world.inputs.withdraw(run.task_id, run.run, name_of(question), answer))
        self.check_fence(run, verdict is Verdict.DONE)

    @rule(place=any_place, question=number, result=st.booleans(), loses=seldom)
    def poll(self, place: int, question: int, result: bool, loses: bool) -> None:
        _, run = self.begin(place, loses)
        method: Any = "tasks/result" if result else "tasks/get"
        self.run(self.world.inputs.poll(run.task_id, run.run, name_of(question), method, THEIRS.id))

    @rule(place=any_place, step=number, loses=seldom)
    def take_step(self, place: int, step: int, loses: bool) -> None:
        """As a tool does: a step that is recorded is not done again."""
        _, run = self.begin(place, loses)
        name = f"step#{step}"
        recorded = self.run(self.world.steps.recall(run.task_id, run.run, name))
        self.check_fence(run, isinstance(recorded, Recorded) or recorded is Verdict.DONE)
        if isinstance(recorded, Recorded):
            assert recorded.value == self.now.steps(run.task_id).get(f"{name}:value")
        elif recorded is Verdict.DONE:
            found = Recorded("digest", b"%d" % run.run)
            self.wire.loses = loses
            verdict = self.run(self.world.steps.remember(run.task_id, run.run, name, found))
            self.check_fence(run, verdict is Verdict.DONE)

    @rule(place=any_place, duration=st.sampled_from((6_000, 30_000, HOUR)), loses=seldom)
    def sleep(self, place: int, duration: int, loses: bool) -> None:
        _, run = self.begin(place, loses)
        due = self.now.steps(run.task_id).get("sleep#1:due")
        left = self.run(self.world.steps.sleep(run.task_id, run.run, "sleep#1", duration))
        self.check_fence(run, not isinstance(left, Verdict))
        assert isinstance(left, Verdict) or due is None or left <= max(0, int(due) + self.moved - self.now.taken_at)

    @rule(place=any_place, loses=seldom)
    def report(self, place: int, loses: bool) -> None:
        _, run = self.begin(place, loses)
        verdict = self.run(self.world.runs.report(run.task_id, run.run, {"status_message": f"run {run.run}"}))
        self.check_fence(run, verdict is Verdict.DONE)

    def check_fence(self, run: ClaimedRun, done: bool) -> None:
        assert done == self.now.holds_fence(run.task_id, run.run), "the fence let the wrong run write, or not the right"
