"""What commands print, compared with what stands in ``snapshots/``: SNAPSHOTS=write makes it anew, to be read."""

import io
import json
import os
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console, RenderableType

from ops.admin.actions import Verdict
from ops.admin.bulk import Plan, Tally
from ops.admin.filters import Search
from ops.admin.redaction import HIDDEN, Redaction
from ops.admin.view import show_dossier, show_summary
from ops.commands import acting, keymap, listing, presence, queues, showing, throughput, watching
from ops.render import clean, print_json, show_age, show_duration, write_value
from receiver.protocol.cursor import Position
from receiver.store.inspect import Filter
from receiver.store.keys import SPECS, Keys
from tests.ops import samples
from tests.ops.samples import HOSTILE, MINUTE, NOW, task_id

SNAPSHOTS = Path(__file__).with_name("snapshots")
OBEYED = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def open_paper(width: int = 120, *, is_terminal: bool = False) -> Console:
    return Console(
        file=io.StringIO(), width=width, force_terminal=is_terminal, color_system=None, highlight=False, markup=False
    )


def read(console: Console) -> str:
    """What was printed, without the blanks at line ends."""
    paper = console.file
    assert isinstance(paper, io.StringIO)
    return "".join(f"{line.rstrip()}\n" for line in paper.getvalue().splitlines())


def compare(name: str, text: str) -> None:
    assert not OBEYED.search(text)
    file = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("SNAPSHOTS") == "write":
        file.write_text(text)
    assert text == file.read_text()


def page(width: int) -> str:
    console = open_paper(width)
    tasks = [show_summary(summary, Redaction()) for summary in samples.make_summaries()]
    following = Search(Filter(statuses=("failed",), not_tools=("it's",)), 5, Position(NOW, task_id("e")))
    listing.print_page(console, tasks, total=700_012, following=following, now=NOW)
    return read(console)


@pytest.mark.parametrize(("name", "width"), [("list", 160), ("list_narrow", 100)])
def test_a_page_of_tasks(name: str, width: int) -> None:
    compare(name, page(width))


def test_no_tasks() -> None:
    console = open_paper()
    listing.print_page(console, [], total=0, following=None, now=NOW)
    assert read(console) == "No tasks\n"


def task(text: str, redaction: Redaction) -> str:
    console = open_paper()
    showing.print_task(console, show_dossier(samples.make_dossier(text), redaction))
    return read(console)


def test_a_task() -> None:
    compare("show", task("no ink", Redaction()))


def test_a_task_that_is_hostile() -> None:
    compare("show_hostile", task(HOSTILE, Redaction()))


def test_a_task_that_is_redacted() -> None:
    text = task("4111", Redaction(lambda shown: {}))
    assert "4111" not in text
    assert text.count(HIDDEN) >= 3


def lines_of(*parts: RenderableType, width: int = 130) -> str:
    console = open_paper(width)
    for part in parts:
        console.print(part)
    return read(console)


def test_queues() -> None:
    found = queues.describe_queues(samples.make_survey())
    compare("queue", lines_of(queues.draw_queues(found)))


def test_workers() -> None:
    compare("workers", lines_of(presence.draw_workers(samples.make_workers(), NOW)))


def test_sessions() -> None:
    compare("sessions", lines_of(presence.draw_sessions(samples.make_sessions(), NOW), width=160))


def test_nodes_and_waiters() -> None:
    nodes = presence.draw_nodes(samples.make_nodes(), NOW)
    compare("waiters", lines_of(nodes, presence.draw_waiters(samples.make_waiters(), NOW)))


def test_throughput() -> None:
    snapshot = throughput.describe(samples.make_survey(), samples.make_tallies(), 5) | {
        "queues": queues.describe_queues(samples.make_survey()),
        "workers": {"live": 1, "running": 4, "slots": 10},
    }
    compare("top", lines_of(throughput.draw(snapshot, 5)))


