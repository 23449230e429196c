"""What spoils the checks of ``ops/conform/checks/sessions.py``."""

from ops.conform.checks import sessions
from tests.conformance.sabotage import Answer, Call, Head, spoils_head, spoils_request


@spoils_head(sessions.id_is_visible_ascii)
def put_a_space_into_it(call: Call, head: Head) -> None:
    if call.method == "initialize":
        head.headers["mcp-session-id"] = f"a {head.headers['mcp-session-id']}"


@spoils_head(sessions.id_is_visible_ascii)
def put_an_umlaut_into_it(call: Call, head: Head) -> None:
    if call.method == "initialize":
        head.headers["mcp-session-id"] += "\u00fc"


@spoils_head(sessions.id_is_unguessable)
def count_sessions(call: Call, head: Head) -> None:
    if call.method == "initialize":
        call.memory["count"] = call.memory.get("count", 0) + 1
        head.headers["mcp-session-id"] = f"session-{call.memory['count']:024}"


@spoils_request(sessions.session_on_every_node)
def know_none_of_the_other_node(call: Call) -> Answer | None:
    return Answer(404) if call.method == "ping" and call.node == 1 else None


@spoils_head(sessions.session_id_is_missing, says="sent: POST")
def say_not_found(call: Call, head: Head) -> None:
    if call.method == "ping" and "mcp-session-id" not in call.headers:
        head.status = 404


@spoils_request(sessions.session_id_is_missing, says="sent: GET")
def open_a_stream_for_anyone(call: Call) -> Answer | None:
    return Answer.stream() if call.verb == "GET" and "mcp-session-id" not in call.headers else None


@spoils_head(sessions.ended_session)
def say_bad_request(call: Call, head: Head) -> None:
    if head.status == 404:
        head.status = 400


@spoils_request(sessions.ended_session, says="sent: GET")
def keep_its_stream(call: Call) -> Answer | None:
    return Answer.stream() if call.verb == "GET" else None


@spoils_head(sessions.invented_session, says="HTTP 400")
def say_bad_request_again(call: Call, head: Head) -> None:
    if head.status == 404:
        head.status = 400


@spoils_head(sessions.invented_session, says="sent: DELETE")
def end_what_there_is_not(call: Call, head: Head) -> None:
    if call.verb == "DELETE" and head.status == 404:
        head.status = 202


@spoils_request(sessions.delete_or_405, says="404")
def end_nothing(call: Call) -> Answer | None:
    return Answer(204) if call.verb == "DELETE" else None


@spoils_request(sessions.delete_or_405, says="405")
def know_no_delete(call: Call) -> Answer | None:
    return Answer(501) if call.verb == "DELETE" else None


@spoils_request(sessions.task_outlives_its_session)
async def end_its_tasks(call: Call) -> Answer | None:
    if call.verb == "DELETE":
        await cancel_tasks(call)
    return await note_task(call)


async def note_task(call: Call) -> Answer | None:
    """Remembers a task that is created; others at the same server are nobody's business here."""
    if call.method != "tools/call":
        return None
    created = await call.forward()
    call.memory.setdefault("tasks", []).append(created.get("result", {}).get("task", {}).get("taskId"))
    return Answer.json(created)


async def cancel_tasks(call: Call) -> None:
    """Cancels the tasks that were noted."""
    for task_id in call.memory.get("tasks", []):
        await call.ask("tasks/cancel", {"taskId": task_id})
