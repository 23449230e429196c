from typing import Any, get_args

import pytest
from mcp import types

from receiver.protocol.errors import InvalidParams
from receiver.protocol.loglevel import LOG_LEVELS, LogLevel, rank_of, read_level


def test_the_levels_are_those_of_the_protocol_in_order() -> None:  # L-09
    assert LOG_LEVELS == ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
    assert set(LOG_LEVELS) == set(get_args(types.LoggingLevel))


def test_the_more_severe_ranks_higher() -> None:  # L-09
    assert sorted(LOG_LEVELS, key=rank_of) == list(LOG_LEVELS)
    assert rank_of("info") == 1  # what report.lua takes where a client said nothing


@pytest.mark.parametrize("level", LOG_LEVELS)
def test_a_level_is_read(level: LogLevel) -> None:
    assert read_level(level) == level


@pytest.mark.parametrize("level", [None, "", "Debug", "warn", "trace", 3, True, ["info"], {}])
def test_anything_else_is_refused(level: Any) -> None:  # L-09
    with pytest.raises(InvalidParams, match=r"^params\.level must be one of debug, .*, emergency$") as refusal:
        read_level(level)
    assert refusal.value.code == -32602
