"""Finds an application by its name, ``MODULE:attribute``."""

import importlib
import os
import sys
import traceback
from types import ModuleType

from receiver.protocol.errors import StartupError
from receiver.receiver import Receiver


def load_app(name: str) -> Receiver:
    """The Receiver that ``name`` stands for; modules of the current directory are found first.

    Raises StartupError: not such a name, no such module or attribute, not a Receiver, or its module fails.
    """
    module_name, colon, attribute = name.partition(":")
    if not (module_name and colon and attribute):
        raise StartupError(f"an app is named as MODULE:attribute, for example acme.server:app; {name!r} is not")
    found = _find_attribute(_import_module(module_name), attribute)
    if not isinstance(found, Receiver):
        raise StartupError(f"{name} is a {type(found).__name__}; it has to be a Receiver")
    return found


def _import_module(name: str) -> ModuleType:
    if (folder := os.getcwd()) not in sys.path:
        sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
            raise StartupError(f"can't import {name}: there is no module named {error.name}") from None
        raise StartupError(f"can't import {name}: {_describe(error, name.partition('.')[0])}") from error


def _find_attribute(module: ModuleType, attribute: str) -> object:
    try:
        return getattr(module, attribute)
    except AttributeError:
        raise StartupError(f"module {module.__name__} has no attribute {attribute!r}") from None


def _describe(error: BaseException, package: str) -> str:
    """What happened, and the last place in code of ``package`` before it, in one line."""
    what = " ".join(traceback.format_exception_only(error)[-1].split())
    if isinstance(error, SyntaxError) and error.filename:
        return f"{what} (in {error.filename}, line {error.lineno})"
    frames = traceback.walk_tb(error.__traceback__)
    places = [
        (frame.f_code.co_filename, line)
        for frame, line in frames
        if str(frame.f_globals.get("__name__")).partition(".")[0] == package
    ]
    return "{} (in {}, line {})".format(what, *places[-1]) if places else what
