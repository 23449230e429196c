"""What spoils the checks of ``ops/conform/checks/posts.py``."""

from ops.conform.checks import posts
from tests.conformance.sabotage import Answer, Call, Head, spoils_head, spoils_request


@spoils_request(posts.foreign_origin)
def overlook_the_origin(call: Call) -> None:
    call.headers.pop("origin", None)


@spoils_request(posts.batch)
def take_batches(call: Call) -> Answer | None:
    return Answer.json([]) if call.body.startswith(b"[") else None


@spoils_head(posts.accepted_without_body)
def say_ok(call: Call, head: Head) -> None:
    if call.method == "notifications/cancelled":
        head.status = 200


@spoils_request(posts.unknown_version)
def take_every_version(call: Call) -> None:
    if call.method == "ping":
        call.headers["mcp-protocol-version"] = "2025-11-25"
