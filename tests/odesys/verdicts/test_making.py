"""Functions that make verdicts: none is stronger than what was done."""

from __future__ import annotations

from fractions import Fraction

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from odesys.exact.evidence import enumerate_all, frequency_at_most, identity
from odesys.expr.graph import ZERO, num, sym
from odesys.verdicts import Evidence, Shortfall, certified, decided, measured, proved, untested


@given(
    st.booleans(),
    st.dictionaries(
        st.text(st.characters(categories=["Ll"]), min_size=1).filter(lambda name: name not in ("holds", "witness")),
        st.floats(allow_nan=False),
    ),
)
def test_floats_are_measurements(holds: bool, details: dict[str, float]) -> None:
    verdict = measured(holds, **details)
    assert verdict.evidence is Evidence.MEASUREMENT and verdict.as_stated == ("holds" if holds else "fails")
    for better in (proved(), certified()):
        assert (verdict & better).evidence is Evidence.MEASUREMENT


@settings(max_examples=25, deadline=None)
@given(st.floats(min_value=-8, max_value=8), st.fractions(min_value=-3, max_value=3, max_denominator=9))
def test_a_float_in_an_identity_proves_and_refutes_nothing(value: float, exact: Fraction) -> None:
    x = sym("x")
    for residual in (x * value - x * value, (x + value) * exact - exact * x - exact * value, num(value) - num(value)):
        if residual is ZERO:
            continue  # the float dropped out of the expression before anything was asked
        assert identity({"r": residual}).as_stated == "undecided"
    exactly = Fraction(value)
    assert identity({"r": (x + exactly) * exact - exact * x - exact * exactly}).evidence is Evidence.PROOF


def test_a_sampled_probability_is_a_measurement() -> None:
    for failures in (0, 50, 1000):
        assert frequency_at_most(failures, 1000, 0.05).evidence is Evidence.MEASUREMENT


def test_nothing_is_certified_for_no_reason() -> None:
    with pytest.raises(ValueError, match="no reason"):
        identity({})
    with pytest.raises(ValueError, match="nothing was checked"):
        enumerate_all([], lambda case: True, "cases")
    assert enumerate_all([1], lambda case: 1, "cases").as_stated == "fails", "true means True, not something like it"


def test_an_exact_check_holds_or_fails_on_the_same_evidence() -> None:
    good = decided(True, {"x": 1}, Evidence.CERTIFICATE, count=3)
    assert (good.as_stated, good.evidence) == ("holds", Evidence.CERTIFICATE)
    assert good.witness is None and good.details == {"count": 3}
    bad = decided(False, {"x": 1}, count=3)
    assert (bad.as_stated, bad.evidence, bad.witness, bad.details) == ("fails", Evidence.PROOF, {"x": 1}, {})


def test_what_is_not_tested_says_why_and_how_far_away_it_is() -> None:
    far = {"m is large": Shortfall(0.5, 2.0)}
    verdict = untested("m must exceed 10^9", far, width=8)
    assert (verdict.as_stated, verdict.evidence, verdict.residual) == (
        "untested",
        Evidence.MEASUREMENT,
        "m must exceed 10^9",
    )
    assert verdict.regime is not None and verdict.details == {"width": 8}
    assert (verdict.regime.where, verdict.regime.violated) == ("outside", far)
    assert untested("no path").regime.violated == {}  # type: ignore[union-attr]
