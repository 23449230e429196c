"""The house style, as far as a program can check it; CONTRIBUTING.md says it in words."""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("ops/", "receiver/", "tests/", "workers/")

# What may break a rule, and why: "path" of a file, or "path::function".
EXCEPTIONS: dict[str, str] = {}

MAX_FUNCTION_LINES = 40
MAX_FILE_LINES = {".lua": 60, ".py": 300}
MAX_TEST_FILE_LINES = 500
NAMES_THAT_SAY_NOTHING = {"base", "common", "helper", "helpers", "manager", "misc", "util", "utils"}

# Which registry a machine installs from is its own affair.  In parts, because this file is checked too.
REGISTRY_HOSTS = [
    ".".join(parts)
    for parts in [
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("yarnpkg", "com"),
        ("crates", "io"),
        ("proxy", "golang", "org"),
        ("deb", "debian", "org"),
        ("security", "debian", "org"),
    ]
]

Complaint = tuple[str, str]  # what it is about, as in EXCEPTIONS, and what it says


def complaints(path: str, text: str) -> Iterator[Complaint]:
    """What is wrong with a file, given its path from the root and its text."""
    yield from host_complaints(path, text)
    if not path.startswith(SOURCES):
        return
    yield from size_complaints(path, text)
    if path.endswith(".py"):
        yield from name_complaints(path)
        yield from function_complaints(path, text)


def host_complaints(path: str, text: str) -> Iterator[Complaint]:
    for host in REGISTRY_HOSTS:
        if host in text:
            yield path, f"{path}: names the package registry {host}"


def size_complaints(path: str, text: str) -> Iterator[Complaint]:
    suffix = Path(path).suffix
    limit = MAX_TEST_FILE_LINES if path.startswith("tests/") and suffix == ".py" else MAX_FILE_LINES.get(suffix)
    lines = len(text.splitlines())
    if limit is not None and lines > limit:
        yield path, f"{path}: {lines} lines, over {limit}; look for the missing noun"


def name_complaints(path: str) -> Iterator[Complaint]:
    without_suffix = Path(path).with_suffix("")
    for part in NAMES_THAT_SAY_NOTHING.intersection(without_suffix.parts):
        yield path, f"{path}: a module named {part} is named for nothing"


def function_complaints(path: str, text: str) -> Iterator[Complaint]:
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if lines > MAX_FUNCTION_LINES:
            yield f"{path}::{node.name}", f"{path}:{node.lineno}: {node.name} has {lines} lines"


def listed_files() -> Iterator[tuple[str, str]]:
    """Path and text of every text file that git tracks or would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for path in listing.rstrip("\0").split("\0"):
        file = ROOT / path
        content = file.read_bytes() if file.is_file() else b""
        if b"\0" not in content:
            yield path, content.decode()


@pytest.fixture(scope="module")
def found() -> list[Complaint]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    return [complaint for path, text in listed_files() for complaint in complaints(path, text)]


def test_the_sources_keep_the_house_style(found: list[Complaint]) -> None:
    offences = [text for about, text in found if about not in EXCEPTIONS]
    assert not offences, "\n".join(offences)


def test_every_exception_is_still_needed(found: list[Complaint]) -> None:
    assert set(EXCEPTIONS) - {about for about, _ in found} == set()


LONG_FUNCTION = "async def run():\n" + "    pass\n" * MAX_FUNCTION_LINES


@pytest.mark.parametrize(
    ("path", "text", "about"),
    [
        ("receiver/hub.py", "x = 1\n" * 301, "receiver/hub.py"),
        ("tests/unit/test_hub.py", "x = 1\n" * 501, "tests/unit/test_hub.py"),
        ("receiver/store/lua/claim.lua", "local x = 1\n" * 61, "receiver/store/lua/claim.lua"),
        ("workers/utils.py", "", "workers/utils.py"),
        ("ops/common/render.py", "", "ops/common/render.py"),
        ("workers/runner.py", LONG_FUNCTION, "workers/runner.py::run"),
        ("Makefile", f"pip install --index-url https://{REGISTRY_HOSTS[0]}/simple/x", "Makefile"),
    ],
)
def test_what_breaks_a_rule_is_found(path: str, text: str, about: str) -> None:
    assert [found for found, _ in complaints(path, text)] == [about]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("receiver/hub.py", "x = 1\n" * 300),
        ("tests/unit/test_hub.py", "x = 1\n" * 500),
        ("receiver/store/lua/claim.lua", "local x = 1\n" * 60),
        ("workers/runner.py", LONG_FUNCTION.removesuffix("    pass\n")),
        ("docs/architecture.md", "\n" * 1000),
    ],
)
def test_what_keeps_the_rules_passes(path: str, text: str) -> None:
    assert list(complaints(path, text)) == []
