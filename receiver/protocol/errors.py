"""The exceptions of the project, and what each of them is on the wire.

::

    ReceiverError                     a JSON-RPC error; tool authors raise it with a code of their own
    ├── ParseError                    -32700  the body is not JSON
    ├── InvalidRequest                -32600  the body is not one JSON-RPC message
    ├── MethodNotFound                -32601  unknown method, or a tool that is not called this way
    ├── InvalidParams                 -32602
    │   ├── InvalidArguments                  a tool's arguments do not fit its schema
    │   ├── InvalidCursor                     not a cursor of this requestor
    │   ├── TaskNotFound                      unknown, expired, malformed or foreign: one text for all
    │   ├── TaskAlreadyFinished               cancel of a terminal task
    │   ├── TaskWasCancelled                  what tasks/result of a cancelled task says
    │   └── TaskExpired                       the ttl ended while a requestor waited
    ├── ResourceNotFound              -32002  no resource has this URI
    ├── UrlElicitationRequired        -32042  the user has to open a link first; tool authors raise it
    └── InternalError                 -32603
        ├── Unavailable                       the store does not answer; carries a retry hint
        ├── Refused                           a limit; carries its reason and a retry hint
        └── WorkerLost                        the worker of a plain call died
    InvalidAnswer                     what a client answered does not fit what it was asked; the question stays open
    ToolError                         what a tool says to its caller: a result with ``isError``; -32603 of any other
    └── ReplayDiverged                        a run does something else than an earlier run of its task did
    Retry                             what a tool raises to be run again later
    SessionEnded                      HTTP 404: the client begins a new one
    StartupError                      one clear line for whoever starts the server; exit code 2

A JSON-RPC error that answers a well-formed request goes out with HTTP 200: the Python client drops its whole
connection on any other status.  ``http_status`` differs only where no request could be read.
"""

import secrets
from collections.abc import Mapping
from math import inf
from typing import Any, ClassVar

from receiver.protocol.link import check_url

__all__ = [
    "InternalError",
    "InvalidAnswer",
    "InvalidArguments",
    "InvalidCursor",
    "InvalidParams",
    "InvalidRequest",
    "MethodNotFound",
    "ParseError",
    "ReceiverError",
    "Refused",
    "ReplayDiverged",
    "ResourceNotFound",
    "Retry",
    "SessionEnded",
    "StartupError",
    "TaskAlreadyFinished",
    "TaskExpired",
    "TaskNotFound",
    "TaskWasCancelled",
    "ToolError",
    "Unavailable",
    "UrlElicitationRequired",
    "WorkerLost",
]


