"""DOP853 whose dense output is as accurate as its steps.

Between the ends of a step SciPy's polynomial errs some thirty times as much as at them. Ours begins with it, and then
takes the slopes that the field has on it at four nodes: an error of the states there is one of the slopes times h, and
falls by an order in h (bootstrapping: Enright, Jackson, Norsett, Thomsen 1986). Steps that stability holds back are too
long for that; there the polynomial stays as it is. Where it may still err by some tolerances, a step is halved.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from scipy.integrate import DOP853

KNOWN, FOUND = 3, 4  # rows of the table that the ends and the slopes there give, and those that slopes in between do
NODES = np.array([0.1, 0.3, 0.7, 0.9])  # parts of a step; of those tried these had the least errors
SMALL = 1 / 64  # a change that is a larger part of what it changes comes from a step that is too long for it
TRUSTED = 4.0  # tolerances by which a polynomial may err: by the change that was not made, or a quarter of one that was
SMOOTHINGS = 3  # so often is a step halved; what is not smooth then stays as it is


def basis() -> list[Polynomial]:
    """What each row of the table is multiplied with, as polynomials in the part of a step.

    >>> [row.degree() for row in basis()]
    [1, 2, 3, 4, 5, 6, 7]
    """
    part, product, found = Polynomial([0.0, 1.0]), Polynomial([1.0]), []
    for k in range(KNOWN + FOUND):
        product = product * (part if k % 2 == 0 else 1.0 - part)
        found.append(product)
    return found


SLOPES = np.array([row.deriv()(NODES) for row in basis()]).T  # a row per node
ENDS, FROM_SLOPES = SLOPES[:, :KNOWN], np.linalg.inv(SLOPES[:, KNOWN:])
INSIDE = np.array([[row(part) for row in basis()[KNOWN:]] for part in NODES[1:3]])  # where a change is measured


class SmoothDOP853(DOP853):  # type: ignore[misc]
    """The method of that name, with this dense output; its steps are the same where the polynomial is trusted."""

    t: float
    h_abs: float
    y: np.ndarray
    f: np.ndarray

    def _step_impl(self) -> tuple[bool, str | None]:
        t, y, f, length = self.t, self.y, self.f, np.inf
        for turn in range(SMOOTHINGS + 1):
            made, message = super()._step_impl()
            if not made:
                return made, message
            self.t_old, self.h_abs = t, min(self.h_abs, 2 * length)
            self._between = super()._dense_output_impl()
            if self._refined(self._between.F) or turn == SMOOTHINGS:
                break
            length = 0.5 * abs(self.t - t)
            self.t, self.y, self.f, self.h_abs = t, y, f, length
        return True, None

    def _dense_output_impl(self) -> Any:
        return self._between

    def _refined(self, table: np.ndarray) -> bool:
        """Give the rows the slopes of the field at the nodes, if these change little; False if it may err by much."""
        h = self.t - self.t_old
        states = [self._between(self.t_old + part * h) for part in NODES]
        field = np.array([self.fun(self.t_old + part * h, x) for part, x in zip(NODES, states, strict=True)])
        if not np.isfinite(field).all():
            return True
        rows = FROM_SLOPES @ (h * field - ENDS @ table[:KNOWN])
        scale = self.atol + np.maximum(np.abs(self.y_old), np.abs(self.y)) * self.rtol
        change = np.linalg.norm(INSIDE @ (rows - table[KNOWN:]) / scale)
        size = np.sqrt(2) * np.linalg.norm(INSIDE[0] @ rows / scale)
        small = change <= SMALL * size
        if small:
            table[KNOWN:] = rows
        return bool((0.25 if small else 1.0) * change <= TRUSTED * np.sqrt(2 * self.n))
