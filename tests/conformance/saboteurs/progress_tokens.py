"""What spoils the checks of ``ops/conform/checks/progress_tokens.py``."""

from ops.client.stream import Message
from ops.conform.checks import progress_tokens
from tests.conformance.sabotage import Answer, Call, spoils_message, spoils_request

PROGRESS = "notifications/progress"


@spoils_message(progress_tokens.tokens_keep_their_type)
def write_tokens_as_strings(call: Call, message: Message) -> Message:
    if message.get("method") == PROGRESS:
        message["params"]["progressToken"] = str(message["params"]["progressToken"])
    return message


@spoils_request(progress_tokens.tokens_keep_their_type)
def refuse_an_empty_token(call: Call) -> Answer | None:
    return call.error(-32602) if call.params.get("_meta", {}).get("progressToken") == "" else None


@spoils_request(progress_tokens.bad_tokens, says="code -32602")
def break_down(call: Call) -> Answer | None:
    return call.error(-32603) if call.method == "tools/call" else None


@spoils_request(progress_tokens.bad_tokens, says="no progress for the token 1.5")
def round_tokens(call: Call) -> None:
    if call.method == "tools/call" and call.params["_meta"]["progressToken"] == 1.5:
        call.message = call.message | {"params": call.params | {"_meta": {"progressToken": 1}}}


@spoils_message(progress_tokens.progress_of_calls_rises)
def report_the_same(call: Call, message: Message) -> Message:
    if message.get("method") == PROGRESS:
        message["params"]["progress"] = 1
    return message


@spoils_message(progress_tokens.progress_of_calls_rises, says="a number")
def report_in_words(call: Call, message: Message) -> Message:
    if message.get("method") == PROGRESS:
        message["params"]["progress"] = "some"
    return message


@spoils_request(progress_tokens.no_progress_without_token)
def make_a_token_up(call: Call) -> None:
    if call.method == "tools/call":
        call.message = call.message | {"params": call.params | {"_meta": {"progressToken": "made up"}}}
