"""What stands in the store, for people: ``python -m receiver.store.reference > docs/keys.md``."""

from collections.abc import Iterable

from receiver.store.keys import SPECS, Keys

FIELDS = {
    "kind": "`task`, or `call` for a plain call, which is no task to its caller",
    "status": "`working`, `input_required`, `completed`, `failed`, `cancelled`",
    "status_message": "one line for people: what the tool says of itself, or why it failed or was cancelled",
    "created_at": "when it was created",
    "updated_at": "when `status` or `status_message` last changed",
    "expires_at": "when all of it goes away: `created_at` + `ttl`",
    "ttl": "the ttl that was granted, in ms",
    "poll_interval": "how often requestors are asked to poll, in ms",
    "owner": "whose it is: a digest of issuer, client and subject",
    "principal": "who asked, as JSON; never a token",
    "tool": "what it runs: a tool's name, or for another `method` a resource's URI or template, or a prompt's name; "
    "of a completion one of these and the argument",
    "method": "the wrapped request's method",
    "params": "the arguments of the tool or prompt, as JSON; the `uri` of a resource; `value` and `arguments` of a "
    "completion",
    "protocol": "the revision that it was asked for in",
    "session": "the session that it was asked for in",
    "capabilities": "what that client can do, as JSON",
    "request": "the id of the request, as JSON, of a plain call",
    "unwanted": "`1`: the requestor cancelled the plain call, and is sent no response",
    "progress_token": "the progressToken of the request, as JSON",
    "trace": "the span that it was created in, as a `traceparent`, and behind a space the `tracestate`",
    "queue": "the queue that it waits in",
    "score": "its place in that queue: a fair tag; it returns there when its worker is lost",
    "max_attempts": "how many attempts it has",
    "timeout": "how long a run may take, in ms",
    "attempt": "how many attempts were begun",
    "run": "the number of the newest run, the fence: what an older run writes is dropped",
    "worker": "who runs it, or ran it last; empty while it waits to be run again",
    "lease_until": "when it is taken from that worker, unless renewed",
    "losses": "how many of its attempts were lost with their workers",
    "deaths": "how many processes of its isolated runs died",
    "lost": "`1`: its last worker was lost, and no other has it yet",
    "handed_back": "`1`: its last worker gave it back; the next run is no new attempt",
    "parked": "`1`: no worker has it, and what it waits for brings it back into its queue",
    "started_at": "when the newest run began",
    "finished_at": "when it became terminal",
    "progress": "how far the tool is, by its own count",
    "progress_total": "of how much",
    "progress_message": "what it says about that",
    "outcome": "`result` or `error`: what `payload` is",
    "payload": "the result, or the JSON-RPC error, as JSON: what `tasks/result` answers",
    "retry_of": "the task that an operator made this one of, to run it once more",
    "op": "a mark of the last command that ended it or gave it back, by which the same command sent twice is known",
    "said": "a mark of the last report, likewise",
    "schema": "the version of this record",
}
"""Every field of a record and what it means; times are ms since the epoch by Redis's own clock."""

_HEAD = """\
# What stands in Redis

Made by `python -m receiver.store.reference`; don't edit it by hand.

`mcp` is the namespace (`RECEIVER_NAMESPACE`) and `{0}` the shard: a hash tag, so that all that one script touches
lies in one Cluster slot.  Keys without a TTL are on the list of permanent keys: they are of bounded size, or become
empty and vanish by themselves, or are swept by the janitor.
"""

_RECORD = """
## The record of a task

`redis-cli HGETALL 'mcp:{0}:task:<id>'` shows it; a field that does not apply is not there.
Times are milliseconds since the epoch, by Redis's own clock.
"""


def render() -> str:
    """The page as Markdown."""
    keys = ((f"`{_example(name)}`", spec.type, spec.expiry or "-", spec.holds) for name, spec in SPECS.items())
    fields = ((f"`{name}`", meaning) for name, meaning in FIELDS.items())
    parts = [
        _HEAD,
        *_table(("key", "type", "TTL", "holds"), keys),
        _RECORD,
        *_table(("field", "meaning"), fields),
    ]
    return "\n".join(parts) + "\n"


def _example(name: str) -> str:
    method = getattr(Keys(), name)
    arguments = [f"<{parameter}>" for parameter in method.__code__.co_varnames[1 : method.__code__.co_argcount]]
    return str(method(*arguments)).replace("<task_id>", "<id>")


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterable[str]:
    for row in (head, ("---",) * len(head), *rows):
        yield "| " + " | ".join(row) + " |"


if __name__ == "__main__":
    print(render(), end="")
