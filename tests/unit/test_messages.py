import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import types

from receiver.protocol.handshake import RELATED_TASK, render_task
from receiver.protocol.lifecycle import STATUSES, Status
from receiver.protocol.loglevel import LOG_LEVELS, LogLevel
from receiver.protocol.messages import (
    render_cancelled,
    render_elicitation_complete,
    render_form_elicitation,
    render_list_changed,
    render_log,
    render_progress,
    render_resource_updated,
    render_sampling,
    render_status,
    render_task_request,
    render_url_elicitation,
)
from receiver.protocol.task import Task

ID = "0-" + "0123456789abcdef" * 2
TASK = Task(ID, "working", None, 1_764_066_600_000, 1_764_067_200_042, 60_000, 1000)
RELATED = {"_meta": {RELATED_TASK: {"taskId": ID}}}
SCHEMA = {"type": "object", "properties": {"template": {"type": "string"}}, "required": ["template"]}
SAMPLING = {"messages": [{"role": "user", "content": {"type": "text", "text": "Hello"}}], "maxTokens": 10}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def read_notification(message: bytes) -> tuple[str, dict[str, Any]]:
    """Method and params of a notification, which has to be one by the client's own models."""
    frame = json.loads(message)
    assert frame.keys() == {"jsonrpc", "method", "params"}
    assert frame["jsonrpc"] == "2.0"
    types.JSONRPCNotification.model_validate(frame)
    types.ServerNotification.model_validate({"method": frame["method"], "params": frame["params"]})
    return frame["method"], frame["params"]


def read_request(message: bytes, id: str | int) -> tuple[str, dict[str, Any]]:
    """Method and params of a request, likewise."""
    frame = json.loads(message)
    assert frame.keys() == {"jsonrpc", "id", "method", "params"}
    assert (frame["jsonrpc"], frame["id"], type(frame["id"])) == ("2.0", id, type(id))
    types.JSONRPCRequest.model_validate(frame)
    types.ServerRequest.model_validate({"method": frame["method"], "params": frame["params"]})
    return frame["method"], frame["params"]


class TestProgress:
    def test_of_a_task(self) -> None:  # T-53, T-60
        method, params = read_notification(render_progress("token", 3, 10, "page 3", ID))
        assert method == "notifications/progress"
        assert params == {"progressToken": "token", "progress": 3, "total": 10, "message": "page 3"} | RELATED

    def test_of_a_plain_call(self) -> None:
        _, params = read_notification(render_progress("token", 0.5, None, None, None))
        assert params == {"progressToken": "token", "progress": 0.5}

    @pytest.mark.parametrize("token", [0, 1, -1, 2**53, "", "0", "é"])
    def test_the_token_keeps_its_type(self, token: str | int) -> None:  # L-08
        _, params = read_notification(render_progress(token, 0, 0, "", None))
        assert (params["progressToken"], type(params["progressToken"])) == (token, type(token))
        assert (params["progress"], params["total"], params["message"]) == (0, 0, "")


class TestLog:
    @pytest.mark.parametrize("level", LOG_LEVELS)
    def test_of_a_task(self, level: LogLevel) -> None:  # T-53, L-09
        method, params = read_notification(render_log(level, "render", {"page": 3}, ID))
        assert method == "notifications/message"
        assert params == {"level": level, "logger": "render", "data": {"page": 3}} | RELATED

    @given(JSON)
    def test_any_data(self, data: Any) -> None:
        _, params = read_notification(render_log("info", None, data, None))
        assert params == {"level": "info", "data": data}

    def test_what_is_no_json(self) -> None:
        with pytest.raises(TypeError):
            render_log("info", None, {1, 2}, None)


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("message", [None, "page 3"])
def test_status_is_the_whole_task_and_names_no_other(status: Status, message: str | None) -> None:  # T-23, T-59
    task = replace(TASK, status=status, status_message=message)
    assert read_notification(render_status(task)) == ("notifications/tasks/status", render_task(task))


