"""One trace from a client through API, queue and worker to the author's code, and what it keeps to itself."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from itertools import count
from typing import Any

import httpx2
import pytest
from opentelemetry import trace
from opentelemetry.trace import SpanKind, StatusCode
from structlog.testing import capture_logs

from receiver import Context, Receiver, ReceiverError, Retry, ToolError
from receiver.node import Node
from receiver.session import digest_session
from receiver.telemetry.logs import merge_bound
from tests.spans import Spans, context_of, id_of, parent_of, recording
from tests.workers import poison
from tests.workers.scene import Gate
from tests.workers.stage import Stage, until

TRACE, CALLER = 0x4BF92F3577B34DA6A3CE929D0E0E4736, 0x00F067AA0BA902B7
PARENT = f"00-{TRACE:032x}-{CALLER:016x}-01"
HEADER = f"00-{TRACE + 1:032x}-{CALLER + 1:016x}-01"
SECRET = "swordfish"
TOKEN = "alice-canary-token"

TRACER = trace.get_tracer("of the author")


class Client:
    """A client of one node, in this process."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self._http = http
        self._ids = count(1)
        self.session = ""

    async def send(self, method: str, params: dict[str, Any] | None = None, **headers: str) -> Any:
        """The answer to a request: its result, or its error."""
        head = {"authorization": f"Bearer {TOKEN}", "accept": "application/json", **headers}
        if self.session:
            head["mcp-session-id"] = self.session
        frame = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params or {}}
        response = await self._http.post("/mcp", json=frame, headers=head)
        self.session = response.headers.get("mcp-session-id", self.session)
        answer = response.json()
        return answer["result"] if "result" in answer else answer["error"]

    async def create(self, tool: str, parent: object = PARENT, **arguments: Any) -> str:
        """The id of a new task."""
        params = {"name": tool, "arguments": arguments, "task": {}, "_meta": {"traceparent": parent}}
        created: str = (await self.send("tools/call", params))["task"]["taskId"]
        return created


class Site:
    """A node and, where a test wants it, a worker; ``app`` is empty at first."""

    def __init__(self, stage: Stage, stack: AsyncExitStack) -> None:
        self.stage = stage
        self.app = Receiver("site")
        self._stack = stack

    async def open(self, served: Receiver | None = None, *, works: bool = True, **settings: Any) -> Client:
        """Serves the app; the client has a session."""
        app = served or self.app
        node = Node(app, self.stage.settings(auth_tokens={TOKEN: {"subject": "alice"}}, allowed_hosts="*"))
        self._stack.push_async_callback(node.close)
        transport = httpx2.ASGITransport(node.endpoint)
        http = httpx2.AsyncClient(transport=transport, base_url="http://localhost", trust_env=False)
        client = Client(await self._stack.enter_async_context(http))
        await client.send("initialize", {"protocolVersion": "2025-11-25"})
        if works:
            await self._stack.enter_async_context(self.stage.working(app, **settings))
        return client


@pytest.fixture
def spans() -> Iterator[Spans]:
    with recording() as spans:
        yield spans


@pytest.fixture
async def site(stage: Stage) -> AsyncIterator[Site]:
    async with AsyncExitStack() as stack:
        yield Site(stage, stack)


async def test_one_trace(site: Site, spans: Spans) -> None:
    """From the client through the API and the queue to what the author does; who waits is linked."""
    gate = Gate()

    @site.app.tool
    async def draw(ctx: Context) -> str:
        with TRACER.start_as_current_span("inner"):
            await gate.wait()
            await ctx.step("step", _step)
        return "done"

    client = await site.open()
    task_id = await client.create("draw")
    await gate.reached.wait()
    gate.opened.set()
    await client.send("tasks/result", {"taskId": task_id})
    await site.stage.outcome(task_id)
    call, sent, run = spans.one("tools/call draw"), spans.one("enqueue draw"), await _ended(spans, "run draw")
    assert parent_of(call) == (TRACE, CALLER)
    assert [parent_of(span) for span in (sent, run)] == [id_of(call), id_of(sent)]
    assert parent_of(spans.one("inner")) == id_of(run)
    assert parent_of(spans.one("step")) == id_of(spans.one("inner"))
    assert [span.kind for span in (call, sent, run)] == [SpanKind.SERVER, SpanKind.PRODUCER, SpanKind.CONSUMER]
    (link,) = spans.one("tasks/result").links
    assert (link.context.trace_id, link.context.span_id) == id_of(sent)
    record = await site.stage.record(task_id)
    assert record["trace"] == "00-{:032x}-{:016x}-01".format(*id_of(sent))


