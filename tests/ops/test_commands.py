"""The commands of operators, on a deployment that works."""

import asyncio
import json
import os
import re
import shlex
import signal
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import NoPermissionError

from ops.embedded import EmbeddedServer
from tests.acceptance.commands import run
from tests.acceptance.conftest import deploy
from tests.acceptance.deployment import Deploy, Deployment
from tests.acceptance.requestor import Requestor, RpcError
from tests.ops.operator import Operator
from tests.ops.samples import HOSTILE

__all__ = ["deploy"]

NO_TASK = "0-" + "b" * 32
OBEYED = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
COMMANDS = (
    *(["tasks", "list"], ["tasks", "show", NO_TASK], ["tasks", "watch", NO_TASK], ["tasks", "cancel", NO_TASK, "-y"]),
    *(["audit", "tail"], ["queue"], ["workers"], ["sessions"], ["waiters"], ["top", "--once"], ["keys", NO_TASK]),
    ["health"],
)


@pytest.fixture
async def deployment(deploy: Deploy) -> Deployment:
    return await deploy(nodes=1, workers=1)


@pytest.fixture
async def operator(deployment: Deployment) -> Operator:
    return Operator(deployment.store.socket)


@pytest.fixture
async def alice(deployment: Deployment) -> Requestor:
    return deployment.nodes[0].alice


async def fail(alice: Requestor, count: int, reason: str = "no ink") -> list[str]:
    """The ids of so many failed tasks."""
    ids = [await alice.create("failing", reason=reason) for _ in range(count)]
    for task_id in ids:
        await alice.result(task_id)
    return ids


async def test_no_command_here_can_walk_the_keyspace(operator: Operator) -> None:
    with Redis.from_url(operator.env["RECEIVER_REDIS_URL"]) as redis:
        for command in (["KEYS", "*"], ["SCAN", "0"], ["RANDOMKEY"]):
            with pytest.raises(NoPermissionError):
                redis.execute_command(*command)


async def test_what_failed_is_found_and_says_why(operator: Operator, alice: Requestor) -> None:
    failed = await fail(alice, 3)
    await alice.outcome(await alice.create("instant", label="fine"))
    query = ("tasks", "list", "--status", "failed,cancelled", "--tool", "failing")
    found = await operator.ask(*query)
    assert (found["total"], {task["id"] for task in found["tasks"]}, found["after"]) == (3, set(failed), None)
    assert {task["status_message"] for task in found["tasks"]} == {"no ink"}
    assert found["tasks"][0]["updated_at"].endswith("Z")
    text = await operator.say(*query)
    assert text.startswith("3 tasks\n")
    assert text.count("no ink") == 3
    shown = await operator.ask("tasks", "show", failed[0])
    assert (shown["why"], shown["params"], shown["result"]["isError"]) == ("no ink", {"reason": "no ink"}, True)
    assert [event["event"] for event in shown["timeline"]] == ["created", "queued", "started", "failed"]
    assert re.search(r"^Why +no ink *$", await operator.say("tasks", "show", failed[0]), re.MULTILINE)


async def test_a_page_names_the_next(operator: Operator, alice: Requestor) -> None:
    failed = await fail(alice, 3)
    text = await operator.say("tasks", "list", "--status", "failed", "--limit", "2")
    following = shlex.split(text.splitlines()[-1].removeprefix("Next page: receiver "))
    rest = await operator.ask(*following)
    assert [task["id"] for task in rest["tasks"]] == [task_id for task_id in failed if task_id not in text]
    assert len(rest["tasks"]) == 1
    assert (await operator.ask("tasks", "list", "--status", "failed", "--limit", "2"))["after"] == following[-1]
    assert rest["after"] is None


async def test_filters_of_a_list(operator: Operator, alice: Requestor) -> None:
    (failed,) = await fail(alice, 1)
    done = await alice.create("instant", label="fine")
    await alice.outcome(done)
    owner = (await operator.ask("tasks", "show", done))["owner"]
    for words, expected in (
        (["--not-tool", "failing"], [done]),
        (["--owner", owner], [done, failed]),
        (["--owner", owner, "--status", "failed"], [failed]),
        (["--since", "5m", "--kind", "any"], [done, failed]),
    ):
        found = await operator.ask("tasks", "list", *words)
        assert [task["id"] for task in found["tasks"]] == expected, words
    assert await operator.ask("tasks", "list", "--tool", "other", code=1)
    assert await operator.say("tasks", "list", "--tool", "other", code=1) == "No tasks\n"


