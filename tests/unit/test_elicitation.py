from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import types

from receiver.protocol.elicitation import Action, Elicited, check_answer, read_elicited
from receiver.protocol.errors import InvalidAnswer
from receiver.protocol.link import check_url

SCHEMA = {
    "type": "object",
    "properties": {
        "template": {"type": "string", "enum": ["plain", "fancy"]},
        "pages": {"type": "integer", "minimum": 1},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
    },
    "required": ["template"],
}
EMPTY: dict[str, Any] = {"type": "object", "properties": {}}
FILLED = {"template": "plain", "pages": 2, "tags": ["a"]}


class TestAnswer:
    @pytest.mark.parametrize("content", [FILLED, {"template": "fancy"}, {"template": "plain", "pages": 2.0}])
    def test_what_fits(self, content: Any) -> None:  # E-06
        check_answer(SCHEMA, content)

    def test_what_was_not_asked_passes(self) -> None:
        check_answer(SCHEMA, FILLED | {"more": {"nested": None}})

    @pytest.mark.parametrize(
        ("content", "fault"),
        [
            (None, "content: must be an object"),
            ([], "content: must be an object"),
            ("swordfish", "content: must be an object"),
            ({}, "template: required"),
            ({"Template": "plain"}, "template: required"),
            ({"template": "swordfish"}, "template: must be one of the choices"),
            ({"template": None}, "template: must be a text"),
            ({"template": "plain", "pages": 0}, "pages: must be at least 1"),
            ({"template": "plain", "pages": "2"}, "pages: must be a number"),
            ({"template": "plain", "pages": None}, "pages: must be a number"),
            ({"template": "plain", "tags": ["swordfish"]}, "tags: must hold none but the choices"),
        ],
    )
    def test_what_does_not(self, content: Any, fault: str) -> None:  # E-06
        with pytest.raises(InvalidAnswer) as refusal:
            check_answer(SCHEMA, content)
        assert str(refusal.value) == fault


class TestResult:
    def test_accepted(self) -> None:
        result = {"action": "accept", "content": FILLED}
        types.ElicitResult.model_validate(result)
        assert read_elicited(result, SCHEMA) == Elicited("accept", FILLED)

    @pytest.mark.parametrize("action", ["decline", "cancel"])
    @pytest.mark.parametrize("content", [{}, {"content": {"template": 1}}, {"content": None}, {"content": "x"}])
    def test_refused(self, action: Action, content: dict[str, Any]) -> None:
        assert read_elicited({"action": action, **content}, SCHEMA) == Elicited(action, None)

    @pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
    def test_a_link_has_no_content(self, action: str) -> None:  # E-02
        assert read_elicited({"action": action, "content": {"key": "swordfish"}}, None).content is None

    def test_nothing_but_what_was_asked_is_taken(self) -> None:
        given = FILLED | {"pages": None, "more": 1}
        types.ElicitResult.model_validate({"action": "accept", "content": given})  # the Python client may send null
        expected = {"template": "plain", "tags": ["a"]}
        assert read_elicited({"action": "accept", "content": given}, SCHEMA).content == expected

    def test_consent_needs_no_content(self) -> None:
        assert read_elicited({"action": "accept"}, EMPTY) == Elicited("accept", {})

    @pytest.mark.parametrize(
        ("result", "fault"),
        [
            (None, "action: must be one of accept, decline, cancel"),
            ([], "action: must be one of accept, decline, cancel"),
            ("accept", "action: must be one of accept, decline, cancel"),
            ({}, "action: must be one of accept, decline, cancel"),
            ({"action": "Accept"}, "action: must be one of accept, decline, cancel"),
            ({"action": ["accept"]}, "action: must be one of accept, decline, cancel"),
            ({"action": "accept"}, "template: required"),
            ({"action": "accept", "content": None}, "content: must be an object"),
            ({"action": "accept", "content": [FILLED]}, "content: must be an object"),
            ({"action": "accept", "content": {"template": None}}, "template: required"),
            ({"action": "accept", "content": {"template": "x"}}, "template: must be one of the choices"),
        ],
    )
    def test_what_is_no_answer(self, result: Any, fault: str) -> None:  # E-06
        with pytest.raises(InvalidAnswer) as refusal:
            read_elicited(result, SCHEMA)
        assert str(refusal.value) == fault

    @given(st.recursive(st.none() | st.text() | st.integers(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
    def test_anything(self, content: Any) -> None:
        for result in (content, {"action": "accept", "content": content}, {"action": content}):
            with pytest.raises(InvalidAnswer):
                read_elicited(result, SCHEMA)


class TestUrl:
    @pytest.mark.parametrize(
        "url",
        [
            "https://acme.example/keys?id=1#top",
            "HTTPS://acme.example",
            "http://localhost:8080/",
            "http://app.localhost/",
            "http://127.0.0.1/",
            "http://127.8.8.8/",
            "http://[::1]:1/",
        ],
    )
    def test_what_may_be_opened(self, url: str) -> None:  # E-02, E-07
        check_url(url)

    @pytest.mark.parametrize(
        ("url", "fault"),
        [
            ("", "a valid one"),
            ("acme.example", "a valid one"),
            ("https://acme.example/a b", "a valid one"),
            ("https://acme.example:port/", "a valid one"),
            ("https:///path", "one of https"),
            ("https:acme.example", "one of https"),
            ("ftp://acme.example/", "one of https"),
            ("javascript:alert(1)", "one of https"),
            ("file:///etc/passwd", "one of https"),
            ("http://acme.example/", "one of https, unless it leads to this machine"),
            ("http://localhost.acme.example/", "one of https, unless it leads to this machine"),
            ("http://10.0.0.1/", "one of https, unless it leads to this machine"),
            ("https://user:swordfish@acme.example/", "not hold credentials"),
            ("http://user@localhost/", "not hold credentials"),
        ],
    )
    def test_what_may_not(self, url: str, fault: str) -> None:  # E-02, E-07
        with pytest.raises(ValueError, match=f"^the url of an elicitation must (be )?{fault}$"):
            check_url(url)
