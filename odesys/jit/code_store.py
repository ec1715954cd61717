"""Compiled code on disk, one file per piece, under the hash of what it was compiled from.

The folder is ``$ODESYS_CACHE``, by default ``odesys`` in the user's cache folder. What is read from it is run, so it
has to be the user's alone; where it is not, or can not be written, nothing is kept and everything is compiled anew.
A file starts with the hash of the rest: half a file, or another one, is not taken.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..errors import OutputError
from ..files import write_bytes

DIGEST = 32  # bytes


def key(*texts: str) -> str:
    """Name for what is compiled from these texts."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:40]


@dataclass(frozen=True)
class Store:
    """The place of one piece of code."""

    key: str

    def read(self) -> bytes | None:
        """The code, or None if it is not there or not whole."""
        folder = cache_folder()
        if folder is None:
            return None
        try:
            data = (folder / f"{self.key}.o").read_bytes()
        except OSError:
            return None
        code = data[DIGEST:]
        return code if hashlib.sha256(code).digest() == data[:DIGEST] else None

    def write(self, code: bytes) -> None:
        """Keep the code, whole or not at all."""
        folder = cache_folder()
        if folder is not None:
            with suppress(OSError, OutputError):  # a full disk costs only the time to compile again
                write_bytes(folder / f"{self.key}.o", hashlib.sha256(code).digest() + code)


def cache_folder() -> Path | None:
    """The folder, made if need be; None if it is not the user's alone or can not be written."""
    chosen, caches = os.environ.get("ODESYS_CACHE"), os.environ.get("XDG_CACHE_HOME")
    try:
        folder = Path(chosen) if chosen else (Path(caches) if caches else Path.home() / ".cache") / "odesys"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except (OSError, RuntimeError):
        return None
    if os.name == "posix" and (found.st_uid != os.getuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
        return None
    return folder if os.access(folder, os.W_OK) else None
