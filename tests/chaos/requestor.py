"""A requestor that never gives up a task: it tries again at any node, and goes on with streams that broke."""

import asyncio
import hashlib
import itertools
import json
import random
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import httpx2

from tests.chaos.evidence import History, Operation
from tests.http.requestor import HEADERS, INITIALIZE

PATIENCE_SECONDS = 20.0  # for any answer
PAUSE_SECONDS = 0.1
CAPABILITIES: dict[str, dict[str, object]] = {
    "elicitation": {},
    "tasks": {"cancel": {}, "requests": {"elicitation": {"create": {}}}},
}
RELATED_TASK = "io.modelcontextprotocol/related-task"
RESOURCE = "reading"

OperationName = Literal["create", "get", "result", "list", "cancel", "answer", "call"]


@dataclass(frozen=True)
class Order:
    """A task to be created, or a plain call: of which tool, how long it takes, how long the task shall be kept."""

    tool: str
    seconds: float | None = None
    ttl: float = 600.0
    is_plain: bool = False


class Requestor:
    """Speaks to the nodes at ``urls`` as whoever ``token`` stands for, and records all of it as ``principal``."""

    def __init__(self, urls: Sequence[str], token: str, principal: str, history: History) -> None:
        self.principal = principal
        self._urls = urls
        self._history = history
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=50)
        # What it trusts is never asked, and slow to load.
        self._http = httpx2.AsyncClient(timeout=PATIENCE_SECONDS, limits=limits, trust_env=False, verify=False)
        self._headers = HEADERS | {"authorization": f"Bearer {token}"}
        self._ids = itertools.count(1)
        self._labels = (f"{principal}-{number}" for number in itertools.count(1))
        self._own_tasks: dict[str, _OwnTask] = {}  # by the request that they answer, and by their id

    async def begin(self) -> None:
        """Begins the one session that all its requests belong to."""
        request = self._frame("initialize", INITIALIZE | {"capabilities": CAPABILITIES})
        while "mcp-session-id" not in self._headers:
            try:
                response = await self._http.post(f"{self._node()}/mcp", json=request, headers=self._headers)
                self._headers["mcp-session-id"] = response.headers["mcp-session-id"]
            except (httpx2.TransportError, KeyError):
                await asyncio.sleep(PAUSE_SECONDS)

    async def close(self) -> None:
        """Gives the connections back."""
        await self._http.aclose()

    async def create(self, order: Order) -> Operation:
        """Asks once for a task; whether there is one is unknown where no answer came."""
        label = next(self._labels)
        arguments = _arguments(order, label)
        params = {"name": order.tool, "arguments": arguments, "task": {"ttl": round(order.ttl * 1000)}}
        return await self._ask("create", "tools/call", params, label=label, tool=order.tool, ttl=order.ttl)

    async def get(self, task: str, *, is_final: bool = False) -> Operation:
        """Asks once how a task stands."""
        return await self._ask("get", "tasks/get", {"taskId": task}, task=task, is_final=is_final)

    async def cancel(self, task: str) -> Operation:
        """Cancels a task, once."""
        return await self._ask("cancel", "tasks/cancel", {"taskId": task}, task=task)

    async def list(self, *, is_final: bool = False) -> Operation:
        """Walks through all pages."""
        begun, found, cursor = time.time(), [], None
        while True:
            params: dict[str, object] = {} if cursor is None else {"cursor": cursor}
            page = await self._ask("list", "tasks/list", params, is_recorded=False)
            if page.outcome != "ok":
                return self._record(replace(page, begun=begun))
            found += [(task["taskId"], task["status"]) for task in page.payload["tasks"]]
            cursor = page.payload.get("nextCursor")
            if cursor is None:
                return self._record(replace(page, begun=begun, payload=None, tasks=tuple(found), is_final=is_final))

    async def result(self, task: str, *, is_final: bool = False) -> Operation:
        """Waits once for a result, and answers what is asked meanwhile.  A stream that breaks is gone on with."""
        pending = _Pending("result", self.principal, {"task": task, "is_final": is_final})
        return await self._await_response(pending, self._frame("tasks/result", {"taskId": task}))

    async def call(self, order: Order) -> Operation:
        """Calls a tool plainly, or reads the resource, once, and waits for the answer."""
        label = next(self._labels)
        pending = _Pending("call", self.principal, {"label": label, "tool": order.tool})
        if order.tool == RESOURCE:
            request = self._frame("resources/read", {"uri": f"chaos://{label}"})
        else:
            request = self._frame("tools/call", {"name": order.tool, "arguments": _arguments(order, label)})
        return await self._await_response(pending, request)

    async def _await_response(self, operation: "_Pending", request: object) -> Operation:
        position = ""
        for _ in range(100):
            try:
                async with asyncio.timeout(PATIENCE_SECONDS), self._open(request, position) as response:
                    if response.status_code != 200:
                        return self._record(operation.end_at_http(response.status_code))
                    async for event_id, message in _messages(response):
                        position = event_id or position
                        said = json.loads(message) if message else {"method": ""}
                        if "method" not in said:
                            return self._record(operation.end(message))
                        await self._heed(said)
            except (httpx2.HTTPError, httpx2.StreamError, TimeoutError):
                if not position:
                    break
            await asyncio.sleep(PAUSE_SECONDS)
        return self._record(operation.end_unknown())

    async def _heed(self, asked: Any) -> None:
        """Does what the server asks for.  An answer is sometimes sent twice, and the second must not count."""
        if asked["method"] == "elicitation/create":
            task = asked["params"]["_meta"][RELATED_TASK]["taskId"]
            if "task" in asked["params"] and self._takes_as_task(asked["id"], task):
                await self._answer(asked["id"], {"task": self._own_tasks[asked["id"]].at("working")}, task)
                return
            for _ in range(random.choice((1, 1, 2))):  # noqa: S311 - not a secret
                await self._answer_word(asked["id"], task, secrets.token_hex(4))
        elif asked["method"] in ("tasks/get", "tasks/result"):
            own = self._own_tasks[asked["params"]["taskId"]]
            if asked["method"] == "tasks/get":
                await self._answer(asked["id"], own.at("completed" if own.is_done else "working"), own.asked_by)
            else:
                await self._answer_word(asked["id"], own.asked_by, own.word, {RELATED_TASK: {"taskId": own.id}})

    def _takes_as_task(self, request: str, task: str) -> bool:
        """Whether a question is answered by a task of this client's; once it is, it always is."""
        if request not in self._own_tasks and random.random() < 0.7:  # noqa: S311 - not a secret
            own = _OwnTask(secrets.token_hex(8), task, secrets.token_hex(4), time.monotonic() + random.random())  # noqa: S311
            self._own_tasks[request] = self._own_tasks[own.id] = own
        return request in self._own_tasks

    async def _answer_word(self, request: str, task: str, word: str, meta: Any = None) -> None:
        result = {"action": "accept", "content": {"word": word}} | ({"_meta": meta} if meta else {})
        await self._answer(request, result, task, word)

    async def _answer(self, request: str, result: Any, task: str, word: str = "") -> None:
        body = {"jsonrpc": "2.0", "id": request, "result": result}
        for _ in range(20):
            pending = _Pending("answer", self.principal, {"task": task, "label": word, "digest": request})
            try:
                response = await self._http.post(f"{self._node()}/mcp", json=body, headers=self._headers)
                self._record(pending.end_answer(response.status_code))
                if response.status_code != 503:
                    return
            except httpx2.TransportError:
                self._record(pending.end_unknown())
            await asyncio.sleep(PAUSE_SECONDS)

    async def _ask(
        self, op: OperationName, method: str, params: Any, *, is_recorded: bool = True, **about: Any
    ) -> Operation:
        pending = _Pending(op, self.principal, about)
        try:
            url = f"{self._node()}/mcp"
            response = await self._http.post(url, json=self._frame(method, params), headers=self._headers)
            if response.status_code != 200:
                operation = pending.end_at_http(response.status_code)
            else:
                operation = pending.end(response.content)
        except httpx2.TransportError:
            operation = pending.end_unknown()
        return self._record(operation) if is_recorded else operation

    @asynccontextmanager
    async def _open(self, request: object, position: str) -> AsyncIterator[httpx2.Response]:
        url = f"{self._node()}/mcp"
        if position:
            headers = self._headers | {"last-event-id": position}
            built = self._http.build_request("GET", url, headers=headers)
        else:
            built = self._http.build_request("POST", url, json=request, headers=self._headers)
        response = await self._http.send(built, stream=True)
        try:
            yield response
        finally:
            await response.aclose()

    def _frame(self, method: str, params: Any) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}

    def _node(self) -> str:
        return random.choice(self._urls)  # noqa: S311 - not a secret

    def _record(self, operation: Operation) -> Operation:
        self._history.record(operation)
        return operation


