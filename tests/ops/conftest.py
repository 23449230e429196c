"""A store to test on: the embedded Valkey, as ``receiver dev`` brings it along."""

import pytest

from tests.servers import Server
from tests.store.backends import Backend
from tests.store.conftest import no_leaks, valkey_server, world

__all__ = ["backend", "no_leaks", "valkey_server", "world"]


@pytest.fixture
def backend(valkey_server: Server) -> Backend:
    return Backend("valkey", valkey_server)
