import json
from dataclasses import fields, replace
from datetime import datetime, timedelta
from typing import Any, ClassVar

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import types

from receiver.protocol.handshake import (
    IMMEDIATE_RESPONSE,
    LATEST,
    PROTOCOL_VERSION,
    RELATED_TASK,
    REVISIONS,
    SUPPORTED_VERSIONS,
    Revision,
    adapt_result,
    negotiate_version,
    render_created,
    render_definition,
    render_flat_task,
    render_initialize,
    render_task,
    render_task_list,
    render_time,
    server_capabilities,
    splice_related_task,
)
from receiver.protocol.lifecycle import STATUSES, Status
from receiver.protocol.outcome import Outcome
from receiver.protocol.task import Task

ID = "0-" + "0123456789abcdef" * 2
TASK = Task(
    id=ID,
    status="working",
    status_message=None,
    created_at=1_764_066_600_000,
    updated_at=1_764_067_200_042,
    ttl=60_000,
    poll_interval=1000,
)
RENDERED = {
    "taskId": ID,
    "status": "working",
    "createdAt": "2025-11-25T10:30:00.000Z",
    "lastUpdatedAt": "2025-11-25T10:40:00.042Z",
    "ttl": 60_000,
    "pollInterval": 1000,
}
RELATED = {RELATED_TASK: {"taskId": ID}}

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from([RELATED_TASK, "_meta", "a/b", "é"]) | st.text(max_size=5)
METAS = st.dictionaries(NAMES, JSON, max_size=3)
RESULTS = st.fixed_dictionaries({}, optional={"content": JSON, "structuredContent": JSON, "_meta": METAS})


class TestVersion:
    def test_the_newest_comes_first(self) -> None:
        assert SUPPORTED_VERSIONS == ("2025-11-25", "2025-06-18", "2025-03-26")
        assert PROTOCOL_VERSION == LATEST.version == SUPPORTED_VERSIONS[0]

    @pytest.mark.parametrize("version", SUPPORTED_VERSIONS)
    def test_a_supported_one_is_echoed(self, version: str) -> None:  # L-01
        assert negotiate_version(version) == version
        assert REVISIONS[version].version == version

    @pytest.mark.parametrize("asked", ["2099-01-01", "2024-11-05", "", None, 20251125, ["2025-11-25"]])
    def test_any_other_gets_the_latest(self, asked: Any) -> None:  # L-01
        assert negotiate_version(asked) == PROTOCOL_VERSION


FEATURES = [field.name for field in fields(Revision) if field.name != "version"]
TOOL = {
    "name": "greet",
    "title": "Greet",
    "description": "Greets.",
    "inputSchema": {"type": "object", "properties": {"title": {"type": "string"}}},
    "outputSchema": {"type": "object"},
    "annotations": {"title": "Greet", "readOnlyHint": True},
    "execution": {"taskSupport": "optional"},
    "icons": [{"src": "https://acme.example/i.png"}],
}


class TestRevision:
    def test_what_each_one_has(self) -> None:
        june = ["structured_output", "titles", "resource_links"]
        assert {version: features(version) for version in SUPPORTED_VERSIONS} == {
            "2025-11-25": FEATURES,
            "2025-06-18": june,
            "2025-03-26": [],
        }

    def test_a_tool_in_the_latest_is_whole(self) -> None:  # T-103
        assert render_definition(TOOL, LATEST) == TOOL

    def test_a_tool_without_tasks_and_icons(self) -> None:  # T-26
        assert render_definition(TOOL, REVISIONS["2025-06-18"]) == without(TOOL, "execution", "icons")

    def test_a_tool_of_the_oldest(self) -> None:
        rendered = render_definition(TOOL, REVISIONS["2025-03-26"])
        assert rendered == without(TOOL, "execution", "icons", "outputSchema", "title")


def features(version: str) -> list[str]:
    return [name for name in FEATURES if getattr(REVISIONS[version], name)]


def without(definition: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in definition.items() if name not in names}


