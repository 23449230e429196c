"""What can be wrong with tasks and keys."""

from collections.abc import Iterator

from receiver.protocol.lifecycle import STATUSES, TERMINAL
from receiver.store.diagnosis.facts import Facts, TaskFacts
from receiver.store.diagnosis.finding import Finding, count, pick

OPEN = set(STATUSES) - TERMINAL


def judge_tasks(facts: Facts) -> Iterator[Finding]:
    """Tasks that nothing will ever run, entries that disagree, keys that stay, and work that nobody does."""
    yield from _judge_stuck(facts)
    yield from _judge_entries(facts)
    yield from _judge_lasting(facts)
    yield from _judge_background(facts)


def is_stuck(task: TaskFacts) -> bool:
    """Whether an open task stands nowhere from where a worker would take it, or an answer bring it back."""
    is_coming = task.is_queued or task.is_leased or task.is_later or (task.is_parked and task.is_asking)
    return task.status in OPEN and not is_coming


def _judge_stuck(facts: Facts) -> Iterator[Finding]:
    stuck = [task for task in facts.tasks if is_stuck(task)]
    if stuck:
        yield Finding(
            "stuck_task",
            "error",
            f"{count(len(stuck), 'open task')} that nothing will ever run",
            "They stand in no queue, no worker has them, and nothing that they wait for can come.",
            "Cancel them, or make them anew; then report it with `redis-cli HGETALL` of their keys: it is a bug.",
            pick(task.id for task in stuck),
        )
    mute = [task for task in facts.tasks if task.status == "input_required" and not task.is_asking]
    if mute:
        yield Finding(
            "input_required_without_question",
            "error",
            f"{count(len(mute), 'task')} in input_required without an open question",
            "Their requestors wait for a question that will not come.",
            "Cancel them; then report it with `redis-cli HGETALL` of their `:inputs` keys: it is a bug.",
            pick(task.id for task in mute),
        )


def _judge_entries(facts: Facts) -> Iterator[Finding]:
    wrong = [task for task in facts.tasks if task.status != task.indexed or not task.is_owned or not task.is_swept]
    if wrong:
        yield Finding(
            "wrong_index",
            "error",
            f"{count(len(wrong), 'task')} whose indexes do not say what they are",
            "Operators and tasks/list see them wrong, or what is left of them is never swept.",
            "Somebody wrote to the store by hand, or restored a part of it; they are right again when they expire.",
            pick(task.id for task in wrong),
        )


def _judge_lasting(facts: Facts) -> Iterator[Finding]:
    lasting = {*facts.strays, *(f"task {task.id}" for task in facts.tasks if task.pttl == -1)}
    if lasting:
        yield Finding(
            "key_without_ttl",
            "error",
            f"{count(len(lasting), 'key')} that nothing will ever take away",
            "They take memory for ever; docs/keys.md says which keys may.",
            "Look at each with `redis-cli TYPE`, then UNLINK it, or give it an end with PEXPIRE.",
            pick(lasting),
        )


def _judge_background(facts: Facts) -> Iterator[Finding]:
    if not any(worker.is_live for worker in facts.workers):
        return  # that is the finding
    seconds = facts.long_ago // 1000
    if facts.unswept:
        yield Finding(
            "unswept_tasks",
            "warning",
            f"{count(facts.unswept, 'task')} expired more than {seconds} s ago and were not swept",
            "Their index entries take memory; a worker sweeps 500 at a time, every second.",
            "See the logs of workers for actor_failed; after a burst of tasks, wait.",
        )
    if facts.overdue:
        yield Finding(
            "unrecovered_leases",
            "error",
            f"{count(facts.overdue, 'task')} whose lease ended more than {seconds} s ago and that nobody took over",
            "Their workers are lost, and they are not run again.",
            "See the logs of workers for actor_failed, and restart them.",
        )
    if facts.late:
        yield Finding(
            "late_tasks",
            "error",
            f"{count(facts.late, 'task')} whose time came more than {seconds} s ago and that were not brought back",
            "Retries and sleeps end when a worker claims tasks, which each does every second.",
            "See the logs of workers for claim_failed, and restart them.",
        )
