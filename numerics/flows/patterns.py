r"""The field at one point as a function of some of its gates: the multilinear interpolation of its values at patterns.

See `odesys.analysis.switching` for the rule and why it is the one to take.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import product

import numpy as np

from odesys.analysis.switching import Switching
from odesys.errors import IntegrationError

MULTILINEAR_LIMIT = 8  # surfaces that may slide at once where gates are multiplied: 2^8 patterns


class PatternTable:
    r"""The field at one point (t, x) as a function of the k gates `which`, and the rates of their surfaces.

    Corner values are computed when they are needed, each once. `affine` chooses between the k + 1 values that determine
    an affine field and all :math:`2^k`, and is found out if it is not given; both are read as weights that sum to one,
    so that fields and rates (with :math:`\partial_t h`) are combined alike.
    """

    def __init__(
        self,
        switching: Switching,
        t: float,
        x: np.ndarray,
        gates: np.ndarray,
        which: np.ndarray,
        affine: bool | None = None,
    ) -> None:
        self.switching, self.t, self.x, self.gates, self.which = switching, t, x, gates, which
        self._affine = affine
        self._fields: dict[tuple[int, ...], np.ndarray] = {}
        self._rates: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = {}

    def corner(self, pattern: Sequence[float]) -> np.ndarray:
        """The field with the gates `which` at a 0-1 pattern, the others as given: shape (n,)."""
        key = tuple(int(p) for p in pattern)
        if key not in self._fields:
            gates = self.gates.copy()
            gates[self.which] = key
            self._fields[key] = self.switching.field(self.t, self.x, gates)
        return self._fields[key]

    def corner_rates(self, pattern: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
        """Rates of the surfaces `which` at a pattern, shape (k,), and what of them may be rounding."""
        key = tuple(int(p) for p in pattern)
        if key not in self._rates:
            gates = self.gates.copy()
            gates[self.which] = key
            rates, noise = self.switching.rates(self.t, self.x, gates, self.which, self.corner(key)[None])
            self._rates[key] = rates[0], noise[0]
        return self._rates[key]

    def is_affine(self, tries: int = 3) -> bool:
        """True if corners beyond the k + 1 have the value the affine field predicts: all ones, and some random ones."""
        size = self.which.size
        if size < 2:
            return True
        rng = np.random.default_rng(size)
        tests = [(1,) * size, *rng.integers(0, 2, (tries, size))]
        rows = np.array([self.corner(p) for p in self._corners(affine=True)])
        for pattern in tests:
            weights = _affine_weights(np.asarray(pattern, dtype=float))
            room = 1e-9 * (np.abs(weights) @ np.abs(rows)).max(initial=0.0)
            if not np.abs(weights @ rows - self.corner(pattern)).max(initial=0.0) <= room:
                return False
        return True

    @cached_property
    def affine(self) -> bool:
        """True if the gates enter affinely at this point, as given or as found."""
        return self.is_affine() if self._affine is None else self._affine

    def velocity(self, g: np.ndarray) -> np.ndarray:
        """The field with the gates `which` at g, by interpolation: shape (n,)."""
        result: np.ndarray = self._weights(g) @ self._field_rows
        return result

    def rates(self, g: np.ndarray) -> np.ndarray:
        """Rates of the surfaces `which` with gates g: shape (k,)."""
        result: np.ndarray = self._weights(g) @ self._rate_rows[0]
        return result

    def noise(self, g: np.ndarray) -> np.ndarray:
        """What of the rates may be rounding: shape (k,)."""
        result: np.ndarray = np.abs(self._weights(g)) @ self._rate_rows[1]
        return result

    def columns(self, g: np.ndarray) -> np.ndarray:
        """Derivatives of the field by the gates: shape (k, n), one row per gate."""
        result: np.ndarray = self._slopes(g) @ self._field_rows
        return result

    def matrix(self, g: np.ndarray) -> np.ndarray:
        """Derivatives of the rates by the gates: entry (i, j) is that of surface i by gate j."""
        result: np.ndarray = (self._slopes(g) @ self._rate_rows[0]).T
        return result

    def _corners(self, affine: bool) -> list[tuple[int, ...]]:
        size = self.which.size
        if affine:
            return [(0,) * size, *(tuple(int(i == j) for i in range(size)) for j in range(size))]
        return list(product((0, 1), repeat=size))

    @cached_property
    def _field_rows(self) -> np.ndarray:
        if not self.affine and self.which.size > MULTILINEAR_LIMIT:
            names = ", ".join(self.switching.names[i] for i in self.which[:3])
            raise IntegrationError(
                f"at t = {self.t:.9g} {self.which.size} surfaces meet ({names}, ...) and the equations multiply their "
                f"gates; at most {MULTILINEAR_LIMIT} such surfaces can be followed at once",
                time=self.t,
                state=self.x,
            )
        return np.array([self.corner(p) for p in self._corners(self.affine)])

    @cached_property
    def _rate_rows(self) -> tuple[np.ndarray, np.ndarray]:
        return self.switching.rates(self.t, self.x, self.gates, self.which, self._field_rows)

    def _weights(self, g: np.ndarray) -> np.ndarray:
        if self.affine:
            return _affine_weights(g)
        return np.array(
            [math.prod(v if s else 1 - v for v, s in zip(g, p, strict=True)) for p in self._corners(affine=False)]
        )

    def _slopes(self, g: np.ndarray) -> np.ndarray:
        if self.affine:
            return np.hstack([-np.ones((g.size, 1)), np.eye(g.size)])
        ends = np.repeat(g[None], g.size, axis=0)
        high, low = ends.copy(), ends
        np.fill_diagonal(high, 1.0)
        np.fill_diagonal(low, 0.0)
        return np.array([self._weights(a) - self._weights(b) for a, b in zip(high, low, strict=True)])


def _affine_weights(g: np.ndarray) -> np.ndarray:
    return np.append(1 - g.sum(), g)
