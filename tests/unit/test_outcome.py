import json
from typing import Any

import pytest

from receiver.protocol.errors import ReceiverError
from receiver.protocol.outcome import DIAGNOSIS_LENGTH, Outcome, one_line


def text(content: str) -> dict[str, Any]:
    return {"type": "text", "text": content}


class TestResults:
    def test_success(self) -> None:
        result = {"content": [text("done")], "isError": False, "structuredContent": {"n": 1}}
        outcome = Outcome.of_result(result)
        assert (outcome.kind, outcome.status, outcome.diagnosis) == ("result", "completed", None)
        assert json.loads(outcome.payload) == result

    def test_is_error_counts_as_failed(self) -> None:  # T-75, X-3
        outcome = Outcome.of_result({"content": [text("no disk")], "isError": True})
        assert (outcome.kind, outcome.status, outcome.diagnosis) == ("result", "failed", "no disk")
        assert json.loads(outcome.payload)["isError"] is True

    def test_diagnosis_is_the_first_text(self) -> None:  # T-82
        content = [{"type": "image", "data": "", "mimeType": "image/png"}, text(" \n"), text("full\n disk"), text("b")]
        assert Outcome.of_result({"content": content, "isError": True}).diagnosis == "full disk"

    @pytest.mark.parametrize("result", [{"isError": True}, {"content": [], "isError": True}])
    def test_no_text_no_diagnosis(self, result: dict[str, Any]) -> None:
        assert Outcome.of_result(result).diagnosis is None

    def test_meta_is_encoded_first(self) -> None:
        outcome = Outcome.of_result({"content": [], "_meta": {"a": 1}})
        assert outcome.payload == b'{"_meta":{"a":1},"content":[]}'

    def test_an_empty_meta_is_left_out(self) -> None:
        assert Outcome.of_result({"content": [], "_meta": {}}).payload == b'{"content":[]}'

    def test_the_result_is_left_as_it_was(self) -> None:
        result = {"content": [], "_meta": {"a": 1}}
        Outcome.of_result(result)
        assert list(result) == ["content", "_meta"]

    def test_a_value_without_a_json_form(self) -> None:
        with pytest.raises(TypeError):
            Outcome.of_result({"structuredContent": {1, 2}})


class TestErrors:
    def test_error(self) -> None:  # T-83
        error = ReceiverError("no such\nquarter", code=7, data={"quarter": "Q5"})
        outcome = Outcome.of_error(error)
        assert (outcome.kind, outcome.status, outcome.diagnosis) == ("error", "failed", "no such quarter")
        assert json.loads(outcome.payload) == {"code": 7, "message": "no such\nquarter", "data": {"quarter": "Q5"}}


class TestOneLine:
    @pytest.mark.parametrize("length", [0, 1, DIAGNOSIS_LENGTH])
    def test_what_fits_is_kept(self, length: int) -> None:
        assert one_line("x" * length) == "x" * length

    def test_what_does_not_fit_is_cut(self) -> None:  # T-82
        line = one_line("x" * (DIAGNOSIS_LENGTH + 1))
        assert line == "x" * (DIAGNOSIS_LENGTH - 1) + "…"

    def test_white_space_becomes_one_space(self) -> None:
        assert one_line("  a\r\n\tb\u2028c  ") == "a b c"
