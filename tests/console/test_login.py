"""Visits: logging in by a token, what the cookie says, and its end."""

import pytest
from httpx2 import AsyncClient, Response

from ops.admin.visits import COOKIE, VISIT_SECONDS, Visit, Visits
from tests.console.sites import OPERATOR, TOKENS, VIEWER, ConsoleSite, csrf_of
from tests.forgeries import KEY
from tests.issuer import Issuer
from tests.processes import Valkey

SECRETS = [b"one", b"two"]


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def log_in(client: AsyncClient, token: str, target: str = "/") -> Response:
    csrf = csrf_of(await client.get("/login"))
    return await client.post("/login", data={"csrf": csrf, "token": token, "next": target})


async def test_a_token_begins_a_visit(guarded: ConsoleSite) -> None:
    async with guarded.visit() as client:
        answer = await log_in(client, OPERATOR, "/tasks?status=failed")
        assert (answer.status_code, answer.headers["location"]) == (303, "/console/tasks?status=failed")
        cookie = answer.headers["set-cookie"]
        assert {"HttpOnly", "SameSite=Strict", "Path=/console"} <= set(cookie.split("; "))
        assert OPERATOR not in cookie
        session = (await client.get("/api/session")).json()
        assert (session["role"], session["may_act"]) == ("operator", True)


async def test_a_visit_of_a_viewer_may_not_act(guarded: ConsoleSite) -> None:
    async with guarded.visit() as client:
        await log_in(client, VIEWER)
        session = (await client.get("/api/session")).json()
        assert (session["role"], session["may_act"]) == ("viewer", False)
        answer = await client.post("/api/tasks/0-0/cancel", headers={"x-csrf-token": session["csrf"]})
        assert answer.status_code == 403


async def test_the_visit_of_before_does_not_become_that_of_who_logs_in(guarded: ConsoleSite) -> None:
    async with guarded.visit() as client:
        await client.get("/login")
        before = client.cookies[COOKIE]
        await log_in(client, VIEWER)
        assert client.cookies[COOKIE] != before
        async with guarded.visit() as other:
            other.cookies.set(COOKIE, before)
            assert (await other.get("/")).status_code == 401


@pytest.mark.parametrize("token", ["wrong", "", "x" * 2000])
async def test_a_wrong_token_begins_none(guarded: ConsoleSite, token: str) -> None:
    async with guarded.visit() as client:
        answer = await log_in(client, token)
        assert answer.status_code == 403
        assert "opens nothing" in answer.text
        assert (await client.get("/")).status_code == 401


@pytest.mark.parametrize(
    "target", ["//evil.example", "https://evil.example", "/\\evil.example", "evil", "", "/\r\nset-cookie: a=b"]
)
async def test_a_log_in_leads_nowhere_else(guarded: ConsoleSite, target: str) -> None:
    async with guarded.visit() as client:
        answer = await log_in(client, VIEWER, target)
        assert answer.headers["location"] == "/console/"


async def test_logging_out_ends_it(guarded: ConsoleSite) -> None:
    async with guarded.visit() as client:
        await log_in(client, VIEWER)
        csrf = csrf_of(await client.get("/"))
        assert (await client.post("/logout", data={"csrf": "0"})).status_code == 403
        assert (await client.post("/logout", data={"csrf": csrf})).status_code == 303
        assert (await client.get("/")).status_code == 401


async def test_a_cookie_that_was_changed_is_none(guarded: ConsoleSite) -> None:
    async with guarded.visit() as client:
        await log_in(client, VIEWER)
        cookie = client.cookies[COOKIE]
        for changed in (cookie[:-1], cookie[1:], cookie.replace(".", "x."), "", ".", "a" * 5000):
            client.cookies.clear()
            client.cookies.set(COOKIE, changed)
            assert (await client.get("/api/session")).status_code == 401


async def test_a_visit_ends_with_its_token(guarded: ConsoleSite, valkey: Valkey) -> None:
    """Another node, whose tokens are others by now; both have the secret of the store."""
    async with guarded.visit() as client:
        await log_in(client, OPERATOR)
        cookie = client.cookies[COOKIE]
    for tokens, code in (({VIEWER: "viewer"}, 401), ({**TOKENS, OPERATOR: "viewer"}, 200)):
        with ConsoleSite(valkey.url, console_tokens=tokens, console_write=True) as later:
            async with later.visit() as client:
                client.cookies.set(COOKIE, cookie)
                answer = await client.get("/api/session")
                assert answer.status_code == code
                assert code == 401 or answer.json()["role"] == "viewer"


async def test_a_token_of_an_issuer_begins_one_too(issued: ConsoleSite, issuer: Issuer) -> None:
    async with issued.visit() as client:
        assert (await log_in(client, issuer.sign(KEY, scope="mcp:tools"))).status_code == 403
        answer = await log_in(client, issuer.sign(KEY, scope="console:operate"))
        assert answer.status_code == 303
        session = (await client.get("/api/session")).json()
        assert (session["name"], session["role"]) == ("alice", "operator")


def test_a_visit_is_read_as_it_was_written_until_it_ends() -> None:
    clock = Clock()
    visits = Visits(SECRETS, clock)
    visit = visits.begin("ada", "proof", "viewer")
    text = visits.write(visit)
    assert visits.read(text) == visit
    clock.now += VISIT_SECONDS + 1
    assert visits.read(text) is None


def test_a_visit_ends_early_where_its_token_does() -> None:
    clock = Clock()
    visits = Visits(SECRETS, clock)
    assert visits.begin(until=1060.0).expires == 1060.0
    assert visits.begin(until=10**10).expires == 1000.0 + VISIT_SECONDS


def test_secrets_can_be_rotated() -> None:
    clock = Clock()
    visit = Visit("id", 2000.0)
    text = Visits([b"two"], clock).write(visit)
    assert Visits(SECRETS, clock).read(text) == visit
    assert Visits([b"three"], clock).read(text) is None


def test_what_is_signed_for_one_purpose_is_not_good_for_another() -> None:
    visits = Visits(SECRETS, Clock())
    visit = visits.begin()
    packed, _, mac = visits.write(visit).rpartition(".")
    assert not visits.checks_csrf(visit, mac)
    assert visits.checks_csrf(visit, visits.issue_csrf(visit))
    assert not visits.checks_csrf(visits.begin(), visits.issue_csrf(visit))
    assert visits.read(f"{packed}.{visits.issue_csrf(visit)}") is None


@pytest.mark.parametrize("text", ["", "a", "a.b", "é.é", "." * 10, "W10." + "0" * 64])
def test_nonsense_is_no_visit(text: str) -> None:
    assert Visits(SECRETS).read(text) is None
