import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from receiver.protocol.task_id import is_task_id, new_task_id

HEX = "0123456789abcdef" * 2


def test_shape() -> None:  # T-28, T-87
    assert re.fullmatch(r"0-[0-9a-f]{32}", new_task_id())


@pytest.mark.parametrize("shard", ["0", "a7", "z99"])
def test_shard_comes_first(shard: str) -> None:
    made = new_task_id(shard)
    assert made.startswith(f"{shard}-")
    assert is_task_id(made)


def test_ids_are_unique() -> None:  # T-30
    assert len({new_task_id() for _ in range(10_000)}) == 10_000


def test_each_bit_is_random() -> None:  # T-87, F1
    """Of 4,096 fair bits, 2,048 are set, give or take 32; 256 is eight times that."""
    drawn = [int(new_task_id()[2:], 16) for _ in range(4096)]
    for bit in range(128):
        assert abs(sum(value >> bit & 1 for value in drawn) - 2048) < 256


@pytest.mark.parametrize(
    "value",
    [
        "",
        "0-",
        HEX,
        f"-{HEX}",
        f"abcd-{HEX}",
        f"A-{HEX}",
        f"0-{HEX[:-1]}",
        f"0-{HEX}0",
        f"0-{HEX[:-1]}G",
        f"0-{HEX.upper()}",
        f"0-{HEX}\n",
        f" 0-{HEX}",
        f"0-{HEX[:-1]}\u0661",  # a digit, but not of ASCII
        f"\u0661-{HEX}",
        f"0-{HEX}".encode(),
        None,
        0,
        True,
        [f"0-{HEX}"],
        {"taskId": f"0-{HEX}"},
    ],
)
def test_anything_else_is_none(value: Any) -> None:  # T-76
    assert not is_task_id(value)


@settings(deadline=None)
@given(st.from_regex(r"[a-z0-9]{1,3}-[0-9a-f]{32}", fullmatch=True))
def test_every_text_of_that_shape_is_one(text: str) -> None:
    assert is_task_id(text)
