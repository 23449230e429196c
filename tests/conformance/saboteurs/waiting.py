"""What spoils the checks of ``ops/conform/checks/waiting.py``."""

import asyncio

from ops.client.stream import Message
from ops.conform.checks import waiting
from tests.conformance.sabotage import Answer, Call, spoils_message, spoils_request
from tests.conformance.shown import is_outcome, show_as


@spoils_message(waiting.result_while_it_ends)
def mix_results_up(call: Call, message: Message) -> Message:
    if is_outcome(call, message):
        message["result"] = call.memory.setdefault("first", message["result"])
    return message


@spoils_request(waiting.result_while_it_ends, patience=4, says="the answer to POST tasks/result")
async def miss_an_end(call: Call) -> None:
    if call.method == "tasks/result" and count(call) == waiting.MANY:
        await asyncio.Event().wait()


@spoils_request(waiting.every_waiter_is_answered, patience=4, says="the answer to POST tasks/result")
async def answer_the_first(call: Call) -> None:
    if call.method == "tasks/result" and count(call) > 1:
        await asyncio.Event().wait()


@spoils_message(waiting.every_waiter_is_answered)
def answer_the_rest_with_nothing(call: Call, message: Message) -> Message:
    if is_outcome(call, message) and count(call) > 1:
        message["result"]["content"] = []
    return message


@spoils_request(waiting.blocks_through_input, says="no answer before the end")
def answer_with_nothing(call: Call) -> Answer | None:
    return call.result({"content": []}) if call.method == "tasks/result" and call.node == 1 else None


@spoils_request(waiting.cancel_ends_the_wait, patience=3, says="the answer to POST tasks/result")
async def wait_on(call: Call) -> None:
    if call.method == "tasks/result" and call.node == 1:
        await asyncio.Event().wait()


@spoils_request(waiting.result_of_cancelled, patience=3, says="the answer to POST tasks/result")
async def wait_for_more(call: Call) -> None:
    if call.method == "tasks/result":
        await asyncio.Event().wait()


@spoils_request(waiting.result_of_cancelled, says="the task is terminal")
def show_the_task(call: Call) -> Answer | None:
    shown = {"taskId": call.params.get("taskId"), "status": "cancelled"}
    return call.result(shown) if call.method == "tasks/result" else None


@spoils_request(waiting.result_is_kept)
def give_it_once(call: Call) -> Answer | None:
    return call.error(-32602) if call.method == "tasks/result" and count(call) > 1 else None


@spoils_message(waiting.left_get_changes_nothing)
def give_up_when_left(call: Call, message: Message) -> Message:
    return show_as(call, message, "tasks/get", status="cancelled") if count(call) > 3 else message


@spoils_request(waiting.left_result_changes_nothing)
async def cancel_when_left(call: Call) -> None:
    if call.method == "tasks/result":
        try:
            await call.forward()
        except asyncio.CancelledError:
            await call.ask("tasks/cancel", call.params)
            raise


@spoils_request(waiting.result_after_leaving)
def give_it_to_who_left(call: Call) -> Answer | None:
    return call.error(-32602) if call.method == "tasks/result" and count(call) > 2 else None


@spoils_request(waiting.get_while_result_waits, patience=3, says="the answer to POST tasks/get")
async def do_one_thing_at_a_time(call: Call) -> None:
    if call.method == "tasks/result":
        call.memory["waits"] = True
    if call.method == "tasks/get" and call.memory:
        await asyncio.Event().wait()


def count(call: Call) -> int:
    """How many calls of this method there were, this one included."""
    method = str(call.method)
    call.memory[method] = counted = int(call.memory.get(method, 0)) + 1
    return counted
