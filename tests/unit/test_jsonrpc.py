import gc
import json
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from receiver.protocol.errors import InvalidParams, InvalidRequest, ParseError, ReceiverError
from receiver.protocol.jsonrpc import (
    DEPTH_LIMIT,
    Notification,
    Request,
    RequestId,
    Response,
    frame_error,
    frame_error_bytes,
    frame_result,
    parse,
)

AWKWARD = st.text(alphabet='[]{}"\\,:aé\n', max_size=8)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | AWKWARD
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(AWKWARD, inner, max_size=4), max_leaves=12
)
FRAMES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | VALUES,
        "id": VALUES,
        "method": st.just("ping") | VALUES,
        "params": VALUES,
        "result": VALUES,
        "error": VALUES,
    },
)

# JSON texts as a hostile hand would write them: names repeated, some in disguise, and colons of every kind.
STRINGS = st.lists(
    st.sampled_from(
        [":", r"\u003a", r"\u003A", r"\\", r"\"", "u003a", "a", r"\u0061", "é", r"\n", r"\ud83d\ude00", "{"]
    ),
    max_size=4,
).map(lambda parts: '"' + "".join(parts) + '"')
SPACES = st.sampled_from(["", "", " ", "\n\t"])
MEMBERS = st.tuples(STRINGS | st.sampled_from(['"a"', r'"\u0061"']), SPACES, SPACES)


def write_object(members: list[tuple[tuple[str, str, str], str]]) -> str:
    return "{" + ",".join(f"{name}{before}:{after}{value}" for (name, before, after), value in members) + "}"


TEXTS = st.recursive(
    STRINGS | st.sampled_from(["0", "-1.5e3", "true", "null", "[]", "{ }"]),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: "[" + ", ".join(items) + "]")
        | st.lists(st.tuples(MEMBERS, inner), max_size=4).map(write_object)
    ),
    max_leaves=10,
)


def repeat(unit: str) -> Callable[[int], bytes]:
    return lambda size: f'{{"a":[{",".join([unit] * (size // (len(unit) + 1)))}]}}'.encode()


