"""Each message goes out on one stream."""

from collections import Counter

from ops.client.reply import expect, show
from ops.conform.check import NotApplicable, check
from ops.conform.checks.streams import listen_everywhere
from ops.conform.server import Server


@check("H-27", "MUST", "a notification is sent once, whoever listens on whatever node", tools=("progress",))
async def notification_is_sent_once(server: Server) -> None:
    session = await server.open()
    await listen_everywhere(session)
    task_id = (await session.call_task("progress", {"steps": 10}, _meta={"progressToken": "h27"})).task_id
    for node in (0, 1):
        session.begin("tasks/result", {"taskId": task_id}, node)
    await session.wait_until(task_id, "completed")
    sent = Counter(
        show((one.message.get("params") or {}).get("progress")) for one in session.heard_of("notifications/progress")
    )
    if not sent:
        raise NotApplicable("no progress of a task was sent")
    repeated = {step: count for step, count in sent.items() if count > 1}
    expect(
        not repeated, f"progress that came more than once, and how often: {show(repeated)}\nwanted: each on one stream"
    )
