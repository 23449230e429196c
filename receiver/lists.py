"""The lists that clients are shown, each known by a digest.

Nodes do not know each other.  A session remembers which list its client was shown, so that a node with another one,
be it newer or older, can tell the client.
"""

from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import Any

import orjson

from receiver.receiver import Receiver

# What stands in each list, by the word that its methods and its notification begin with.
LISTS: dict[str, Callable[[Receiver], Iterable[Mapping[str, Any]]]] = {
    "tools": lambda app: [tool.definition() for tool in app.tools],
    "resources": lambda app: [resource.definition() for resource in app.resources],  # and the templates
    "prompts": lambda app: [prompt.definition() for prompt in app.prompts],
}


def digest_lists(app: Receiver) -> dict[str, str]:
    """A digest of each list of ``app``, by its kind: all processes that serve the same have the same digests."""
    return {kind: _digest(read(app)) for kind, read in LISTS.items()}


def _digest(entries: Iterable[Mapping[str, Any]]) -> str:
    return sha256(orjson.dumps(list(entries), option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]
