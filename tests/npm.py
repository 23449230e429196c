"""Programs from npm, installed once below ``.cache`` for as long as their lock file stays the same.

A folder of sources, with a ``package.json`` and its lock, is one program.  Lock files name no registry.
"""

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.processes import ROOT

INSTALL_SECONDS = 200
OFFLINE = ("EAI_AGAIN", "ECONNREFUSED", "ENOTFOUND", "ETIMEDOUT")


def install(source: Path, *, oldest_node: int) -> tuple[Path, Path]:
    """The folder of a program and all that it needs, and the node to run it with; skips where that can't be had.

    Where the system's node is older than ``oldest_node``, it is one that the lock file has as an optional dependency.
    """
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip(f"{source.name} needs node and npm, which are not on PATH")
    is_old = _version_of(node) < oldest_node
    lock = (source / "package-lock.json").read_bytes()
    folder = ROOT / ".cache" / source.name / hashlib.sha256(lock).hexdigest()[:16] / ("with_node" if is_old else "")
    shutil.copytree(source, folder, dirs_exist_ok=True)
    if not (folder / "node_modules" / ".package-lock.json").exists():  # which npm writes last
        _fetch(folder, *(() if is_old else ("--omit=optional",)))
    return folder, _find_installed_node(folder) if is_old else Path(node)


def _fetch(folder: Path, *options: str) -> None:
    command = ["npm", "ci", "--prefer-offline", "--fetch-retries=1", "--fetch-retry-mintimeout=1000", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    if done.returncode and any(reason in done.stderr for reason in OFFLINE):
        pytest.skip(f"what is in {folder} is not installed, and npm reaches no registry")
    assert done.returncode == 0, done.stderr


def _find_installed_node(folder: Path) -> Path:
    found = sorted(folder.glob("node_modules/node-*/bin/node"))
    if not found:
        pytest.skip("the system's node is too old, and npm has none for this machine")
    return found[0]


def _version_of(node: str) -> int:
    said = subprocess.run([node, "--version"], check=True, capture_output=True, text=True).stdout
    return int(re.findall(r"\d+", said)[0])