def _step() -> None:
    TRACER.start_span("step").end()


async def _ended(spans: Spans, name: str) -> Any:
    """A worker's span ends a moment after the store knows the outcome."""
    await until(lambda: spans.named(name))
    return spans.one(name)


async def test_what_the_spans_say(site: Site, spans: Spans) -> None:
    @site.app.tool
    async def draw() -> str:
        return "done"

    client = await site.open()
    task_id = await client.create("draw")
    await site.stage.outcome(task_id)
    run = await _ended(spans, "run draw")
    assert dict(spans.one("tools/call draw").attributes or {}) == {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "draw",
        "jsonrpc.request.id": "2",
        "mcp.session.id": digest_session(client.session),
        "mcp.protocol.version": "2025-11-25",
        "network.protocol.name": "http",
        "network.transport": "tcp",
    }
    about = dict(run.attributes or {})
    assert about.pop("mcp_tasks.worker")
    assert about == {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "draw",
        "messaging.system": "arq",
        "messaging.operation.type": "process",
        "messaging.operation.name": "run",
        "messaging.destination.name": "default",
        "messaging.message.id": task_id,
        "mcp_tasks.run": 1,
        "mcp_tasks.attempt": 1,
        "mcp_tasks.end": "completed",
    }


async def test_what_http_brings_is_linked_or_else_the_parent(site: Site, spans: Spans) -> None:
    client = await site.open(works=False)
    await client.send("ping", {"_meta": {"traceparent": PARENT}}, traceparent=HEADER)
    await client.send("ping", traceparent=HEADER)
    with TRACER.start_as_current_span("of a framework") as around:
        await client.send("ping", {"_meta": {"traceparent": PARENT}}, traceparent=HEADER)
    both, header, ambient = spans.named("ping")
    assert parent_of(both) == parent_of(ambient) == (TRACE, CALLER)
    assert [link.context.span_id for link in both.links] == [CALLER + 1]
    assert (parent_of(header), list(header.links)) == ((TRACE + 1, CALLER + 1), [])
    assert [link.context for link in ambient.links] == [around.get_span_context()]


@pytest.mark.parametrize(
    "meta",
    [
        {"traceparent": PARENT + "-00"},
        {"traceparent": PARENT.upper()},
        {"traceparent": PARENT + "\n"},
        {"traceparent": "cc" + PARENT[2:] + "-" + "0" * 10_000},
        {"traceparent": f"00-{0:032x}-{CALLER:016x}-01"},
        {"traceparent": f"00-{TRACE:032x}-{0:016x}-01"},
        {"traceparent": "ff" + PARENT[2:]},
        {"traceparent": ""},
        {"traceparent": 7},
        {"traceparent": [PARENT]},
        {"traceparent": {"a": PARENT}},
        {"traceparent": None, "tracestate": "a=b"},
        {"io.opentelemetry/traceparent": PARENT},
        [PARENT],
        PARENT,
        None,
    ],
)
async def test_what_is_no_trace_is_ignored(site: Site, spans: Spans, meta: object) -> None:
    client = await site.open(works=False)
    assert await client.send("ping", {"_meta": meta}) == {}
    assert spans.one("ping").parent is None


