"""Comparisons that claims hand over: at values, under assumptions, of numbers."""

from pathlib import Path

import pytest
import sympy as sp

from odesys import decided
from odesys.proofs.theory import theory
from odesys.stated import recorded
from tests.coq import needs_coq, said, said_of

M, V = sp.symbols("M v", positive=True)
X = sp.Symbol("x", real=True)
HALF = sp.Rational(1, 2)


def handed(relations, **more):
    """What a claim hands over."""
    with recorded():
        return decided(True, {}).stating(relations, **more).stated


@needs_coq
def test_sides_at_values_and_for_all_values(tmp_path: Path) -> None:
    found = [
        *handed({"witness": (2 * M * V, ">", sp.Rational(9, 4) * V)}, at={M: 2, V: 1}),
        *handed({"room": (sp.Rational(9, 4) * V, ">=", 2 * V), "apart": (M + V, "!=", 0), "other": (0, "!=", M + V)}),
    ]
    assert said(found, tmp_path).ok


def test_what_is_larger_or_smaller_is_not_equal() -> None:
    for pair, larger in (((M + V, "!=", 0), True), ((0, "!=", M + V), False)):
        text = theory(["t"], handed({"apart": pair})).text
        assert ("Rgt_not_eq" in text, "Rlt_not_eq" in text) == (larger, not larger)


def test_a_bound_that_is_met_at_a_corner_is_a_sum_over_the_corners() -> None:
    weak = sp.Symbol("s", nonnegative=True)
    for most, shown in ((3, True), (4, True), (2, False)):
        made = theory(["t"], handed({"linear": (X * weak, "<=", most * weak)}, where=[(1, "<=", X), (X, "<=", 3)]))
        assert ("replace gap__ with" in made.text) == shown


@needs_coq
def test_a_comparison_that_is_wrong_at_its_values_does_not_check(tmp_path: Path) -> None:
    assert not said(handed({"witness": (2 * M * V, "<", 1 + 0 * V)}, at={M: 2, V: 1}), tmp_path).ok


@needs_coq
def test_corners_of_a_box(tmp_path: Path) -> None:
    box = [(1, "<=", X), (X, "<=", 3)]
    weak = sp.Symbol("s", nonnegative=True)
    assert said(handed({"linear": (X * weak, "<=", 3 * weak)}, where=box), tmp_path / "right").ok
    assert not said(handed({"linear": (X * weak, "<=", 2 * weak)}, where=box), tmp_path / "wrong").ok


@needs_coq
def test_enclosures_rest_on_whole_numbers_of_the_machine(tmp_path: Path) -> None:
    found = said(handed({"e": (sp.E, "<", 3)}), tmp_path)
    assert found.ok
    assert any("63 bits" in axiom for axiom in found.axioms)


@needs_coq
def test_nested_divisors(tmp_path: Path) -> None:
    from odesys import equal, sym

    v, m, t = sym("V"), sym("M"), sym("t")
    best = t / (v + m * t / 3)
    with recorded():
        verdict = equal({"exponent": (best * t - v * best**2 / 2 / (1 - best * m / 3), best * t / 2)}, ("V", "M", "t"))
    assert said(list(verdict.stated), tmp_path).ok


def test_signs_that_sympy_knows_are_hypotheses() -> None:
    text = theory(["t"], handed({"sum": (M + V, ">", 0)})).text
    assert "Hypothesis M_positive : 0 < M." in text


def test_what_a_claim_hands_over_takes_the_place_of_nothing() -> None:
    with recorded():
        assert len(decided(True, {}).stating({"two": (2, "<", 3)}).stated) == 1
        both = (decided(True, {}) & decided(True, {}).stating({"two": (2, "<", 3)})).stated
    assert len(both) == 2  # the other check still hands over nothing, and the claim gets no seal
    assert decided(True, {}).stating({"two": (2, "<", 3)}).stated == ()


def test_relations_have_names() -> None:
    with pytest.raises(ValueError, match="not by '=='"):
        handed({"wrong": (1, "==", 1)})


@needs_coq
def test_assumptions_are_premises_of_the_theorem(tmp_path: Path) -> None:
    made = theory(["t"], handed({"below": (X, "<", 1)}, where=[(X, "<=", HALF)]))
    assert "Theorem claim_1 : x <= (1 / 2) -> left_1 < right_1." in made.text
    assert said_of(made.text, tmp_path).ok


@needs_coq
def test_symbols_may_be_called_as_parts_of_a_script_are(tmp_path: Path) -> None:
    a, b, K1, c2 = sp.symbols("a b K1 c2", positive=True)
    found = handed({"more": (a / (b + K1), "<", a / b), "weighted": (c2 * a / (b + c2), "<", a)})
    assert said(found, tmp_path).ok


@needs_coq
def test_assumptions_that_have_names_are_opened(tmp_path: Path) -> None:
    x, y, z = sp.symbols("x y z", real=True)
    long = 3 * x + sp.Rational(7, 2) * y - sp.Rational(11, 3) * z
    assert said(handed({"sum": (long + x, "<=", y)}, where=[(long, "<=", 0), (x, "<=", y)]), tmp_path).ok
    assert not said(handed({"sum": (long + x, "<=", -y)}, where=[(long, "<=", 0), (x, "<=", y)]), tmp_path).ok
