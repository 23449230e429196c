"""What spoils the checks of ``ops/conform/checks/log_messages.py``."""

from ops.client.stream import Message
from ops.conform.checks import log_messages
from tests.conformance.sabotage import Answer, Call, spoils_message, spoils_request

SET_LEVEL = "logging/setLevel"
SAID = "notifications/message"


@spoils_message(log_messages.logging_is_declared)
def declare_nothing(call: Call, message: Message) -> Message:
    if call.method == "initialize":
        message["result"]["capabilities"].pop("logging")
    return message


@spoils_request(log_messages.nothing_below_the_level)
def take_notice_of_debug_alone(call: Call) -> None:
    if call.method == SET_LEVEL:
        call.message = call.message | {"params": {"level": "debug"}}


@spoils_message(log_messages.all_from_the_level_on, patience=3)
def keep_emergencies(call: Call, message: Message) -> Message | None:
    return None if message.get("params", {}).get("level") == "emergency" else message


@spoils_request(log_messages.level_can_be_changed, patience=3)
def keep_the_first_level(call: Call) -> Answer | None:
    return call.result({}) if call.params.get("level") == "debug" and call.method == SET_LEVEL else None


@spoils_request(log_messages.bad_levels)
def take_any_level(call: Call) -> Answer | None:
    return call.result({}) if call.method == SET_LEVEL and call.params.get("level") == "WARNING" else None


@spoils_message(log_messages.bad_levels)
def break_down(call: Call, message: Message) -> Message:
    if call.method == SET_LEVEL:
        message["error"]["code"] = -32603
    return message


@spoils_message(log_messages.shape_of_log_messages)
def say_nothing(call: Call, message: Message) -> Message:
    if message.get("method") == SAID:
        message["params"].pop("data")
    return message


@spoils_message(log_messages.shape_of_log_messages)
def say_warn(call: Call, message: Message) -> Message:
    if message.get("method") == SAID:
        message["params"]["level"] = "warn"
    return message
