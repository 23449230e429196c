import os
import socket

import pytest

from receiver.protocol.errors import StartupError
from receiver.settings import Settings
from receiver.store.nodes import new_process_id
from tests.workers.house import House
from workers.equipment import Equipment
from workers.queues import Queues


def test_no_two_workers_have_the_same_name() -> None:
    names = {new_process_id() for _ in range(100)}
    assert len(names) == 100
    assert all(name.startswith(f"{socket.gethostname()}:{os.getpid()}:") for name in names)


async def test_operators_are_told_what_a_worker_is() -> None:
    kit = Equipment.connect(Settings(redis_url="unix:///nowhere"))
    described = kit.describe(House().app, Queues({"plain": None, "default:scan": 2}), 10)
    assert described | {"version": ""} == {
        "host": socket.gethostname(),
        "pid": str(os.getpid()),
        "version": "",
        "app": "house",
        "queues": "plain default:scan",
        "slots": 10,
    }


def test_without_a_url_or_with_a_bad_one_there_is_none() -> None:
    with pytest.raises(StartupError, match="no Redis given"):
        Equipment.connect(Settings(redis_url=None))
    with pytest.raises(StartupError, match="RECEIVER_REDIS_URL is not the URL of a Redis"):
        Equipment.connect(Settings(redis_url="nowhere"))