async def test_a_task_is_followed_to_its_end(operator: Operator, deployment: Deployment, alice: Requestor) -> None:
    task_id = await alice.create("gated", label="slow")
    with operator.follow("tasks", "watch", task_id, "--json") as watching:
        await asyncio.to_thread(watching.wait_for_log, '"status": "working"')
        deployment.open_gates("slow")
        assert await asyncio.to_thread(watching.wait) == 0
        changes = [json.loads(line) for line in watching.log.splitlines()]
    assert changes[-1]["status"] == "completed"
    assert {change["id"] for change in changes} == {task_id}
    assert "completed" in await operator.say("tasks", "watch", task_id)


async def test_a_filter_is_followed_until_interrupted(operator: Operator, alice: Requestor) -> None:
    with operator.follow("tasks", "watch", "--tool", "instant") as watching:
        ids: list[str] = []
        while not any(task_id in watching.log for task_id in ids):
            ids.append(await alice.create("instant", label="one"))
            await alice.outcome(ids[-1])
        assert "failing" not in watching.log
        os.kill(watching.pid, signal.SIGINT)
        assert await asyncio.to_thread(watching.wait) == 130
        assert "Traceback" not in watching.log


async def test_a_cancel(operator: Operator, deployment: Deployment, alice: Requestor) -> None:
    task_id = await alice.create("gated", label="slow")
    await deployment.wait_for_trace("start", "slow")
    done = await operator.ask("tasks", "cancel", task_id, "--yes")
    assert (done["done"], done["tasks"][0]["verdict"]) == (1, "cancelled")
    task = await alice.get(task_id)
    assert (task["status"], task["statusMessage"]) == ("cancelled", "Cancelled by an operator")
    await deployment.wait_for_trace("cancelled", "slow")
    again = await operator.ask("tasks", "cancel", task_id, "--yes", code=1)
    assert (again["done"], again["verdicts"]) == (0, {"finished": 1})


async def test_a_retry_leaves_the_old_task_as_it_was(operator: Operator, alice: Requestor) -> None:
    """T-34: whoever asked for it sees no change."""
    (old,) = await fail(alice, 1)
    before = (await alice.get(old), await alice.result(old))
    done = await operator.ask("tasks", "retry", old, "--yes")
    new = done["tasks"][0]["new_id"]
    await alice.result(new)
    assert (await alice.get(old), await alice.result(old)) == before
    assert {task["taskId"] for task in await alice.list()} == {old, new}
    assert (await operator.ask("tasks", "show", old))["retries"] == [new]
    shown = await operator.ask("tasks", "show", new)
    assert (shown["retry_of"], shown["params"], shown["status"]) == (old, {"reason": "no ink"}, "failed")


async def test_what_may_run_once_is_not_run_again_unless_forced(
    operator: Operator, deployment: Deployment, alice: Requestor
) -> None:
    deployment.open_gates("once")
    task_id = await alice.create("gated_once", label="once")
    await alice.result(task_id)
    refused = await operator.ask("tasks", "retry", task_id, "--yes", code=1)
    assert (refused["verdicts"], refused["tasks"][0]["new_id"]) == ({"once": 1}, None)
    assert (await operator.ask("tasks", "retry", task_id, "--yes", "--force"))["verdicts"] == {"retried": 1}


async def test_a_purge_asks_first(operator: Operator, alice: Requestor) -> None:
    failed = await fail(alice, 3)
    kept = await alice.create("instant", label="fine")
    await alice.outcome(kept)
    purge = ("tasks", "purge", "--status", "failed")
    assert "purge 3 tasks?" in await operator.complain(*purge, code=2)
    code, asked = await operator.answer("n", *purge)
    assert code == 1
    assert "Purge 3 tasks?" in asked
    assert 'get "not found" before the ttl' in asked
    assert {*failed} == {*(await operator.ask(*purge, "--dry-run"))["ids"]}
    assert (await alice.get(failed[0]))["status"] == "failed"
    code, _ = await operator.answer("y", *purge, "--max", "2")
    assert code == 0
    assert (await operator.ask("tasks", "list", "--status", "failed"))["total"] == 1
    assert (await operator.ask(*purge, "--yes"))["verdicts"] == {"purged": 1}
    for task_id in failed:
        with pytest.raises(RpcError, match="Task not found"):
            await alice.get(task_id)
    assert [task["taskId"] for task in await alice.list()] == [kept]
    assert "nothing to purge" in await operator.complain(*purge, "--yes", code=1)


