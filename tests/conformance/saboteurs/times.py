"""What spoils the checks of ``ops/conform/checks/times.py``."""

from ops.client.stream import Message
from ops.conform.checks import times
from tests.conformance.sabotage import Call, spoils_message
from tests.conformance.shown import GONE, show_as, tasks_in

LONG_AGO = "2020-01-01T00:00:00Z"


@spoils_message(times.created_at_everywhere, says="tasks/cancel")
def leave_created_at_out_of_cancel(call: Call, message: Message) -> Message:
    return show_as(call, message, "tasks/cancel", createdAt=GONE)


@spoils_message(times.created_at_everywhere, says="tasks/list")
def list_created_at_as_a_number(call: Call, message: Message) -> Message:
    return show_as(call, message, "tasks/list", createdAt=1_764_066_600_000)


@spoils_message(times.last_updated_at_everywhere, says="tools/call")
def leave_updated_at_out_of_creation(call: Call, message: Message) -> Message:
    return show_as(call, message, "tools/call", lastUpdatedAt=GONE)


@spoils_message(times.last_updated_at_everywhere, says="tasks/get")
def write_updated_at_as_in_mails(call: Call, message: Message) -> Message:
    return show_as(call, message, "tasks/get", lastUpdatedAt="Tue, 25 Nov 2025 10:30:00 GMT")


@spoils_message(times.created_at_stays)
def create_it_again(call: Call, message: Message) -> Message:
    return show_as(call, message, "tasks/get", node=1, createdAt=LONG_AGO)


@spoils_message(times.last_updated_at_moves)
def never_update(call: Call, message: Message) -> Message:
    for task in tasks_in(message):
        task["lastUpdatedAt"] = task["createdAt"]
    return message


@spoils_message(times.reads_update_nothing)
def update_on_reading(call: Call, message: Message) -> Message:
    reads = call.memory["reads"] = call.memory.get("reads", 0) + (call.method == "tasks/get")
    return show_as(call, message, "tasks/get", lastUpdatedAt=f"2025-11-25T10:30:{reads:02d}Z")


@spoils_message(times.progress_updates_nothing)
def update_on_progress(call: Call, message: Message) -> Message:
    if message.get("method") == "notifications/progress":
        call.memory["progress"] = True
    return show_as(call, message, "tasks/get", lastUpdatedAt="2099-01-01T00:00:00Z") if call.memory else message


@spoils_message(times.last_updated_at_never_goes_back)
def go_back_on_the_other_node(call: Call, message: Message) -> Message:
    return show_as(call, message, "tasks/get", node=1, lastUpdatedAt=LONG_AGO)


@spoils_message(times.poll_interval_is_positive, says="tools/call")
def poll_without_a_pause(call: Call, message: Message) -> Message:
    return show_as(call, message, "tools/call", pollInterval=0)


@spoils_message(times.poll_interval_is_positive, says="tasks/get")
def write_the_interval_as_text(call: Call, message: Message) -> Message:
    return show_as(call, message, "tasks/get", pollInterval="1000")
