"""How script files become scripts."""

import re
from pathlib import Path

import pytest

from receiver.store.scripts import load, names, write_all

NAMES = list(names())


def test_the_scripts_are_found_and_the_fragments_are_none() -> None:
    assert {"create", "claim", "finish"} <= set(NAMES)
    assert not [name for name in NAMES if name.startswith("_")]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_included_is_included_once(name: str) -> None:
    source = load(name).source
    defined = re.findall(r"^local function (\w+)", source, re.MULTILINE)
    assert len(defined) == len(set(defined))
    assert "-- include:" not in source


@pytest.mark.parametrize("name", NAMES)
def test_flags_stand_in_the_first_line_or_nowhere(name: str) -> None:
    with_flags, without = load(name).source, load(name, with_flags=False).source
    assert "#!" not in without
    assert with_flags == without or with_flags.partition("\n")[2] == without
    assert load(name).sha != load(name, with_flags=False).sha or with_flags == without


@pytest.mark.parametrize("name", NAMES)
def test_only_what_adds_to_the_store_is_refused_when_it_is_full(name: str) -> None:
    flags = load(name).source.partition("\n")[0]
    if name in {"create", "report", "ask", "remember", "subscribe", "announce"}:
        assert "allow-oom" not in flags
    else:
        assert re.fullmatch(r"#!lua flags=(allow-oom|no-writes)", flags)


@pytest.mark.parametrize("name", NAMES)
def test_a_script_says_what_it_takes_and_returns(name: str) -> None:
    text = load(name).source
    assert re.search(r"^-- KEYS  1 prefix, 2 job prefix$", text, re.MULTILINE)
    assert re.search(r"^-- ARGV  ", text, re.MULTILINE)
    assert re.search(r"^-- Returns ", text, re.MULTILINE)


def test_scripts_can_be_written_for_luacheck(tmp_path: Path) -> None:
    write_all(tmp_path / "lua")
    written = {file.name for file in (tmp_path / "lua").iterdir()}
    assert written == {f"{name}{ending}" for name in NAMES for ending in (".lua", ".admitted.lua")}
    assert (tmp_path / "lua" / "claim.lua").read_text() == load("claim", with_flags=False).source
    admitted = load("cancel", with_flags=False, admitted=True).source
    assert (tmp_path / "lua" / "cancel.admitted.lua").read_text() == admitted


@pytest.mark.parametrize("name", NAMES)
def test_a_script_that_admits_may_write_where_it_only_read(name: str) -> None:
    flags = load(name).source.startswith("#!lua flags=")
    admitted = load(name, admitted=True).source
    assert admitted.startswith("#!lua flags=allow-oom\n") == flags
    assert "check_rate" in admitted
    assert "check_rate" not in load(name).source