async def test_the_audit_trail(operator: Operator, alice: Requestor) -> None:
    """T-98: of clients, workers and operators."""
    (failed,) = await fail(alice, 1)
    while "tasks/result" not in await operator.say("audit", "tail", "--task", failed, "--json"):  # they come in batches
        pass
    await operator.ask("tasks", "purge", failed, "--yes")
    lines = await operator.say("audit", "tail", "--task", failed, "--json")
    events = [json.loads(line) for line in lines.splitlines()]
    found = [(event["by"], event["operation"], event["outcome"]) for event in events]
    assert found[0] == ("client", "tools/call", "success")
    assert {("worker", "finish", "failure"), ("client", "tasks/result", "success")} <= set(found)
    assert found[-1] == ("operator", "purge", "success")
    (line,) = (await operator.say("audit", "tail", "--operation", "purge", "--ocsf")).splitlines()
    assert (json.loads(line)["class_uid"], json.loads(line)["activity_id"]) == (6003, 4)
    table = await operator.say("audit", "tail", "--task", failed, "--limit", "1")
    assert "purge" in table
    assert "Earlier ones: receiver audit tail --limit 1 --before " in table
    assert "No events." in await operator.say("audit", "tail", "--who", "nobody", code=1)


async def test_the_audit_trail_is_followed_until_interrupted(operator: Operator, alice: Requestor) -> None:
    with operator.follow("audit", "tail", "--follow", "--operation", "tools/call", "--json") as tail:
        ids: list[str] = []
        while not any(task_id in tail.log for task_id in ids):
            ids.append(await alice.create("instant", label="one"))
            await alice.outcome(ids[-1])
        assert "finish" not in tail.log
        os.kill(tail.pid, signal.SIGINT)
        assert await asyncio.to_thread(tail.wait) == 130
        assert "Traceback" not in tail.log


async def test_acts_are_audited(deployment: Deployment, operator: Operator, alice: Requestor) -> None:
    (failed,) = await fail(alice, 1)
    ended = await asyncio.to_thread(run, "tasks", "purge", failed, "--yes", env=operator.env)
    event = json.loads(ended.stderr)
    assert (event["event"], event["task_id"], event["outcome"]) == ("operator_purge", failed, "success")
    assert "@" in event["operator"]


async def test_the_whole_of_a_deployment(operator: Operator, deployment: Deployment, alice: Requestor) -> None:
    waiting = await alice.create("gated", label="slow")
    await deployment.wait_for_trace("start", "slow")
    await fail(alice, 1)
    result = asyncio.create_task(alice.result(waiting))
    (queue,) = [queue for queue in (await operator.ask("queue"))["queues"] if queue["queue"] == "default"]
    assert (queue["ready"], queue["running"], queue["later"], queue["workers"]) == (0, 1, 0, 1)
    (worker,) = (await operator.ask("workers"))["workers"]
    assert (worker["app"], worker["is_live"], worker["pid"]) == ("acceptance", True, deployment.workers[0].pid)
    (session,) = (await operator.ask("sessions"))["sessions"]
    assert session["protocol"] == "2025-11-25"
    assert (await operator.ask("sessions", "--owner", session["owner"]))["sessions"]
    waiters: Any = None
    async with asyncio.timeout(30):
        while not waiters:
            waiters = (await operator.ask("waiters"))["waiters"]
    assert [waiter["task_id"] for waiter in waiters] == [waiting]
    top = json.loads(await operator.say("top", "--once", "--json"))
    tools = {tool["tool"]: tool for tool in top["tools"]}
    assert (tools["gated"]["working"], tools["failing"]["windows"]["5"]["failed"]) == (1, 1)
    assert tools["failing"]["windows"]["5"]["p95_ms"] >= 1
    assert (await operator.ask("health")) == {"status": "ok", "reason": None, "workers": 1}
    for words in (["queue"], ["workers"], ["sessions"], ["waiters"], ["top", "--once"], ["health"], ["keys"]):
        assert not OBEYED.search(await operator.say(*words))
    deployment.open_gates("slow")
    await result


