"""The names of keys: in Python, in Lua, and in the table that operators read."""

import inspect
import re
from collections.abc import Callable

import pytest

from receiver.store.keys import SPECS, Keys, lua_function
from tests.store.world import World

ARGUMENTS = ["default", "default:draw", "host:7:abc", "0-0123", "", "a b'c\"d\\", "é{x}%"]


def call(method: Callable[..., str], argument: str) -> str:
    """The key whose every argument is ``argument``."""
    return method(*[argument] * len(inspect.signature(method).parameters))


@pytest.mark.parametrize("name", SPECS)
async def test_lua_names_a_key_as_python_does(world: World, name: str) -> None:
    keys = Keys("acme", "a1")
    source = f"local P, J = KEYS[1], KEYS[2]\n{lua_function(name)}\nreturn key_{name}(ARGV[1], ARGV[1])"
    for argument in ARGUMENTS:
        found = await world.redis.eval(source, 2, keys.prefix, keys.job_prefix, argument)
        assert found.decode() == call(getattr(keys, name), argument)


@pytest.mark.parametrize("name", SPECS)
def test_a_key_is_explained(name: str) -> None:
    spec = SPECS[name]
    assert spec.holds
    assert spec.type in {"channel", "hash", "list", "set", "stream", "string", "zset"}
    assert bool(spec.expiry) == (spec.type != "channel")


@pytest.mark.parametrize("name", SPECS)
def test_all_keys_of_a_shard_share_one_slot(name: str) -> None:
    key = call(getattr(Keys("acme", "a1"), name), "x{y}z")
    tag = re.search(r"\{([^}]+)\}", key)  # what Cluster hashes: the first braces with something in them
    assert tag is not None
    assert tag.group(1) == "a1"


def test_every_method_that_names_a_key_is_in_the_table() -> None:
    methods = {name for name, _ in inspect.getmembers(Keys, inspect.isfunction) if not name.startswith("_")}
    assert methods - {"job_id"} == set(SPECS)


def test_no_two_keys_have_one_name() -> None:
    keys = Keys()
    names = [call(getattr(keys, name), "x") for name in SPECS]
    assert len(names) == len(set(names))


def test_namespaces_and_shards_keep_apart() -> None:
    spaces = [Keys("mcp", "0"), Keys("mcp", "1"), Keys("mcp.x", "0")]
    for name in SPECS:
        assert len({call(getattr(keys, name), "x") for keys in spaces}) == 3
