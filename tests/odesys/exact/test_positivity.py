"""Signs for all values at once: what is proved, what stays open, and refutations with a point to check."""

from __future__ import annotations

from fractions import Fraction

import pytest

from odesys.exact.positivity import always_positive, decide_sign
from odesys.exact.zero import ball_values
from odesys.expr import graph
from odesys.expr.graph import sym

C, D, n, b = sym("C"), sym("D"), sym("n"), sym("b")


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (graph.exp(C) - 1, "positive"),
        (graph.exp(2 * C) - graph.exp(-2 * C), "positive"),
        (1 - graph.exp(C + D), "negative"),
        (graph.exp(-C) - 1 - n, "negative"),
        (n * graph.exp(C), "nonnegative"),
        (-n / (n + graph.exp(C)), "nonpositive"),
        ((graph.exp(C) - 1) * (graph.exp(C) + 1) - graph.exp(2 * C) + 1, "zero"),
        (graph.call("tanh", C) / b, "positive"),
        (graph.call("sinh", C) - n, "unknown"),
        (graph.exp(C) - 2, "unknown"),
        (sym("any") ** 2, "unknown"),
        (graph.exp(sym("any")) + n, "positive"),
        (graph.exp(C) * 1.5, "unknown"),
        (n / n + b, "positive"),
        (b / n, "nonnegative"),
        (graph.sqrt(graph.num(2)) * (graph.exp(C) - graph.exp(-C)), "positive"),
        (graph.sqrt(graph.num(2)) - graph.exp(C), "unknown"),
        (graph.sqrt(graph.num(Fraction(1, 2))) * n + b, "positive"),
    ],
)
def test_sign(node, expected) -> None:
    assert decide_sign(node, positive=["C", "D", "b"], nonnegative=["n"]) == expected


def test_a_margin_of_one_part_in_a_million_million_is_not_rounded_away() -> None:
    tiny = Fraction(1, 10**12)
    assert decide_sign(graph.exp(C) - 1 + tiny, positive=["C"]) == "positive"
    verdict = always_positive({"gap": b * (tiny - n)}, positive=["b"], nonnegative=["n"])
    assert verdict.as_stated == "fails" and str(verdict.evidence) == "certificate"


def test_a_refutation_names_a_point_at_which_the_value_is_negative() -> None:
    gap = graph.exp(C) - 2 - n
    verdict = always_positive({"fine": graph.exp(C), "gap": gap}, positive=["C"], nonnegative=["n"])
    point = {name: Fraction(value) for name, value in verdict.witness["at"].items()}
    ((_, ball),) = ball_values(gap, [point], 64)
    assert verdict.witness["where"] == "gap" and min(point.values()) > 0 and ball < 0


def test_what_can_vanish_is_not_positive_and_what_is_open_stays_open() -> None:
    assert always_positive({"n": n}, nonnegative=["n"]).as_stated == "undecided"
    assert always_positive({"square": sym("x") ** 2 + 1}).as_stated == "undecided"
    with pytest.raises(ValueError):
        always_positive({})
