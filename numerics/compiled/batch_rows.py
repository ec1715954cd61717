"""The points of a batch as rows of numbers: start, atol of each state, parameters.

All rows are checked at once; where something is wrong, or has to be looked up by name, one row after the other is made
by the functions of `numerics.flows.integrate`, whose sentences are used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from odesys.errors import EquationError, ParameterError
from odesys.expr.system import System

from ..flows.integrate import LEAST_ATOL, bound_parameters, check_atol, default_atol, start_state


def batch_rows(
    system: System, starts: Any, parameters: Sequence[Mapping[str, Any]], rtol: float, atol: Any
) -> np.ndarray:
    """Rows (points, 2n + parameters), one per entry of `parameters`; there is one start, or as many."""
    if isinstance(parameters, (str, Mapping)) or not hasattr(parameters, "__len__"):
        raise ParameterError(f"a batch takes a list with the parameters of each run by name, not {parameters!r}")
    n, points, named = system.dimension, len(parameters), isinstance(starts, Mapping)
    try:
        x = np.asarray([start_state(system, starts)] if named else starts, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise EquationError(f"the starts {starts!r} are not rows of {n} real numbers") from None
    x = x[None] if x.ndim == 1 else x
    if x.ndim != 2:
        raise EquationError(f"the starts have the shape {x.shape}; they are rows of {n} numbers, or one such row")
    if x.shape[0] not in (1, points):
        raise ParameterError(f"{len(x)} starts do not go with {points} sets of parameters")
    rows = np.empty((points, 2 * n + len(system.parameters)))
    if x.shape[1] == n:
        rows[:, :n] = x
        rows[:, n : 2 * n] = _default_atol(rows[:, :n], rtol)[:, None] if atol is None else check_atol(atol, n)
        if _put_parameters(system, parameters, rows[:, 2 * n :]) and np.isfinite(rows).all():
            return rows
    for k, one in enumerate(parameters):
        rows[k] = _row(system, x[k % len(x)], one, rtol, atol)
    return rows


def single_row(system: System, x0: Any, parameters: Mapping[str, Any], rtol: float, atol: Any) -> list[float]:
    """The row of one point, by way of Python's floats, which is quicker for one."""
    n, names = system.dimension, system.parameters
    plain = type(x0) is np.ndarray and x0.shape == (n,) and x0.dtype == np.float64 and len(parameters) == len(names)
    if plain and (atol is None or type(atol) is float):
        x, values = x0.tolist(), [parameters.get(name) for name in names]
        if all(type(value) is float for value in values) and all(map(math.isfinite, (*x, *values))):
            least = max(1e-3 * rtol * min(1.0, min((abs(v) for v in x if v), default=1.0)), LEAST_ATOL)
            size = least if atol is None else atol
            if 0.0 <= size < math.inf:
                return [*x, *[size] * n, *values]
    return _row(system, x0, parameters, rtol, atol).tolist()


def _put_parameters(system: System, parameters: Sequence[Mapping[str, Any]], out: np.ndarray) -> bool:
    """Write the values of all points; False if a name is missing or not known, or a value is no number."""
    names, before = system.parameters, object()
    values: list[list[float]] = []
    counts: list[int] = []  # of points in a row that share one mapping
    for one in parameters:
        if one is before:
            counts[-1] += 1
            continue
        try:
            if len(one) != len(names):
                return False
            values.append([float(one[name]) for name in names])
        except (KeyError, TypeError, ValueError, OverflowError):
            return False
        counts.append(1)
        before = one
    if counts:
        out[:] = np.repeat(np.array(values), counts, axis=0)
    return True


def _default_atol(x: np.ndarray, rtol: float) -> np.ndarray:
    """`default_atol` of each row."""
    least = np.abs(x).min(axis=1, initial=1.0, where=x != 0)
    found: np.ndarray = np.maximum(1e-3 * rtol * least, LEAST_ATOL)
    return found


def _row(system: System, x0: Any, parameters: Mapping[str, Any], rtol: float, atol: Any) -> np.ndarray:
    x = start_state(system, x0)
    sizes = default_atol(x, rtol) if atol is None else check_atol(atol, x.size)
    values = bound_parameters(system, parameters)
    return np.concatenate([x, np.broadcast_to(sizes, x.shape), list(values.values())])