async def test_the_keys_of_a_task_are_there(operator: Operator, deployment: Deployment, alice: Requestor) -> None:
    (failed,) = await fail(alice, 1)
    entries = (await operator.ask("keys", failed))["keys"]
    with Redis(unix_socket_path=deployment.store.socket) as redis:
        for entry in entries:
            command = shlex.split(entry["command"])[1:]
            if command[0] != "SUBSCRIBE":
                redis.execute_command(*command)  # raises if the key is of another type
    keys = {entry["name"]: entry["key"] for entry in entries}
    assert keys["task"] == f"mcp:{{0}}:task:{failed}"
    assert f"redis-cli HGETALL '{keys['task']}'" in await operator.say("keys", failed)
    assert keys["status"] == "mcp:{0}:status:failed:task:failing"


async def test_health_without_workers(operator: Operator, deployment: Deployment) -> None:
    deployment.workers[0].kill()
    async with asyncio.timeout(30):
        while (health := json.loads((await asyncio.to_thread(run, "health", "--json", env=operator.env)).stdout))[
            "workers"
        ]:
            pass
    assert (health["status"], "no worker is alive" in health["reason"]) == ("unavailable", True)
    assert "no worker is alive" in await operator.say("health", code=1)


async def test_what_is_hostile_stays_text(deployment: Deployment, operator: Operator, alice: Requestor) -> None:
    (failed,) = await fail(alice, 1, HOSTILE.replace("\x00", ""))
    for words in (["tasks", "list"], ["tasks", "show", failed], ["tasks", "watch", failed], ["keys", failed]):
        text = await operator.say(*words)
        assert failed in text
        assert not OBEYED.search(text), words
    assert not OBEYED.search(await operator.say("tasks", "list", "--json"))


async def test_what_a_hook_hides(deployment: Deployment, alice: Requestor) -> None:
    (failed,) = await fail(alice, 1, "card 4111-1111")
    operator = Operator(deployment.store.socket, RECEIVER_REDACT="tests.ops.hooks:hide_reason")
    for words in (["tasks", "list"], ["tasks", "show", failed], ["tasks", "watch", failed]):
        text = await operator.say(*words)
        assert "(hidden)" in text
        assert "4111-1111" not in text + await operator.say(*words, "--json")
    broken = Operator(deployment.store.socket, RECEIVER_REDACT="tests.ops.hooks:nothing")
    assert "RECEIVER_REDACT" in await broken.complain("tasks", "show", failed, code=2)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_store_that_is_away(words: list[str]) -> None:
    ended = run(*words, env={"RECEIVER_REDIS_URL": "redis://127.0.0.1:1"})
    assert (ended.returncode, ended.stdout) == (5, "")
    assert ended.stderr == "receiver: the store does not answer (ConnectionError)\n"


def test_bad_words(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path / "data")
    server.start()
    try:
        for words, said in (
            (["tasks", "list", "--status", "broken"], "'broken' is no status"),
            (["tasks", "list", "--since", "soon"], "'soon' is neither"),
            (["tasks", "cancel", "--yes"], "name tasks by their ids, or by a filter"),
            (["tasks", "cancel", NO_TASK, "--tool", "draw", "--yes"], "not by both"),
            (["sessions", "--after", "x"], "what an earlier page said"),
            (["audit", "tail", "--before", "x"], "is not the id of an event"),
            (["audit", "tail", "--outcome", "fine"], "an outcome is one of"),
        ):
            ended = run(*words, env={"RECEIVER_DATA_DIR": str(tmp_path / "data")})
            assert (ended.returncode, ended.stdout) == (2, ""), words
            assert said in ended.stderr
    finally:
        server.stop()


def test_beside_a_receiver_dev_no_store_has_to_be_named(tmp_path: Path) -> None:
    assert run("tasks", "list", env={"RECEIVER_DATA_DIR": str(tmp_path)}).returncode == 2
    server = EmbeddedServer(tmp_path / "data")
    server.start()
    try:
        ended = run("tasks", "list", env={"RECEIVER_DATA_DIR": str(tmp_path / "data")})
        assert (ended.returncode, ended.stdout) == (1, "No tasks\n")
        named = run("tasks", "show", NO_TASK, "--redis", server.url, "--namespace", "other")
        assert (named.returncode, named.stderr) == (1, "receiver: there is no such task, or its time is over\n")
    finally:
        server.stop()


def test_help_tells_the_exit_codes() -> None:
    for words in COMMANDS:
        assert "Exit codes: 0 " in " ".join(
            run(*words[:1], *words[1:2] * (words[0] in ("audit", "tasks")), "--help").stdout.split()
        )