@dataclass(frozen=True)
class _OwnTask:
    """A task of this client's, by which it answers a question of the task ``asked_by``."""

    id: str
    asked_by: str
    word: str
    ends_at: float

    @property
    def is_done(self) -> bool:
        return time.monotonic() >= self.ends_at

    def at(self, status: str) -> dict[str, object]:
        """How ``tasks/get`` shows it."""
        times = dict.fromkeys(("createdAt", "lastUpdatedAt"), "2025-11-25T10:30:00Z")
        return {"taskId": self.id, "status": status, "ttl": 600_000, "pollInterval": 200, **times}


class _Pending:
    """An operation that was begun."""

    def __init__(self, op: OperationName, principal: str, about: dict[str, Any]) -> None:
        self._operation = Operation(op, principal, time.time(), 0.0, "unknown", **about)

    def end_unknown(self) -> Operation:
        return replace(self._operation, ended=time.time(), http=0)

    def end_at_http(self, status: int) -> Operation:
        return replace(self._operation, ended=time.time(), outcome="unknown", http=status)

    def end_answer(self, status: int) -> Operation:
        outcome: Any = {202: "ok", 503: "unknown"}.get(status, "error")
        return replace(self._operation, ended=time.time(), outcome=outcome, http=status)

    def end(self, message: bytes) -> Operation:
        """Ends it with a JSON-RPC response."""
        ended = replace(self._operation, ended=time.time())
        answer = json.loads(message)
        if "error" in answer:
            return _end_with_error(ended, answer["error"], _digest(message, b'"error":'))
        payload = answer["result"]
        if ended.op == "call":
            return replace(ended, outcome="ok", payload=_ran(payload))
        if ended.op == "result":
            status = "failed" if payload.get("isError") else "completed"
            digest = _digest(message, b'"result":')
            return replace(ended, outcome="ok", status=status, payload=_ran(payload), digest=digest)
        if ended.op == "list":
            return replace(ended, outcome="ok", payload=payload)
        task = payload["task"] if ended.op == "create" else payload
        return replace(
            ended,
            outcome="ok",
            task=task["taskId"],
            status=task["status"],
            created=task["createdAt"],
            updated=task["lastUpdatedAt"],
        )


