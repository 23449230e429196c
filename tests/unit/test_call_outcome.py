"""What ``receiver call`` prints of a result."""

from typing import Any

import pytest

from ops.calling.outcome import Outcome


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\nb"),
        ({"content": [{"type": "text", "text": '{"a":1}'}], "structuredContent": {"a": 1}}, '{\n  "a": 1\n}'),
        ({"content": [{"type": "text", "text": "one"}], "structuredContent": {"a": 1}}, 'one\n{\n  "a": 1\n}'),
        ({"content": [{"type": "image", "mimeType": "image/png", "data": "AAAA"}]}, "[image, image/png, 3 bytes]"),
        ({"content": [{"type": "resource_link", "name": "n", "uri": "u:v"}]}, "n: u:v"),
        ({"content": [{"type": "resource", "resource": {"uri": "u:v", "text": "t"}}]}, "t"),
        ({"content": [{"type": "resource", "resource": {"uri": "u:v", "blob": "AAAA"}}]}, "[u:v, 3 bytes]"),
        ({"content": [{"type": "text", "text": "\x1b[2J\u202e\ud800"}]}, "\\x1b[2J\\u202e\\ud800"),
        ({"structuredContent": {"a": "\x9b\x7f"}}, '{\n  "a": "\\x9b\\x7f"\n}'),
        ({"content": "none"}, ""),
        ({}, ""),
    ],
)
def test_a_result_for_people(result: dict[str, Any], text: str) -> None:
    assert Outcome("completed", None, result).to_text() == text


def test_an_error() -> None:
    outcome = Outcome("failed", "t", None, {"code": -32603, "message": "worker\x1b lost"})
    assert (outcome.code, outcome.to_text()) == (1, "worker\\x1b lost (-32603)")
    assert '"taskId": "t"' in outcome.to_json()