@pytest.mark.parametrize(
    ("state", "kept"),
    [
        ("rojo=00f067aa0ba902b7, congo=t61rcWkgMzE", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"),
        ("a=" + "x" * 600, ""),
        ("a=b,,", "a=b"),
        ("a=b,a=c", ""),
        ("no member", ""),
        (",".join(f"k{number}=v" for number in range(33)), ""),
        (7, ""),
    ],
)
async def test_a_tracestate_is_passed_on_if_it_is_one(site: Site, spans: Spans, state: object, kept: str) -> None:
    site.app.tool(name="draw")(_step)
    client = await site.open(works=False)
    params = {"name": "draw", "task": {}, "_meta": {"traceparent": PARENT, "tracestate": state, "baggage": "a=b"}}
    task_id = (await client.send("tools/call", params))["task"]["taskId"]
    assert context_of(spans.one("tools/call draw")).trace_state.to_header() == kept
    written = (await site.stage.record(task_id))["trace"]
    assert written.partition(" ")[2] == kept


async def test_each_run_is_a_span(site: Site, spans: Spans) -> None:
    @site.app.tool
    def draw(ctx: Context) -> str:
        TRACER.start_span(f"in run {ctx.run}").end()  # in a thread
        if ctx.attempt == 1:
            raise Retry(0)
        raise ToolError(SECRET)

    client = await site.open()
    await site.stage.outcome(await client.create("draw"))
    await until(lambda: len(spans.named("run draw")) == 2)
    first, second = spans.named("run draw")
    assert parent_of(first) == parent_of(second) == id_of(spans.one("enqueue draw"))
    for span, run, end in ((first, 1, "retried"), (second, 2, "failed")):
        about = span.attributes or {}
        assert (about["mcp_tasks.run"], about["mcp_tasks.attempt"], about["mcp_tasks.end"]) == (run, run, end)
        assert parent_of(spans.one(f"in run {run}")) == id_of(span)
    assert first.status.status_code is StatusCode.UNSET
    assert (second.status.status_code, (second.attributes or {})["error.type"]) == (StatusCode.ERROR, "tool_error")


async def test_the_process_of_an_isolated_run_has_the_parent(site: Site, spans: Spans) -> None:
    client = await site.open(poison.app, app=poison.NAME)
    task_id = await client.create("tell_trace")
    outcome = await site.stage.outcome(task_id)
    trace_id, span_id = id_of(await _ended(spans, "run tell_trace"))
    told = f"{trace_id:032x} {span_id:016x}"
    assert outcome.payload["structuredContent"] == {"result": [told, told]}


async def test_nothing_said_is_in_a_span(site: Site, spans: Spans) -> None:
    """Neither arguments, nor results, nor errors, nor tokens, nor the id of the session."""

    @site.app.tool
    async def fail(word: str, how: str) -> str:
        if how == "error":
            raise ReceiverError(word, code=4711, data=word)
        if how == "crash":
            raise ValueError(word)
        return word

    @site.app.resource("words://{word}")
    async def read(word: str) -> str:
        return word

    client = await site.open()
    for how in ("error", "crash", "well"):
        await client.send("tools/call", {"name": "fail", "arguments": {"word": SECRET, "how": how}})
        task_id = await client.create("fail", word=SECRET, how=how)
        await client.send("tasks/result", {"taskId": task_id})
    await client.send("tools/call", {"name": "fail", "arguments": {SECRET: 1}})
    await client.send("tools/call", {"name": SECRET})
    await client.send("resources/read", {"uri": f"words://{SECRET}"})
    await client.send(SECRET)
    shown = "".join(span.to_json() for span in spans.all)
    assert [word for word in (SECRET, TOKEN, client.session, "alice") if word in shown] == []
    assert "ValueError" in shown
    kinds = {name: [(span.attributes or {}).get("error.type") for span in spans.named(name)] for name in _names(spans)}
    assert kinds["tools/call fail"] == ["4711", None, "tool_error", None, None, None, "tool_error"]
    assert kinds["tasks/result"] == ["4711", "tool_error", None]
    assert (kinds["tools/call"], kinds["_OTHER"]) == (["-32602"], ["-32601"])
    assert (spans.one("resources/read").attributes or {})["mcp.resource.uri"] == "words://{word}"


def _names(spans: Spans) -> set[str]:
    return {span.name for span in spans.all}


async def test_log_lines_say_whose_they_are(site: Site, spans: Spans) -> None:
    @site.app.tool
    def draw(ctx: Context) -> str:
        ctx.sync.log("info", "drawing")
        return "done"

    with capture_logs(processors=[merge_bound]) as lines:
        client = await site.open()
        task_id = await client.create("draw")
        await site.stage.outcome(task_id)
        await _ended(spans, "run draw")
    record = await site.stage.record(task_id)
    common = {
        "task_id": task_id,
        "session_id": digest_session(client.session),
        "principal": record["owner"],
        "method": "tools/call",
        "tool": "draw",
        "trace_id": f"{TRACE:032x}",
    }
    found = {line["event"]: line for line in lines}
    assert found["task_created"].items() >= common.items()
    for event in ("tool_log", "task_finished"):
        assert found[event].items() >= {**common, "run": 1, "worker_id": record["worker"]}.items()
    assert found["task_finished"]["duration_s"] >= 0
    assert found["worker_started"]["worker_id"] == record["worker"]


async def test_what_is_no_tool_is_not_called_one(site: Site) -> None:
    @site.app.resource("words://all")
    async def read() -> str:
        raise ValueError

    with capture_logs(processors=[merge_bound]) as lines:
        client = await site.open()
        await client.send("resources/read", {"uri": "words://all"})
    (line,) = [line for line in lines if line["event"] == "tool_failed"]
    assert (line["method"], line["target"], "tool" in line) == ("resources/read", "words://all", False)