def _end_with_error(operation: Operation, error: Any, digest: str) -> Operation:
    data = error.get("data") if isinstance(error.get("data"), dict) else {}
    reason = data.get("reason", "")
    if reason == "unavailable" or error["message"].startswith("This node is stopping"):
        return replace(operation, outcome="unknown", reason="unavailable")
    if error["message"] in ("Task not found", "Task has expired"):
        reason = "not_found"
    elif error["message"].startswith("Task is already "):
        reason = "terminal " + error["message"].removeprefix("Task is already ")
    status = {"worker_lost": "failed"}.get(reason, data.get("status", ""))
    return replace(operation, outcome="error", reason=reason or error["message"], status=status, digest=digest)


def _arguments(order: Order, label: str) -> dict[str, object]:
    return {"label": label} | ({} if order.seconds is None else {"seconds": order.seconds})


def _digest(message: bytes, name: bytes) -> str:
    return hashlib.sha256(message.partition(name)[2]).hexdigest()[:16]


def _ran(result: Any) -> Any:
    """What the tool said of its execution; a failed one says it in its text, as JSON if it is the tool's own."""
    if "contents" in result:
        return json.loads(result["contents"][0]["text"])
    if not result.get("isError"):
        return result["structuredContent"]
    try:
        return json.loads(result["content"][0]["text"])
    except ValueError:
        return {"text": result["content"][0]["text"]}


async def _messages(response: httpx2.Response) -> AsyncIterator[tuple[str, bytes]]:
    """The messages of a response, each with the id of its event; an empty one only has an id."""
    if response.headers["content-type"] == "application/json":
        yield "", await response.aread()
        return
    read = b""
    async for chunk in response.aiter_raw():
        read += chunk
        while b"\n\n" in read:
            event, _, read = read.partition(b"\n\n")
            fields = dict(line.split(b": ", 1) for line in event.split(b"\n") if b": " in line and line[:1] != b":")
            yield fields.get(b"id", b"").decode(), fields.get(b"data", b"")
