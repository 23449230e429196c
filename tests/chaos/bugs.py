"""Bugs to be caught, each a wrong turn that someone could take: built into a process of the rig before it starts.

A bug in Lua replaces a piece of a script's text, and one in Python a method.  ``build_in`` fails where the text to be
replaced is not there any more: a bug that changes nothing would be missed for ever.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from receiver.hub import Hub
from receiver.store import scripts
from receiver.store.client import Client
from receiver.store.tasks import NewTask, TaskStore
from receiver.tools.tool import Tool
from tests.chaos.load import PLAIN_SHARE


@dataclass(frozen=True)
class Edit:
    """Replaces ``before`` in ``lua/<file>.lua``."""

    file: str
    before: str
    after: str = ""


@dataclass(frozen=True)
class Bug:
    """What is wrong, which invariants it ``breaks``, and how to provoke it: by which faults, tools and cancels."""

    what: str
    breaks: Sequence[str]
    edits: Sequence[Edit] = ()
    patch: Callable[[], None] | None = None
    faults: Sequence[str] = ()
    tools: Sequence[str] = ()
    failpoints: Sequence[str] = ()
    plain: float = PLAIN_SHARE
    cancels: float = 0.002
    seconds: float = 10.0
    pause: float = 0.8


def build_in(name: str) -> None:
    """Makes this process have the bug."""
    bug = BUGS[name]
    read = scripts._read

    def read_wrongly(name: str) -> str:
        return spoil(bug, name, read(name))

    for edit in bug.edits:
        read_wrongly(edit.file)
    scripts._read = read_wrongly
    if bug.patch is not None:
        bug.patch()


def spoil(bug: Bug, file: str, text: str) -> str:
    """The text of a script as the bug has it."""
    for edit in bug.edits:
        if edit.file == file:
            if edit.before not in text:
                raise LookupError(f"{file}.lua does not say {edit.before!r}")
            text = text.replace(edit.before, edit.after)
    return text


def _never_reread() -> None:
    async def rest(self: Hub) -> None:
        await asyncio.Event().wait()

    Hub._keep_rereading = rest  # type: ignore[method-assign]


def _enqueue_later() -> None:
    """The record first, and its place in the queue by a second call."""
    create = TaskStore.create

    async def create_in_two_steps(self: TaskStore, admission: Any, new: NewTask) -> int:
        created_at = await create(self, admission, new)
        client: Client = self._client
        await client.call("enqueue", new.id)
        return created_at

    TaskStore.create = create_in_two_steps  # type: ignore[method-assign]
    read = scripts._read

    def read_or_enqueue(name: str) -> str:
        if name != "enqueue":
            return read(name)
        fields = "redis.call('HMGET', key_task(ARGV[1]), 'queue', 'owner')"
        call = "make_ready(ARGV[1], task[1], int(fair_tag(task[1], task[2], true)))"
        return f"-- include: queue\nlocal task = {fields}\n{call}\nreturn 1\n"

    scripts._read = read_or_enqueue


def _attempt_all_calls() -> None:
    """Plain calls as often as tasks, whatever their tools may do."""

    def attempts_for(self: Tool, *, as_task: bool, default: int) -> int:
        return default

    Tool.attempts_for = attempts_for  # type: ignore[method-assign]


FENCE = "if task[2] ~= run then return -2 end"
OPEN = "if task[1] ~= 'working' and task[1] ~= 'input_required' then return -3 end"
SETTLE = "settle(id, 'cancelled', ARGV[4], now_ms())"
CLOSED = "known[2] ~= expected or request ~= ARGV[1] or task[1] ~= 'input_required'"
KILLS = ("kill worker", "failpoint worker")
PAUSES = ("pause worker", "hold both", "hold down")
LONG = ("slow", "stubborn", "threaded")

SOUND = Bug("nothing is wrong: a false alarm", ())
BUGS: dict[str, Bug] = {
    "finish_unfenced": Bug(
        "finish does not look at the fence",
        ("I3",),
        [Edit("finish", "if verdict ~= 1 then", "if verdict == -1 or verdict == -3 then")],
        faults=PAUSES,
        tools=LONG,
        seconds=14,
    ),
    "terminal_overwritten": Bug(
        "a terminal status is overwritten",
        ("I2", "I3", "I4"),
        [Edit("_fence", OPEN)],
        faults=PAUSES,
        tools=LONG,
        plain=0.0,
        cancels=0.5,
        seconds=14,
    ),
    "lost_forgotten": Bug(
        "recover takes the lease and does not put the task back",
        ("I6",),
        [Edit("_lost", "make_ready(id, task[3], task[4])")],
        faults=KILLS,
        tools=LONG,
    ),
    "created_in_two_steps": Bug(
        "a task is created, and put into the queue by a second call",
        ("I6",),
        [Edit("create", "make_ready(id, queue, int(fair_tag(queue, owner, unfinished > 0)))")],
        _enqueue_later,
        faults=("failpoint api",),
        tools=("quick",),
        failpoints=("create:after",),
        seconds=20.0,
        pause=2.5,
    ),
    "create_not_repeatable": Bug(
        "a create that is sent again creates again",
        ("I2", "I3", "I10"),
        [Edit("create", "if created then", "if false then")],
        faults=("lose replies",),
        tools=("quick", "slow"),
        pause=0.3,
    ),
    "heartbeat_idle": Bug(
        "a heartbeat renews nothing",
        ("I10",),
        [Edit("heartbeat", "renew_lease(id, worker, queue, number, now, lease)")],
        faults=("script flush",),
        tools=("slow", "threaded"),
    ),
    "hold_removed": Bug(
        "leases are taken over at once after an outage of the store",
        ("I10",),
        [Edit("_lost", "return now >= tonumber(hold)", "return true")],
        faults=("kill store", "pause store", "debug sleep"),
        tools=("slow", "destructive"),
        seconds=14,
    ),
    "cancel_ignored": Bug(
        "a cancel is accepted, and the run goes on to its own end",
        ("I4",),
        [
            Edit("cancel", SETTLE, "move_status(id, task[1], 'cancelled', now_ms())"),
            Edit("cancel", "redis.call('PUBLISH', key_signals(task[2]), id)"),
            Edit("_fence", OPEN),
        ],
        faults=("script flush",),
        tools=LONG,
        cancels=0.3,
    ),
    "wake_ups_lost": Bug(
        "the end of a task is not published, and statuses are not read again",
        ("I8",),
        [
            Edit("_settle", "redis.call('PUBLISH', key_events(id), status)"),
            Edit("_outbox", "redis.call('PUBLISH', key_events(id), 'message')"),
        ],
        _never_reread,
        faults=("script flush",),
        tools=("slow", "flaky"),
        seconds=20,
    ),
    "attempts_unbounded": Bug(
        "a lost task is run again, whatever its attempts",
        ("I10",),
        [Edit("_lost", "tonumber(task[5]) >= tonumber(task[6])", "false")],
        faults=KILLS,
        tools=("destructive",),
    ),
    "job_left": Bug(
        "the job of a finished task stays",
        ("I9",),
        [Edit("_settle", "drop_job(id)")],
        faults=("script flush",),
    ),
    "quota_leaks": Bug(
        "a finished task is counted as unfinished",
        ("I9",),
        [Edit("_settle", "redis.call('ZREM', key_active(task[2]), id)")],
        faults=("script flush",),
    ),
    "owner_ignored": Bug(
        "a task is read and cancelled by whoever knows its id",
        ("I5",),
        [Edit("read", "task[1] ~= ARGV[2] or "), Edit("_owned", "task[1] == owner and ")],
        faults=("script flush",),
    ),
    "answer_replaced": Bug(
        "a second answer takes the place of the first",
        ("I13",),
        [
            Edit("answer", CLOSED, "false"),
            Edit(
                "answer", "if not is_any_open(id) then", "if not is_any_open(id) and task[1] == 'input_required' then"
            ),
        ],
        faults=("script flush",),
        tools=("asking",),
    ),
    "retry_forgotten": Bug(
        "a retry that is due is not put back",
        ("I6",),
        [Edit("_due", "bring_back(id)")],
        faults=("script flush",),
        tools=("flaky", "quick"),
    ),
    "page_short": Bug(
        "an entry between two pages is on neither",
        ("I5",),
        [
            Edit(
                "page",
                "found[size + 1] = nil",
                "found[size + 1] = nil; if ARGV[3] ~= '+inf' then table.remove(found, 1) end",
            )
        ],
        faults=("script flush",),
        seconds=14,
    ),
    "outcome_late": Bug(
        "a task is over before its outcome is there",
        ("I2", "I3"),
        [Edit("finish", "'outcome', ARGV[6], 'payload', ARGV[7], 'op', nonce", "'op', nonce")],
        faults=("script flush",),
    ),
    "step_forgotten": Bug(
        "what a step returned is not recorded",
        ("I14",),
        [Edit("remember", "redis.call('HSET', key_steps(id), step .. ':digest', ARGV[4], step .. ':value', ARGV[5])")],
        faults=KILLS,
        tools=("composing", "parking"),
    ),
    "step_by_number": Bug(
        "a step is known by its place, and gets what another one returned",
        ("I14",),
        [Edit("recall", "ARGV[3] .. ':value'", "'step/one#1:value'")],
        faults=KILLS,
        tools=("composing", "parking"),
    ),
    "sleep_restarts": Bug(
        "a later run sleeps from the beginning",
        ("I15", "I6"),
        [Edit("sleep", "HSETNX", "HSET")],
        faults=KILLS,
        tools=("sleeping", "parking"),
    ),
    "sleep_short": Bug(
        "a sleep is over at half its time",
        ("I15",),
        [Edit("sleep", "now + ARGV[4]", "now + ARGV[4] / 2")],
        faults=("script flush",),
        tools=("sleeping", "parking"),
    ),
    "sleep_not_due": Bug(
        "the end of a sleep does not bring a parked task back",
        ("I6",),
        [Edit("park", "redis.call('ZADD', key_later(), int(due), id)")],
        faults=("script flush",),
        tools=("parking",),
    ),
    "answer_leaves_parked": Bug(
        "an answer does not bring a parked task back",
        ("I6", "I16"),
        [Edit("answer", "unpark(id)\n", "\n")],
        faults=("cut link", "kill api"),
        tools=("parking",),
    ),
    "park_keeps_lease": Bug(
        "a parked task keeps its lease",
        ("I9", "I10", "I16"),
        [Edit("park", "drop_lease(id, task[2], task[3])")],
        faults=("script flush",),
        tools=("parking",),
    ),
    "park_spends_attempt": Bug(
        "a run that goes on after parking is an attempt",
        ("I10", "I16"),
        [Edit("park", "'handed_back', '1', ")],
        faults=("script flush",),
        tools=("parking",),
    ),
    "call_run_twice": Bug(
        "a plain call is run again, whatever its tool may do",
        ("I17",),
        patch=_attempt_all_calls,
        faults=KILLS,
        tools=("destructive", "threaded"),
        plain=0.6,
    ),
}
