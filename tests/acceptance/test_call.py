"""``receiver call``: a tool, from a terminal and from a script."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.acceptance.commands import RECEIVER, run
from tests.acceptance.keyboard import CTRL_C, CTRL_D, Keyboard
from tests.processes import Api, Child, Worker
from tests.servers import find_valkey, start_server

APP = "tests.apps.calls:app"
MENU = "wait on with [Enter]? "
NOBODY = "http://127.0.0.1:1/mcp"


@dataclass(frozen=True)
class Place:
    """What is called, and where its gates are."""

    folder: Path
    store: str
    url: str

    def call(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Calls without a terminal."""
        return run("call", self.url, *words)

    def at_terminal(self, *words: str) -> Keyboard:
        """Calls from a terminal."""
        return Keyboard("call", self.url, *words)

    def open_gate(self, label: str) -> None:
        (self.folder / label).touch()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("calls")
    store = start_server(find_valkey(), folder / "store", "--appendonly", "yes", "--maxmemory-policy", "noeviction")
    env = {"CALLS_FOLDER": str(folder)}
    with Api(APP, store.url, env=env) as api, Worker(APP, store.url, env=env):
        yield Place(folder, store.url, f"{api.url}/mcp")
    store.stop()


def test_a_script_gets_the_result_on_stdout_and_all_else_on_stderr(place: Place) -> None:
    place.open_gate("now")
    done = place.call("wait", "label=now")
    assert (done.returncode, done.stdout) == (0, "passed now\n")
    assert done.stderr.startswith("Task ")
    plain = place.call("wait", "label=now", "--no-task")
    assert (plain.returncode, plain.stdout) == (0, "passed now\n")
    assert "Task " not in plain.stderr


def test_json(place: Place) -> None:
    place.open_gate("now")
    done = place.call("wait", "--json", "--args", '{"label": "now"}', "--ttl", "60000")
    shown = json.loads(done.stdout)
    assert shown["status"] == "completed"
    assert shown["taskId"]
    assert shown["result"]["content"][0]["text"] == "passed now"
    failed = json.loads(place.call("sample", "--json").stdout)
    assert failed["status"] == "failed"


def test_arguments_from_stdin(place: Place) -> None:
    place.open_gate("now")
    command = [*RECEIVER, "call", place.url, "wait", "--args", "-"]
    done = subprocess.run(command, input='{"label": "now"}', capture_output=True, text=True, timeout=30)
    assert done.stdout == "passed now\n"


