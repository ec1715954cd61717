"""What a point at rest is called: a flow has equilibria with eigenvalues, a map has fixed points with multipliers."""

from __future__ import annotations

from dataclasses import dataclass

from ..expr.system import System


@dataclass(frozen=True)
class RestWords:
    """The words of one kind of system.

    Attributes
    ----------
    one, many : a point at rest, without an article, and several of them.
    a_point : with its article.
    moves : what gives the next moment: the field of a flow, or a map.
    mark : an eigenvalue of the linear part at the point, with its article.
    edge : where eigenvalues decide nothing.
    outside : where one is enough to be unstable.
    degenerate : what makes the linear part degenerate.
    others : what this search does not look for; empty where nothing of the kind is meant.
    """

    one: str
    many: str
    a_point: str
    moves: str
    mark: str
    edge: str
    outside: str
    degenerate: str
    others: str = ""

    def count(self, number: int, before: str = "") -> str:
        """Several of them, as text: ``2 fixed points``; `before` is a word such as isolated."""
        return f"{number} {before}{self.one if number == 1 else self.many}"


FLOW = RestWords(
    "equilibrium",
    "equilibria",
    "an equilibrium",
    "field",
    "an eigenvalue",
    "the imaginary axis",
    "has a positive real part",
    "an eigenvalue is zero or repeated on the imaginary axis",
)
MAP = RestWords(
    "fixed point",
    "fixed points",
    "a fixed point",
    "map",
    "a multiplier",
    "the unit circle",
    "lies outside the unit circle",
    "a multiplier is 1 or -1, or repeated on the unit circle",
    "points of a longer period are fixed points of iterates of the map, which were not searched",
)


def rest_words(system: System | str) -> RestWords:
    """The words for a system, or for its kind.

    >>> rest_words("map").count(2), rest_words("flow").count(1, "isolated ")
    ('2 fixed points', '1 isolated equilibrium')
    """
    return MAP if (system if isinstance(system, str) else system.kind) == "map" else FLOW
