r"""Which gates to go on with where surfaces meet: a complementarity problem in the gates, and its solvers.

Where the surfaces Z are zero, a *mode* is a vector of gates g in :math:`[0,1]^Z` with, for the rates
:math:`s_i(g) = \partial_t h_i + \nabla h_i \cdot F(g)`,

.. math::  g_i = 0 \Rightarrow s_i \le 0, \qquad g_i = 1 \Rightarrow s_i \ge 0, \qquad 0 < g_i < 1 \Rightarrow s_i = 0 :

each surface leaves to the side of its gate, or the flow slides along it. This is the variational inequality of -s on a
box, so for a continuous s a mode always exists; it is unique if minus the matrix :math:`\partial s_i / \partial g_j` is
a P-matrix. Where it is not unique (both sides of a surface point away, or relays at a corner feed each other) a mode
without sliding comes first, nearest to the present gates; but a slide, once entered, is kept as long as it is a mode.
That is a Filippov solution, one of several there; a smoothed field may take another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import lsq_linear

from numerics.flows.patterns import PatternTable

EDGE = 1e-9  # a gate this near to 0 or 1 is there
RANK = 1e-9  # singular values below this part of the largest count as zero
CORNERS_LIMIT, MODES_LIMIT = 6, 6  # surfaces up to which all patterns, all modes are tried
LAYER_STEPS = 2000
NEWTON_STEPS = 30


@dataclass(frozen=True, eq=False)
class Mode:
    """All gates of a system: held at 0 or 1, or between for the surfaces `sliding` (an index array).

    affine : the sliding gates enter affinely.
    loose : a state whose equation depends on gates that the sliding condition leaves open; empty if there is none.
    """

    gates: np.ndarray
    sliding: np.ndarray
    affine: bool = True
    loose: str = ""

    @property
    def key(self) -> tuple[int, ...]:
        """Each gate as 0 or 1, or 2 for a surface that slides."""
        labels = np.where(self.gates > 0.5, 1, 0)
        labels[self.sliding] = 2
        return tuple(labels.tolist())

    def release(self, i: int, gate: float) -> Mode:
        """The mode with gate i held."""
        gates = self.gates.copy()
        gates[i] = gate
        return Mode(gates, self.sliding[self.sliding != i], self.affine)


@dataclass(frozen=True, eq=False)
class Solution:
    """Gates g (k,) over the surfaces of a table, which of them slide (a mask), and whether these are unique."""

    g: np.ndarray
    slides: np.ndarray
    unique: bool = True


def sliding_gates(table: PatternTable, g: np.ndarray, slides: np.ndarray) -> Solution:
    r"""Solve :math:`s_i(g) = 0` for the gates that slide, all together, the others held; the values may leave [0, 1].

    Newton's method from g, which is one linear solve for affine gates; not a number where it finds nothing. Where the
    gates are not unique the solution is the one nearest to 1/2, so that copies related by a symmetry get equal gates;
    if that leaves the box, any solution inside of it is taken.
    """
    g, unique = g.astype(float), True
    if not slides.any():
        return Solution(g, slides)
    for _ in range(1 if table.affine else NEWTON_STEPS):
        matrix = table.matrix(g)[np.ix_(slides, slides)]
        offset = g[slides] - 0.5
        right = matrix @ offset - table.rates(g)[slides]
        if not np.isfinite(matrix).all() or not np.isfinite(right).all():
            return Solution(np.where(slides, np.nan, g), slides)
        found, _, rank, _ = np.linalg.lstsq(matrix, right, rcond=RANK)
        unique = bool(rank == found.size)
        if not unique and table.affine and np.abs(found).max() > 0.5:
            boxed = lsq_linear(matrix, right, (-0.5, 0.5), method="bvls")
            size = np.abs(matrix).sum(axis=1).max()
            found = boxed.x if np.abs(boxed.fun).max() <= EDGE * size else found
        g[slides] = 0.5 + found
        if table.affine or np.abs(found - offset).max() < 1e-13:
            return Solution(g, slides, unique)
    met = np.abs(found - offset).max() < EDGE  # otherwise there is no solution near: two of them may have met and gone
    return Solution(g if met else np.where(slides, np.nan, g), slides, unique)


def is_mode(table: PatternTable, found: Solution) -> bool:
    """True if every gate agrees with the rate it produces, up to rounding."""
    g, rates, slack = found.g, table.rates(found.g), _slack(table, found.g)
    inside = (g >= -EDGE) & (g <= 1 + EDGE) & (np.abs(rates) <= slack)
    leaves = np.where(g > 0.5, rates >= -slack, rates <= slack)
    return bool(np.where(found.slides, inside, leaves).all())


def _slack(table: PatternTable, g: np.ndarray) -> np.ndarray:
    """Rounding of the rates, and what gates within EDGE of their ends can make of them."""
    result: np.ndarray = table.noise(g) + EDGE * np.abs(table.matrix(g)).sum(axis=1)
    return result


def modes(table: PatternTable, g: np.ndarray, slides: np.ndarray) -> Iterator[Solution]:
    """Modes in the order of preference, found by several routes; a mode may come more than once.

    Patterns come first where nothing slides yet; where something does, first what continues it.
    """
    if not slides.any():
        yield from _patterns(table, g)
    routes = [settle(table, g, slides)]
    yield from (found for found in routes if found is not None)
    if slides.any():
        yield from _patterns(table, np.round(np.clip(g, 0, 1)))
    relaxed = layer(table, np.clip(g, 0, 1))
    found = settle(table, np.round(relaxed), (relaxed > EDGE) & (relaxed < 1 - EDGE))
    if found is not None:
        yield found
    if g.size <= MODES_LIMIT:
        yield from _all_modes(table)


def _patterns(table: PatternTable, g: np.ndarray) -> Iterator[Solution]:
    """Modes without sliding; by repetition first, then all patterns, nearest to g first. Small rates keep the gate."""
    none = np.zeros(g.size, dtype=bool)

    def wanted(trial: np.ndarray) -> np.ndarray:
        rates, noise = table.corner_rates(trial.tolist())
        return np.where(np.abs(rates) <= noise, trial, np.where(rates > 0, 1.0, 0.0))

    trial = g
    for _ in range(g.size + 2):
        old, trial = trial, wanted(trial)
        if np.array_equal(old, trial):
            yield Solution(trial, none)
            break
    patterns = [np.array(p) for p in product((0.0, 1.0), repeat=g.size)] if g.size <= CORNERS_LIMIT else []
    for pattern in sorted(patterns, key=lambda p: float(np.abs(p - g).sum())):
        if np.array_equal(wanted(pattern), pattern):
            yield Solution(pattern, none)


def settle(table: PatternTable, g: np.ndarray, slides: np.ndarray) -> Solution | None:
    """A mode by exchange: gates that leave [0, 1] are held, held ones with the wrong rate slide, until all agree.

    First all that disagree are exchanged at once, later only the first of them (Murty's rule, which ends for a
    P-matrix).
    """
    g, slides = np.clip(g.astype(float), 0, 1), slides.copy()
    for turn in range(12 * g.size + 8):
        found = sliding_gates(table, np.where(slides, g, np.round(g)), slides)
        if not np.isfinite(found.g).all():
            return None
        rates, slack = table.rates(found.g), _slack(table, found.g)
        out = slides & ((found.g < -EDGE) | (found.g > 1 + EDGE))
        wrong = ~slides & np.where(found.g > 0.5, rates < -slack, rates > slack)
        change = np.flatnonzero(out | wrong)
        if not change.size:
            return found if is_mode(table, found) else None
        change = change if turn < 2 * g.size + 4 else change[:1]
        g = np.clip(found.g, 0, 1)
        slides[change] = ~slides[change]
    return None


def layer(table: PatternTable, g: np.ndarray) -> np.ndarray:
    """Where the gates go in the fast time of a thin smoothing layer, dg/dt = s(g) on the box: its stable rest points.

    This is what a smoothed step does, so among several modes it finds one that smoothing would.
    """
    size = float(np.linalg.norm(table.matrix(g), 2))
    step = 0.3 / size if size > 0 else 0.0
    for _ in range(LAYER_STEPS):
        new = np.clip(g + step * table.rates(g), 0, 1)
        if np.abs(new - g).max(initial=0.0) < 1e-14:
            return new
        g = new
    return g


def _all_modes(table: PatternTable) -> Iterator[Solution]:
    """All modes, those that slide on the fewest surfaces first."""
    size = table.which.size
    for labels in sorted(product((0, 1, 2), repeat=size), key=lambda row: row.count(2)):
        label = np.array(labels)
        found = sliding_gates(table, np.where(label == 2, 0.5, label), label == 2)
        if np.isfinite(found.g).all() and is_mode(table, found):
            yield found


def with_copies(table: PatternTable, found: Solution) -> Solution:
    """The mode with held surfaces sliding too that stay at zero whenever those do that slide: copies of them."""
    if not found.slides.any() or found.slides.all():
        return found
    matrix, rates, slack = table.matrix(found.g), table.rates(found.g), _slack(table, found.g)
    rank = _rank(matrix[found.slides])
    still = ~found.slides & (np.abs(rates) <= slack)
    copies = [i for i in np.flatnonzero(still) if _rank(np.vstack([matrix[found.slides], matrix[i]])) == rank]
    slides = found.slides.copy()
    slides[copies] = True
    more = sliding_gates(table, found.g, slides) if copies else found
    return more if is_mode(table, more) else found


def _rank(rows: np.ndarray) -> int:
    values = np.linalg.svd(rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-300), compute_uv=False)
    return int((values > RANK * values.max(initial=0.0)).sum())


def undetermined(table: PatternTable, found: Solution) -> np.ndarray:
    """How much the field changes with gates that the sliding condition leaves open: relative, per state; (n,)."""
    matrix = table.matrix(found.g)[np.ix_(found.slides, found.slides)]
    columns = table.columns(found.g)[found.slides]
    if not matrix.size:
        return np.zeros(table.x.size)
    _, values, rows = np.linalg.svd(matrix)
    free = rows[values <= RANK * max(values.max(), 1e-300)] if values.max() > 0 else rows
    size = np.abs(columns).max(initial=0.0)
    result: np.ndarray = np.abs(free @ columns).max(axis=0, initial=0.0) / (size or 1.0)
    return result
