"""How long things may take."""

from tests.chaos.evidence import Evidence
from tests.chaos.ledger import Ledger

HEALTHY_SECONDS = 2.5  # for whoever waits to go on once it can: 1 s, and a slow machine
RECHECK_SECONDS = 10.0  # the same after a fault: reconnect, read again every 3 s, a node that starts


def limit_after(start: float, ended: float, evidence: Evidence, ledger: Ledger) -> float:
    """Until when something has to have happened that could happen from ``start`` on, and did at ``ended``."""
    fault_end = ledger.last_fault(start - evidence.lease, ended)
    return start + HEALTHY_SECONDS if fault_end is None else max(start, fault_end) + RECHECK_SECONDS
