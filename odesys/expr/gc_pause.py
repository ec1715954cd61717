"""The garbage collector looks for cycles. Expressions have none, and there are so many that looking takes long.

The row of the 80 equations and their Jacobian in `benchmarks/RESULTS.md` is measured with the collector paused.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Inside, no cycles are looked for; for functions that build many expressions and call nobody else's code."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def collect_less_often() -> None:
    """Look for cycles less often, in a process that is ours."""
    gc.set_threshold(100_000, 50, 100)
