"""Time that passes for a store: whatever stands in it as a time moves back, and so everything is that much later.

No server can be told what time it is.  created_at and updated_at stay: they are order, and nothing is measured by them.
"""

from typing import Any

from receiver.store.diagnosis.strays import find_spec
from tests.store.world import World

# The zsets whose scores are times, and what the scores of the others are.
TIMES = {"active", "all_sessions", "expiry", "labels", "leases", "later", "workers", "nodes", "sessions"}
TIMES |= {"hearers", "listeners", "subscribers"}
ORDERS = {"owner", "status", "queue", "fair"}

# The fields of hashes that are times.
FIELDS = {"task": ("expires_at", "lease_until"), "clock": ("seen", "hold_until"), "steps": (":due",)}
FIELDS |= {"inputs": (":due", ":deadline")}


async def advance(world: World, dump: dict[str, Any], duration: int) -> None:
    """Lets ``duration`` ms pass for all that stands in ``dump``."""
    async with world.redis.pipeline(transaction=False) as pipe:
        for key, (value, expires) in dump.items():
            spec = find_spec(world.keys, key)
            assert spec is not None, f"{key} is not in the table of keys"
            if spec.type == "zset":
                assert spec.name in TIMES | ORDERS, f"does time pass for {spec.name}?"
                if spec.name in TIMES:
                    pipe.zadd(key, {member: score - duration for member, score in value})
            elif spec.name in FIELDS:
                times = {name: at for name, at in value.items() if name.decode().endswith(FIELDS[spec.name])}
                if times:
                    pipe.hset(key, mapping={name: int(at) - duration for name, at in times.items()})
            if expires > 0:
                pipe.pexpireat(key, expires - duration)
        await pipe.execute()
