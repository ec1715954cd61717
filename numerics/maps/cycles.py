r"""Two-step cycles of a map: stretches of steps in which a variable jumps to and fro between two values.

.. math::  x_{t+2} = x_t \ne x_{t+1} .

A map that is Euler's method of a flow with jumps shows them where the flow slides along a surface, and where two
variables that drive each other step over each other's surface for ever: there the flow has no slide, the cycle is an
artefact of the step size. Nothing is removed here; stretches are found and reported.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from odesys.errors import ParameterError


@dataclass(frozen=True)
class Alternation:
    """A variable (index) that alternates from record `start` for `length` steps.

    Parameters
    ----------
    index : int
        Which variable.
    start : int
        The record at which it begins.
    length : int
        For how many steps it lasts.

    Examples
    --------
    >>> import numpy as np
    >>> find_alternations(alternation_table(np.array([[0.0], [1.0], [0.0], [1.0], [0.0], [1.0]])))
    [Alternation(index=0, start=0, length=4)]
    """

    index: int
    start: int
    length: int


def alternation_table(states: np.ndarray, tolerance: float = 1e-6) -> np.ndarray:
    """True at (t, j) where x_j(t + 2) = x_j(t) up to `tolerance` times the step from t to t + 1: (T - 2, n).

    Parameters
    ----------
    states : np.ndarray
        One row per step, shape (T, n).
    tolerance : float, optional
        Relative to the size of a step.

    Returns
    -------
    np.ndarray
        Truth values of shape (T - 2, n).

    Examples
    --------
    >>> import numpy as np
    >>> alternation_table(np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 2.0], [1.0, 3.0]])).tolist()
    [[True, False], [True, False]]
    """
    x = np.asarray(states, dtype=float)
    if x.ndim != 2 or len(x) < 3:
        raise ParameterError(
            f"cycles are looked for in at least 3 states of a map, an array (steps, variables); this "
            f"has the shape {x.shape}"
        )
    move = np.abs(x[1:-1] - x[:-2])
    return np.asarray((move > 0) & (np.abs(x[2:] - x[:-2]) <= tolerance * move))


def find_alternations(cycling: np.ndarray, least: int = 4) -> list[Alternation]:
    """The stretches of at least `least` steps in a table such as that of `alternation_table`, by variable and start.

    Parameters
    ----------
    cycling : np.ndarray
        Truth values of shape (T, n).
    least : int, optional
        Shorter stretches are left out.

    Returns
    -------
    list[Alternation]
        In the order of variables, then of time.

    Examples
    --------
    >>> import numpy as np
    >>> find_alternations(np.array([[True, False], [True, True], [True, False]]), least=3)
    [Alternation(index=0, start=0, length=3)]
    """
    found = []
    for j, column in enumerate(cycling.T):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], column, [False]]).astype(int)))
        for begin, end in zip(edges[::2], edges[1::2], strict=True):
            if end - begin >= least:
                found.append(Alternation(j, int(begin), int(end - begin)))
    return found
