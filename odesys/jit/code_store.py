"""Compiled code on disk, one file per piece, under the hash of what it was compiled from.

The folder is ``$ODESYS_CACHE``, by default ``odesys`` in the user's cache folder. What is read from it is run, so it
has to be the user's alone, and so has each file; where it is not, or can not be written, nothing is kept and everything
is compiled anew.
A file says which key it belongs to and has a hash over both: half a file, one with another byte, or the file of other
code under this name is removed and compiled again.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import platformdirs

from ..errors import OutputError
from ..files import write_bytes
from ..locks import remove_leftovers

MOST_BYTES = 512 * 2**20  # of compiled code; where there is more, what was written first goes


def key(*texts: str) -> str:
    """Name for what is compiled from these texts."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:40]


@dataclass(frozen=True)
class StoredCode:
    """The place of one piece of code."""

    key: str

    def read(self) -> bytes | None:
        """The code, or None if it is not there; a file that is damaged or belongs to another key is removed."""
        folder = cache_folder()
        if folder is None:
            return None
        path = folder / f"{self.key}.o"
        data = own_bytes(path)
        if data is None:
            return None
        head, code = data[: len(self._head(b""))], data[len(self._head(b"")) :]
        if head == self._head(code):
            return code
        with suppress(OSError):
            path.unlink()
        return None

    def write(self, code: bytes) -> None:
        """Keep the code, whole or not at all, for this user alone."""
        folder = cache_folder()
        if folder is not None:
            with suppress(OSError, OutputError):  # a full disk costs only the time to compile again
                path = folder / f"{self.key}.o"
                write_own(path, self._head(code) + code)
                make_room(folder, "*.o", MOST_BYTES)

    def _head(self, code: bytes) -> bytes:
        """What a file starts with: its key, and a hash over key and code."""
        return self.key.encode() + hashlib.sha256(self.key.encode() + code).digest()


def own_bytes(path: Path) -> bytes | None:
    """What is in a file that only this user could have written; None for anything else, links included."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with suppress(OSError), open(os.open(path, flags), "rb") as file:
        found = os.fstat(file.fileno())  # of the file that is open, whatever stands at its path by now
        if stat.S_ISREG(found.st_mode) and _is_own(found):
            return file.read()
    return None


def write_own(path: Path, data: bytes) -> None:
    """Write a file for this user alone; a link or pipe in its place goes, for what it leads to is not ours."""
    _tidy(path.parent)
    with suppress(OSError):
        if not stat.S_ISREG(path.lstat().st_mode):
            path.unlink()
    write_bytes(path, data, mode=0o600)


@cache
def _tidy(folder: Path) -> None:
    """Remove, once in a process, what killed ones have left unfinished in a folder."""
    remove_leftovers(folder, depth=1)


def make_room(folder: Path, pattern: str, most: int) -> None:
    """Remove the files of a pattern that were written first, while all of them have more than `most` bytes together."""
    files = []
    for path in folder.glob(pattern):
        with suppress(OSError):
            found = path.lstat()
            files.append((found.st_mtime, found.st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files) if total > most else ():
        with suppress(OSError):
            path.unlink()
        total -= size
        if total <= most * 3 // 4:
            break


def cache_folder(*names: str) -> Path | None:
    """The folder, or one inside of it, made if need be; None if somebody else could write there, or nobody can."""
    chosen = os.environ.get("ODESYS_CACHE")
    try:
        folder = Path(chosen) if chosen else platformdirs.user_cache_path("odesys", appauthor=False)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in names:
            folder = folder / name
            folder.mkdir(mode=0o700, exist_ok=True)
        found, link = folder.stat(), folder.lstat()
        above = [parent.stat() for parent in {*folder.absolute().parents, *folder.resolve().parents}]
    except (OSError, RuntimeError):
        return None
    if not _is_own(found) or link.st_uid != found.st_uid or any(_is_open(each) for each in above):
        return None
    return folder if os.access(folder, os.W_OK) else None


def _is_own(found: os.stat_result) -> bool:
    """True if it belongs to this user and nobody else can write to it; where there are no such rights, always."""
    return os.name != "posix" or (found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def _is_open(found: os.stat_result) -> bool:
    """True if somebody else could put another folder in the place of one inside of this one."""
    if os.name != "posix":
        return False
    others = found.st_uid not in (0, os.getuid())
    return others or (bool(found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)) and not found.st_mode & stat.S_ISVTX)
