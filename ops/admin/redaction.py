"""What of a task operators may see: ``RECEIVER_REDACT`` names a function of the deployment that decides.

::

    def redact(shown: dict[str, Any]) -> dict[str, Any]:
        ...

``shown`` tells whose and what the task is (``id``, ``tool``, ``method``, ``owner``), and holds those of CONTENTS that
are about to be shown, as JSON values.  What is returned under these names is shown in their place; what is left out,
or all of it if the function raises, is not shown.
"""

import copy
import importlib
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from receiver.protocol.errors import StartupError

CONTENTS = ("params", "result", "error", "questions", "status_message", "progress_message")
HIDDEN = "(hidden)"

Hook = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True, slots=True)
class Redaction:
    """Applies a hook; None shows everything."""

    hook: Hook | None = None

    def apply(self, shown: Mapping[str, Any]) -> dict[str, Any]:
        """``shown`` as it may be shown: its CONTENTS as the hook returns them, HIDDEN where it does not."""
        if self.hook is None:
            return dict(shown)
        contents = [name for name in CONTENTS if shown.get(name) is not None]
        allowed = _ask(self.hook, shown) if contents else {}
        return {**shown, **{name: allowed.get(name, HIDDEN) for name in contents}}


def load_redaction(name: str | None) -> Redaction:
    """The redaction by the hook that ``name``, MODULE:function, stands for.  Raises StartupError."""
    if not name:
        return Redaction()
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise StartupError(f"RECEIVER_REDACT is MODULE:function; {name!r} is not")
    if (folder := os.getcwd()) not in sys.path:
        sys.path.insert(0, folder)
    try:
        hook = getattr(importlib.import_module(module), attribute)
    except Exception as error:
        raise StartupError(f"RECEIVER_REDACT: can't load {name}: {type(error).__name__}: {error}") from None
    if not callable(hook):
        raise StartupError(f"RECEIVER_REDACT: {name} is no function")
    return Redaction(hook)


def _ask(hook: Hook, shown: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        allowed = hook(copy.deepcopy(dict(shown)))
    except Exception:  # whatever is wrong with it, what it should have hidden must not be seen
        return {}
    return allowed if isinstance(allowed, Mapping) else {}
