import inspect
import json
from typing import Any

import orjson
import pytest

from receiver.protocol import errors
from receiver.protocol.errors import (
    InternalError,
    InvalidArguments,
    InvalidCursor,
    InvalidParams,
    InvalidRequest,
    MethodNotFound,
    ParseError,
    ReceiverError,
    Refused,
    Retry,
    TaskAlreadyFinished,
    TaskExpired,
    TaskNotFound,
    TaskWasCancelled,
    Unavailable,
    UrlElicitationRequired,
    WorkerLost,
)

WIRE: list[tuple[ReceiverError, dict[str, Any]]] = [
    (ReceiverError(), {"code": -32603, "message": "Internal error"}),
    (ParseError(), {"code": -32700, "message": "Parse error"}),
    (InvalidRequest(), {"code": -32600, "message": "Invalid request"}),
    (MethodNotFound(), {"code": -32601, "message": "Method not found"}),
    (InvalidParams(), {"code": -32602, "message": "Invalid params"}),
    (InvalidArguments("pages: not an integer"), {"code": -32602, "message": "pages: not an integer"}),
    (InvalidCursor(), {"code": -32602, "message": "Invalid cursor"}),  # T-77
    (TaskNotFound(), {"code": -32602, "message": "Task not found"}),  # T-76
    (TaskExpired(), {"code": -32602, "message": "Task has expired"}),
    (TaskAlreadyFinished("failed"), {"code": -32602, "message": "Task is already failed"}),  # T-67
    (
        TaskWasCancelled("0-1"),
        {"code": -32602, "message": "Task was cancelled", "data": {"taskId": "0-1", "status": "cancelled"}},
    ),
    (InternalError(), {"code": -32603, "message": "Internal error"}),  # T-79
    (
        Unavailable(250),
        {
            "code": -32603,
            "message": "The task store is unavailable; try again later",
            "data": {"reason": "unavailable", "retryAfterMs": 250},
        },
    ),
    (
        Refused("task_limit", "Too many tasks", retry_after_ms=7),
        {"code": -32603, "message": "Too many tasks", "data": {"reason": "task_limit", "retryAfterMs": 7}},
    ),
    (
        WorkerLost(1),
        {"code": -32603, "message": "The worker was lost once", "data": {"reason": "worker_lost", "attempts": 1}},
    ),
    (
        WorkerLost(3),
        {"code": -32603, "message": "The worker was lost 3 times", "data": {"reason": "worker_lost", "attempts": 3}},
    ),
]


@pytest.mark.parametrize(("error", "expected"), WIRE, ids=lambda value: type(value).__name__)
def test_wire(error: ReceiverError, expected: dict[str, Any]) -> None:
    assert json.loads(orjson.dumps(error.to_json())) == expected
    assert str(error) == expected["message"]


@pytest.mark.parametrize("error", [error for error, _ in WIRE], ids=lambda error: type(error).__name__)
def test_only_what_is_no_request_has_a_status_of_its_own(error: ReceiverError) -> None:
    assert error.http_status == (400 if isinstance(error, ParseError | InvalidRequest) else 200)


def test_an_author_chooses_code_message_and_data() -> None:  # T-83
    error = ReceiverError("no such quarter", code=-32042, data=[1])
    assert error.to_json() == {"code": -32042, "message": "no such quarter", "data": [1]}


@pytest.mark.parametrize("code", [0, 5])
def test_any_integer_is_a_code(code: int) -> None:
    assert ReceiverError(code=code).code == code


@pytest.mark.parametrize("data", [0, "", [], False])
def test_data_may_be_falsy(data: Any) -> None:
    assert ReceiverError(data=data).to_json()["data"] == data


@pytest.mark.parametrize("code", [True, 1.0, "-32603"])
def test_a_code_is_an_integer(code: Any) -> None:  # L-05
    with pytest.raises(TypeError):
        ReceiverError(code=code)


@pytest.mark.parametrize("after", [0, 0.5, 3600])
def test_retry(after: float) -> None:
    assert Retry(after).after == after


@pytest.mark.parametrize("after", [-1, float("nan"), float("inf")])
def test_retry_needs_a_time_that_comes(after: float) -> None:
    with pytest.raises(ValueError, match="zero or more"):
        Retry(after)


def test_every_exception_is_exported_and_drawn() -> None:
    defined = {name for name, value in vars(errors).items() if inspect.isclass(value) and issubclass(value, Exception)}
    assert errors.__all__ == sorted(defined)
    assert errors.__doc__ is not None
    assert all(f" {name} " in errors.__doc__ for name in defined)


class TestUrlElicitationRequired:
    def test_what_the_client_is_told(self) -> None:  # E-03
        error = UrlElicitationRequired({"https://a.example/": "Sign in.", "https://b.example/": "Pay."})
        first, second = error.to_json()["data"]["elicitations"]
        assert first.pop("elicitationId") != second.pop("elicitationId")
        assert first == {"mode": "url", "url": "https://a.example/", "message": "Sign in."}
        assert (error.code, error.message) == (-32042, "The user has to open a link before this can be done")
        assert UrlElicitationRequired({"https://a.example/": ""}, "First sign in.").message == "First sign in."

    @pytest.mark.parametrize("links", [{}, {"http://a.example/": "Sign in."}, {"x": ""}])
    def test_links_that_nobody_should_open(self, links: dict[str, str]) -> None:  # E-07
        with pytest.raises(ValueError, match=r"link|url"):
            UrlElicitationRequired(links)
