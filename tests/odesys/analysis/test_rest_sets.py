"""What an answer about equilibria prints."""

from __future__ import annotations

from odesys.analysis.rest_sets import Continuum, Equilibria, Equilibrium, Undecided


def test_an_answer_says_all_it_has() -> None:
    point = Equilibrium({"x": 1})
    family = Continuum({"x": 0, "y": 0}, ("y",), 1)
    whole = {"x": (-float("inf"), float("inf"))}
    found = Equilibria((point,), (family,), (), whole)
    assert found[0] is point and list(found) == [point] and found.complete
    assert str(found) == "1 isolated equilibrium on the whole space; a family of dimension 1 in y; complete"
    left = Equilibria((), (), (Undecided("a box"),), {"x": (-1, 1)})
    assert not left.complete and str(left) == "0 isolated equilibria with x in [-1, 1]; undecided: a box"
