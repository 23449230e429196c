from pathlib import Path

import pytest

from tests.jsonlines import read_lines


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        (b"", []),
        (b'{"n": 1}\n', [1]),
        (b'{"n": 1}\n{"n": 2', [1]),
        (b'{"n": 1}\n{"n": 2}', [1]),
        (b'{"n": 1}\n{"n{"n": 3}\n{"n": 4}\n', [1, 4]),
    ],
)
def test_only_whole_lines_are_read(tmp_path: Path, written: bytes, numbers: list[int]) -> None:
    (tmp_path / "lines").write_bytes(written)
    assert [line["n"] for line in read_lines(tmp_path / "lines")] == numbers


def test_a_file_that_is_not_there_has_no_lines(tmp_path: Path) -> None:
    assert read_lines(tmp_path / "lines") == []
