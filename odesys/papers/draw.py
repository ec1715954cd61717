"""Draws: which seeds and which points a measured check uses, the book's own or new ones of the same kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

from ..errors import OdesysError
from ..verdicts import Point
from .hypotheses import Hypothesis

TRIES = 1000  # to find a point inside the hypotheses


@dataclass(frozen=True)
class Draw:
    """The book's own seeds and points (number 0), or the new ones of draw 1, 2, ... for a seed that is printed.

    A check asks its laboratory's draw for everything it could have chosen otherwise, so that ``odesys verify --redraw``
    can judge it again where nobody looked before.

    Parameters
    ----------
    seed : int, optional
        Printed with the result.
    number : int, optional
        0 for the book's own points; 1, 2, ... for new ones.

    Examples
    --------
    >>> Draw().seeds(3), Draw(seed=7, number=1).seeds(3) == Draw(seed=7, number=2).seeds(3)
    ((0, 1, 2), False)
    """

    seed: int = 0
    number: int = 0

    @property
    def own(self) -> bool:
        """True for the seeds and points the book names itself."""
        return self.number == 0

    def seeds(self, count: int, start: int = 0) -> tuple[int, ...]:
        """Distinct seeds; with `start` that many are left out first, so that two uses can be disjoint."""
        first = 0 if self.own else int(self._rng("seeds").integers(10**6, 2**40))
        return tuple(range(first + start, first + start + count))

    def points(
        self,
        what: str,
        own: Sequence[Point],
        ranges: Mapping[str, tuple[Any, Any]],
        hypotheses: Iterable[Hypothesis] = (),
    ) -> list[dict[str, Any]]:
        """The book's own points, or as many new ones in these ranges, where all hypotheses hold.

        `what` names the draw: two checks that ask for the same get the same. Whole ends give whole numbers; between
        positive ends the logarithm is uniform.

        >>> Draw().points("runs", [{"omega": 0.1, "b": 0.5}], {"omega": (0.01, 0.2)})
        [{'omega': 0.1, 'b': 0.5}]
        >>> (new,) = Draw(number=1).points("runs", [{"omega": 0.1, "b": 0.5}], {"omega": (0.01, 0.2)})
        >>> 0.01 <= new["omega"] <= 0.2, new["b"]
        (True, 0.5)
        """
        if self.own:
            return [dict(point) for point in own]
        rng, asked = self._rng(what), list(hypotheses)
        return [self._inside(what, point, ranges, asked, rng) for point in own]

    def _inside(
        self,
        what: str,
        point: Point,
        ranges: Mapping[str, tuple[Any, Any]],
        hypotheses: Sequence[Hypothesis],
        rng: np.random.Generator,
    ) -> dict[str, Any]:
        for _ in range(TRIES):
            found = {**point, **{name: _between(rng, *ends) for name, ends in ranges.items()}}
            if all(hypothesis.holds(found) for hypothesis in hypotheses):
                return found
        raise OdesysError(f"no point inside the hypotheses was found for {what} in {TRIES} tries; widen its ranges")

    def along(self, name: str, low: float, high: float, count: int, **held: Any) -> list[dict[str, Any]]:
        """Points along one parameter, evenly in its logarithm; a new draw moves them by less than three quarters
        of a spacing.

        A new draw stays inside the range and keeps its whole decades, up to the two that an exponent is judged over.

        >>> [point["omega"] for point in Draw().along("omega", 0.01, 1.0, 3, b=0.5)]
        [0.01, 0.1, 1.0]
        >>> low, between, high = (point["omega"] for point in Draw(number=1).along("omega", 0.01, 1.0, 3))
        >>> (low, high), between == 0.1
        ((0.01, 1.0), False)
        """
        logs = np.linspace(np.log10(low), np.log10(high), count)
        if not self.own:
            rng, step = self._rng(name), logs[1] - logs[0]
            spare = max(0.0, _spare_decades(abs(logs[-1] - logs[0])))
            ends = np.sign(step) * rng.uniform(0, min(abs(step), spare) / 2, 2)
            logs = np.linspace(logs[0] + ends[0], logs[-1] - ends[1], count)
            logs[1:-1] += step * rng.uniform(-0.25, 0.25, max(0, count - 2))
        return [{name: float(f"{value:.12g}"), **held} for value in 10.0**logs]

    def _rng(self, what: str) -> np.random.Generator:
        return np.random.default_rng([self.seed, self.number, crc32(what.encode())])


def _spare_decades(width: float) -> float:
    """How much of a range a new draw may leave out: below one decade half of it, above what is beyond one or two."""
    return width - min(2, int(width + 1e-9)) if width + 1e-9 >= 1 else width / 2


def _between(rng: np.random.Generator, low: Any, high: Any) -> Any:
    if isinstance(low, int) and isinstance(high, int):
        return int(rng.integers(low, high + 1))
    if low > 0:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))
    return float(rng.uniform(low, high))


OWN_DRAW = Draw()
