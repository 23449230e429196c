"""The backends are those of the store's own tests."""

from tests.store.conftest import backend, redis_server, valkey_server, world

__all__ = ["backend", "redis_server", "valkey_server", "world"]
