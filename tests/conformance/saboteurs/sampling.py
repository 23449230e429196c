"""What spoils the checks of ``ops/conform/checks/sampling.py``."""

from ops.client.stream import Message
from ops.conform.checks import sampling
from tests.conformance.sabotage import Call, spoils_message

ASKED = "sampling/createMessage"


@spoils_message(sampling.sampling_request, says="`maxTokens`")
def set_no_limit(call: Call, message: Message) -> Message:
    if message.get("method") == ASKED:
        del message["params"]["maxTokens"]
    return message


@spoils_message(sampling.sampling_request, says="with a role")
def send_a_text_alone(call: Call, message: Message) -> Message:
    if message.get("method") == ASKED:
        message["params"]["messages"] = ["Say blue."]
    return message


@spoils_message(sampling.sampling_request, says="what the model said")
def say_red(call: Call, message: Message) -> Message:
    if (message.get("result", {}).get("content") or [{}])[0].get("text") == "blue":
        message["result"]["content"][0]["text"] = "red"
    return message


@spoils_message(sampling.no_tools_undeclared)
def offer_tools(call: Call, message: Message) -> Message:
    if message.get("method") == ASKED:
        message["params"]["tools"] = [{"name": "paint", "inputSchema": {"type": "object"}}]
    return message


@spoils_message(sampling.no_tools_undeclared)
def tell_of_tools(call: Call, message: Message) -> Message:
    if message.get("method") == ASKED:
        use = {"type": "tool_use", "id": "1", "name": "paint", "input": {}}
        message["params"]["messages"].append({"role": "assistant", "content": [use]})
    return message
