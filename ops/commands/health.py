"""``receiver health``: the readiness that ``/readyz`` tells of a node, of the store and its workers alone."""

from ops.commands.connection import REFUSED, Store
from ops.render import print_json
from receiver.readiness import Readiness


async def show_health(store: Store, *, as_json: bool) -> int:
    """Prints whether all is well, or why not."""
    live = sum(worker.is_live for worker in await store.census.list_workers())
    readiness = Readiness(store.redis, store.census, durability=store.settings.durability, needs_workers=True)
    reason = await readiness.find_reason()
    if as_json:
        print_json({"status": "ok" if reason is None else "unavailable", "reason": reason, "workers": live})
    else:
        print(f"ok: the store takes tasks; workers alive: {live}" if reason is None else reason)
    return 0 if reason is None else REFUSED
