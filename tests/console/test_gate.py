"""What the gate lets in: hosts, methods, who asks, what they may, and which page sent a request."""

import re
from typing import Any

import httpx2
import pytest

from tests.acceptance.commands import refusal
from tests.console.sites import OPERATOR, TOKENS, VIEWER, ConsoleSite, csrf_of
from tests.console.stock import Stock
from tests.forgeries import KEY
from tests.issuer import Issuer
from tests.processes import Api, Valkey

PAGES = ("/", "/tasks", "/queues", "/workers", "/sessions", "/audit", "/doctor", "/login", "/api/overview")
UNSAFE = ("POST", "PUT", "PATCH", "DELETE", "OPTIONS")
EMPTY = "0-" + "e" * 32


async def act(client: httpx2.AsyncClient, task_id: str, csrf: str | None, **headers: str) -> httpx2.Response:
    """Cancels, as the form of the page does."""
    form = {} if csrf is None else {"csrf": csrf}
    return await client.post(f"/tasks/{task_id}/cancel", data=form, headers=headers)


async def status_of(stock: Stock, task_id: str) -> str:
    return (await stock.record(task_id))["status"]


@pytest.mark.parametrize("path", [*PAGES, "/nowhere", "/static/console.css"])
async def test_every_answer_has_the_headers(readonly: ConsoleSite, path: str) -> None:
    async with readonly.visit() as client:
        first, second = await client.get(path), await client.get(path)
    assert "Traceback" not in first.text
    policy = first.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert first.headers["x-content-type-options"] == "nosniff"
    assert first.headers["referrer-policy"] == "same-origin"
    assert first.headers["cache-control"] == ("no-cache" if path.startswith("/static") else "no-store")
    nonces = [
        re.findall(r"'nonce-([\w-]{20,})'", answer.headers["content-security-policy"]) for answer in (first, second)
    ]
    assert len({nonce for found in nonces for nonce in found}) == 2, "each answer has a nonce of its own"


async def test_scripts_have_the_nonce_of_their_page_and_none_is_inline(readonly: ConsoleSite) -> None:
    async with readonly.visit() as client:
        page = await client.get("/")
    (nonce,) = re.findall(r"'nonce-([\w-]+)'", page.headers["content-security-policy"])
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", page.text, re.DOTALL)
    assert scripts
    for attributes, body in scripts:
        assert f'nonce="{nonce}"' in attributes
        assert body == ""
    assert " style=" not in page.text
    assert not re.search(r"\son[a-z]+=", page.text)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "[::2]", "10.0.0.1"])
async def test_a_rebound_name_is_turned_away(readonly: ConsoleSite, host: str) -> None:
    async with readonly.visit(host=host) as client:
        for path in ("/", "/api/overview", "/login"):
            assert (await client.get(path)).status_code == 403


async def test_a_head_is_a_get_without_its_body(readonly: ConsoleSite) -> None:
    async with readonly.visit() as client:
        head = await client.head("/tasks")
    assert (head.status_code, head.content) == (200, b"")


async def test_an_open_console_takes_no_notice_of_a_token(readonly: ConsoleSite) -> None:
    async with readonly.visit("whatever-there-is-0123") as client:
        assert (await client.get("/")).status_code == 200


async def test_a_host_that_is_none_is_a_bad_request(readonly: ConsoleSite) -> None:
    async with readonly.visit(host="a b") as client:
        assert (await client.get("/")).status_code == 400


@pytest.mark.parametrize("method", UNSAFE)
@pytest.mark.parametrize("path", [f"/tasks/{EMPTY}/cancel", "/tasks/bulk", f"/api/tasks/{EMPTY}/purge", "/"])
async def test_while_read_only_nothing_that_writes_is_allowed(readonly: ConsoleSite, method: str, path: str) -> None:
    async with readonly.visit() as client:
        answer = await client.request(method, path)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD"


async def test_read_only_pages_offer_nothing_that_acts(readonly: ConsoleSite, stock: Stock) -> None:
    task_id = (await stock.start()).task_id
    async with readonly.visit() as client:
        for path in ("/tasks", f"/tasks/{task_id}"):
            page = (await client.get(path)).text
            assert "Cancel…" not in page
            assert 'name="id" value' not in page
        assert (await client.get(f"/tasks/{task_id}/cancel")).status_code == 403
        assert (await client.get("/api/session")).json() | {"csrf": None} == {
            "name": "local",
            "role": "viewer",
            "may_act": False,
            "csrf": None,
        }


