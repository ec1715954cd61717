r"""Where a bound is claimed: a box of states cut by linear conditions, with exact vertices.

.. math::  R = \{x : l_s \le x_s \le u_s, \ \ c_k + \textstyle\sum_s a_{ks} x_s \ge 0\} .
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from ..errors import EquationError
from ..expr import graph

VERTEX_LIMIT = 20_000
SHRINK_ROUNDS = 3

Ranges = Mapping[str, tuple[Fraction, Fraction]]


@dataclass(frozen=True)
class LinearCondition:
    """The linear condition constant + sum of slopes[s] s >= 0."""

    slopes: Mapping[str, Fraction]
    constant: Fraction

    def __call__(self, point: Mapping[str, Any]) -> Any:
        """Value at a point."""
        return sum((a * point[s] for s, a in self.slopes.items()), self.constant)

    def highest(self, box: Ranges) -> Fraction:
        """Largest value on a box."""
        return sum((a * box[s][1 if a > 0 else 0] for s, a in self.slopes.items()), self.constant)


@dataclass(frozen=True, eq=False)
class Region:
    """A box {state: (low, high)} and linear conditions, each an expression that must be >= 0; all numbers exact.

    Parameters
    ----------
    box : Mapping[str, tuple[Any, Any]]
        Lower and upper end of each state.
    conditions : Iterable[Any], optional
        Linear expressions that are not negative inside.

    Examples
    --------
    >>> from fractions import Fraction
    >>> region = Region({"x": (0, 1), "y": (0, 1)}, [graph.sym("x") - graph.sym("y")])
    >>> region.contains({"x": 1, "y": Fraction(1, 2)}), region.contains({"x": 0, "y": 1})
    (True, False)
    """

    box: Mapping[str, tuple[Any, Any]]
    conditions: Iterable[Any] = ()

    def __post_init__(self) -> None:
        box: dict[str, tuple[Fraction, Fraction]] = {}
        if not isinstance(self.box, Mapping):
            raise EquationError(f"a region is a box by state, {{'x': (low, high)}}, not {self.box!r}")
        for name, pair in self.box.items():
            if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
                raise EquationError(f"the range {pair!r} of {name} is no pair (low, high)")
            low, high = pair
            box[str(name)] = (exact(low, str(name)), exact(high, str(name)))
            if box[str(name)][0] > box[str(name)][1]:
                raise EquationError(f"the range of {name} is empty: {low} is above {high}")
        object.__setattr__(self, "box", box)
        object.__setattr__(self, "conditions", tuple(_form(c) for c in self.conditions))
        for form in self.forms:
            missing = sorted(set(form.slopes) - set(box))
            if missing:
                raise EquationError(f"a condition of the region uses {missing[0]}, which has no range in the box")

    @property
    def forms(self) -> tuple[LinearCondition, ...]:
        """The conditions as linear forms."""
        return tuple(self.conditions)

    def __and__(self, other: Region) -> Region:
        """The intersection of two regions."""
        box = dict(self.box)
        for name, (low, high) in other.box.items():
            mine = box.get(name, (low, high))
            box[name] = (max(mine[0], low), min(mine[1], high))
        return Region(box, (*self.forms, *other.forms))

    def contains(self, point: Mapping[str, Any]) -> bool:
        """Whether an exact point lies in the region (states without a range are free)."""
        inside = all(low <= point[s] <= high for s, (low, high) in self.box.items())
        return inside and all(form(point) >= 0 for form in self.forms)

    def shrink(self, ranges: Ranges) -> dict[str, tuple[Fraction, Fraction]] | None:
        """The part of a box that the conditions leave, as a box; None if nothing is left.

        >>> region = Region({"x": (0, 1), "y": (0, 1)}, [graph.sym("x") / 2 - graph.sym("y")])
        >>> region.shrink({"x": (Fraction(0), Fraction(1, 2)), "y": (Fraction(0), Fraction(1))})["y"][1]
        Fraction(1, 4)
        """
        box = {**self.box, **ranges}
        forms = [form for form in self.forms if form.slopes.keys() & ranges.keys()]
        for _ in range(SHRINK_ROUNDS):
            before = dict(box)
            for form in forms:
                room = form.highest(box)
                if room < 0:
                    return None
                for name, slope in form.slopes.items():
                    low, high = box[name]
                    if room < abs(slope) * (high - low):  # else the condition holds at both ends
                        end = (high if slope > 0 else low) - room / slope
                        box[name] = (max(low, end), high) if slope > 0 else (low, min(high, end))
            if box == before:
                break
        return {name: box[name] for name in ranges}

    def between(self, inner: Mapping[str, Fraction], outer: Mapping[str, Fraction]) -> dict[str, Fraction] | None:
        """The last point on the way from `inner` to `outer` that meets all conditions on these states; None if none."""
        share = Fraction(1)
        for form in self.forms:
            if form.slopes.keys() <= inner.keys():
                start, stop = form(inner), form(outer)
                if start < 0:
                    return None
                if stop < 0:
                    share = min(share, start / (start - stop))
        return dict(outer) if share == 1 else {s: x + share * (outer[s] - x) for s, x in inner.items()}

    @cached_property
    def tied_states(self) -> tuple[tuple[str, ...], ...]:
        """States tied together by conditions; a state in no condition stands alone."""
        tied = {name: {name} for name in self.box}
        for form in self.forms:
            merged = set().union(*(tied[s] for s in form.slopes)) if form.slopes else set()
            for name in merged:
                tied[name] = merged
        unique = {id(members): members for members in tied.values()}
        return tuple(tuple(name for name in self.box if name in members) for members in unique.values())

    def contains_zero(self, states: Sequence[str]) -> bool:
        """Whether zero lies in the part of the region on tied states."""
        inside = all(self.box[s][0] <= 0 <= self.box[s][1] for s in states)
        return inside and all(form.constant >= 0 for form in self.forms if set(form.slopes) <= set(states))

    def vertices(self, states: Sequence[str]) -> list[dict[str, Fraction]]:
        """Vertices of the region on tied states, by cutting a simplex around its box (double description)."""
        names = list(states)
        lows = [self.box[s][0] for s in names]
        span = sum((self.box[s][1] - self.box[s][0] for s in names), Fraction(0))
        far = [tuple(l + (span if j == k else 0) for j, l in enumerate(lows)) for k in range(len(names))]
        cuts: list[LinearCondition] = [form for form in self.forms if form.slopes and set(form.slopes) <= set(names)]
        cuts += [LinearCondition({s: Fraction(-1)}, self.box[s][1]) for s in names]
        everything = (1 << len(names) + 1) - 1  # facet k is x_k >= low_k, the last one is the far side of the simplex
        found = {point: everything & ~(1 << k) for k, point in enumerate([*far, tuple(lows)])}
        if span == 0:
            found = {tuple(lows): everything}
        for number, cut in enumerate(cuts):
            slopes = [cut.slopes.get(s, Fraction(0)) for s in names]
            found = _cut(found, slopes, cut.constant, 1 << len(names) + 1 + number)
            if len(found) > VERTEX_LIMIT:
                raise EquationError(
                    f"the region on {', '.join(names[:6])} has more than {VERTEX_LIMIT} vertices; "
                    f"drop conditions that are not needed"
                )
        if not found:
            raise EquationError(f"the region is empty: its conditions on {', '.join(names[:6])} contradict each other")
        return [dict(zip(names, point, strict=True)) for point in found]


def mixture(vertices: Sequence[Mapping[str, Fraction]], rng: random.Random) -> dict[str, Fraction]:
    """A random exact convex combination of a few vertices; now and then a vertex itself."""
    chosen = rng.sample(list(vertices), min(len(vertices), rng.randint(1, 4)))
    weights = [Fraction(rng.randint(1, 64)) for _ in chosen]
    total = sum(weights, Fraction(0))
    return {s: sum((w * v[s] for w, v in zip(weights, chosen, strict=True)), Fraction(0)) / total for s in chosen[0]}


def _cut(
    found: dict[tuple[Fraction, ...], int], slopes: Sequence[Fraction], constant: Fraction, facet: int
) -> dict[tuple[Fraction, ...], int]:
    """Vertices (with the set of facets they lie on) after one more condition; new ones appear on cut edges."""
    split = [
        (point, mask, sum((a * x for a, x in zip(slopes, point, strict=True) if a), constant))
        for point, mask in found.items()
    ]
    kept = {point: mask | (0 if value else facet) for point, mask, value in split if value >= 0}
    above, below = ([item for item in split if sense * item[2] > 0] for sense in (1, -1))
    least, masks = len(slopes) - 1, list(found.values())
    for p, mask, value in above:
        for q, other, negative in below:
            common = mask & other
            if common.bit_count() < least or sum(common & m == common for m in masks) > 2:
                continue  # not an edge
            weight = value / (value - negative)
            point = tuple(a + weight * (b - a) for a, b in zip(p, q, strict=True))
            kept[point] = kept.get(point, 0) | common | facet
    return kept


def exact(value: Any, what: str) -> Fraction:
    """A rational number from an int, a fraction, a decimal float or a SymPy rational."""
    try:
        if hasattr(value, "p") and hasattr(value, "q"):
            return Fraction(int(value.p), int(value.q))
        return Fraction(str(value)) if isinstance(value, float) else Fraction(value)
    except (TypeError, ValueError, OverflowError):
        raise EquationError(f"{what} = {value} is not a rational number; a region needs exact numbers") from None


def _form(condition: Any) -> LinearCondition:
    if isinstance(condition, LinearCondition):
        return condition
    node = graph.as_node(condition)
    alone = (node.args[0], graph.ONE) if node.op == "num" else (Fraction(1), node)
    terms = node.args if node.op == "add" else (alone,)
    if any(t is not graph.ONE and t.op != "sym" for _, t in terms):
        raise EquationError(f"the condition {condition} >= 0 of a region is not linear in the states")
    constant = sum((exact(c, "a constant") for c, t in terms if t is graph.ONE), Fraction(0))
    return LinearCondition({t.args[0]: exact(c, "a coefficient") for c, t in terms if t is not graph.ONE}, constant)