def test_throughput_counts_whole_minutes_and_the_present_one() -> None:
    (tool, quiet) = throughput.describe(samples.make_survey(), samples.make_tallies(), 7)["tools"]
    assert (tool["tool"], tool["working"], tool["windows"].keys()) == ("render_report", 3, {"1", "5", "60", "7"})
    assert tool["windows"]["1"]["created"] == 2
    assert tool["windows"]["1"]["created_rate"] == round(2 / 90, 4)
    assert (tool["windows"]["60"]["finished"], tool["windows"]["60"]["failed"]) == (61, 13)
    assert tool["windows"]["5"]["p95_ms"] == 1024
    assert (quiet["tool"], quiet["windows"]["60"]["mean_ms"]) == ("greet", None)


def test_a_change() -> None:
    console = open_paper(40)
    (summary, *_) = samples.make_summaries()
    watching.print_line(console, show_summary(summary, Redaction()), "2027-01-15T08:00:00.000Z")
    compare("watch", read(console))


def outcome(count: int) -> str:
    console = open_paper()
    verdicts = [Verdict(task_id("a"), "retried", task_id("b")), Verdict(HOSTILE, "gone")] * count
    plan = Plan("retry", tuple(verdict.task_id for verdict in verdicts), is_capped=True)
    tally = Tally(2 * count, 2 * count, Counter({"retried": count, "gone": count}))
    acting.print_outcome(console, plan, acting.Outcome(tally, verdicts))
    return read(console)


def test_what_came_of_an_act() -> None:
    compare("retry", outcome(1))
    assert outcome(1_000) == "1,000 retried, 1,000 gone; more match, ask again for them\n"


@pytest.mark.parametrize(
    ("plan", "total", "text"),
    [
        (Plan("purge", ("a",)), 1, "Purge 1 task"),
        (Plan("cancel", ("a",) * 1_000, is_capped=True), 1_234, "Cancel 1,000 tasks of 1,234"),
        (Plan("cancel", ("a",) * 2, is_capped=True), None, "Cancel 2 tasks, and leave others that match"),
    ],
)
def test_a_plan_is_told_with_its_count(plan: Plan, total: int | None, text: str) -> None:
    assert acting.describe(plan, total) == text


def test_the_key_map() -> None:
    entries = keymap.list_keys(Keys())
    assert {entry.name for entry in entries} == SPECS.keys()
    compare("keys", "".join(f"{entry.command}\n" for entry in entries))


def test_the_keys_of_a_task() -> None:
    entries = keymap.list_task_keys(Keys(), samples.make_dossier())
    compare("keys_of_a_task", "".join(f"{entry.command}\n" for entry in entries))


def test_a_hostile_name_is_one_word_to_a_shell() -> None:
    dossier = samples.make_dossier()
    record = {**dossier.record, "tool": b"x'; rm -rf ~; \x1b[2J\\"}
    entries = keymap.list_task_keys(Keys(), replace(dossier, record=record))
    (status,) = [entry for entry in entries if entry.name == "status"]
    assert not OBEYED.search(status.command)
    assert r"task:x\x27; rm -rf ~; \x1b[2J\x5c'" in status.command


@pytest.mark.parametrize(
    ("ms", "text"),
    [(None, "-"), (0.4, "0ms"), (999, "999ms"), (1_500, "1.5s"), (59_900, "59.9s"), (61_000, "1m"), (9e7, "1d")],
)  # fmt: skip
def test_a_duration(ms: float | None, text: str) -> None:
    assert show_duration(ms) == text


@pytest.mark.parametrize(
    ("ms", "text"), [(None, "-"), (NOW - 500, "now"), (NOW - 2_900, "2s ago"), (NOW - MINUTE, "1m ago")]
)  # fmt: skip
def test_an_age(ms: int | None, text: str) -> None:
    assert show_age(ms, NOW) == text


def test_clean_text_says_what_was_there() -> None:
    assert clean("a\x1b[31m\nb\u202ec\u3000d\ud800é") == "a\\x1b[31m\\nb\\u202ec d\\ud800é"
    assert "\n" in write_value({"a": "x\ny"}).plain
    assert not OBEYED.search(write_value({"a": "\x9b2J\u202e"}).plain)


def test_json_is_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"text": HOSTILE})
    print_json({"text": HOSTILE}, is_line=True)
    said = capsys.readouterr().out
    assert said.isascii()
    assert not OBEYED.search(said)
    assert json.loads(said.splitlines()[-1]) == {"text": HOSTILE}
