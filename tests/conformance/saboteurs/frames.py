"""What spoils the checks of ``ops/conform/checks/frames.py``."""

from ops.client.stream import Message
from ops.conform.checks import frames
from tests.conformance.sabotage import Answer, Call, spoils_message, spoils_request


@spoils_message(frames.ids_are_echoed)
def write_ids_as_strings(call: Call, message: Message) -> Message:
    if call.method == "ping":
        message["id"] = str(message["id"])
    return message


@spoils_message(frames.ids_are_echoed, says="9007199254740991")
def read_large_ids_as_doubles(call: Call, message: Message) -> Message:
    if message.get("id") == 2**53 - 1:
        message["id"] = float(message["id"])
    return message


@spoils_message(frames.ids_are_echoed, says='the id ""')
def take_an_empty_id_for_none(call: Call, message: Message) -> Message:
    if message.get("id") == "":
        del message["id"]
    return message


@spoils_message(frames.ids_keep_their_type, patience=3)
def read_strings_as_integers(call: Call, message: Message) -> Message:
    if message.get("id") == "1001":
        message["id"] = 1001
    return message


@spoils_request(frames.bad_ids)
def take_any_id(call: Call) -> None:
    if call.method == "ping" and type(call.message["id"]) not in (str, int):
        call.message = call.message | {"id": 1}


@spoils_request(frames.bad_ids, says="1.5")
def take_fractions(call: Call) -> None:
    if call.method == "ping" and call.message["id"] == 1.5:
        call.message = call.message | {"id": 1}


@spoils_message(frames.no_id_where_none_was_read)
def put_null(call: Call, message: Message) -> Message:
    return {"id": None, **message}


@spoils_message(frames.no_json, says="-32700")
def call_it_internal(call: Call, message: Message) -> Message:
    if message.get("error", {}).get("code") == -32700:
        message["error"]["code"] = -32603
    return message


@spoils_request(frames.no_json, says="HTTP 500")
def break_down(call: Call) -> Answer | None:
    return Answer(500) if call.body == b"{" else None


@spoils_message(frames.no_message, says="-32600")
def call_it_a_parse_error(call: Call, message: Message) -> Message:
    if message.get("error", {}).get("code") == -32600:
        message["error"]["code"] = -32700
    return message


@spoils_request(frames.no_message, says="a refusal")
def take_the_old_version(call: Call) -> None:
    if call.message.get("jsonrpc") == "1.0":
        call.message = call.message | {"jsonrpc": "2.0"}


@spoils_request(frames.unknown_method)
def do_nothing(call: Call) -> Answer | None:
    return call.result({}) if call.method == "tools/no-such-method" else None


@spoils_message(frames.unknown_method)
def call_it_bad_params(call: Call, message: Message) -> Message:
    if "error" in message:
        message["error"]["code"] = -32602
    return message


@spoils_message(frames.unknown_method, says="a response with the id")
def leave_the_id_out(call: Call, message: Message) -> Message:
    if "error" in message:
        message["id"] = 0
    return message


@spoils_message(frames.bad_params)
def call_it_a_bad_request(call: Call, message: Message) -> Message:
    if call.method == "tools/call":
        message["error"]["code"] = -32600
    return message


@spoils_message(frames.bad_params, says="initialize")
def fail_to_initialize(call: Call, message: Message) -> Message:
    if call.method == "initialize" and "error" in message:
        message["error"]["code"] = -32603
    return message


@spoils_message(frames.shape_of_errors, says="`error.code`")
def write_the_code_as_a_string(call: Call, message: Message) -> Message:
    if "error" in message:
        message["error"]["code"] = str(message["error"]["code"])
    return message


@spoils_message(frames.shape_of_errors, says="`error.message`")
def say_nothing(call: Call, message: Message) -> Message:
    if call.method == "tasks/get":
        message["error"].pop("message")
    return message


@spoils_message(frames.shape_of_errors, says="without a `result`")
def add_a_result(call: Call, message: Message) -> Message:
    return message | {"result": None} if "error" in message else message
