"""Compiled code on disk, one file per piece, under the hash of what it was compiled from.

The folder is ``$ODESYS_CACHE``, by default ``odesys`` in the user's cache folder. What is read from it is run, so it
has to be the user's alone; where it is not, or can not be written, nothing is kept and everything is compiled anew.
A file says which key it belongs to and has a hash over both: half a file, one with another byte, or the file of other
code under this name is removed and compiled again.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from ..errors import OutputError
from ..files import write_bytes


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
        with suppress(OSError):
            data = path.read_bytes()
            head, code = data[: len(self._head(b""))], data[len(self._head(b"")) :]
            if head == self._head(code):
                return code
            path.unlink()
        return None

    def write(self, code: bytes) -> None:
        """Keep the code, whole or not at all."""
        folder = cache_folder()
        if folder is not None:
            with suppress(OSError, OutputError):  # a full disk costs only the time to compile again
                write_bytes(folder / f"{self.key}.o", self._head(code) + code)

    def _head(self, code: bytes) -> bytes:
        """What a file starts with: its key, and a hash over key and code."""
        return self.key.encode() + hashlib.sha256(self.key.encode() + code).digest()


def cache_folder() -> Path | None:
    """The folder, made if need be; None if it is not the user's alone or can not be written."""
    chosen = os.environ.get("ODESYS_CACHE")
    try:
        folder = Path(chosen) if chosen else platformdirs.user_cache_path("odesys", appauthor=False)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except (OSError, RuntimeError):
        return None
    if os.name == "posix" and (found.st_uid != os.getuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
        return None
    return folder if os.access(folder, os.W_OK) else None
