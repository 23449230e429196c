"""What a function says of itself."""

import functools
import inspect
from collections.abc import Callable
from typing import Any


def name_of(function: Callable[..., Any]) -> str:
    """Its name; TypeError where it has none."""
    name = getattr(function, "__name__", None)
    if not isinstance(name, str):
        raise TypeError(f"{function!r} has no name of its own; pass name=")
    return name


def docstring_of(function: Callable[..., Any]) -> str | None:
    """Its docstring, without the indentation."""
    documented = function.func if isinstance(function, functools.partial) else function
    return inspect.cleandoc(documented.__doc__ or "") or None


def is_async(function: Callable[..., Any]) -> bool:
    """Whether what it returns is to be awaited; TypeError for a generator."""
    candidates = (function, getattr(function, "__call__", None))  # noqa: B004
    if any(inspect.isgeneratorfunction(it) or inspect.isasyncgenfunction(it) for it in candidates):
        raise TypeError("a function returns its result; it can't be a generator")
    return any(map(inspect.iscoroutinefunction, candidates))