def test_tools_are_listed(place: Place) -> None:
    listed = place.call()
    assert listed.returncode == 0
    assert "wait label=string\n    Waits for its gate.\n" in listed.stdout
    assert {tool["name"] for tool in json.loads(place.call("--json").stdout)} >= {"wait", "book"}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["wat"], "the server has no tool 'wat'; did you mean wait?"),
        (["wait"], "label missing: wait label=string"),
        (["wait", "now"], "an argument is NAME=VALUE, or NAME:=JSON; 'now' is neither"),
        (["hostile", "fail=maybe"], "fail: must be true or false, not 'maybe'"),
        (["wait", "--args", "{"], "--args is no JSON: "),
        (["wait", "--args", "[]"], "--args takes a JSON object"),
        (["wait", "label=x", "--answer", "x"], "--answer takes NAME=VALUE; not 'x'"),
        (["wait_plainly", "label=x", "--task"], "this tool can't be called as a task; leave out --task"),
        (["only_as_task", "--no-task"], "this tool must be called as a task; leave out --no-task"),
        (["wait", "--no-task", "--ttl", "1"], "--ttl is that of a task: it does not go with --no-task"),
        (["wait", "--attach", "x"], "--attach takes the id of a task, and no tool"),
    ],
)
def test_what_cannot_be_called(place: Place, words: list[str], line: str) -> None:
    done = place.call(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert f"receiver: {line}" in done.stderr
    assert "Traceback" not in done.stderr


def test_who_is_not_there() -> None:
    done = run("call", NOBODY, "wait")
    assert done.returncode == 5
    assert done.stderr == f"receiver: {NOBODY} can't be reached: All connection attempts failed\n"


def test_a_server_that_asks_who_you_are(place: Place) -> None:
    env = {"CALLS_FOLDER": str(place.folder)}
    with Api(APP, place.store, env=env, auth_tokens={"secret": {"subject": "ada"}}) as api:
        refused = run("call", f"{api.url}/mcp")
        assert refused.returncode == 2
        assert "give --token" in refused.stderr
        assert run("call", f"{api.url}/mcp", "--token", "secret").returncode == 0
        assert run("call", f"{api.url}/mcp", env={"RECEIVER_TOKEN": "secret"}).returncode == 0
        assert "no MCP endpoint" in run("call", f"{api.url}/nothing", "--token", "secret").stderr


def test_a_task_that_is_not_there(place: Place) -> None:
    done = place.call("--attach", "nothing")
    assert done.returncode == 4
    assert done.stderr == "There is no task nothing: it expired, or was never there.\n"


def test_questions_without_a_terminal_are_declined(place: Place) -> None:
    done = place.call("book")
    assert done.stdout == "decline None\n"
    assert "Declined: A seat, please (name is needed; --answer NAME=VALUE would answer it)" in done.stderr
    partly = place.call("book", "--answer", "name=Ada", "--answer", "seats=99")
    assert partly.stdout == "decline None\n"
    assert "seats must be at most 9" in partly.stderr
    link = place.call("open_page")
    assert link.stdout == "decline\n"
    assert "https://example.org/sign-in" in link.stderr


@pytest.mark.parametrize("way", ["--task", "--no-task"])
def test_questions_are_answered_by_options(place: Place, way: str) -> None:
    answers = ["--answer", "name=Ada", "--answer", "seats=2", "--answer", "quiet=yes"]
    done = place.call("book", way, *answers)
    assert done.stdout == "accept {'name': 'Ada', 'seats': 2, 'kind': 'aisle', 'quiet': True}\n"


def test_a_model_is_not_there_to_be_asked(place: Place) -> None:
    done = place.call("sample")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "sampling" in done.stderr


def test_a_page_to_open_first(place: Place) -> None:
    done = place.call("need_page", "--no-task")
    assert done.returncode == 1
    assert "Open this\n  https://example.org/first" in done.stderr


def test_a_form_at_the_terminal(place: Place) -> None:
    with place.at_terminal("book") as keys:
        keys.see("| A seat,\n| please\n", "Name (text, at least 2 characters)")
        keys.dialogue(("> ", "A\n"), ("That must have at least 2 characters.", "Ada\n"))
        keys.dialogue(("at least 1, at most 9", "many\n"), ("That must be a whole number.", "2\n"))
        keys.dialogue(("2) aisle", ""), ("[aisle]> ", "1\n"), ("[no]> ", "\n"), ("or [c]ancel? ", "\n"))
        assert keys.leave() == 0
        keys.see("accept {'name': 'Ada', 'seats': 2, 'kind': 'window', 'quiet': False}")


@pytest.mark.parametrize(("typed", "action"), [("d\n", "decline"), ("c\n", "cancel"), (CTRL_D, "cancel")])
def test_a_form_that_nobody_wants(place: Place, typed: str, action: str) -> None:
    with place.at_terminal("book") as keys:
        keys.dialogue(("> ", CTRL_D), ("[d]ecline, or [c]ancel? ", typed))
        assert keys.leave() == 0
        keys.see(f"{action} None")


@pytest.mark.parametrize(("typed", "action"), [("\n", "accept"), ("d\n", "decline")])
def test_a_link_at_the_terminal(place: Place, typed: str, action: str) -> None:
    with place.at_terminal("open_page") as keys:
        keys.see("| Sign in", "https://example.org/sign-in", "a page of example.org")
        keys.dialogue(("[c]ancel? ", typed))
        assert keys.leave() == 0
        keys.see(f"{action}\n")


def test_a_question_that_is_taken_back(place: Place) -> None:
    with place.at_terminal("give_up", "label=given-up") as keys:
        keys.see("Still there?", "> ")
        place.open_gate("given-up")
        keys.see("The question was taken back.", "given up")
        assert keys.leave() == 0


def task_in(text: str) -> str:
    return text.partition("--attach ")[2].split()[0]


def test_leaving_a_task_and_coming_back(place: Place) -> None:
    with place.at_terminal("wait", "label=left") as keys:
        keys.dialogue(("Waiting for left", CTRL_C), (MENU, "\n"), ("Waiting for left", CTRL_C), (MENU, "d\n"))
        assert keys.leave() == 130
        keys.see(f"detached; the task goes on: receiver call {place.url} --attach ")
        task_id = task_in(keys.shown)
    with place.at_terminal("--attach", task_id) as keys:
        keys.see("Waiting for left")
        place.open_gate("left")
        keys.see("passed left")
        assert keys.leave() == 0


def test_a_question_waits_for_who_comes_back(place: Place) -> None:
    with place.at_terminal("book") as keys:
        keys.dialogue(("> ", CTRL_C), (MENU, CTRL_C))
        assert keys.leave() == 130
        task_id = task_in(keys.shown)
    done = place.call("--attach", task_id, "--answer", "name=Ada", "--answer", "seats=2")
    assert done.stdout.startswith("accept {'name': 'Ada'")


@pytest.mark.parametrize("tool", ["wait", "wait_plainly"])
def test_cancelling(place: Place, tool: str) -> None:
    with place.at_terminal(tool, "label=never") as keys:
        keys.dialogue(("Waiting for never", CTRL_C), (MENU, "c\n"))
        assert keys.leave() == 3
        keys.see("was cancelled")


def test_an_interrupt_without_a_terminal_leaves_the_task(place: Place) -> None:
    with Child([*RECEIVER, "call", place.url, "wait", "label=script"]) as child:
        child.wait_for_log("Waiting for script")
        child.interrupt()
        assert child.wait() == 130
        task_id = task_in(child.log)
    place.open_gate("script")
    assert place.call("--attach", task_id).stdout == "passed script\n"


@pytest.mark.parametrize("tool", ["wait", "wait_plainly"])
def test_a_node_that_dies_and_comes_back(place: Place, tool: str) -> None:
    label = f"back-{tool}"
    env = {"CALLS_FOLDER": str(place.folder)}
    with Api(APP, place.store, env=env, secrets=["a" * 32]) as api:
        with Child([*RECEIVER, "call", f"{api.url}/mcp", tool, f"label={label}"]) as child:
            child.wait_for_log(f"Waiting for {label}")
            api.kill()
            child.wait_for_log("The connection is lost; trying to get it back.")
            with Api(APP, place.store, env=env, port=api.port, secrets=["a" * 32]):
                place.open_gate(label)
                assert child.wait() == 0
        assert f"passed {label}" in child.log


def test_a_node_that_does_not_come_back(place: Place) -> None:
    env = {"CALLS_FOLDER": str(place.folder)}
    with Api(APP, place.store, env=env) as api:
        words = ["call", f"{api.url}/mcp", "wait", "label=gone", "--patience", "0.5"]
        with Child([*RECEIVER, *words]) as child:
            child.wait_for_log("Waiting for gone")
            api.kill()
            assert child.wait() == 5
            assert "could not be reached for 0.5 s; the task goes on: receiver call " in child.log


@pytest.mark.parametrize("fail", ["yes", "no"])
def test_a_terminal_obeys_no_server(place: Place, fail: str) -> None:
    with place.at_terminal("hostile", f"fail={fail}") as keys:
        keys.dialogue(("question", CTRL_D), ("[c]ancel? ", "d\n"))
        assert keys.leave() == (1 if fail == "yes" else 0)
        assert "log \\x1b[2J\\x9b1m\\u202ered" in keys.shown
        for sequence in ("\x1b[2J", "\x9b", "\u202e", "red\r"):
            assert sequence not in keys.shown
    scripted = place.call("hostile", f"fail={fail}")
    for sequence in ("\x1b", "\x9b", "\u202e", "\r"):
        assert sequence not in scripted.stdout + scripted.stderr
