"""What spoils the checks of ``ops/conform/checks/declarations.py``."""

from ops.client.stream import Message
from ops.conform.checks import declarations
from tests.conformance.sabotage import Call, spoils_message


@spoils_message(declarations.support_is_shown)
def show_no_support(call: Call, message: Message) -> Message:
    for tool in message.get("result", {}).get("tools", []):
        tool.pop("execution", None)
    return message


@spoils_message(declarations.support_is_shown, says="is of")
def show_it_as_a_boolean(call: Call, message: Message) -> Message:
    for tool in message.get("result", {}).get("tools", []):
        tool["execution"] = {"taskSupport": True}
    return message


@spoils_message(declarations.support_is_shown, says="conform_required has")
def show_required_as_optional(call: Call, message: Message) -> Message:
    for tool in message.get("result", {}).get("tools", []):
        if tool.get("execution", {}).get("taskSupport") == "required":
            tool["execution"]["taskSupport"] = "optional"
    return message


@spoils_message(declarations.capabilities_are_objects)
def declare_by_booleans(call: Call, message: Message) -> Message:
    if call.method == "initialize":
        message["result"]["capabilities"]["tasks"]["list"] = True
    return message


@spoils_message(declarations.capabilities_are_objects, says="capabilities.tasks.requests.tools.call")
def declare_calls_by_a_boolean(call: Call, message: Message) -> Message:
    if call.method == "initialize":
        message["result"]["capabilities"]["tasks"]["requests"]["tools"]["call"] = True
    return message