class TestAdaptedResult:
    LINK: ClassVar = {"type": "resource_link", "uri": "file:///a.csv", "name": "a.csv"}
    TEXT: ClassVar = {"type": "text", "text": '"resource_link"'}

    def encode(self, *content: dict[str, Any]) -> bytes:
        return Outcome.of_result({"content": content, "_meta": {"a": 1}, "isError": False}).payload

    @pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18"])
    def test_links_stay(self, version: str) -> None:
        payload = self.encode(self.LINK)
        assert adapt_result(payload, REVISIONS[version]) is payload

    @pytest.mark.parametrize(
        ("link", "text"), [(LINK, "a.csv: file:///a.csv"), (LINK | {"title": "Table"}, "Table: file:///a.csv")]
    )
    def test_links_become_text(self, link: dict[str, Any], text: str) -> None:
        adapted = adapt_result(self.encode(self.TEXT, link), REVISIONS["2025-03-26"])
        assert adapted == self.encode(self.TEXT, {"type": "text", "text": text})

    def test_links_in_messages_become_text(self) -> None:
        messages = [{"role": "user", "content": self.TEXT}, {"role": "user", "content": self.LINK}]
        payload = Outcome.of_result({"messages": messages}).payload
        assert adapt_result(payload, REVISIONS["2025-06-18"]) is payload
        adapted = json.loads(adapt_result(payload, REVISIONS["2025-03-26"]))
        text = {"type": "text", "text": "a.csv: file:///a.csv"}
        assert adapted == {"messages": [messages[0], {"role": "user", "content": text}]}

    def test_a_result_of_another_kind_stays(self) -> None:
        result = {"completion": {"values": ["resource_link"]}}
        adapted = adapt_result(Outcome.of_result(result).payload, REVISIONS["2025-03-26"])
        assert json.loads(adapted) == result

    def test_results_without_links_stay(self) -> None:
        payload = self.encode({"type": "text", "text": "a resource_link"})
        assert adapt_result(payload, REVISIONS["2025-03-26"]) is payload


class TestInitialize:
    def test_capabilities(self) -> None:  # T-01, T-04, T-06, T-104
        assert server_capabilities(LATEST, tasks_list=False) == {
            "logging": {},
            "tools": {"listChanged": True},
            "tasks": {"cancel": {}, "requests": {"tools": {"call": {}}}},
        }

    @pytest.mark.parametrize("version", SUPPORTED_VERSIONS)
    def test_only_what_there_is_is_declared(self, version: str) -> None:
        declared = server_capabilities(
            REVISIONS[version], tasks_list=False, resources=True, prompts=True, completions=True
        )
        assert declared["resources"] == {"subscribe": True, "listChanged": True}
        assert (declared["prompts"], declared["completions"]) == ({"listChanged": True}, {})

    def test_list_is_declared_only_where_requestors_are_known(self) -> None:  # T-05, T-88
        assert server_capabilities(LATEST, tasks_list=True)["tasks"]["list"] == {}

    @pytest.mark.parametrize("version", ["2025-06-18", "2025-03-26"])
    def test_older_revisions_know_no_tasks(self, version: str) -> None:  # T-26
        assert server_capabilities(REVISIONS[version], tasks_list=True) == {
            "logging": {},
            "tools": {"listChanged": True},
        }

    def test_least(self) -> None:
        rendered = render_initialize(revision=LATEST, capabilities={}, name="acme", version="1.0")
        assert json.loads(rendered) == {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "serverInfo": {"name": "acme", "version": "1.0"},
        }

    def test_most(self) -> None:
        rendered = render_initialize(
            revision=LATEST,
            capabilities=server_capabilities(LATEST, tasks_list=True),
            name="acme",
            version="1.0",
            title="Acme",
            icons=[{"src": "https://acme.example/i"}],
            website_url="https://acme.example",
            instructions="Call greet first.",
        )
        result = types.InitializeResult.model_validate_json(rendered)
        assert (result.serverInfo.title, result.instructions) == ("Acme", "Call greet first.")
        assert (result.serverInfo.icons or [])[0].src == "https://acme.example/i"
        assert result.serverInfo.websiteUrl == "https://acme.example"
        assert result.capabilities.tasks is not None
        assert result.capabilities.tasks.list is not None

    @pytest.mark.parametrize(("version", "titled"), [("2025-06-18", True), ("2025-03-26", False)])
    def test_older_revisions(self, version: str, titled: bool) -> None:
        info: dict[str, Any] = {"name": "acme", "version": "1", "title": "Acme"}
        more: dict[str, Any] = {"icons": [{"src": "https://acme.example/i"}], "website_url": "https://acme.example"}
        result = json.loads(render_initialize(revision=REVISIONS[version], capabilities={}, **info, **more))
        assert result["protocolVersion"] == version
        assert result["serverInfo"] == (info if titled else without(info, "title"))


