"""Limits on time, memory and places while a random input is worked on."""

from __future__ import annotations

import math
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from odesys import terminal

STILL = 30  # seconds of processor time without progress; more is a hang
CLOCK = 600.0  # seconds by the clock without progress, for what sleeps; a busy machine needs room
LONG = 60.0  # seconds by the clock after which what makes progress in other processes is interrupted


class Hang(BaseException):
    """Too long without progress; not an Exception, so that nothing takes it for a mistake of its own."""


class Enough(KeyboardInterrupt):
    """What a user's Ctrl-C would be, after the time that was given."""


@contextmanager
def watched(still: float = STILL, enough: float = math.inf) -> Iterator[None]:
    """Turn `still` seconds without progress into a Hang; what goes on after `enough` seconds is interrupted.

    Either may land where Python lets nothing through and only writes a traceback: in a callback of the garbage
    collector, as Hypothesis has one, or in a ``__del__``. It is kept silent there; a next one comes by the same timer.
    """
    began = last = time.process_time()
    first = lately = time.monotonic()

    def progress(step: str, fraction: float) -> None:
        nonlocal last, lately
        last, lately = time.process_time(), time.monotonic()

    def look(*_: object) -> None:
        now = time.process_time()
        if now - last > still:
            raise Hang(f"no progress for {now - last:.0f} s")
        if now - began > enough and last > began:
            raise Enough

    def stop(*_: object) -> None:
        now = time.monotonic()
        if now - lately > CLOCK:
            raise Hang(f"no progress for {CLOCK:.0f} s by the clock")
        if now - first > LONG and lately > first and enough < math.inf:
            raise Enough

    def ignored(what: sys.UnraisableHookArgs) -> None:
        if not isinstance(what.exc_value, Hang | Enough):
            outside(what)

    outside = sys.unraisablehook
    before = [signal.signal(signal.SIGPROF, look), signal.signal(signal.SIGALRM, stop)]
    signal.setitimer(signal.ITIMER_PROF, 0.25, 0.25)
    signal.setitimer(signal.ITIMER_REAL, 5.0, 5.0)
    try:
        with mock.patch.object(terminal, "silent", progress), mock.patch.object(sys, "unraisablehook", ignored):
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGPROF, before[0])
        signal.signal(signal.SIGALRM, before[1])


@contextmanager
def at_most(gigabytes: float) -> Iterator[None]:
    """A limit on the address space of this process."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (int(gigabytes * 2**30), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


#: where a command writes if it is not told
USUAL = {"figures": "figures", "sweep": "sweep", "report": "report", "verify": "proofs"}


def misplaced(folder: Path, line: Sequence[str], kept: Sequence[str]) -> list[Path]:
    """What is in a folder, was not `kept` there, and stands in no place that the command line names."""
    words = [part for word in line for part in (word, word.partition("=")[2], word[2:])]
    named = {Path(word).parts[0] for word in words if word and Path(word).parts}
    named |= {USUAL[word] for word in line if word in USUAL} | set(kept)
    return [each for each in folder.iterdir() if each.name not in named]
