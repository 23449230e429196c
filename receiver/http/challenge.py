"""What a requestor is told whose credentials do not do: the Bearer challenge (RFC 6750, 3; RFC 9728, 5.1).

One answer for every reason that a token is refused for; the reason goes to the log.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from receiver.http.refusal import Refusal
from receiver.http.resource import Resource
from receiver.telemetry import metrics

Fault = Literal["invalid_request", "invalid_token", "insufficient_scope"]

_ANSWERS: dict[Fault | None, tuple[int, str]] = {
    None: (401, "A valid bearer token is required"),
    "invalid_token": (401, "A valid bearer token is required"),
    "invalid_request": (400, "Authorization must be one bearer token"),
    "insufficient_scope": (403, "The token lacks a scope that is required"),
}


class Challenges:
    """Makes the Refusals.  ``resource`` is None where there is no metadata to point to; ``scopes`` are required."""

    def __init__(self, resource: Resource | None, scopes: Sequence[str]) -> None:
        self._resource = resource
        self._scopes = scopes

    def refuse(self, scope: Mapping[str, Any], fault: Fault | None) -> Refusal:
        """The answer to the request of ``scope``.  ``fault`` is None where nothing was wrong with what never came."""
        metrics.count_auth_failure(fault or "missing")
        status, message = _ANSWERS[fault]
        parameters = {
            "resource_metadata": self._resource and self._resource.metadata_url_for(scope),
            "scope": " ".join(self._scopes),
            "error": fault,
        }
        listed = ", ".join(f'{name}="{value}"' for name, value in parameters.items() if value)
        challenge = f"Bearer {listed}".strip().encode("latin-1")
        return Refusal(status, message, ((b"www-authenticate", challenge),), reason=fault or "no_token")
