import pytest

from receiver.store.runs import Slots
from tests.workers.claims import new_claim, new_run
from workers.roster import ActiveRun, Roster


def fill(roster: Roster, *, tasks: int = 0, calls: int = 0) -> list[ActiveRun]:
    kinds = ["task"] * tasks + ["call"] * calls
    return roster.add([new_claim(f"{kind}{number}", kind=kind) for number, kind in enumerate(kinds)], number=1)


@pytest.mark.parametrize(
    ("capacity", "reserved", "tasks", "calls", "free", "open"),
    [
        (10, 1, 0, 0, 10, 9),
        (10, 1, 9, 0, 1, 0),  # the reserved one stays free
        (10, 1, 0, 1, 9, 9),  # a call in it takes it from nobody
        (10, 1, 0, 9, 1, 1),  # calls may take all the others as well
        (10, 1, 9, 1, 0, 0),
        (10, 0, 9, 0, 1, 1),
        (1, 1, 0, 0, 1, 1),  # the only slot can't be reserved
        (3, 5, 0, 0, 3, 1),  # nor can the last
    ],
)
def test_slots(capacity: int, reserved: int, tasks: int, calls: int, free: int, open: int) -> None:
    roster = Roster(capacity, reserved)
    fill(roster, tasks=tasks, calls=calls)
    assert roster.slots == Slots(free, open)


def test_a_slot_is_free_again_when_its_run_ended() -> None:
    roster = Roster(1, 0)
    (run,) = fill(roster, tasks=1)
    assert (len(roster), roster.slots.free) == (1, 0)
    roster.remove(run)
    assert (len(roster), roster.slots.free) == (0, 1)


def test_a_run_that_only_has_to_tell_of_its_end_holds_no_slot() -> None:
    roster = Roster(2, 0)
    for run in fill(roster, tasks=2):
        run.end()
    assert roster.slots.free == 2
    roster.add([new_claim(f"later{number}") for number in range(2)], number=2)
    assert roster.slots.free == 0


def test_a_store_that_is_slow_does_not_make_a_worker_claim_for_ever() -> None:
    roster = Roster(2, 0)
    for number in range(4):
        for run in roster.add([new_claim(f"task{number}")], number):
            run.end()
    assert roster.slots.free == 0


def test_a_snapshot_holds_a_claim_and_all_that_it_brought() -> None:
    roster = Roster(5, 0)
    assert roster.snapshot() == (0, {})
    roster.add([new_claim("a", 3), new_claim("b", 1)], number=7)
    assert roster.snapshot() == (7, {"a": 3, "b": 1})
    roster.add([], number=8)
    assert roster.snapshot() == (8, {"a": 3, "b": 1})


def test_a_run_that_ended_does_not_remove_a_later_run_of_its_task() -> None:
    roster = Roster(5, 0)
    (first,) = roster.add([new_claim("a", 1)], number=1)
    roster.remove(first)
    (second,) = roster.add([new_claim("a", 2)], number=2)
    roster.remove(first)
    assert roster.runs() == [second]


def test_stop_reaches_the_run_that_it_names() -> None:
    roster = Roster(5, 0)
    (run,) = roster.add([new_claim("a", 2)], number=1)
    roster.stop("a", 1, "superseded")
    roster.stop("b", 2, "superseded")
    assert run.stop_reason is None
    roster.stop("a", 2, "cancelled")
    assert run.stop_reason == "cancelled"


def test_a_run_is_told_to_stop_once() -> None:
    heard = []
    run = new_run()
    run.on_change = lambda: heard.append(run.stop_reason)
    run.stop("expired")
    run.stop("shutdown")
    assert heard == ["expired"]
    assert run.stop_reason == "expired"
