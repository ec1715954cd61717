r"""Motion along surfaces: the gates that keep it there, when they release it, and the drift off the surface.

Along the surfaces S the gates :math:`g_S(t, x)` solve :math:`\partial_t h_i + \nabla h_i \cdot F(g) = 0`, all i in S
together, and the field is F(g): smooth in t and x, also a little beyond the release, where a gate leaves [0, 1]. So
the slide is a smooth segment like any other, with :math:`g_i (1 - g_i)` to be watched in the place of :math:`h_i`.

The sliding field is tangent to :math:`h_S = 0` there and has no restoring force, so integration errors accumulate in
:math:`h_S`. They are taken out along the directions in which the gates act,

.. math::  x \leftarrow x + \sum_j a_j D_j, \qquad \sum_j (\nabla h_i \cdot D_j)\, a_j = -h_i ,

which is what slightly other gates would have done: no state moves that the gates do not move, and a symmetry of the
flow is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numerics.flows.patterns import PatternTable
from odesys.analysis.switching import Switching

from .modes import RANK, Mode, Solution, sliding_gates

DRIFT = 0.1  # part of the tolerance of a step that may gather in the surfaces before it is taken out
DRIFT_MULTISTEP = 100.0  # the same for methods that lose their past, and with it their long steps, at a correction
CORRECTIONS = 3
OPEN_MARGIN = 1e-3  # at least this stands for g (1 - g) where gates are not unique and some choice lies in [0, 1]


class Slide:
    """The sliding field of one mode."""

    def __init__(self, switching: Switching, mode: Mode) -> None:
        self.switching, self.mode, self.which = switching, mode, mode.sliding
        self._last: tuple[float, bytes, PatternTable, Solution] | None = None
        self._guess = mode.gates[self.which]

    def table(self, t: float, x: np.ndarray) -> tuple[PatternTable, Solution]:
        """The field as a function of the sliding gates at one point, and the gates that keep it on the surfaces."""
        key = x.tobytes()
        if self._last is None or self._last[:2] != (t, key):
            made = PatternTable(self.switching, t, x, self.mode.gates, self.which, self.mode.affine)
            self._last = t, key, made, sliding_gates(made, self._guess, np.ones(self.which.size, dtype=bool))
        return self._last[2], self._last[3]

    def gates(self, t: float, x: np.ndarray) -> np.ndarray:
        """The sliding gates, shape (k,); beyond a release outside of [0, 1]."""
        return self.table(t, x)[1].g

    def velocity(self, t: float, x: np.ndarray) -> np.ndarray:
        """The sliding field, shape (n,)."""
        table, found = self.table(t, x)
        return table.velocity(found.g)

    def margins(self, t: float, x: np.ndarray) -> np.ndarray:
        """Positive while a gate lies inside of (0, 1), zero at its release: shape (k,)."""
        found = self.table(t, x)[1]
        margin = found.g * (1 - found.g)
        some_choice_holds = not found.unique and bool((margin >= 0).all())
        result: np.ndarray = np.maximum(margin, OPEN_MARGIN) if some_choice_holds else margin
        return result

    def keep_guess(self, g: np.ndarray) -> None:
        """Start Newton's method from these gates from now on (used where gates do not enter affinely)."""
        self._guess = np.clip(g, 0, 1)

    def drift(self, t: float, x: np.ndarray) -> np.ndarray:
        """The change of state that puts x back on the surfaces, to first order: shape (n,)."""
        table, found = self.table(t, x)
        h = self.switching.values(t, x, self.mode.gates)[self.which]
        amounts = np.linalg.lstsq(table.matrix(found.g), -h, rcond=RANK)[0]
        result: np.ndarray = amounts @ table.columns(found.g)
        return result

    def corrected(self, t: float, x: np.ndarray) -> np.ndarray:
        """The state put back on the surfaces, to rounding."""
        room = np.inf
        for _ in range(CORRECTIONS):
            change = self.drift(t, x)
            size = np.abs(change).max(initial=0.0)
            if not 0 < size < room / 2:  # no longer shrinking: at rounding
                break
            x, room = x + change, size
        return x

    def has_drifted(self, t: float, x: np.ndarray, tolerances: Any, room: float = DRIFT) -> bool:
        """True if the surfaces are missed by more than `room` times the tolerance of one step."""
        scale = tolerances["atol"] + tolerances["rtol"] * np.abs(x)
        ratio = np.abs(self.drift(t, x)) / np.where(scale > 0, scale, np.finfo(float).tiny)
        return bool(np.sqrt(np.mean(ratio**2)) > room)
