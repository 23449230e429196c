"""What the transport itself refuses, before a request is read: HTTP 4xx, with a JSON-RPC error that has no id."""

from collections.abc import Sequence

from receiver.protocol.errors import InvalidRequest

Headers = Sequence[tuple[bytes, bytes]]


class Refusal(Exception):
    """``status`` is the HTTP status; ``headers`` go out with it.  ``reason`` is for the audit trail alone."""

    def __init__(self, status: int, message: str, headers: Headers = (), *, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason
        self.status = status
        self.error = InvalidRequest(message)
        self.headers = headers
