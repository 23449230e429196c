"""Heartbeats.  They leave from a thread of their own, over a connection of their own, so this is a blocking client."""

import time
from collections.abc import Mapping
from typing import Any

from redis import Redis
from redis.exceptions import NoScriptError, ReadOnlyError, RedisError

from receiver.store.client import kind_of
from receiver.store.keys import Keys
from receiver.store.scripts import Argument, load
from receiver.telemetry import metrics


class WorkerStore:
    """One worker's presence in the store.  ``lease`` in milliseconds."""

    def __init__(self, redis: Redis, keys: Keys, *, lease: int, with_flags: bool = True) -> None:
        self._redis = redis
        self._keys = keys
        self._lease = lease
        self._with_flags = with_flags

    def beat(
        self, worker: str, acknowledged: int, presence: Mapping[str, Argument], running: Mapping[str, int | None]
    ) -> dict[str, str]:
        """Renews the leases of ``running``; returns the task ids whose run must stop, each with the reason.

        A run of None is here, but not renewed: its lease ends.  ``acknowledged`` is the last claim whose reply arrived;
        ``presence`` is what operators see of the worker.
        Raises redis-py's errors: whoever beats tries again anyway.
        """
        fields = [item for pair in presence.items() for item in pair]
        runs = [item for task_id, run in running.items() for item in (task_id, "" if run is None else run)]
        head = (worker, self._lease, acknowledged, round(time.time() * 1000), len(presence))
        try:
            flat = self._evaluate("heartbeat", *head, *fields, *runs)
        except (RedisError, OSError) as error:
            metrics.count_store_error(kind_of(error))
            raise
        return {flat[i].decode(): flat[i + 1].decode() for i in range(0, len(flat), 2)}

    def close(self) -> None:
        """Gives the connection back."""
        self._redis.close()

    def _evaluate(self, name: str, *arguments: Argument) -> Any:
        script = load(name, with_flags=self._with_flags)
        tail = (2, self._keys.prefix, self._keys.job_prefix, *arguments)
        began = time.perf_counter()
        try:
            answer = self._redis.execute_command("EVALSHA", script.sha, *tail)
        except NoScriptError:
            answer = self._redis.execute_command("EVAL", script.source, *tail)
        except ReadOnlyError:
            self._redis.connection_pool.disconnect()  # another server must be the master by now
            raise
        metrics.observe_script(name, began)
        return answer
