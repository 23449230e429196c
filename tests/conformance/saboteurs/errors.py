"""What spoils the checks of ``ops/conform/checks/errors.py``."""

from ops.client.stream import Message
from ops.conform.checks import errors
from tests.conformance.sabotage import Answer, Call, spoils_message, spoils_request


@spoils_message(errors.error_as_from_the_plain_call, says="outcome of the plain call")
def hide_the_code(call: Call, message: Message) -> Message:
    if call.method == "tasks/result":
        message["error"]["code"] = -32603
    return message


@spoils_message(errors.error_as_from_the_plain_call, says="outcome of the plain call")
def lose_the_data(call: Call, message: Message) -> Message:
    if call.method == "tasks/result":
        message["error"].pop("data", None)
    return message


@spoils_message(errors.error_as_from_the_plain_call, says="outcome of the plain call")
def name_the_task_in_the_message(call: Call, message: Message) -> Message:
    if call.method == "tasks/result":
        message["error"]["message"] = f"Task {call.params['taskId']} failed: {message['error']['message']}"
    return message


@spoils_message(errors.error_as_from_the_plain_call)
def make_a_result_of_it(call: Call, message: Message) -> Message:
    if call.method == "tasks/result":
        content = [{"type": "text", "text": message["error"]["message"]}]
        return {"jsonrpc": "2.0", "id": message["id"], "result": {"content": content, "isError": True}}
    return message


@spoils_message(errors.error_as_from_the_plain_call, says="code and message as the tool has them")
def always_blame_the_server(call: Call, message: Message) -> Message:
    if "error" in message:
        message["error"]["code"] = -32603
    return message


@spoils_message(errors.error_as_from_the_plain_call, says="data as the tool has it")
def never_have_data(call: Call, message: Message) -> Message:
    message.get("error", {}).pop("data", None)
    return message


@spoils_message(errors.error_fails_the_task)
def complete_an_error(call: Call, message: Message) -> Message:
    if call.method == "tasks/get" and message["result"]["status"] == "failed":
        message["result"]["status"] = "completed"
    return message


@spoils_message(errors.is_error_fails_the_task)
def complete_is_error(call: Call, message: Message) -> Message:
    if call.method == "tasks/get" and message["result"]["status"] == "failed":
        message["result"]["status"] = "completed"
    return message


@spoils_message(errors.is_error_is_a_result)
def make_an_error_of_it(call: Call, message: Message) -> Message:
    if call.method == "tasks/result":
        return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32603, "message": "The disk is full"}}
    return message


@spoils_message(errors.is_error_is_a_result, says="result with `isError`")
def say_that_all_is_well(call: Call, message: Message) -> Message:
    if "isError" in message.get("result", {}):
        del message["result"]["isError"]
    return message


@spoils_message(errors.is_error_is_a_result, says="result of the plain call")
def say_only_that_it_failed(call: Call, message: Message) -> Message:
    if call.method == "tasks/result":
        message["result"]["content"] = [{"type": "text", "text": "Task failed"}]
    return message


@spoils_message(errors.is_error_is_explained)
def explain_nothing(call: Call, message: Message) -> Message:
    if call.method == "tasks/get":
        message["result"].pop("statusMessage", None)
    return message


@spoils_message(errors.is_error_is_explained)
def explain_little(call: Call, message: Message) -> Message:
    if call.method == "tasks/get":
        message["result"]["statusMessage"] = "Task failed"
    return message


@spoils_message(errors.error_is_explained)
def explain_by_the_code(call: Call, message: Message) -> Message:
    if call.method == "tasks/get":
        message["result"]["statusMessage"] = "Error -32050"
    return message


@spoils_message(errors.errors_say_something)
def say_nothing(call: Call, message: Message) -> Message:
    if call.method == "tasks/cancel" and "error" in message:
        message["error"]["message"] = ""
    return message


@spoils_message(errors.errors_say_something, says="integer")
def give_codes_as_text(call: Call, message: Message) -> Message:
    if call.method == "tasks/list" and "error" in message:
        message["error"]["code"] = str(message["error"]["code"])
    return message


@spoils_request(errors.bad_arguments_make_no_task, says="wanted: none")
async def refuse_but_create(call: Call) -> None:
    if call.method == "tools/call" and "task" in call.params:
        await call.ask("tools/call", call.params | {"arguments": {"text": "hello"}})


@spoils_message(errors.bad_arguments_make_no_task, says="code -32602")
def blame_the_server(call: Call, message: Message) -> Message:
    if call.method == "tools/call" and "error" in message:
        message["error"]["code"] = -32603
    return message


@spoils_request(errors.bad_arguments_make_no_task, says="error that the plain call gives")
def take_any_arguments(call: Call) -> None:
    if call.method == "tools/call" and "task" in call.params:
        call.message = call.message | {"params": call.params | {"arguments": {"text": "hello"}}}


@spoils_request(errors.bad_arguments_make_no_task, says="or else a task")
async def answer_as_if_plain(call: Call) -> Answer | None:
    if call.method == "tools/call" and "task" in call.params:
        call.message = call.message | {"params": {key: call.params[key] for key in ("name", "arguments")}}
        return Answer.json(await call.forward())
    return None


@spoils_request(errors.unknown_tool_makes_no_task, says="wanted: none")
async def create_another(call: Call) -> None:
    if call.method == "tools/call" and "task" in call.params:
        await call.ask("tools/call", call.params | {"name": "conform_echo", "arguments": {"text": "hello"}})


@spoils_message(errors.unknown_tool_makes_no_task, says="code -32602")
def have_no_such_method(call: Call, message: Message) -> Message:
    if call.method == "tools/call" and "error" in message:
        message["error"]["code"] = -32601
    return message
