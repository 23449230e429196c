"""The users of ``ops/deploy/redis/users.acl`` may do what they have to, and nothing else."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis as AsyncRedis
from redis.exceptions import AuthenticationError, NoPermissionError, ResponseError

from receiver.protocol.errors import StartupError
from receiver.store.checks import check_server
from receiver.store.keys import SPECS, Keys
from receiver.store.scripts import load, names
from tests.acceptance.deployment import APP, TOKENS
from tests.acceptance.requestor import Requestor, RpcError
from tests.deploy.guarded import DEPLOY, USERS, GuardedServer
from tests.processes import ROOT, Api, Worker
from tests.servers import find_valkey

# What a process sends by itself; the rest is sent by scripts.
CLIENT = {"CONFIG|GET", "EVAL", "EVALSHA", "INFO", "PING", "ROLE", "SUBSCRIBE", "UNSUBSCRIBE"}
OWN = {"api": CLIENT | {"GET", "SET"}, "worker": CLIENT | {"BLPOP", "PEXPIRE", "RPUSH"}}  # store/secret.py, doorbell.py
TIERS = {"api": "API", "worker": "worker"}
KEYS = Keys()

SERVANTS = ("api", "worker", "console", "operator", "exporter")
NEEDLESS = [
    ["FLUSHALL"],
    ["KEYS", "*"],
    ["SCAN", "0"],
    ["CONFIG", "SET", "maxmemory", "1"],
    ["SHUTDOWN"],
    ["ACL", "LIST"],
    ["MONITOR"],
    ["DEBUG", "SLEEP", "1"],
    ["SCRIPT", "FLUSH"],
    ["HGET", "other:{0}:task:a", "status"],
    ["PUBLISH", "other", "x"],
]
REFUSED = r"permission|ACL failure|can't (run|access|publish)"


def read_callers() -> dict[str, str]:
    """Which tier calls a script, by the table of docs/architecture.md."""
    rows = re.findall(
        r"^\| ((?:`\w+` ?)+)\| ([\w, ]+) \|", (ROOT / "docs" / "architecture.md").read_text(), re.MULTILINE
    )
    return {name: callers for cell, callers in rows for name in re.findall(r"`(\w+)`", cell)}


def read_users() -> dict[str, list[str]]:
    lines = (DEPLOY / "redis" / "users.acl").read_text().splitlines()
    return {words[1]: words[2:] for words in (line.split() for line in lines)}


def read_permitted(user: str) -> set[str]:
    return {word.removeprefix("+").upper() for word in read_users()[user] if word.startswith("+")}


def find_needed(user: str) -> set[str]:
    """The commands that a tier can send: those of all scripts that it calls, and its own."""
    callers, tier = read_callers(), TIERS[user]
    kinds = (False, True) if user == "api" else (False,)
    mine = [name for name in names() if tier in callers.get(name, tier)]
    sources = [load(name, admitted=admitted).source for name in mine for admitted in kinds]
    return OWN[user].union(*(re.findall(r"call\(\s*'([A-Z]+)'", source) for source in sources))


@pytest.mark.parametrize("user", TIERS)
def test_a_tier_may_send_what_its_scripts_send_and_no_more(user: str) -> None:
    assert read_permitted(user) == find_needed(user)


def test_an_operator_may_do_what_the_console_and_the_api_may() -> None:
    assert read_permitted("operator") == read_permitted("console") | read_permitted("api")


def test_everyone_has_a_password_to_be_given() -> None:
    users = read_users()
    assert users.pop("default") == ["off", "resetkeys", "resetchannels", "-@all"]
    assert {user: [word for word in words if word.startswith("#")] for user, words in users.items()} == {
        user: [f"#{user.upper()}_PASSWORD_SHA256"] for user in USERS
    }


def name_keys() -> Iterator[tuple[str, str]]:
    for spec in SPECS.values():
        method: Any = getattr(KEYS, spec.name)
        yield spec.type, method(*["a"] * (method.__code__.co_argcount - 1))


def test_every_key_and_channel_is_within_reach(guarded: GuardedServer) -> None:
    with guarded.connect_as("admin") as redis:
        for kind, key in name_keys():
            for user in TIERS:
                command = ["PUBLISH", key, "x"] if kind == "channel" else ["PTTL", key]
                assert redis.execute_command("ACL", "DRYRUN", user, *command) == "OK", (user, key)


def test_what_nobody_needs_is_refused(guarded: GuardedServer) -> None:
    with guarded.connect_as("admin") as redis:
        for user in SERVANTS:
            for command in NEEDLESS:
                assert redis.execute_command("ACL", "DRYRUN", user, *command) != "OK", (user, command)


@pytest.mark.parametrize("command", ["'FLUSHALL'", "'HGET', 'other:{0}:task:a', 'status'", "'PUBLISH', 'other', 'x'"])
def test_a_script_may_not_do_it_either(guarded: GuardedServer, command: str) -> None:
    for user in SERVANTS:
        with guarded.connect_as(user) as redis, pytest.raises(ResponseError, match=REFUSED):
            redis.execute_command("EVAL", f"return redis.call({command})", 0)


def test_the_console_reads_and_writes_nothing(guarded: GuardedServer) -> None:
    with guarded.connect_as("admin") as redis:
        redis.hset(KEYS.task("a"), "status", "working")
        redis.set(KEYS.secret(), "secret")
    with guarded.connect_as("console") as redis:
        assert redis.hget(KEYS.task("a"), "status") == "working"
        read = "return redis.call('HGET', KEYS[1] .. 'task:a', 'status')"
        assert redis.execute_command("EVAL", read, 1, KEYS.prefix) == "working"
        with pytest.raises(NoPermissionError):
            redis.get(KEYS.secret())
        with pytest.raises(NoPermissionError):
            redis.hset(KEYS.task("a"), "status", "completed")
        with pytest.raises(ResponseError, match=REFUSED):
            redis.execute_command("EVAL", "return redis.call('DEL', KEYS[1] .. 'task:a')", 1, KEYS.prefix)


@pytest.mark.parametrize("url", ["redis://{host}", "redis://api:wrong@{host}", "redis://default:x@{host}"])
async def test_nobody_else_gets_in(guarded: GuardedServer, url: str) -> None:
    async with AsyncRedis.from_url(url.format(host=f"127.0.0.1:{guarded.port}")) as redis:
        with pytest.raises(AuthenticationError):
            await redis.ping()


def test_a_user_without_a_password_gets_in_by_none(tmp_path: Path) -> None:
    with GuardedServer(find_valkey(), tmp_path, passwords=("admin",)) as guarded:
        with guarded.connect_as("admin") as redis:
            assert redis.acl_getuser("admin")["passwords"] != []
            found: Any = redis.acl_getuser("api")
            assert (found["passwords"], "nopass" in found["flags"]) == ([], False)
        with guarded.connect_as("api") as redis, pytest.raises(AuthenticationError):
            redis.ping()


@pytest.mark.parametrize("user", TIERS)
async def test_the_server_passes_the_check_at_start(guarded: GuardedServer, user: str) -> None:
    url = guarded.url_of(user)
    async with AsyncRedis.from_url(url) as redis:
        assert await check_server(redis, url, "everysec") is None
        with pytest.raises(StartupError, match="appendfsync always, not everysec"):
            await check_server(redis, url, "always")
        with guarded.connect_as("admin") as admin:
            admin.config_set("appendfsync", "always")
        assert await check_server(redis, url, "always") is None


@pytest.mark.parametrize("user", TIERS)
async def test_without_config_get_the_check_warns_of_what_it_can_not_see(guarded: GuardedServer, user: str) -> None:
    url = guarded.url_of(user)
    with guarded.connect_as("admin") as admin:
        admin.execute_command("ACL", "SETUSER", user, "-config|get")
    async with AsyncRedis.from_url(url) as redis:
        assert await check_server(redis, url) is None
        warning = await check_server(redis, url, "everysec")
        assert warning == "this Redis does not tell its appendfsync: make sure that it is everysec"


async def test_a_deployment_lives_under_these_users(guarded: GuardedServer, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"auth_tokens": TOKENS, "durability": "everysec", "lease_seconds": 2}
    env = {"ACCEPTANCE_FOLDER": str(tmp_path)}
    (tmp_path / "a").touch()
    with (
        Api(APP, guarded.url_of("api"), env=env, **settings) as node,
        Worker(APP, guarded.url_of("worker"), env=env, **settings) as worker,
    ):
        async with Requestor(node.url, "alice-token") as alice:
            task = await alice.create("gated", label="a")
            assert (await alice.outcome(task))["label"] == "a"
            assert (await alice.call("instant", label="b"))["structuredContent"]["label"] == "b"
            held = await alice.create("gated", label="never")
            assert (await alice.cancel(held))["status"] == "cancelled"
            with pytest.raises(RpcError):
                await alice.result(held)
            assert {it["taskId"] for it in await alice.list()} == {task, held}
        worker.terminate()
        assert guarded.list_denials() == []
