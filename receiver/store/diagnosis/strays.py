"""Which keys may stand in the store for ever."""

import re
from functools import cache

from receiver.store.keys import SPECS, Keys, KeySpec


def find_spec(keys: Keys, key: str) -> KeySpec | None:
    """What ``key`` is, or None for a key that no method of ``keys`` names.  The one that says most of it counts."""
    return next((spec for pattern, spec in _patterns(keys.namespace, keys.shard) if pattern.fullmatch(key)), None)


def is_stray(keys: Keys, key: str) -> bool:
    """Whether a key without a TTL should have one, or should not be there."""
    spec = find_spec(keys, key)
    return spec is None or not spec.is_permanent


@cache
def _patterns(namespace: str, shard: str) -> list[tuple[re.Pattern[str], KeySpec]]:
    """What each key looks like; those first that say most of it."""
    keys = Keys(namespace, shard)
    named = sorted(((_name(keys, spec), spec) for spec in SPECS.values()), key=lambda pair: -len(pair[0]))
    return [
        (re.compile(re.escape(name).replace("\0", ".+"), re.DOTALL), spec)
        for name, spec in named
        if spec.type != "channel"
    ]


def _name(keys: Keys, spec: KeySpec) -> str:
    method = getattr(keys, spec.name)
    name: str = method(*["\0"] * (method.__code__.co_argcount - 1))
    return name