async def test_an_act_needs_the_token_of_its_visit(site: ConsoleSite, stock: Stock) -> None:
    task_id = await stock.create()
    async with site.visit() as client, site.visit() as other:
        page = await client.get(f"/tasks/{task_id}/cancel")
        foreign = csrf_of(await other.get(f"/tasks/{task_id}/cancel"))
        for csrf in (None, "", "0" * 64, foreign):
            answer = await act(client, task_id, csrf)
            assert answer.status_code == 403
            assert "too old, or not ours" in answer.text
        assert await status_of(stock, task_id) == "working"
        done = await act(client, task_id, csrf_of(page))
        assert (done.status_code, done.headers["location"]) == (303, f"/console/tasks/{task_id}?done=cancelled")
    assert await status_of(stock, task_id) == "cancelled"


async def test_a_form_without_its_cookie_does_nothing(site: ConsoleSite, stock: Stock) -> None:
    task_id = await stock.create()
    async with site.visit() as client:
        csrf = csrf_of(await client.get(f"/tasks/{task_id}/cancel"))
        client.cookies.clear()
        assert (await act(client, task_id, csrf)).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://localhost:3000"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
async def test_a_page_of_another_site_can_do_nothing(site: ConsoleSite, stock: Stock, headers: dict[str, str]) -> None:
    task_id = await stock.create()
    async with site.visit() as client:
        csrf = csrf_of(await client.get(f"/tasks/{task_id}/cancel"))
        assert (await act(client, task_id, csrf, **headers)).status_code == 403
        assert await status_of(stock, task_id) == "working"
        own = {"origin": site.url, "sec-fetch-site": "same-origin"}
        assert (await act(client, task_id, csrf, **own)).status_code == 303


async def test_a_body_is_bounded_and_of_a_known_type(site: ConsoleSite) -> None:
    async with site.visit() as client:
        csrf = (await client.get("/api/session")).json()["csrf"]
        headers = {"x-csrf-token": csrf}
        large = await client.post("/api/bulk/cancel", content=b"x" * 300_000, headers=headers)
        assert large.status_code == 413
        for type_, body in [("text/plain", b"csrf=1"), ("application/json", b"[1]"), ("application/json", b"{")]:
            answer = await client.post("/api/bulk/cancel", content=body, headers={**headers, "content-type": type_})
            assert answer.status_code == 415


async def test_without_a_token_there_is_a_form_to_log_in_and_nothing_else(guarded: ConsoleSite) -> None:
    async with guarded.visit() as client:
        for path in set(PAGES) - {"/login", "/api/overview"}:
            page = await client.get(path)
            assert page.status_code == 401
            assert 'name="token"' in page.text
            assert "Overview</a>" not in page.text
        answer = await client.get("/api/overview")
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert answer.json() == {"error": "Who are you? This console needs a token"}
        assert (await client.get("/live")).status_code == 401


@pytest.mark.parametrize("token", ["wrong", VIEWER[:-1], VIEWER + "x", f"{VIEWER}, {OPERATOR}", "é" * 20])
async def test_a_wrong_token_opens_nothing(guarded: ConsoleSite, token: str) -> None:
    async with guarded.visit() as client:
        headers = [(b"authorization", f"Bearer {token}".encode())]
        assert (await client.get("/api/overview", headers=headers)).status_code == 401


async def test_roles_come_with_tokens(guarded: ConsoleSite, stock: Stock) -> None:
    task_id = await stock.create()
    async with guarded.visit(VIEWER) as viewer, guarded.visit(OPERATOR) as operator:
        assert (await viewer.get("/api/overview")).status_code == 200
        assert (await viewer.post(f"/api/tasks/{task_id}/cancel")).status_code == 403
        assert (await viewer.get(f"/tasks/{task_id}/cancel")).status_code == 403
        assert await status_of(stock, task_id) == "working"
        done = await operator.post(f"/api/tasks/{task_id}/cancel", json={"message": "Not needed"})
        assert done.json() == {"task": task_id, "outcome": "cancelled", "new_task": None, "reason": None}
    assert (await stock.record(task_id))["status_message"] == "Not needed"


