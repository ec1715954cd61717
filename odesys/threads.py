"""One thread for matrix products: matrices here are small, and threads that wait for each other take a whole core.

It also makes a run independent of the number of cores, on which the order of a sum would depend.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


@contextmanager
def one_thread() -> Iterator[None]:
    """Processes that start in here use one thread for matrices, where nobody has asked for another number.

    It counts for this process too if NumPy is not loaded yet.
    """
    added = [name for name in VARIABLES if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
