"""What can be wrong with the nodes and workers."""

from collections.abc import Iterator

from receiver.store.census import NodeView, WorkerView
from receiver.store.diagnosis.facts import Facts
from receiver.store.diagnosis.finding import Finding, count, pick

SKEW_MS = 2_000

Process = NodeView | WorkerView


def judge_fleet(facts: Facts) -> Iterator[Finding]:
    """Whether there are any, whether they serve what waits, and whether they agree."""
    yield from _judge_numbers(facts)
    yield from _judge_queues(facts)
    yield from _judge_agreement([*facts.nodes, *(worker for worker in facts.workers if worker.is_live)])


def _judge_numbers(facts: Facts) -> Iterator[Finding]:
    silent = [worker for worker in facts.workers if not worker.is_live]
    if len(silent) == len(facts.workers):
        yield Finding(
            "no_worker",
            "error",
            "no worker is alive",
            "Tasks are taken, and wait; nothing is swept or recovered.",
            "Start one: receiver work MODULE:app",
        )
    if silent:
        yield Finding(
            "silent_worker",
            "warning",
            f"{count(len(silent), 'worker')} fell silent without leaving",
            "They were killed, hang, or can't reach the store; what they ran is taken over by others.",
            "See their logs, and whether they were killed for the memory that they took.",
            pick(worker.name for worker in silent),
        )
    if not facts.nodes:
        yield Finding(
            "no_node",
            "warning",
            "no API node is up",
            "Nobody can create tasks or get results.",
            "Start one: receiver serve MODULE:app",
        )


def _judge_queues(facts: Facts) -> Iterator[Finding]:
    live = [worker for worker in facts.workers if worker.is_live]
    served = {queue for worker in live for queue in worker.queues}
    unserved = {queue: size for queue, size in facts.queues.items() if size and queue not in served}
    if live and unserved:
        tasks = sum(unserved.values())
        yield Finding(
            "unserved_queue",
            "error",
            f"{count(tasks, 'task')} in {count(len(unserved), 'queue')} that no live worker serves",
            "They wait until they expire: their lane is not served, or their tool is unknown to all workers.",
            "Start a worker for that lane, receiver work MODULE:app --lanes LANE, of the version that has the tool.",
            pick(f"{queue} ({size})" for queue, size in unserved.items()),
        )


def _judge_agreement(processes: list[Process]) -> Iterator[Finding]:
    versions = {process.version for process in processes}
    if len(versions) > 1:
        yield Finding(
            "mixed_versions",
            "warning",
            f"nodes and workers are of {len(versions)} versions",
            "That is meant for the time of an upgrade; an older worker may not know what a newer node stores.",
            "End the upgrade: start all of them with the newest version.",
            pick(f"{process.name} ({process.version})" for process in processes),
        )
    skewed = [process for process in processes if abs(process.clock_offset) > SKEW_MS]
    if skewed:
        yield Finding(
            "clock_skew",
            "warning",
            f"the clock of {count(len(skewed), 'process')} differs from the store's",
            "Tasks go by the store's clock alone, but tokens are checked, and logs written, by their own.",
            "Have all machines take their time from one source (NTP).",
            pick(f"{process.name} ({process.clock_offset:+d} ms)" for process in skewed),
        )
