"""MODULE:attribute, and what is said of a name that stands for no application."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from receiver.loading import load_app
from receiver.protocol.errors import StartupError

APP = "from receiver import Receiver\napp = Receiver('acme')\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current directory, empty; what is imported from it is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:
        del sys.modules[name]


def refusal(name: str) -> str:
    with pytest.raises(StartupError) as caught:
        load_app(name)
    return str(caught.value)


def test_a_module_of_the_current_directory_is_found(folder: Path) -> None:
    (folder / "acme_server.py").write_text(APP)
    assert load_app("acme_server:app").name == "acme"


def test_a_module_of_a_package_is_found(folder: Path) -> None:
    (folder / "acme").mkdir()
    (folder / "acme" / "server.py").write_text(APP)
    assert load_app("acme.server:app").name == "acme"


@pytest.mark.parametrize("name", ["", "acme", "acme:", ":app", "acme.server.app"])
def test_another_form_is_no_name(name: str) -> None:
    assert refusal(name) == f"an app is named as MODULE:attribute, for example acme.server:app; {name!r} is not"


@pytest.mark.parametrize(
    ("name", "missing"), [("nowhere:app", "nowhere"), ("receiver.nowhere:app", "receiver.nowhere")]
)
def test_a_module_that_is_not_there(folder: Path, name: str, missing: str) -> None:
    assert refusal(name) == f"can't import {name.partition(':')[0]}: there is no module named {missing}"


def test_an_attribute_that_is_not_there(folder: Path) -> None:
    (folder / "acme_server.py").write_text(APP)
    assert refusal("acme_server:nothing") == "module acme_server has no attribute 'nothing'"


def test_an_attribute_that_is_something_else(folder: Path) -> None:
    (folder / "acme_server.py").write_text("app = 'acme'\n")
    assert refusal("acme_server:app") == "acme_server:app is a str; it has to be a Receiver"


@pytest.mark.parametrize(
    ("code", "what", "line"),
    [
        ("\n1 / 0", "ZeroDivisionError: division by zero", 2),
        ("raise SystemExit('no licence')", "SystemExit: no licence", 1),
        ("raise ValueError('two\\nlines')", "ValueError: two lines", 1),
        ("import nowhere", "ModuleNotFoundError: No module named 'nowhere'", 1),
        ("def broken(:\n", "SyntaxError: invalid syntax", 1),
        (APP + "@app.tool\ndef tool():\n    yield", "TypeError: tool 'tool': ", 3),
    ],
)
def test_a_module_that_fails_is_named_with_the_line(folder: Path, code: str, what: str, line: int) -> None:
    file = folder / "acme_server.py"
    file.write_text(code)
    said = refusal("acme_server:app")
    assert said.startswith(f"can't import acme_server: {what}")
    assert said.endswith(f" (in {file}, line {line})")
    assert "\n" not in said


def test_the_line_is_one_of_the_app_even_if_a_library_failed(folder: Path) -> None:
    file = folder / "acme_server.py"
    file.write_text("import json\n\ndef load():\n    return json.loads('{')\n\nload()\n")
    assert refusal("acme_server:app").endswith(f"(in {file}, line 4)")
