"""Functions in the language of loops, run as Python and as machine code, and random arguments for them."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from odesys.jit import loops

# the first example is compiled, and a busy machine makes them slowly
EXAMPLES = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
numbers = st.floats(-50, 50)
vectors = arrays(float, st.integers(1, 12), elements=numbers)


def both(function: Callable[..., Any], *given: Any) -> list[tuple[Any, list[np.ndarray]]]:
    """Result and arrays after the call, by Python and by machine code."""
    (machine,) = loops.ready(function)
    outcomes = []
    for run in (function, machine):
        copies = [v.copy() if isinstance(v, np.ndarray) else v for v in given]
        outcomes.append((run(*copies), [v for v in copies if isinstance(v, np.ndarray)]))
    return outcomes


def check(function: Callable[..., Any], *given: Any) -> Any:
    (result, old), (found, new) = both(function, *given)
    assert type(found) is (int if isinstance(result, int) else float)
    assert found == result or (math.isnan(found) and math.isnan(result))
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(old, new, strict=True))
    return found
