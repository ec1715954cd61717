"""Hypotheses: margins at points and over boxes, natural domains, paths into a regime."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import Any

import pytest

from odesys.errors import OdesysError
from odesys.papers.hypotheses import (
    Hypothesis,
    OutsideHypotheses,
    Symbol,
    admit,
    approach,
    natural_hypotheses,
    violated,
)
from odesys.verdicts import Shortfall

RATIO = Hypothesis("b is below n", "b < n", lambda p: p["n"] - p["b"], strict=True)
WIDE = Hypothesis.from_ratio("7", "m >= n", r"m \ge n", lambda p: p["m"] / p["n"])
WIDER = Hypothesis.from_ratio("8", "m > n", "m > n", lambda p: p["m"] / p["n"], strict=True)
LARGE = Hypothesis("n is large", r"n \gg 1", lambda p: p["n"] / 1000 - 1, asymptotic=True)


@pytest.mark.parametrize(
    ("point", "inside"),
    [
        ({"b": 1, "n": 2}, True),
        ({"b": 2, "n": 2}, False),  # strict
        ({"b": "1/3", "n": "1/2"}, True),
        ({"b": (0, 1), "n": (Fraction(3, 2), 2)}, True),
        ({"b": (0, 1), "n": (Fraction(1, 2), 2)}, False),  # some of the box is outside
    ],
)
def test_points_and_boxes(point: dict[str, Any], inside: bool) -> None:
    assert RATIO.holds(point) is inside
    if inside:
        assert admit(point, [RATIO]) is point
    else:
        with pytest.raises(OutsideHypotheses, match="outside the hypothesis 'b is below n'"):
            admit(point, [RATIO])


def test_a_point_must_say_what_the_hypothesis_is_about() -> None:
    with pytest.raises(OutsideHypotheses, match="does not say n"):
        admit({"b": 1}, [RATIO])


@pytest.mark.parametrize(
    ("domain", "low", "inside", "outside"),
    [
        ("positive", None, [0.1, Fraction(1, 3)], [0, -1]),
        ("nonnegative", None, [0, 2], [-1e-9]),
        ("unit", None, [0.5], [0, 1, 1.5, -0.2]),
        ("whole", None, [1, 7, 3.0], [0, Fraction(7, 4), 2.5]),
        ("whole", 3, [3, 4], [2, Fraction(7, 2)]),
        ("positive", 2, [2, 3], [1.5]),
    ],
)
def test_natural_domains(domain: str, low: Any, inside: list[Any], outside: list[Any]) -> None:
    hypothesis = Symbol("x", "x", "a number", domain, low=low).hypothesis
    assert all(hypothesis.holds({"x": value}) for value in inside)
    assert not any(hypothesis.holds({"x": value}) for value in outside)


def test_only_the_symbols_of_a_point_are_asked() -> None:
    symbols = [Symbol("g", "g", "", "unit"), Symbol("m", "m", "", "whole"), Symbol("y", "y", "")]
    assert [h.name for h in natural_hypotheses(symbols, {"m", "y"})] == ["m is whole"]


def test_an_unknown_domain_is_refused() -> None:
    with pytest.raises(ValueError, match="one of real, positive"):
        Symbol("x", "x", "", "complex")


def test_a_path_leads_into_the_regime() -> None:
    path = [{"b": 1, "n": n} for n in (10, 100, 500)]
    assert approach(path, [RATIO, LARGE]) == {"n is large": Shortfall(0.5)}
    assert approach([*path, {"b": 1, "n": 2000}], [RATIO, LARGE]) == {}
    wide = replace(WIDE, asymptotic=True)  # with two sides the factor between them is known too
    assert approach([{"m": m, "n": 2**15} for m in (0, 1)], [wide]) == {"m >= n": Shortfall(1 - 2**-15, 2.0**15)}
    assert approach([{"m": m, "n": 8} for m in (-2, -1)], [wide]) == {"m >= n": Shortfall(1.125, inf)}
    with pytest.raises(OutsideHypotheses, match="must grow at every point"):
        approach(path[::-1], [RATIO, LARGE])
    with pytest.raises(OutsideHypotheses, match="b is below n"):  # what is not asymptotic holds all along
        approach([{"b": 20, "n": n} for n in (10, 100)], [RATIO, LARGE])
    with pytest.raises(OutsideHypotheses, match="at least two points"):
        approach(path[:1], [LARGE])


def test_equality_holds_up_to_rounding_and_no_further() -> None:
    near, far = {"m": 1 - 1e-12, "n": 1}, {"m": 1 - 1e-6, "n": 1}
    assert WIDE.holds(near) and not WIDE.holds(far)
    assert not WIDER.holds(near) and not WIDER.holds({"m": 1 + 1e-12, "n": 1}) and WIDER.holds({"m": 2, "n": 1})
    assert not WIDE.holds({"m": float("nan"), "n": 1})


@pytest.mark.parametrize(
    ("hypothesis", "point", "sentence"),
    [
        (WIDE, {"m": 3, "n": 1}, "(7) m >= n: holds with a factor 3 to spare"),
        (WIDE, {"m": 1, "n": 4}, "(7) m >= n: violated by a factor 4"),
        (WIDE, {"m": 3e-5, "n": 1}, "(7) m >= n: violated by a factor 33,300"),
        (WIDE, {"m": 1e-30, "n": 1}, "(7) m >= n: violated by a factor 1e+30"),
        (WIDE, {"m": 0, "n": 1}, "(7) m >= n: violated whatever the constant"),
        (RATIO, {"b": 1, "n": 3}, "b is below n: holds with a margin of 2"),
        (RATIO, {"b": 3, "n": 1}, "b is below n: violated by 2"),
    ],
)
def test_sentences_say_by_how_much(hypothesis: Hypothesis, point: dict[str, Any], sentence: str) -> None:
    assert hypothesis.say(point) == sentence


def test_only_what_is_violated_is_told() -> None:
    point = {"b": 0, "m": 1, "n": 2}
    assert violated([RATIO, WIDE], point) == ["(7) m >= n: violated by a factor 2"] and violated([RATIO], point) == []


def test_a_numbered_condition_is_enforced_like_any_hypothesis() -> None:
    with pytest.raises(OutsideHypotheses, match="outside the hypothesis 'm >= n'"):
        admit({"m": 1, "n": 2}, [WIDE])
    with pytest.raises(OutsideHypotheses, match="does not say n"):
        WIDE.ratio_at({"m": 1})
    with pytest.raises(OdesysError, match="has a margin but no ratio"):
        RATIO.ratio_at({"b": 1, "n": 2})


def test_an_inequality_may_be_met_unless_it_is_strict() -> None:
    equal = {"m": 2, "n": 2}
    assert (WIDE.holds(equal), WIDER.holds(equal)) == (True, False)
    for hypothesis, strict, asymptotic in ((WIDE, False, False), (WIDER, True, False)):
        assert (hypothesis.strict, hypothesis.asymptotic) == (strict, asymptotic)
    for m, n in ((3, 1), (1, 4), (1, 1)):
        point = {"m": m, "n": n}
        assert WIDE.at(point) == WIDE.ratio_at(point) - 1 == m / n - 1
