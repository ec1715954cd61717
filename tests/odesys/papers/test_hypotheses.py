"""Hypotheses: margins at points and over boxes, natural domains, paths into a regime."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import Any

import pytest

from odesys import AttentionModel, Dictionary, Distribution, Sample, gradient_flow
from odesys.errors import OdesysError
from odesys.papers.hypotheses import (
    ROUNDING,
    Hypothesis,
    OutsideHypotheses,
    Symbol,
    admit,
    approach,
    natural_domain,
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


@pytest.mark.parametrize(
    ("domain", "low", "tex", "strict", "margins"),
    [
        ("positive", None, "x > 0", True, {2: 2, -1: -1}),
        ("positive", 3, "x > 3", False, {5: 2, 2: -1}),
        ("nonnegative", None, r"x \ge 0", False, {2: 2}),
        ("nonnegative", 1, r"x \ge 1", False, {4: 3}),
        ("unit", None, "0 < x < 1", True, {Fraction(1, 4): Fraction(3, 16), 2: -2}),
        ("whole", None, r"x \in \mathbb{N}", False, {3: 2, 1: 0, 2.5: -1, "x": -1}),
        ("whole", 4, r"x \in \mathbb{N}", False, {6: 2, 3: -1, Fraction(9, 2): -1}),
        ("real", None, r"x \ge 0", False, {-7: 1}),
        ("real", 2, r"x \ge 2", False, {5: 3, 1: -1}),
    ],
)
def test_a_natural_domain_is_an_inequality_with_its_margin(
    domain: str, low: Any, tex: str, strict: bool, margins: dict[Any, Any]
) -> None:
    hypothesis = Symbol("x", "x", "a number", domain, low=low).hypothesis
    assert (hypothesis.name, hypothesis.tex, hypothesis.strict) == (f"x is {domain}", tex, strict)
    assert {value: hypothesis.at({"x": value}) for value in margins} == margins
    assert not hypothesis.asymptotic and hypothesis.ratio is None


def test_a_ratio_is_one_up_to_rounding_and_its_end_belongs_to_it() -> None:
    """In exact numbers, so that the end can be met."""
    step = Fraction(ROUNDING)
    for excess, margin in ((step, 0.0), (-step, 0.0), (step * 2, step * 2), (-step * 2, -step * 2), (1, 1)):
        assert WIDE.at({"m": 1 + excess, "n": 1}) == margin


@pytest.mark.parametrize(
    ("hypothesis", "point", "shortfall"),
    [
        (RATIO, {"b": 3, "n": 1}, Shortfall(2)),
        (WIDE, {"m": 1, "n": 4}, Shortfall(0.75, 4.0)),
        (WIDE, {"m": 0, "n": 4}, Shortfall(1, inf)),
        (WIDE, {"m": -1, "n": 4}, Shortfall(1.25, inf)),
    ],
)
def test_how_far_a_hypothesis_is_from_holding(hypothesis: Hypothesis, point: Any, shortfall: Shortfall) -> None:
    assert hypothesis.shortfall(point) == shortfall


def test_what_is_refused_says_the_name_and_the_margin() -> None:
    with pytest.raises(OutsideHypotheses) as caught:
        admit({"b": 3, "n": 1}, [Hypothesis("fine", "", lambda p: 1), RATIO])
    assert (caught.value.name, caught.value.margin) == ("b is below n", -2)
    for bad in (inf, -inf, float("nan")):
        with pytest.raises(OutsideHypotheses, match=r"the point has n = .*, which is no number"):
            admit({"b": 1, "n": bad}, [])
    with pytest.raises(OutsideHypotheses) as caught:
        approach([{"n": 2}, {"n": 2}], [LARGE])
    assert caught.value.margin == [-0.998, -0.998]
    assert RATIO.as_json() == {"name": "b is below n", "tex": "b < n"}


def test_entries_are_read_as_fractions_balls_or_words() -> None:
    seen: dict[str, Any] = {}
    reading = Hypothesis("", "", lambda p: seen.update(p) or 1)
    point = {"half": "1/2", "word": "symbol", "float": 0.25, "box": ("1/4", Fraction(3, 4)), "list": [1, 3]}
    assert reading.holds(point)
    assert (seen["half"], seen["word"], seen["float"]) == (Fraction(1, 2), "symbol", 0.25)
    for name, low, high in (("box", 0.25, 0.75), ("list", 1, 3)):
        ball = seen[name]
        assert not (ball - low < 0) and not (ball - high > 0) and ball > low - 0.01 and ball < high + 0.01


def test_points_that_say_states_of_a_flow_are_path_values_of_a_network() -> None:
    """Each flow whose states are named is asked once, for these entries only."""
    flows = [
        gradient_flow(AttentionModel(Dictionary(words)), Distribution([Sample(words[:2], 1)]))
        for words in (["a", "b"], ["c", "d"])
    ]
    domain = natural_domain(*[lambda flow=flow: flow for flow in flows])
    assert domain(["t", "omega"]) == []
    first, both = domain(["KK_a_a", "t"]), domain(["KK_a_a", "KK_c_c"])
    assert [len(first), len(both)] == [1, 2] and all(h.name == "scores are inner products" for h in both)
    assert [h.holds({"KK_a_a": 1, "KK_c_c": -1, "other": "x"}) for h in both] == [True, False]
    assert [h.strict for h in both] == [False, False]


def test_a_path_has_two_points_and_its_asymptotic_margins_grow() -> None:
    for path, fine in (([2, 3], True), ([3, 3], False), ([3, 2], False), ([2, 3, 3], False), ([2], False), ([], False)):
        points = [{"b": 0, "n": n} for n in path]
        if fine:
            assert approach(points, [RATIO, LARGE]) == {"n is large": Shortfall(0.997)}
        else:
            with pytest.raises(OutsideHypotheses):
                approach(points, [RATIO, LARGE])
    assert approach([{"n": 10}, {"n": 1000}], [LARGE]) == {}, "at the end the margin is zero"
    assert approach([{"b": 0, "n": 2}, {"b": 0, "n": 1}], [RATIO]) == {}, "what is not asymptotic need not grow"
