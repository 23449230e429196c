from typing import Any

import pytest

from receiver.protocol.client_task import (
    DEFAULT_POLL_INTERVAL,
    SHORTEST_POLL_INTERVAL,
    ClientTask,
    read_client_task,
    read_created_task,
)
from receiver.protocol.errors import InvalidAnswer

TASK: dict[str, Any] = {"taskId": "t-1", "status": "working", "ttl": 60000, "pollInterval": 5000, "createdAt": "now"}


def test_a_task_is_read() -> None:
    assert read_client_task(TASK) == ClientTask("t-1", "working", 60000, 5000)
    assert read_created_task({"task": TASK, "_meta": {}}) == ClientTask("t-1", "working", 60000, 5000)


@pytest.mark.parametrize("result", [None, [], "task", {}, {"action": "accept"}, {"task": None}])
def test_a_result_without_a_task_is_of_another_kind(result: Any) -> None:  # T-26
    assert read_created_task(result) is None


@pytest.mark.parametrize(
    ("interval", "read"),
    [
        (None, DEFAULT_POLL_INTERVAL),
        (0, SHORTEST_POLL_INTERVAL),
        (SHORTEST_POLL_INTERVAL - 1, SHORTEST_POLL_INTERVAL),
        (1000.5, 1001),
        (86_400_000, 86_400_000),
    ],
)
def test_it_is_never_polled_more_often_than_it_asks(interval: Any, read: int) -> None:  # T-18
    assert read_client_task(TASK | {"pollInterval": interval}).poll_interval == read
    if interval is None:
        assert read_client_task({"taskId": "t", "status": "working"}).poll_interval == read


def test_a_task_without_end() -> None:
    assert read_client_task(TASK | {"ttl": None}).ttl is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"taskId": None},
        {"taskId": ""},
        {"taskId": 1},
        {"status": "done"},
        {"status": None},
        {"status": ["working"]},
        {"ttl": "60000"},
        {"ttl": -1},
        {"ttl": True},
        {"ttl": float("inf")},
        {"ttl": 2**53},
        {"pollInterval": "often"},
        {"pollInterval": -1},
        {"pollInterval": {}},
    ],
)
def test_what_is_no_task(wrong: dict[str, Any]) -> None:  # E-06
    with pytest.raises(InvalidAnswer):
        read_client_task(TASK | wrong)
    with pytest.raises(InvalidAnswer):
        read_created_task({"task": TASK | wrong})


@pytest.mark.parametrize("task", [None, [], "t-1", 1])
def test_what_is_no_object(task: Any) -> None:
    with pytest.raises(InvalidAnswer, match="must be an object"):
        read_client_task(task)
