"""What spoils the checks of ``ops/conform/checks/progress.py``."""

from ops.client.stream import Message
from ops.conform.checks import progress
from tests.conformance.sabotage import Call, spoils_message

PROGRESS = "notifications/progress"


def make_text(message: Message) -> Message:
    """Makes text of a token that is a number."""
    if message.get("method") == PROGRESS:
        message["params"]["progressToken"] = str(message["params"]["progressToken"])
    return message


@spoils_message(progress.tokens_stay_as_they_were)
def make_tokens_text(call: Call, message: Message) -> Message:
    return make_text(message)


@spoils_message(progress.tokens_stay_as_they_were)
def take_empty_tokens_for_none(call: Call, message: Message) -> Message | None:
    return None if message.get("method") == PROGRESS and not message["params"]["progressToken"] else message


@spoils_message(progress.tokens_stay_on_a_get_stream)
def make_tokens_text_on_get_streams(call: Call, message: Message) -> Message:
    return make_text(message) if call.verb == "GET" else message


@spoils_message(progress.progress_rises)
def repeat_progress(call: Call, message: Message) -> list[Message]:
    return [message, message] if message.get("method") == PROGRESS else [message]


@spoils_message(progress.progress_rises)
def go_back(call: Call, message: Message) -> Message:
    if message.get("method") == PROGRESS:
        message["params"]["progress"] = -message["params"]["progress"]
    return message


@spoils_message(progress.progress_rises)
def tell_percents_as_text(call: Call, message: Message) -> Message:
    if message.get("method") == PROGRESS:
        message["params"]["progress"] = f"{message['params']['progress']} %"
    return message


@spoils_message(progress.no_progress_unasked)
def make_a_token_up(call: Call, message: Message) -> list[Message]:
    if call.method == "tasks/result":
        params = {"progressToken": "made up", "progress": 1}
        return [{"jsonrpc": "2.0", "method": PROGRESS, "params": params}, message]
    return [message]


@spoils_message(progress.no_progress_after_cancel)
def go_on_after_cancel(call: Call, message: Message) -> list[Message]:
    if message.get("method") == PROGRESS and message["params"]["progressToken"] == "later":
        return [message, message | {"params": message["params"] | {"progressToken": "ended"}}]
    return [message]


@spoils_message(progress.no_progress_after_the_news)
def go_on_after_the_news(call: Call, message: Message) -> list[Message]:
    if message.get("method") == "notifications/tasks/status" and message["params"]["status"] == "completed":
        params = {"progressToken": "ended", "progress": 5}
        return [message, {"jsonrpc": "2.0", "method": PROGRESS, "params": params}]
    return [message]
