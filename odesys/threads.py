"""One thread for the linear algebra of a process: our matrices are small, and threads that wait for each other cost."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

NAMES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def one_thread() -> list[str]:
    """Say so for this process, before NumPy is loaded, and for those it starts; what the user has set stays.

    Returns
    -------
    list[str]
        The variables of the environment that were set.
    """
    new = [name for name in NAMES if name not in os.environ]
    os.environ.update(dict.fromkeys(new, "1"))
    return new


@contextmanager
def one_thread_in_new_processes() -> Iterator[None]:
    """The same for processes that are started meanwhile."""
    new = one_thread()
    try:
        yield
    finally:
        for name in new:
            os.environ.pop(name, None)
