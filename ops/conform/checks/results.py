"""What tasks/result says, and when."""

from typing import Any

from ops.conform.check import check
from ops.conform.reply import expect
from ops.conform.server import Server
from ops.conform.session import TERMINAL

RELATED_TASK = "io.modelcontextprotocol/related-task"


@check("T-51", "MUST", "tasks/result blocks until the task is terminal, on any node", tools=("sleep",))
async def blocks_until_terminal(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("sleep", {"seconds": 1})).task_id
    result = await session.get_result(task_id, node=1)
    task = await session.get_task(task_id)
    # Asked after the answer was there: no clock is needed.
    expect(
        task.result.get("status") in TERMINAL,
        f"{result}\nand then {task}\nwanted: no answer to tasks/result while the task is not terminal",
    )


@check("T-52 T-84", "MUST", "tasks/result is what the plain call returns", tools=("structured",))
async def same_as_plain(server: Server) -> None:
    session = await server.open()
    plain = (await session.call("structured", {"text": "hello"})).result
    created = await session.call_task("structured", {"text": "hello"})
    reply = await session.get_result(created.task_id)
    reply.expect(without_relation(reply.result) == without_relation(plain), f"the result of the plain call, {plain}")


@check("T-74 T-53", "MUST", "the answer to tasks/result names its task in _meta", tools=("echo",))
async def names_its_task(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("echo", {"text": "hello"})).task_id
    reply = await session.get_result(task_id)
    related = reply.result.get("_meta", {}).get(RELATED_TASK)
    reply.expect(related == {"taskId": task_id}, f'`_meta` with "{RELATED_TASK}": {{"taskId": "{task_id}"}}')


def without_relation(result: dict[str, Any]) -> dict[str, Any]:
    """A result without the related-task in its `_meta`."""
    meta = {name: value for name, value in result.get("_meta", {}).items() if name != RELATED_TASK}
    return {name: value for name, value in result.items() if name != "_meta"} | ({"_meta": meta} if meta else {})
