"""The audit trail: one event for each thing that a requestor did, or was denied (T-97 to T-99).

Who, which operation, which task; never an argument, a result or a token.
"""

import structlog

from receiver.principal import Principal

log = structlog.get_logger("receiver.audit")


def record(event: str, principal: Principal, **about: object) -> None:
    """Writes an event: ``task_created``, ``task_retrieved``, ``task_cancelled``, ``answer_taken``, ``denied`` …"""
    log.info(event, subject=principal.subject, owner=principal.owner, **about)
