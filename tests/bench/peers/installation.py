"""The programs of the peers: each in an environment of its own, for as long as what it requires stays the same."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.npm import install
from tests.processes import ROOT

SOURCES = Path(__file__).parent
FOLDER = ROOT / ".cache" / "peers"
INSTALL_SECONDS = 600
OLDEST_NODE = 18


class NotInstalled(Exception):
    """Why a peer can't be had here."""


def install_python(name: str) -> Path:
    """The folder of the programs that ``name/server.py`` runs with, when pip has installed what it requires."""
    source, folder = SOURCES / name, FOLDER / name
    python, mark = folder / "bin" / "python", folder / "installed"
    requirements = source / "requirements.txt"
    wanted = f"{hashlib.sha256(requirements.read_bytes()).hexdigest()} for Python {sys.version}"
    if not mark.exists() or mark.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder)
        # The pip of this environment, since not every system's Python can put one into another.
        pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check", "--quiet"]
        done = subprocess.run(
            [*pip, "install", "--no-deps", "--requirement", str(requirements)],
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
        if done.returncode:
            raise NotInstalled(f"pip: {done.stderr.strip()}")
        mark.write_text(wanted)
    return python.parent


def install_node(name: str) -> list[str]:
    """The command of ``name/server.mjs``, but for its port, when npm has installed what it requires."""
    try:
        folder, node = install(SOURCES / name, oldest_node=OLDEST_NODE)
    except (pytest.skip.Exception, AssertionError) as error:
        raise NotInstalled(f"npm: {error}") from None
    return [str(node), str(folder / "server.mjs")]


def version_of(package: str, name: str) -> str:
    """The release of a package that the peer in the folder ``name`` is pinned to."""
    if (manifest := SOURCES / name / "package.json").exists():
        release: str = json.loads(manifest.read_text())["dependencies"][package]
        return release
    requirements = (SOURCES / name / "requirements.txt").read_text()
    found = re.search(rf"^{re.escape(package)}==(\S+)", requirements, re.MULTILINE)
    assert found, f"{name} requires no {package}"
    return found[1]
