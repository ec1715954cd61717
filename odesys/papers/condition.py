"""A condition of a paper, with the ratio of what is there to what is needed: a violated one says by how much."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Condition:
    """One inequality: its number and text in the paper, and `ratio` >= 1 where it holds with constant 1.

    >>> print(Condition("7", "m >= M^2", 0.5))
    (7) m >= M^2: violated by a factor 2
    """

    tolerance: ClassVar[float] = 1e-9  # relative: so close to equality counts as equality

    number: int | str
    text: str
    ratio: float

    @property
    def holds(self) -> bool:
        """True if the inequality holds with constant 1."""
        return self.ratio >= 1 - self.tolerance

    def __str__(self) -> str:
        if self.holds:
            return f"({self.number}) {self.text}: holds with a factor {self.ratio:.3g} to spare"
        by = f"by a factor {1 / self.ratio:.3g}" if self.ratio > 0 else "whatever the constant"
        return f"({self.number}) {self.text}: violated {by}"


def violated(conditions: Iterable[Condition]) -> list[str]:
    """A sentence for each condition that does not hold with constant 1.

    >>> violated([Condition("7", "m >= M^2", 0.5), Condition("8", "n >= m", 2.0)])
    ['(7) m >= M^2: violated by a factor 2']
    """
    return [str(condition) for condition in conditions if not condition.holds]
