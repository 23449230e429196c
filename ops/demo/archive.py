"""Packing a folder into a .tar.gz: the work behind ``archive_folder``.  Nothing here knows of MCP."""

import glob
import os
import tarfile
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO

COMPRESSION = 6


def list_files(folder: Path) -> list[Path]:
    """The regular files below ``folder``, by name.

    Links are left out, and folders whose names begin with a dot: .git, .venv, and the one where archives go.
    """
    found = []
    for place, folders, names in os.walk(folder):  # which follows no links
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(place, name) for name in sorted(names)]
    return [file for file in found if file.is_file() and not file.is_symlink()]


def pack(folder: Path, files: Iterable[Path], target: Path, advance: Callable[[int], None]) -> None:
    """Writes ``files`` of ``folder`` to ``target``, which appears when it is whole.

    ``advance`` is called with each number of bytes that was read; it may raise, and nothing is left then.
    """
    _clear_partial(target)
    descriptor, partial = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with open(descriptor, "wb") as output:
            with tarfile.open(fileobj=output, mode="w:gz", compresslevel=COMPRESSION) as tar:
                for file in files:
                    _add(tar, file, str(file.relative_to(folder)), advance)
            output.flush()
            os.fsync(output.fileno())
        os.replace(partial, target)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise


def _clear_partial(target: Path) -> None:
    """Removes what a run left that was killed."""
    for partial in target.parent.glob(f".{glob.escape(target.name)}.*"):
        partial.unlink(missing_ok=True)


def _add(tar: tarfile.TarFile, file: Path, name: str, advance: Callable[[int], None]) -> None:
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW)  # fails if it has become a link since it was listed
    with open(descriptor, "rb") as content:
        tar.addfile(tar.gettarinfo(arcname=name, fileobj=content), _Counted(content, advance))


class _Counted:
    """A file that tells how much of it was read."""

    def __init__(self, file: BinaryIO, advance: Callable[[int], None]) -> None:
        self._file = file
        self._advance = advance

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._advance(len(data))
        return data