def name_many(size: int) -> bytes:
    return b'{"a":{%b}}' % b",".join(b'"%06x":0' % number for number in range(size // 11))


HOSTILE = [
    *map(
        repeat,
        ["[]", "{}", '""', '"::"', r'"\u003a"', r'"\\"', r'"\"["', '"[{"', "1e15", "0", '{"":0}', "NaN", r'"\ud800"'],
    ),
    *map(repeat, ['{"b":0,"b":0}', "[" * 200 + "]" * 200, "[" * 2000, "9" * 1000, '"' + "{" * 1000 + '"']),
    name_many,
]


class Repeated(Exception):
    """An object has two members of the same name."""


def build_without_repeats(members: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(members)) < len(members):
        raise Repeated
    return dict(members)


def parse_anyhow(body: bytes) -> None:
    try:
        parse(body)
    except ReceiverError:
        return


def count_calls(body: bytes) -> int:
    """How many functions parse calls, those written in C among them."""
    calls = 0

    def count(frame: object, event: str, function: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    gc.disable()  # hypothesis counts collections, in a function of its own
    sys.setprofile(count)
    try:
        parse_anyhow(body)
    finally:
        sys.setprofile(None)
        gc.enable()
    return calls


def trace(body: bytes) -> tuple[int, int]:
    """How many bytes parse takes at most, and how many it keeps."""
    tracemalloc.start()
    try:
        parse_anyhow(body)
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak, kept


def encode(**members: Any) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", **members})


def parse_request(body: bytes) -> Request:
    message = parse(body)
    assert isinstance(message, Request)
    return message


def measure(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(measure, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(measure, value), default=0)
    return 0


def nest(value: Any, layers: str) -> Any:
    for layer in layers:
        value = [value] if layer == "[" else {"x": value}
    return value


class TestRequests:
    def test_request(self) -> None:
        body = encode(id=1, method="tools/call", params={"name": "greet"})
        assert parse(body) == Request(1, "tools/call", {"name": "greet"})

    def test_missing_params_are_empty(self) -> None:
        assert parse(encode(id="a", method="ping")) == Request("a", "ping", {})

    @pytest.mark.parametrize("params", [None, True, 5, 1.5, "x", [], [1]])
    def test_params_that_are_no_object_are_left_to_the_dispatcher(self, params: Any) -> None:
        assert parse(encode(id=1, method="ping", params=params)) == Request(1, "ping", None)

    def test_requests_share_no_params(self) -> None:
        first, second = (parse_request(encode(id=1, method="ping")).params for _ in range(2))
        assert first is not second

    @pytest.mark.parametrize("method", [None, True, 1, ["ping"], {}])
    def test_method_must_be_a_string(self, method: Any) -> None:
        with pytest.raises(InvalidRequest):
            parse(encode(id=1, method=method))

    @pytest.mark.parametrize("version", [None, "1.0", "2", 2.0, 2, ["2.0"]])
    def test_version_must_be_2_0(self, version: Any) -> None:
        with pytest.raises(InvalidRequest):
            parse(orjson.dumps({"jsonrpc": version, "id": 1, "method": "ping"}))

    def test_version_must_be_there(self) -> None:
        with pytest.raises(InvalidRequest):
            parse(b'{"id":1,"method":"ping"}')

    def test_names_are_exact(self) -> None:  # F14
        with pytest.raises(InvalidRequest):
            parse(b'{"jsonrpc":"2.0","id":1,"Method":"ping"}')

    @pytest.mark.parametrize("body", [b"[]", b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', b"1", b'"x"', b"null"])
    def test_anything_but_one_object_is_no_request(self, body: bytes) -> None:  # H-05
        with pytest.raises(InvalidRequest) as refusal:
            parse(body)
        assert refusal.value.http_status == 400


class TestIds:
    @pytest.mark.parametrize("id", ["", "1", "é\u0000", 0, -1, -(2**63), 2**63, 2**64 - 1])
    def test_ids_are_echoed_exactly(self, id: RequestId) -> None:  # L-05
        request = parse_request(encode(id=id, method="ping"))
        echoed = json.loads(frame_result(request.id, b"{}"))["id"]
        assert (echoed, type(echoed)) == (id, type(id))

    @pytest.mark.parametrize("id", ["null", "true", "false", "1.0", "1.5", "1e3", "[1]", "{}"])
    def test_other_ids_are_refused(self, id: str) -> None:  # L-05
        with pytest.raises(InvalidRequest):
            parse(f'{{"jsonrpc":"2.0","id":{id},"method":"ping"}}'.encode())

    @pytest.mark.parametrize("id", [2**64, -(2**63) - 1, 10**30])
    def test_integers_beyond_64_bits_are_refused_and_not_rounded(self, id: int) -> None:
        with pytest.raises(InvalidRequest):
            parse(f'{{"jsonrpc":"2.0","id":{id},"method":"ping"}}'.encode())


class TestNotifications:
    def test_notification(self) -> None:
        body = encode(method="notifications/cancelled", params={"requestId": 1})
        assert parse(body) == Notification("notifications/cancelled", {"requestId": 1})

    @pytest.mark.parametrize("rest", [{}, {"params": {}}, {"params": [1]}, {"params": None}, {"params": "x"}])
    def test_malformed_ones_are_accepted(self, rest: dict[str, Any]) -> None:  # H-07
        assert parse(encode(method="notifications/initialized", **rest)) == Notification(
            "notifications/initialized", {}
        )


class TestResponses:
    @pytest.mark.parametrize("result", [{"action": "accept"}, None, [], 1])
    def test_result(self, result: Any) -> None:
        assert parse(encode(id="r1", result=result)) == Response("r1", result, None)

    @pytest.mark.parametrize("error", [{"code": -1, "message": "no"}, None, "no"])
    def test_error(self, error: Any) -> None:
        assert parse(encode(id="r1", error=error)) == Response("r1", None, error)

    @pytest.mark.parametrize("members", [{}, {"result": {}, "error": {}}, {"result": {}, "error": None}])
    def test_exactly_one_of_both(self, members: dict[str, Any]) -> None:
        with pytest.raises(InvalidRequest):
            parse(encode(id="r1", **members))

    @pytest.mark.parametrize("members", [{"error": {}}, {"id": None, "result": {}}, {"id": 1.5, "result": {}}])
    def test_id_must_be_readable(self, members: dict[str, Any]) -> None:
        with pytest.raises(InvalidRequest):
            parse(encode(**members))


class TestUnreadableBodies:
    @pytest.mark.parametrize(
        "body",
        [
            pytest.param(b"", id="empty"),
            pytest.param(b"{", id="cut off"),
            pytest.param(b"{}{}", id="two values"),
            pytest.param(b"{}\x00", id="trailing NUL"),
            pytest.param(b"{'a':1}", id="single quotes"),
            pytest.param(b'{"a":1,}', id="trailing comma"),
            pytest.param(b'{"a":NaN}', id="NaN"),
            pytest.param(b'{"a":-Infinity}', id="Infinity"),
            pytest.param(b'{"a":1e999}', id="beyond a double"),
            pytest.param(b'{"a":' + b"9" * 400 + b"}", id="integer beyond a double"),
            pytest.param(b'{"a":01}', id="leading zero"),
            pytest.param(b'{"a":"\xff"}', id="invalid UTF-8"),
            pytest.param(b'{"a":"\xed\xa0\x80"}', id="surrogate as UTF-8"),
            pytest.param(b'{"a":"\\ud800"}', id="lone surrogate"),
            pytest.param(b'{"\\uDFFF":1}', id="lone surrogate in a name"),
            pytest.param(b'{"a":"\\udc00\\ud800"}', id="surrogates in the wrong order"),
            pytest.param(b'{"a":"\\x"}', id="unknown escape"),
            pytest.param(b'{"a":"\x01"}', id="control character"),
            pytest.param(b"\xef\xbb\xbf{}", id="byte order mark"),
            pytest.param('{"a":1}'.encode("utf-16"), id="UTF-16"),
            pytest.param(b"[" * 100_000 + b"]" * 100_000, id="nested beyond the parser"),
        ],
    )
    def test_unreadable(self, body: bytes) -> None:  # F16
        with pytest.raises(ParseError) as refusal:
            parse(body)
        assert refusal.value.code == -32700
        assert refusal.value.http_status == 400

    def test_refusal_says_where(self) -> None:  # T-81
        with pytest.raises(ParseError, match=r"^Parse error: .*line 1 column 6"):
            parse(b'{"a":}')


class TestDepth:
    @pytest.mark.parametrize("layer", "[{")
    def test_the_limit_is_still_read(self, layer: str) -> None:
        layers = layer * (DEPTH_LIMIT - 2)
        assert parse_request(encode(id=1, method="x", params={"a": nest(1, layers), "b": []})).params is not None

    @pytest.mark.parametrize("layer", "[{")
    def test_one_level_more_is_refused(self, layer: str) -> None:  # F16
        layers = layer * (DEPTH_LIMIT - 1)
        with pytest.raises(ParseError, match="128 levels"):
            parse(encode(id=1, method="x", params={"a": nest(1, layers)}))

    def test_brackets_in_strings_do_not_count(self) -> None:
        text = '[{"\\' * DEPTH_LIMIT
        assert parse_request(encode(id=1, method="x", params={text: text})).params == {text: text}
        with pytest.raises(InvalidRequest):
            parse(orjson.dumps(text))

    def test_wide_is_not_deep(self) -> None:
        params: dict[str, Any] = {"rows": [[{}, []]] * DEPTH_LIMIT}
        assert parse_request(encode(id=1, method="x", params=params)).params == params

    @settings(deadline=None)
    @given(VALUES, st.integers(DEPTH_LIMIT - 8, DEPTH_LIMIT + 2), st.randoms(use_true_random=False))
    def test_depth_is_measured_exactly(self, value: Any, count: int, random: Any) -> None:
        frame = {"jsonrpc": "2.0", "id": 1, "method": "x"}
        frame["params"] = nest(value, "".join(random.choices("[{", k=count)) + "{")
        if measure(frame) > DEPTH_LIMIT:
            with pytest.raises(ParseError):
                parse(orjson.dumps(frame))
        else:
            assert parse_request(orjson.dumps(frame)).params == frame["params"]


class TestRepeatedNames:
    @pytest.mark.parametrize(
        "body",
        [
            '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}',
            '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
            '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"taskId":"a","taskId":"a"}}',
            '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[{},{"b":[{"c":1,"d":2,"c":3}]}]}}',
            '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a" : 1, "\\u0061" :2}}',
            '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"":1,"":2}}',
            '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a\\u003a":1,"a:":2}}',
            '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\u003a","a":"\\u003A"}}',
            '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\\\u003a","a":2}}',
            '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"requestId":2}}',
            '{"jsonrpc":"2.0","id":"q","result":{"action":"decline","action":"accept"}}',
        ],
    )
    def test_refused_at_any_depth(self, body: str) -> None:  # F14
        with pytest.raises(ParseError, match=r"^Parse error: an object has two members of the same name$"):
            parse(body.encode())

    @pytest.mark.parametrize(
        "params",
        [
            {"a": 1, "A": 2},
            {"a": {"a": {"a": 1}}, "b": [{"a": 1}, {"a": 1}]},
            {"é": 1, "e\u0301": 2},
            {"url": "https://acme.example:80/a:b", ":": ":::", '":"': '\\":{\\"a\\":1'},
        ],
    )
    def test_different_names_are_different(self, params: dict[str, Any]) -> None:
        for ascii_only in (True, False):
            frame = {"jsonrpc": "2.0", "id": 1, "method": "x", "params": params}
            assert parse_request(json.dumps(frame, ensure_ascii=ascii_only).encode()).params == params

    @settings(deadline=None, max_examples=500)
    @given(TEXTS)
    def test_found_exactly(self, text: str) -> None:
        body = f'{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"a":{text}}}}}'.encode()
        try:
            value = json.loads(body, object_pairs_hook=build_without_repeats)
        except Repeated:
            with pytest.raises(ParseError, match="two members"):
                parse(body)
        else:
            assert parse_request(body).params == value["params"]


class TestHostileBodies:
    """Work and memory in proportion to the body: no clock is needed to see it."""

    @pytest.mark.parametrize("fill", HOSTILE)
    def test_as_many_calls_whatever_the_size(self, fill: Callable[[int], bytes]) -> None:  # F16
        assert count_calls(fill(8_000)) == count_calls(fill(400_000))

    @pytest.mark.parametrize("fill", HOSTILE)
    def test_memory_follows_the_size_and_none_is_kept(self, fill: Callable[[int], bytes]) -> None:  # F16
        parse_anyhow(fill(2_000))
        small, large = fill(50_000), fill(400_000)
        (small_peak, _), (large_peak, kept) = trace(small), trace(large)
        assert large_peak <= 1.5 * small_peak * len(large) / len(small)
        assert kept < 150_000  # the cache of names that orjson keeps, and free lists of Python


class TestAnyBody:
    @settings(deadline=None)
    @given(st.binary())
    def test_bytes(self, body: bytes) -> None:
        check_is_answered(body)

    @settings(deadline=None)
    @given(FRAMES | VALUES)
    def test_json(self, value: Any) -> None:
        check_is_answered(orjson.dumps(value))

    @settings(deadline=None)
    @given(FRAMES, st.data())
    def test_damaged_json(self, value: Any, data: st.DataObject) -> None:
        body = bytearray(orjson.dumps(value))
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
        check_is_answered(bytes(body))


def check_is_answered(body: bytes) -> None:
    """Whatever the body: a message, or a refusal that can be sent."""
    try:
        outcome: Any = parse(body)
    except ReceiverError as error:
        outcome = error
    if isinstance(outcome, ReceiverError):
        assert outcome.http_status == 400
        answer = json.loads(frame_error(None, outcome))
        assert answer == {"jsonrpc": "2.0", "error": {"code": outcome.code, "message": outcome.message}}
    else:
        assert isinstance(outcome, Request | Notification | Response)


class TestFrames:
    def test_result(self) -> None:
        assert frame_result(1, b'{"a":1}') == b'{"jsonrpc":"2.0","id":1,"result":{"a":1}}'

    def test_id_is_escaped(self) -> None:
        answer = frame_result('"},{\\', b"{}")
        assert json.loads(answer) == {"jsonrpc": "2.0", "id": '"},{\\', "result": {}}

    def test_error(self) -> None:
        error = InvalidParams("no such tool", data={"name": "x"})
        assert json.loads(frame_error("a", error)) == {
            "jsonrpc": "2.0",
            "id": "a",
            "error": {"code": -32602, "message": "no such tool", "data": {"name": "x"}},
        }

    @pytest.mark.parametrize("id", [0, ""])
    def test_falsy_ids_are_ids(self, id: RequestId) -> None:
        assert json.loads(frame_error(id, InvalidParams()))["id"] == id

    def test_error_without_an_id(self) -> None:  # L-05
        answer = json.loads(frame_error(None, InvalidRequest()))
        assert answer == {"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid request"}}

    def test_error_that_was_encoded_before(self) -> None:
        stored = b'{"code":7,"message":"m"}'
        assert frame_error_bytes(2**64 - 1, stored) == (
            b'{"jsonrpc":"2.0","id":18446744073709551615,"error":{"code":7,"message":"m"}}'
        )

    def test_data_without_a_json_form(self) -> None:
        with pytest.raises(TypeError):
            frame_error(1, ReceiverError("x", data={1, 2}))
