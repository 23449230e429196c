"""What tasks/result says, and when."""

import json
from typing import Any

from ops.client.reply import expect
from ops.conform.check import check
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


@check("T-74 T-53", "MUST", "an answer to tasks/result with isError names its task in _meta", tools=("fail",))
async def failure_names_its_task(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("fail", {"text": "no"})).task_id
    reply = await session.get_result(task_id, node=1)
    related = (reply.result.get("_meta") or {}).get(RELATED_TASK)
    reply.expect(related == {"taskId": task_id}, f'`_meta` with "{RELATED_TASK}": {{"taskId": "{task_id}"}}')


@check("T-52 T-74 X-17", "MUST", "the _meta that a result brings is kept beside the task's name", tools=("meta",))
async def own_meta_is_kept(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("meta", {"text": "hello"})).task_id
    for node in (0, 1):
        reply = await session.get_result(task_id, node)
        meta = reply.result.get("_meta") or {}
        reply.expect(meta.get("example.org/conform") == "hello", 'its own `_meta`, "example.org/conform": "hello"')
        reply.expect(meta.get(RELATED_TASK) == {"taskId": task_id}, f"`_meta` that names the task {task_id}")


@check("T-74 X-17", "MUST", "no member of a result comes twice", tools=("meta",))
async def members_come_once(server: Server) -> None:
    session = await server.open()
    task_id = (await session.call_task("meta", {"text": "hello"})).task_id
    await session.wait_until(task_id, "completed")
    asked = session.begin("tasks/result", {"taskId": task_id})
    reply = await asked.reply()
    raw = [reply.body.decode(), *(event.data for event in asked.events)]
    twins = sorted({name for text in raw if text for name in _find_twins(text)})
    reply.expect(not twins, f"each member of an object once; more than once there are {twins}")


def without_relation(result: dict[str, Any]) -> dict[str, Any]:
    """A result as it is without the name of its task, to be compared."""
    meta = {name: value for name, value in result.get("_meta", {}).items() if name != RELATED_TASK}
    return {name: value for name, value in result.items() if name != "_meta"} | ({"_meta": meta} if meta else {})


def _find_twins(text: str) -> list[str]:
    """The names that some object in a JSON text has more than once."""
    twins: list[str] = []

    def read(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        twins.extend(name for name in names if names.count(name) > 1)
        return dict(pairs)

    json.loads(text, object_pairs_hook=read)
    return twins
