"""One inequality of a numbered condition, with the factor by which it holds or is violated."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Condition:
    """One inequality: its number and text in the paper, and `ratio`, what is there over what is needed.

    >>> print(Condition(3, "N >= log d", 0.5))
    (3) N >= log d: violated by a factor 2
    """

    number: int | str
    text: str
    ratio: float

    @property
    def holds(self) -> bool:
        """True if the inequality holds with constant 1."""
        return self.ratio >= 1 - 1e-9

    def __str__(self) -> str:
        if self.holds:
            return f"({self.number}) {self.text}: holds with a factor {self.ratio:.3g} to spare"
        return f"({self.number}) {self.text}: violated by a factor {1 / self.ratio:.3g}"
