"""What is refused over HTTP, and what a failed task says: the parts of docs/reference/errors.md that are no class."""

from collections.abc import Mapping

Row = tuple[str, str]  # when, and what to do then

REFUSALS: Mapping[int, tuple[Row, ...]] = {
    400: (
        ("`Mcp-Session-Id` is missing", "send what `initialize` gave"),
        ("`MCP-Protocol-Version` names a revision that is not served", "send the one that `initialize` agreed on"),
        ("`Last-Event-ID` is not of a stream of this session", "open a new stream"),
        ("a response to nothing that was asked, or to what was answered already", "nothing: it was not needed"),
        ("`Host` or `Authorization` are malformed", "mend the client or the proxy"),
        ("the body is no JSON, or no JSON-RPC message", "see -32700 and -32600 above"),
    ),
    401: (
        (
            "no token, or not a valid one; the log has `token_refused` with the reason",
            "get one: `WWW-Authenticate` says where",
        ),
    ),
    403: (
        ("the token lacks a scope of `RECEIVER_AUTH_SCOPES`", "get one with the scopes that `WWW-Authenticate` names"),
        ("`Host` is not served", "operators: set `RECEIVER_RESOURCE_URL` or `RECEIVER_ALLOWED_HOSTS`"),
        ("`Origin` may not ask", "operators: set `RECEIVER_ALLOWED_ORIGINS`"),
    ),
    404: (("the session has ended, or is somebody else's", "`initialize` again; tasks are untouched"),),
    405: (
        ("another verb than POST, GET and DELETE", "mend the client"),
        ("a GET for a stream whose request was cancelled", "nothing: there is nothing more to hear"),
    ),
    406: (("`Accept` takes neither JSON nor event streams; for GET, no event streams", "accept both"),),
    408: (("the request was not there within `RECEIVER_RECEIVE_SECONDS`; the body is plain text", "send it again"),),
    413: (("the body is longer than `RECEIVER_MAX_BODY_BYTES`", "send less: a link in place of the data"),),
    415: (("`Content-Type` is not `application/json`, or the body is compressed", "mend the client"),),
    429: (("a GET stream too many, see `too_many_streams`", "close some"),),
    503: (("the store does not answer, and no request could be begun", "try again after `data.retryAfterMs`"),),
}

FAILURES = (
    ("Tool '…' was stopped: it took longer than … s", "its `timeout` was over", "declare a longer `timeout`"),
    (
        "Tool '…' was interrupted by a shutdown",
        "its worker shut down, and it may be attempted once",
        "call it again; give workers a longer `RECEIVER_SHUTDOWN_GRACE_SECONDS`",
    ),
    ("Tool '…' gave up after … attempts", "it raised `Retry` in its last attempt", "see the log for why"),
    (
        "The process of tool '…' was killed by signal 9",
        "the process of an isolated run died in its last attempt, often by its memory bound",
        "raise `Isolation(memory=…)`, or use less",
    ),
    (
        "The result of tool '…' has … bytes; … are allowed",
        "it is longer than `RECEIVER_MAX_RESULT_BYTES`",
        "return a link or a resource in place of the data",
    ),
    (
        "Tool '…' failed: KeyError; the server's log has the details",
        "it raised what is no `ToolError`",
        "look for `tool_failed` with the task's id in the log",
    ),
)
