import pytest

from receiver import Isolation


@pytest.mark.parametrize(
    ("memory", "count"),
    [(None, None), (1, 1), ("1KiB", 1024), ("64 MiB", 64 * 2**20), ("1.5GiB", 3 * 2**29)],
)
def test_memory_is_bytes_or_text(memory: int | str | None, count: int | None) -> None:
    assert Isolation(memory).memory_bytes == count


@pytest.mark.parametrize(
    ("memory", "error", "text"),
    [
        ("64MB", ValueError, "'64MB' is not an amount of memory; write it like 64MiB or 1.5GiB"),
        ("-1MiB", ValueError, "is not an amount of memory"),
        ("0KiB", ValueError, "memory is a byte or more, not '0KiB'"),
        (0, ValueError, "memory is a byte or more, not 0"),
        (True, TypeError, "memory is a number of bytes or a string, not True"),
        (1.5, TypeError, "memory is a number of bytes or a string, not 1.5"),
    ],
)
def test_what_is_no_amount_of_memory_is_refused(memory: int | str, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Isolation(memory)
