"""What spoils the checks of ``ops/conform/checks/sessions.py``."""

from ops.conform.checks import sessions
from tests.conformance.sabotage import Call, Head, spoils_head


@spoils_head(sessions.ended_session)
def say_bad_request(call: Call, head: Head) -> None:
    if head.status == 404:
        head.status = 400