class TestElicitation:
    @pytest.mark.parametrize("id", ["q-1", 7])
    def test_form_of_a_task(self, id: str | int) -> None:  # T-38, T-54
        method, params = read_request(render_form_elicitation(id, "Which template?", SCHEMA, ID), id)
        assert method == "elicitation/create"
        assert params == {"message": "Which template?", "requestedSchema": SCHEMA} | RELATED

    def test_form_of_a_plain_call(self) -> None:
        _, params = read_request(render_form_elicitation("q", "Which?", SCHEMA, None), "q")
        assert params == {"message": "Which?", "requestedSchema": SCHEMA}

    def test_url(self) -> None:  # E-02
        url = "https://acme.example/keys"
        method, params = read_request(render_url_elicitation("q", "Enter the key.", url, "e-1", ID), "q")
        assert method == "elicitation/create"
        assert params == {"mode": "url", "message": "Enter the key.", "url": url, "elicitationId": "e-1"} | RELATED
        assert isinstance(types.ElicitRequest.model_validate({"params": params}).params, types.ElicitRequestURLParams)

    def test_complete(self) -> None:  # E-04
        assert read_notification(render_elicitation_complete("e-1")) == (
            "notifications/elicitation/complete",
            {"elicitationId": "e-1"},
        )


class TestSampling:
    def test_of_a_task(self) -> None:  # T-38, T-53
        method, params = read_request(render_sampling("s", SAMPLING, ID), "s")
        assert (method, params) == ("sampling/createMessage", SAMPLING | RELATED)

    def test_of_a_plain_call(self) -> None:
        assert read_request(render_sampling("s", SAMPLING, None), "s")[1] == SAMPLING

    def test_meta_of_its_own_is_kept(self) -> None:  # T-53
        meta = {"acme.example/a": 1, RELATED_TASK: {"taskId": "another"}}
        given = SAMPLING | {"_meta": meta}
        _, params = read_request(render_sampling("s", given, ID), "s")
        assert params["_meta"] == {"acme.example/a": 1} | RELATED["_meta"]
        assert given["_meta"] is meta
        assert len(meta) == 2


class TestTasksOfClients:
    def test_a_request_may_ask_for_one(self) -> None:  # T-02, T-53
        task = {"task": {"ttl": 5000}}
        assert read_request(render_sampling("s", SAMPLING, ID, 5000), "s")[1] == SAMPLING | task | RELATED
        form = {"message": "Who?", "requestedSchema": SCHEMA}
        assert read_request(render_form_elicitation("s", "Who?", SCHEMA, None, 5000), "s")[1] == form | task
        _, link = read_request(render_url_elicitation("s", "Here", "https://a.example/", "e", ID, 1), "s")
        assert link["task"] == {"ttl": 1}

    @pytest.mark.parametrize("method", ["tasks/get", "tasks/result", "tasks/cancel"])
    def test_a_request_about_one_names_it_once(self, method: str) -> None:  # T-56
        assert read_request(render_task_request("s", method, "theirs"), "s") == (method, {"taskId": "theirs"})


class TestCancelled:
    @pytest.mark.parametrize("id", ["q-1", 0])
    def test_with_a_reason(self, id: str | int) -> None:
        assert read_notification(render_cancelled(id, "The task is over", ID)) == (
            "notifications/cancelled",
            {"requestId": id, "reason": "The task is over"} | RELATED,
        )

    def test_without(self) -> None:
        assert read_notification(render_cancelled("q", None, None))[1] == {"requestId": "q"}


def test_an_updated_resource() -> None:
    method, params = read_notification(render_resource_updated("test://a/b?c=d"))
    assert (method, params) == ("notifications/resources/updated", {"uri": "test://a/b?c=d"})


@pytest.mark.parametrize("kind", ["tools", "resources", "prompts"])
def test_a_changed_list(kind: str) -> None:
    frame = json.loads(render_list_changed(kind))
    assert frame == {"jsonrpc": "2.0", "method": f"notifications/{kind}/list_changed"}
    types.ServerNotification.model_validate({"method": frame["method"]})
