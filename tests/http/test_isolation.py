"""Two tenants on one deployment: neither can tell the other's tasks from nothing."""

import asyncio

import httpx2
import pytest

from tests.http.conftest import Deployment
from tests.http.raw import exchange
from tests.http.requestor import Requestor, frame

UNKNOWN = "0-" + "0" * 32
METHODS = ["tasks/get", "tasks/result", "tasks/cancel"]
STATUSES = ["working", "completed", "failed", "cancelled"]


async def make_task(owner: Requestor, status: str) -> str:
    """The id of a task in ``status``."""
    if status == "completed":
        return await owner.finish("echo", text="secret")
    if status == "failed":
        return await owner.finish("refuse", reason="secret")
    task_id = await owner.create("gated", label="closed")
    if status == "cancelled":
        await owner.result("tasks/cancel", {"taskId": task_id})
    return task_id


async def test_all_may_use_the_same_id(alice: Requestor, bob: Requestor) -> None:
    """F11: the ids of all these requests are 1."""
    texts = [f"{name} {number}" for number in range(50) for name in ("alice", "bob")]
    askers = [alice if text.startswith("alice") else bob for text in texts]
    params = [{"name": "echo", "arguments": {"text": text}} for text in texts]
    answers = await asyncio.gather(
        *(asker.result("tools/call", given) for asker, given in zip(askers, params, strict=True))
    )
    assert [answer["content"][0]["text"] for answer in answers] == texts


@pytest.mark.parametrize("status", STATUSES)
async def test_a_foreign_task_is_an_unknown_task(alice: Requestor, bob: Requestor, status: str) -> None:
    """T-85, T-89, T-76, field report 12: in every status, on every operation, byte for byte and header for header."""
    task_id = await make_task(alice, status)
    task = await alice.get(task_id)
    assert task["status"] == status
    for method in METHODS:
        foreign = await bob.ask(method, {"taskId": task_id})
        unknown = await bob.ask(method, {"taskId": UNKNOWN})
        assert foreign.content == unknown.content
        assert foreign.content == b'{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Task not found"}}'
        assert [name for name, _ in foreign.headers.items()] == [name for name, _ in unknown.headers.items()]
    assert await alice.get(task_id) == task
    if status == "working":
        await alice.result("tasks/cancel", {"taskId": task_id})


@pytest.mark.parametrize("status", STATUSES)
async def test_a_foreign_task_is_not_listed(newcomer: Requestor, bob: Requestor, status: str) -> None:
    """T-90"""
    task_id = await make_task(newcomer, status)
    listed = (await newcomer.result("tasks/list"))["tasks"]
    assert listed == [await newcomer.get(task_id)]
    page = await bob.result("tasks/list")
    while True:
        assert task_id not in [task["taskId"] for task in page["tasks"]]
        if "nextCursor" not in page:
            break
        page = await bob.result("tasks/list", {"cursor": page["nextCursor"]})
    if status == "working":
        await newcomer.result("tasks/cancel", {"taskId": task_id})


async def test_another_token_of_the_same_subject(
    http: httpx2.AsyncClient, alice: Requestor, tokened: Deployment
) -> None:
    """T-85, field report 2: tasks belong to the authorization context, not to a token or a connection."""
    task_id = await alice.finish("echo", text="mine")
    again = Requestor(http, tokened.url, "alice-second-token")
    assert await again.get(task_id) == await alice.get(task_id)
    assert await again.result("tasks/result", {"taskId": task_id}) == await alice.result(
        "tasks/result", {"taskId": task_id}
    )


async def test_another_deployment_on_the_same_server(alice: Requestor, requestor: Requestor) -> None:
    """Namespaces are apart."""
    task_id = await requestor.finish("echo", text="x")
    assert (await alice.error("tasks/get", {"taskId": task_id}))["message"] == "Task not found"


@pytest.mark.parametrize(
    ("given", "challenge"),
    [
        (None, "Bearer"),
        ("", "Bearer"),
        ("Basic alice-token", "Bearer"),
        ("alice-token", "Bearer"),
        ("Bearer unknown", 'Bearer error="invalid_token"'),
        ("Bearer alice-toke", 'Bearer error="invalid_token"'),
        ("Bearer ALICE-TOKEN", 'Bearer error="invalid_token"'),
    ],
)
@pytest.mark.parametrize("verb", ["POST", "GET", "DELETE"])
async def test_who_is_not_known(
    http: httpx2.AsyncClient, tokened: Deployment, verb: str, given: str | None, challenge: str
) -> None:
    """A-05, A-06, A-08: HTTP 401 with a challenge, whatever the method, and nothing that tells why."""
    response = await Requestor(http, tokened.url).send(frame("ping"), {"authorization": given}, verb=verb)
    assert (response.status_code, response.headers["www-authenticate"]) == (401, challenge)
    assert response.json() == {
        "jsonrpc": "2.0",
        "error": {"code": -32600, "message": "A valid bearer token is required"},
    }


@pytest.mark.parametrize("given", ["Bearer", "Bearer alice-token x", "Bearer alice-token, Bearer bob-token"])
async def test_what_is_no_token(http: httpx2.AsyncClient, tokened: Deployment, given: str) -> None:
    """A-06"""
    response = await Requestor(http, tokened.url).send(frame("ping"), {"authorization": given})
    assert (response.status_code, response.headers["www-authenticate"]) == (400, 'Bearer error="invalid_request"')


async def test_a_token_in_the_address_does_not_count(http: httpx2.AsyncClient, tokened: Deployment) -> None:
    """A-08"""
    stranger = Requestor(http, f"{tokened.url}?access_token=alice-token")
    assert (await stranger.send(frame("ping"))).status_code == 401


async def test_two_credentials_are_none(tokened: Deployment) -> None:
    """A proxy may have looked at the other one."""
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    headers = ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    both = ["Authorization: Bearer alice-token", "Authorization: Bearer bob-token"]
    assert (await exchange(tokened.url, [*headers, *both], body)).status == 400
    assert (await exchange(tokened.url, [*headers, both[0]], body)).status == 200


async def test_the_scheme_is_written_as_one_likes(http: httpx2.AsyncClient, tokened: Deployment) -> None:
    """RFC 9110, 11.1"""
    response = await Requestor(http, tokened.url).send(frame("ping"), {"authorization": "bEARER  alice-token"})
    assert response.status_code == 200


async def test_without_tokens_credentials_are_not_looked_at(requestor: Requestor) -> None:
    response = await requestor.send(frame("ping"), {"authorization": "Bearer whatever"})
    assert response.status_code == 200


async def test_tokens_stay_out_of_the_logs(alice: Requestor, tokened: Deployment) -> None:
    """A-10"""
    await alice.finish("crash")
    assert tokened.worker is not None
    for process in (tokened.api, tokened.worker):
        assert "alice-token" not in process.log