class TestTask:
    def test_members(self) -> None:  # T-41, T-42, T-44, X-14
        assert render_task(TASK) == RENDERED

    @pytest.mark.parametrize("status", STATUSES)
    def test_status_message(self, status: Status) -> None:  # T-106
        rendered = render_task(replace(TASK, status=status, status_message="page 3"))
        assert rendered == RENDERED | {"status": status, "statusMessage": "page 3"}

    def test_flat(self) -> None:  # T-58
        rendered = render_flat_task(TASK)
        assert json.loads(rendered) == RENDERED
        types.GetTaskResult.model_validate_json(rendered)
        types.CancelTaskResult.model_validate_json(rendered)

    def test_created(self) -> None:  # T-14, X-16
        rendered = render_created(TASK, None)
        assert json.loads(rendered) == {"task": RENDERED, "_meta": RELATED}
        types.CreateTaskResult.model_validate_json(rendered)

    def test_immediate_response(self) -> None:  # T-15
        rendered = json.loads(render_created(TASK, "The report is being made."))
        assert rendered["_meta"] == RELATED | {IMMEDIATE_RESPONSE: "The report is being made."}

    def test_list(self) -> None:  # T-58, T-64
        other = replace(TASK, id=ID[:-1] + "0", status="completed")
        rendered = render_task_list([TASK, other], "next")
        assert json.loads(rendered) == {"tasks": [RENDERED, render_task(other)], "nextCursor": "next"}
        types.ListTasksResult.model_validate_json(rendered)

    def test_last_page(self) -> None:
        assert json.loads(render_task_list(iter([]), None)) == {"tasks": []}

    @settings(deadline=None)
    @given(st.integers(0, 4_102_444_800_000))
    def test_time(self, milliseconds: int) -> None:
        """Always the same 24 characters, and nothing lost."""
        rendered = render_time(milliseconds)
        assert (len(rendered), rendered[-1]) == (24, "Z")
        since = datetime.fromisoformat(rendered) - datetime.fromisoformat("1970-01-01T00:00:00Z")
        assert since == timedelta(milliseconds=milliseconds)


class TestRelatedTask:
    def test_result_without_meta(self) -> None:  # T-74
        assert splice_related_task(b'{"content":[]}', ID) == (
            b'{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"%b"}},"content":[]}' % ID.encode()
        )

    def test_result_with_meta(self) -> None:
        payload = Outcome.of_result({"content": [], "_meta": {"a": 1}}).payload
        assert splice_related_task(payload, ID) == (
            b'{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"%b"},"a":1},"content":[]}' % ID.encode()
        )

    @pytest.mark.parametrize("meta", [{}, {"a": 1}])
    def test_only_the_outermost_counts(self, meta: dict[str, Any]) -> None:
        result = {"_meta": meta, "content": [{"_meta": {"a": 1}}], "structuredContent": {"_meta": {}}}
        spliced = json.loads(splice_related_task(Outcome.of_result(result).payload, ID))
        assert spliced == result | {"_meta": meta | RELATED}

    @pytest.mark.parametrize("payload", [b"{}", b'{"_meta":{}}', b'{"_meta":null}', b'{"_meta":"x"}', b'{"_meta":[1]}'])
    def test_nothing_to_keep(self, payload: bytes) -> None:
        assert json.loads(splice_related_task(payload, ID)) == {"_meta": RELATED}

    def test_a_task_that_the_tool_names_is_overwritten(self) -> None:  # F9
        meta = {"a": 1, RELATED_TASK: {"taskId": "0-other"}}
        spliced = splice_related_task(Outcome.of_result({"_meta": meta, "content": []}).payload, ID)
        assert read_without_repeats(spliced) == {"_meta": {"a": 1} | RELATED, "content": []}

    @settings(deadline=None)
    @given(RESULTS)
    def test_equal_but_for_the_key(self, result: dict[str, Any]) -> None:  # T-52
        spliced = splice_related_task(Outcome.of_result(result).payload, ID)
        assert read_without_repeats(spliced) == result | {"_meta": result.get("_meta", {}) | RELATED}

    @settings(deadline=None)
    @given(RESULTS, st.text())
    def test_any_id(self, result: dict[str, Any], task_id: str) -> None:
        spliced = splice_related_task(Outcome.of_result(result).payload, task_id)
        assert orjson.loads(spliced)["_meta"][RELATED_TASK] == {"taskId": task_id}


def read_without_repeats(text: bytes) -> Any:
    """The value of ``text``, in which no object may have a member twice."""

    def build(members: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(members)) == len(members)
        return dict(members)

    return json.loads(text, object_pairs_hook=build)
