"""Lemma E.3 on trajectories: exact parts with broken twins, and rates that are too large."""

from __future__ import annotations

import pytest
import sympy as sp

from derivations.two_mixture.claims import book
from derivations.two_mixture.claims.part_e_comparison import (
    above_the_bound,
    closed_form,
    comparison_system,
    durations,
    transfers,
)
from derivations.two_mixture.claims.part_e_growth import GROWTH
from derivations.two_mixture.laboratory import Laboratory

GRID = [{"omega": omega, "T1": T1, "b": 0.5} for omega, T1 in ((0.1, 20.0), (0.05, 20.0), (0.01, 20.0), (0.01, 3.0))]


def test_exact_parts_are_proofs_and_the_row_is_only_measured() -> None:
    exact = [transfers(), *closed_form(comparison_system()).values()]
    assert {(part.as_stated, str(part.evidence)) for part in exact} == {("holds", "proof")}
    verdict = book.run(book["E.3/trajectory"]).verdict
    assert (verdict.as_stated, str(verdict.evidence)) == ("holds", "measurement")
    assert durations(Laboratory()).details["ratio_of_slopes"] == pytest.approx(2 * 2**0.5 / 0.999, rel=1e-3)


def test_a_matrix_that_does_not_transfer_and_one_with_another_solution() -> None:
    negative = sp.Matrix([[0, 1, 1], [1, 0, 0], [1, -1, 0]])
    assert transfers(negative).as_stated == "fails" and transfers(negative).witness["entry"] == "(2, 1)"
    assert transfers(sp.Matrix([[-5, 1, 1], [1, 0, 0], [1, 0, 0]])).as_stated == "holds", "the diagonal is free"
    faster = closed_form(comparison_system(sp.Matrix([[0, 2, 2], [4, 0, 0], [4, 0, 0]])))
    assert faster["solves"].as_stated == "holds"
    assert faster["first entry"].as_stated == faster["time"].as_stated == "fails"
    assert all(part.as_stated == "holds" for part in closed_form(comparison_system(GROWTH)).values())


def test_a_rate_above_kappa_is_refuted_by_trajectories() -> None:
    assert above_the_bound(Laboratory(), 0.999, GRID).as_stated == "holds"
    assert above_the_bound(Laboratory(), 1.01, GRID).as_stated == "fails"


def test_key_self_scores_that_move_twice_as_fast_break_the_ratio_of_times() -> None:
    assert durations(Laboratory()).as_stated == "holds"
    assert durations(Laboratory("double")).as_stated == "fails"
