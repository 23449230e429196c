"""What spoils the checks of ``ops/conform/checks/posts.py``."""

from ops.client.stream import Message
from ops.conform.checks import posts
from tests.conformance.sabotage import Answer, Call, Head, spoils_head, spoils_message, spoils_request


@spoils_message(posts.text_is_utf8)
def take_it_for_latin_1(call: Call, message: Message) -> Message:
    if call.method == "tools/call":
        block = message["result"]["content"][0]
        block["text"] = block["text"].encode().decode("latin-1")
    return message


@spoils_request(posts.not_utf8, says="a refusal")
def read_it_all_the_same(call: Call) -> None:
    call.body = call.body.decode(errors="replace").encode()


@spoils_request(posts.not_utf8, says="HTTP 500")
def break_down(call: Call) -> Answer | None:
    return Answer(500) if b"\xff" in call.body else None


@spoils_request(posts.foreign_origin)
def overlook_the_origin(call: Call) -> None:
    call.headers.pop("origin", None)


@spoils_request(posts.foreign_origin, says="sent: GET")
def overlook_the_origin_of_get(call: Call) -> None:
    if call.verb == "GET":
        call.headers.pop("origin", None)


@spoils_request(posts.null_origin)
def take_null_for_none(call: Call) -> None:
    if call.headers.get("origin") == "null":
        del call.headers["origin"]


@spoils_request(posts.foreign_host, says="without an Origin")
def look_at_the_origin_alone(call: Call) -> None:
    if "origin" not in call.headers:
        call.headers.pop("host")


@spoils_request(posts.foreign_host)
def overlook_the_host(call: Call) -> None:
    call.headers.pop("host")
    call.headers.pop("origin", None)


@spoils_request(posts.batch)
def take_batches(call: Call) -> Answer | None:
    return Answer.json([]) if call.body.startswith(b"[") else None


@spoils_head(posts.accepted_without_body)
def say_ok(call: Call, head: Head) -> None:
    if call.method == "notifications/cancelled":
        head.status = 200


@spoils_request(posts.accepted_without_body)
def say_more(call: Call) -> Answer | None:
    return Answer(202, body=b"accepted") if call.method == "notifications/cancelled" else None


@spoils_head(posts.json_or_stream)
def call_it_text(call: Call, head: Head) -> None:
    if call.method == "tools/list":
        head.headers["content-type"] = "text/plain"


@spoils_request(posts.without_version)
def ask_for_a_version(call: Call) -> Answer | None:
    return Answer(400) if call.method == "ping" and "mcp-protocol-version" not in call.headers else None


@spoils_request(posts.unknown_version)
def take_every_version(call: Call) -> None:
    if call.method == "ping":
        call.headers["mcp-protocol-version"] = "2025-11-25"


@spoils_request(posts.unknown_version, says="sent: GET")
def take_every_version_of_get(call: Call) -> None:
    if call.verb == "GET":
        call.headers["mcp-protocol-version"] = "2025-11-25"
