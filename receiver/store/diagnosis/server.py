"""What can be wrong with the server."""

from collections.abc import Iterator

from receiver.store.checks import ENOUGH, OLDEST, is_too_old
from receiver.store.diagnosis.facts import Facts, ServerFacts
from receiver.store.diagnosis.finding import Finding, count

FULL, FILLING = 0.9, 0.75  # of its memory
SLOW_MS = 50.0
LAG_SECONDS = 10

_DISK = {
    "rdb_last_bgsave_status": "its last snapshot failed",
    "aof_last_write_status": "its last write to the append-only file failed",
    "aof_last_bgrewrite_status": "its last rewrite of the append-only file failed",
}


def judge_server(facts: Facts) -> Iterator[Finding]:
    """Version, eviction, what it keeps, memory, disk, replication, and how far away it is."""
    server = facts.server
    yield from _judge_refusal(server)
    yield from _judge_kind(server)
    yield from _judge_persistence(facts)
    yield from _judge_memory(server)
    yield from _judge_replication(server)
    if server.ping > SLOW_MS:
        yield Finding(
            "slow_server",
            "warning",
            f"the store took {server.ping:.0f} ms for a ping",
            "Each request needs at least one round trip, and a claim of tasks another.",
            "Run nodes and workers next to the store; look for slow commands with `redis-cli SLOWLOG GET`.",
        )


def _judge_refusal(server: ServerFacts) -> Iterator[Finding]:
    if server.refusal is not None and not server.is_replica and not is_too_old(server.manners.version):
        yield Finding(
            "refusing_server",
            "error",
            server.refusal,
            "No task can be created, and no outcome stored, as long as that lasts; workers try again.",
            "See `redis-cli INFO` and the log of the server; docs/reliability.md says what each of these means.",
        )


def _judge_kind(server: ServerFacts) -> Iterator[Finding]:
    manners = server.manners
    if is_too_old(manners.version):
        yield Finding(
            "old_server",
            "error",
            f"the store is Redis {manners.version}",
            "Its scripts know no flags: a full store would refuse to let running tasks end.",
            f"Upgrade to Redis {OLDEST[0]}.{OLDEST[1]} or newer, or to Valkey.",
        )
    if manners.policy is None:
        yield Finding(
            "unknown_eviction",
            "warning",
            "the store does not tell its maxmemory-policy",
            "With any other than noeviction it drops tasks when its memory is full.",
            "Look at the settings of the service that runs it, and choose noeviction.",
        )
    elif manners.policy != "noeviction":
        yield Finding(
            "evicting_server",
            "error",
            f"the store evicts keys: its maxmemory-policy is {manners.policy}",
            "When its memory is full it drops tasks that were promised, without a word.",
            "redis-cli CONFIG SET maxmemory-policy noeviction, and the same in its configuration file.",
        )


def _judge_persistence(facts: Facts) -> Iterator[Finding]:
    manners, durability = facts.server.manners, facts.durability
    if manners.has_aof is False:
        yield Finding(
            "no_append_only_file",
            "error" if durability else "warning",
            "the store has no append-only file",
            "When it ends, all tasks since its last snapshot are lost.",
            "redis-cli CONFIG SET appendonly yes, and the same in its configuration file.",
        )
    elif manners.fsync is not None and manners.fsync not in ENOUGH[durability or "everysec"]:
        yield Finding(
            "weak_fsync",
            "error" if durability else "warning",
            f"the store has appendfsync {manners.fsync}",
            f"It keeps less than {f'RECEIVER_DURABILITY={durability} demands' if durability else 'a second of loss'}: "
            "what was acknowledged may be lost when its machine ends.",
            f"redis-cli CONFIG SET appendfsync {durability or 'everysec'}, and the same in its configuration file.",
        )
    for failure in facts.server.failures:
        yield Finding(
            "failed_write",
            "error",
            f"the store can't write to its disk: {_DISK[failure]}",
            "It refuses new tasks until a write succeeds, or loses what it could not write when it ends.",
            "Make room on the disk, or mend the permissions; the log of the server says which file it was.",
        )


def _judge_memory(server: ServerFacts) -> Iterator[Finding]:
    used, most = server.manners.used, server.manners.most or server.total
    if not most or used <= FILLING * most:
        return
    bound = "its maxmemory" if server.manners.most else "the memory of its machine, and it has no maxmemory"
    yield Finding(
        "full_memory" if used > FULL * most else "filling_memory",
        "error" if used > FULL * most else "warning",
        f"the store uses {100 * used // most} % of {bound}",
        "When it is full, new tasks are refused; without a maxmemory the system may kill it.",
        "Give it more memory, or shorten RECEIVER_MAX_TTL and RECEIVER_DEFAULT_TTL: results are kept that long.",
    )


def _judge_replication(server: ServerFacts) -> Iterator[Finding]:
    if server.is_replica:
        yield Finding(
            "replica",
            "error",
            "this server is a replica" + ("" if server.is_linked else ", and has lost its master"),
            "It takes no writes: no node and no worker can use it.",
            "Let RECEIVER_REDIS_URL lead to the master, or to the Sentinels that know it.",
        )
    behind = [replica for replica in server.replicas if replica.state != "online" or replica.lag > LAG_SECONDS]
    if behind:
        yield Finding(
            "replica_behind",
            "warning",
            f"{count(len(behind), 'replica')} of {len(server.replicas)} can't keep up",
            "When the master fails now, what they did not get is lost.",
            "See `redis-cli INFO replication`, and the network and the disks of the replicas.",
            tuple(f"{replica.address} ({replica.state}, {replica.lag} s)" for replica in behind),
        )
