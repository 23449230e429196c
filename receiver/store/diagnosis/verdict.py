"""What facts mean: findings, the gravest first."""

from receiver.store.diagnosis.facts import Facts
from receiver.store.diagnosis.finding import Finding
from receiver.store.diagnosis.fleet import judge_fleet
from receiver.store.diagnosis.server import judge_server
from receiver.store.diagnosis.tasks import judge_tasks


def judge(facts: Facts) -> list[Finding]:
    """All that is wrong; errors before warnings."""
    found = [*judge_server(facts)]
    if not facts.is_partial:
        found += [*judge_fleet(facts), *judge_tasks(facts)]
    return sorted(found, key=lambda finding: finding.severity != "error")


def judge_silence(reason: str) -> Finding:
    """The finding where there are no facts, since the store does not answer."""
    return Finding(
        "unreachable_server",
        "error",
        reason,
        "Nothing works without it: requests are refused, and workers wait.",
        "See RECEIVER_REDIS_URL, the network, and whether the server runs.",
    )
