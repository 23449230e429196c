"""What spoils the checks of ``ops/conform/checks/tools.py``."""

from typing import Any

from ops.client.stream import Message
from ops.conform.checks import tools
from tests.conformance.sabotage import Answer, Call, spoils_message, spoils_request

WORDS: dict[str, Any] = {"content": [{"type": "text", "text": "hello"}]}


def has_bad_arguments(call: Call) -> bool:
    """Whether it calls echo with what is no text."""
    is_call = call.method == "tools/call" and call.params["name"] == "conform_echo"
    return is_call and not isinstance(call.params["arguments"].get("text"), str)


@spoils_message(tools.tools_are_declared)
def declare_nothing(call: Call, message: Message) -> Message:
    if call.method == "initialize":
        message["result"]["capabilities"].pop("tools")
    return message


@spoils_request(tools.unknown_tool)
def tell_the_model(call: Call) -> Answer | None:
    return call.result(WORDS | {"isError": True}) if call.method == "tools/call" else None


@spoils_message(tools.unknown_tool, says='"task"')
def know_no_such_method(call: Call, message: Message) -> Message:
    if "task" in call.params:
        message["error"]["code"] = -32601
    return message


@spoils_request(tools.arguments_are_checked)
def take_any_arguments(call: Call) -> Answer | None:
    return call.result(WORDS) if has_bad_arguments(call) else None


@spoils_request(tools.arguments_are_checked, says='"text": 5')
def coerce_integers(call: Call) -> Answer | None:
    return call.result(WORDS) if has_bad_arguments(call) and call.params["arguments"].get("text") == 5 else None


@spoils_request(tools.arguments_are_told_to_the_model)
def tell_the_client(call: Call) -> Answer | None:
    return call.error(-32602) if has_bad_arguments(call) else None


@spoils_request(tools.arguments_of_a_task_are_checked)
def coerce_arguments(call: Call) -> None:
    if has_bad_arguments(call):
        call.message = call.message | {"params": call.params | {"arguments": {"text": "5"}}}


@spoils_message(tools.arguments_of_a_task_are_checked, says="code -32602")
def break_down(call: Call, message: Message) -> Message:
    if call.method == "tools/call":
        message["error"]["code"] = -32603
    return message


@spoils_message(tools.structured_content_fits, says="`structuredContent`")
def measure_wrongly(call: Call, message: Message) -> Message:
    if call.method == "tools/call":
        message["result"]["structuredContent"]["length"] = "5"
    return message


@spoils_message(tools.structured_content_fits, says="an outputSchema")
def require_more(call: Call, message: Message) -> Message:
    for tool in message.get("result", {}).get("tools", []):
        tool.get("outputSchema", {})["required"] = ["colour"]
    return message


@spoils_message(tools.structured_content_as_text)
def say_done(call: Call, message: Message) -> Message:
    if call.method == "tools/call":
        message["result"]["content"] = [{"type": "text", "text": "done"}]
    return message


@spoils_message(tools.schemas_are_objects, says="`inputSchema`")
def have_no_schema(call: Call, message: Message) -> Message:
    for tool in message.get("result", {}).get("tools", [])[:1]:
        tool["inputSchema"] = None
    return message


@spoils_message(tools.schemas_are_objects, says="`outputSchema`")
def return_strings(call: Call, message: Message) -> Message:
    for tool in message.get("result", {}).get("tools", [])[:1]:
        tool["outputSchema"] = {"type": "string"}
    return message


@spoils_message(tools.names_of_tools)
def put_a_space_into_a_name(call: Call, message: Message) -> Message:
    for tool in message.get("result", {}).get("tools", [])[:1]:
        tool["name"] = "a tool"
    return message


@spoils_message(tools.names_of_tools, says="2 tools")
def list_one_twice(call: Call, message: Message) -> Message:
    if "tools" in message.get("result", {}):
        message["result"]["tools"] *= 2
    return message
