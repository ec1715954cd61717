"""What an answer about equilibria prints."""

from __future__ import annotations

import math
from fractions import Fraction

from odesys import System
from odesys.analysis.rest_sets import Continuum, Equilibria, Equilibrium, Undecided, in_order


def test_an_answer_says_all_it_has() -> None:
    point = Equilibrium({"x": 1})
    assert (
        "algebraic" not in repr(point)
        and point.slides is False
        and point.multiplicity == 1
        and point.evidence == "proof"
    )
    family = Continuum({"x": 0, "y": 0}, ("y",), 1)
    whole = {"x": (-float("inf"), float("inf"))}
    found = Equilibria((point,), (family,), (), whole)
    assert found[0] is point and list(found) == [point] and found.complete
    assert str(found) == "1 isolated equilibrium on the whole space; a family of dimension 1 in y; complete"
    left = Equilibria((), (), (Undecided("a box"),), {"x": (-1, 1)})
    assert not left.complete and str(left) == "0 isolated equilibria with x in [-1, 1]; undecided: a box"


def test_where_was_searched_is_said_by_range() -> None:
    ends = (Fraction(-1, 2), Fraction(3))
    box = {"x": ends, "y": (-math.inf, math.inf), "z": ends, "u": (0, math.inf), "v": (-math.inf, 1)}
    found = Equilibria((), (), (), box)
    assert found.where == "x, z in [-0.5, 3], u in [0, inf], v in [-inf, 1]" and len(found) == 0
    assert Equilibria((), (), (), {"x": (-math.inf, math.inf)}).where == ""
    two = Equilibria((Equilibrium({"x": 1}), Equilibrium({"x": 2})), (), (), {"x": (0, 3)}, kind="map")
    assert str(two) == "2 isolated fixed points with x in [0, 3]; complete" and len(two) == 2


def test_points_are_in_the_order_of_their_states_with_rounding_apart() -> None:
    system = System.from_strings({"x": "y", "y": "x"})

    def point(x: Fraction, y: Fraction) -> Equilibrium:
        return Equilibrium({"x": x, "y": y}, enclosure={"x": (x, x), "y": (y, y)})

    tiny = Fraction(1, 10**14)
    places = [(Fraction(a), Fraction(b)) for a, b in ((1, 2), (1, -1), (-3, 5), (0, 0))]
    ordered = in_order([point(*place) for place in places], system)
    assert [tuple(e.point.values()) for e in ordered] == sorted(places)
    near = [point(tiny, Fraction(-1)), point(Fraction(0), Fraction(1)), point(-tiny, Fraction(0))]
    assert [e.point["y"] for e in in_order(near, system)] == [-1, 0, 1]
    wide = Equilibrium({"x": 0}, enclosure={"x": (Fraction(-2), Fraction(1)), "y": (Fraction(0), Fraction(0))})
    assert in_order([point(Fraction(0), Fraction(0)), wide], system)[0] is wide
