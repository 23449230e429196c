"""The machine that something was measured on, in words."""

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

from tests.servers import find_valkey


def describe() -> str:
    """Cores, processor, memory and system."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores of {_processor()}, {memory:.0f} GiB, {platform.system()} {platform.machine()}"


def describe_programs() -> str:
    """Python, Node and the server of the store, with their releases."""
    store = " ".join(re.findall(r"(\w+) server v=(\S+)", _ask(str(find_valkey())))[0])
    node = _ask("node").strip().lstrip("v") if shutil.which("node") else "none"
    return f"Python {platform.python_version()}, Node {node}, {store}"


def _processor() -> str:
    known = Path("/proc/cpuinfo")
    names = re.findall(r"^model name\s*: (.+)$", known.read_text(), re.MULTILINE) if known.exists() else []
    return names[0].strip() if names else platform.processor() or "an unknown processor"


def _ask(program: str) -> str:
    return subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
