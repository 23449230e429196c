"""What tests take from npm: installed once, below ``.cache``, for as long as the lock file stays the same."""

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.processes import ROOT

INSTALL_SECONDS = 200
OFFLINE = ("EAI_AGAIN", "ECONNREFUSED", "ENOTFOUND", "ETIMEDOUT")


def find_node(oldest: int, installed: Path | None = None) -> str:
    """The command of Node ``oldest`` or later; skips the test where there is none.

    The one among what was ``installed`` comes first, then that on PATH.
    """
    own = () if installed is None else installed.glob("node_modules/node-*/bin/node")  # one a platform
    node = next(map(str, own), None) or shutil.which("node")
    if node is None:
        pytest.skip("this needs node, which is not on PATH")
    version = subprocess.run([node, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    if int(re.findall(r"\d+", version)[0]) < oldest:
        pytest.skip(f"this needs Node {oldest} or later, and there is {version}")
    return node


def install(source: Path) -> Path:
    """A copy of the folder ``source`` with all that its lock file names; skips the test where it can't be fetched."""
    if shutil.which("npm") is None:
        pytest.skip("this needs npm, which is not on PATH")
    lock = (source / "package-lock.json").read_bytes()
    folder = ROOT / ".cache" / "npm" / hashlib.sha256(lock).hexdigest()[:16]
    shutil.copytree(source, folder, dirs_exist_ok=True)
    if not (folder / "node_modules" / ".package-lock.json").exists():  # which npm writes last
        npm = ["npm", "ci", "--prefer-offline", "--fetch-retries=1", "--fetch-retry-mintimeout=1000"]
        done = subprocess.run(npm, cwd=folder, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
        if done.returncode and any(reason in done.stderr for reason in OFFLINE):
            pytest.skip("what this needs is not installed, and npm reaches no registry")
        assert done.returncode == 0, done.stderr
    return folder
