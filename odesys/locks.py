"""One command at a time in a folder, and no leftovers of commands that were killed.

A lock goes with its process, however that ends. On a system or file system without locks nothing is locked.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from .errors import OutputError

UNFINISHED = re.compile(r"\.odesys-[0-9a-f]{32}\.part")  # names of what is being written
YOUNG = 2.0  # seconds in which what was just made may not be locked yet
DEPTH = 3  # folders in each other in which a command leaves unfinished work

_held: ContextVar[list[int] | None] = ContextVar("_held", default=None)


@contextmanager
def holding() -> Iterator[None]:
    """Folders that are taken inside are free again at the end."""
    token = _held.set([])
    try:
        yield
    finally:
        for lock in _held.get() or ():
            os.close(lock)
        _held.reset(token)


def hold(folder: Path) -> None:
    """Take a folder until the end of `holding`, if that was begun, and remove what killed commands left there."""
    held = _held.get()
    if held is not None:
        lock = lock_folder(folder)
        if lock is not None:
            held.append(lock)
    remove_leftovers(folder)


def lock_folder(folder: Path) -> int | None:
    """An open descriptor that has the folder; None where there are no locks, an OutputError if somebody else has it."""
    lock = os.open(folder, os.O_RDONLY)
    taken = take(lock)
    if taken:
        return lock
    os.close(lock)
    if taken is None:
        return None
    raise OutputError(f"another command is writing to {folder}; wait for it, or give another --out", path=folder)


@contextmanager
def waiting(folder: Path) -> Iterator[None]:
    """Have a folder for a moment; who comes second waits."""
    lock = os.open(folder, os.O_RDONLY)
    try:
        with suppress(ImportError, OSError):
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def take(descriptor: int) -> bool | None:
    """True if it is locked now, False if somebody else has it, None where there are no locks."""
    try:
        import fcntl
    except ImportError:  # not on this system
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in (errno.EWOULDBLOCK, errno.EACCES) else None
    return True


@contextmanager
def in_use(path: Path) -> Iterator[None]:
    """While this lasts, `remove_leftovers` leaves unfinished work alone."""
    lock = None
    with suppress(OSError):
        lock = os.open(path, os.O_RDONLY)
        take(lock)
    try:
        yield
    finally:
        if lock is not None:
            os.close(lock)


def remove_leftovers(folder: Path, depth: int = DEPTH) -> None:
    """Remove unfinished work in a folder, and in those inside of it, that no process is working on."""
    for level in range(depth):
        for path in folder.glob("/".join((*"*" * level, ".odesys-*.part"))):
            with suppress(OSError):
                if UNFINISHED.fullmatch(path.name) and not path.is_symlink() and _is_left(path):
                    shutil.rmtree(path) if path.is_dir() else path.unlink()


def _is_left(path: Path) -> bool:
    if time.time() - path.stat().st_mtime < YOUNG:
        return False
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        return bool(take(descriptor))
    finally:
        os.close(descriptor)