class ReceiverError(Exception):
    """A JSON-RPC error: ``code`` (an integer), ``message``, and ``data`` (any JSON value, or None for none).

    Raised by a tool, it becomes exactly this error for the caller (T-83).
    """

    default_code: ClassVar[int] = -32603
    default_message: ClassVar[str] = "Internal error"
    http_status: ClassVar[int] = 200

    def __init__(self, message: str | None = None, *, code: int | None = None, data: Any = None) -> None:
        if code is not None and (isinstance(code, bool) or not isinstance(code, int)):
            raise TypeError("a JSON-RPC error code is an integer")  # L-05
        self.code = self.default_code if code is None else code
        self.message = self.default_message if message is None else message
        self.data = data
        super().__init__(self.message)

    def to_json(self) -> dict[str, Any]:
        """The error object of a JSON-RPC response: ``code``, ``message``, and ``data`` if there is any."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return error


class ParseError(ReceiverError):
    default_code = -32700
    default_message = "Parse error"
    http_status = 400


class InvalidRequest(ReceiverError):
    default_code = -32600
    default_message = "Invalid request"
    http_status = 400


class MethodNotFound(ReceiverError):
    default_code = -32601
    default_message = "Method not found"


class InvalidParams(ReceiverError):
    default_code = -32602
    default_message = "Invalid params"


class InvalidArguments(InvalidParams):
    """The text names each field; a plain call answers the same text as an ``isError`` result (X-18)."""


class InvalidCursor(InvalidParams):
    default_message = "Invalid cursor"  # T-77


class TaskNotFound(InvalidParams):
    default_message = "Task not found"  # T-76, T-89


class TaskAlreadyFinished(InvalidParams):
    """``status`` is the terminal status that the task has (T-67)."""

    def __init__(self, status: str) -> None:
        super().__init__(f"Task is already {status}")


class TaskWasCancelled(InvalidParams):
    default_message = "Task was cancelled"

    def __init__(self, task_id: str) -> None:
        super().__init__(data={"taskId": task_id, "status": "cancelled"})


class TaskExpired(InvalidParams):
    default_message = "Task has expired"


class ResourceNotFound(ReceiverError):
    """No resource has this URI; a resource may raise it too, where a URI fits its template and nothing is behind it."""

    default_code = -32002
    default_message = "Resource not found"

    def __init__(self, uri: str) -> None:
        super().__init__(data={"uri": uri})


class UrlElicitationRequired(ReceiverError):
    """Raised by a tool that can't work before its user has opened some links (E-03).

    ``links``: what the user is told about each, by URL.  ``elicitations``: each as the client gets it, with the
    ``elicitationId`` that it was given.  A client that can't open links gets a result with ``isError`` that holds
    ``message`` and no link.  Raises ValueError for a URL that nobody should open (E-07).
    """

    default_code = -32042
    default_message = "The user has to open a link before this can be done"

    def __init__(self, links: Mapping[str, str], message: str | None = None) -> None:
        if not links:
            raise ValueError("there has to be a link to open")
        for url in links:
            check_url(url)
        self.elicitations = [
            {"mode": "url", "elicitationId": secrets.token_hex(16), "url": url, "message": about}
            for url, about in links.items()
        ]
        super().__init__(message, data={"elicitations": self.elicitations})


class InternalError(ReceiverError):
    """Something failed that the requestor can't mend."""


class Unavailable(InternalError):
    """The store does not answer.  ``retry_after_ms``: when to try again, in milliseconds."""

    def __init__(self, retry_after_ms: int = 1000) -> None:
        super().__init__(
            "The task store is unavailable; try again later",
            data={"reason": "unavailable", "retryAfterMs": retry_after_ms},
        )


class Refused(InternalError):
    """A limit was reached and nothing was stored.  ``reason`` is a short word, ``retry_after_ms`` a hint."""

    def __init__(self, reason: str, message: str, *, retry_after_ms: int = 1000) -> None:
        self.reason = reason
        super().__init__(message, data={"reason": reason, "retryAfterMs": retry_after_ms})


class WorkerLost(InternalError):
    """A run ended with its worker, and may not be run again.  ``attempts``: how many runs were lost."""

    def __init__(self, attempts: int) -> None:
        times = "once" if attempts == 1 else f"{attempts} times"
        super().__init__(f"The worker was lost {times}", data={"reason": "worker_lost", "attempts": attempts})


class InvalidAnswer(Exception):
    """A client's answer to a request of the server does not fit (E-06).  The text names the field, never its value."""


class ToolError(Exception):
    """What a tool tells its caller when it can't do its work: the text of a result with ``isError``.

    Raised by a resource, a prompt or a completion, its text is that of an InternalError.

    Any other exception is answered with its type only, and goes to the log with its traceback.
    """


class ReplayDiverged(ToolError):
    """A run of a tool calls a step, or asks a question, with other arguments than an earlier run of its task did.

    What was recorded does not fit any more, so the task fails, whatever the tool makes of this exception.
    """


class Retry(Exception):
    """Raised by a tool to be run again ``after`` seconds; counts as one of its attempts.

    Without ``after`` the pause is the server's choice, a random one: up to 1 s after the first attempt, twice as much
    after each further one, never more than 5 minutes.
    """

    def __init__(self, after: float | None = None) -> None:
        if after is not None and not 0 <= after < inf:  # NaN is not, either
            raise ValueError("after is a number of seconds, zero or more")
        self.after = after
        super().__init__("run again" if after is None else f"run again in {after:g} s")


class SessionEnded(Exception):
    """A request names a session that ended, or never was its principal's (H-30, S-01)."""


class StartupError(Exception):
    """The server can't start; the message is the one line that says why."""