async def test_a_token_does_not_leak(guarded: ConsoleSite) -> None:
    async with guarded.visit(OPERATOR) as client:
        said = (await client.get("/api/session")).text + (await client.get("/")).text
    assert OPERATOR not in said + guarded.log


@pytest.mark.parametrize(
    ("scope", "role"),
    [("console:view", "viewer"), ("console:operate", "operator"), ("mcp:tools", None), ("console:viewer", None)],
)
async def test_roles_come_with_scopes(issued: ConsoleSite, issuer: Issuer, scope: str, role: str | None) -> None:
    async with issued.visit(issuer.sign(KEY, scope=scope)) as client:
        answer = await client.get("/api/session")
    assert answer.status_code == (401 if role is None else 200)
    assert role is None or answer.json() | {"csrf": None} == {
        "name": "alice",
        "role": role,
        "may_act": role == "operator",
        "csrf": None,
    }


async def test_a_token_that_is_over_opens_nothing(issued: ConsoleSite, issuer: Issuer) -> None:
    async with issued.visit(issuer.sign(KEY, scope="console:view", exp=1)) as client:
        assert (await client.get("/api/session")).status_code == 401


@pytest.mark.parametrize("header", ["x-forwarded-for", "forwarded", "via", "x-real-ip"])
async def test_who_comes_through_a_proxy_is_not_local(readonly: ConsoleSite, header: str) -> None:
    async with readonly.visit(**{header: "for=10.0.0.1"}) as client:
        assert (await client.get("/")).status_code == 401


def test_it_does_not_listen_on_a_network_without_tokens(valkey: Valkey) -> None:
    line = refusal("console", "--redis", valkey.url, "--host", "0.0.0.0", "--port", "0")  # noqa: S104 - not served
    assert "RECEIVER_CONSOLE_TOKENS" in line


@pytest.mark.parametrize("word", ["short", "with space in the token", "with,comma,in,the,token"])
def test_tokens_are_long(valkey: Valkey, word: str) -> None:
    env = {"RECEIVER_CONSOLE_TOKENS": f'{{"{word}": "viewer"}}'}
    line = refusal("console", "--redis", valkey.url, env=env)
    assert "RECEIVER_CONSOLE_TOKENS" in line
    assert word not in line


async def test_it_is_served_beside_the_endpoint(valkey: Valkey) -> None:
    with Api("tests.apps.wire:app", valkey.url) as api:
        async with httpx2.AsyncClient(trust_env=False, verify=False) as client:
            assert (await client.get(f"{api.url}/console")).headers["location"] == "/console/"
            assert "Overview" in (await client.get(f"{api.url}/console/")).text
            assert (await client.get(f"{api.url}/consoles")).status_code == 404
            assert (await client.post(f"{api.url}/mcp", json={})).status_code == 400
        assert api.terminate() == 0


@pytest.mark.parametrize(
    ("host", "settings", "code"),
    [
        ("127.0.0.1", {"auth_tokens": {"t": {"subject": "s"}}}, 401),
        ("127.0.0.1", {"auth_tokens": {"t": {"subject": "s"}}, "allowed_hosts": "*"}, 401),
        ("0.0.0.0", {"auth_tokens": {"t": {"subject": "s"}}}, 404),  # noqa: S104 - for this test alone
        ("0.0.0.0", {"allow_anonymous": True}, 404),  # noqa: S104
        ("0.0.0.0", {"auth_tokens": {"t": {"subject": "s"}}, "console_tokens": TOKENS}, 401),  # noqa: S104
    ],
)
async def test_where_requestors_are_asked_operators_are_too(
    valkey: Valkey, host: str, settings: dict[str, Any], code: int
) -> None:
    with Api("tests.apps.wire:app", valkey.url, host=host, **settings) as api:
        async with httpx2.AsyncClient(trust_env=False, verify=False) as client:
            assert (await client.get(f"{api.url}/console/")).status_code == code
            assert (await client.get(f"{api.url}/console/api/overview")).status_code == code
