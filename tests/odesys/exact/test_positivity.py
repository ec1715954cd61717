"""Signs for all values at once: what is proved, what stays open, and refutations with a point to check."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import pytest

from odesys import stated
from odesys.exact.positivity import always_positive, decide_sign
from odesys.exact.zero import ball_values
from odesys.expr import graph
from odesys.expr.graph import Node, sym
from odesys.stated import Stated, Unstated

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
        (graph.call("log", C), "unknown"),
        (graph.step(sym("any")), "nonnegative"),
        (1 + graph.step(sym("any")), "positive"),
        (-graph.step(sym("any")) - b, "negative"),
        (graph.call("sin", sym("any")) + 2, "unknown"),
        (graph.exp(sym("any")) - 1, "unknown"),
        (graph.exp(C - D) - 1, "unknown"),
        (graph.exp(C + 1) - 1, "positive"),
        (graph.exp(C * D) - 1, "positive"),
        (graph.exp(C * n) - 1, "unknown"),
        (graph.exp(graph.num(2)) - 1, "positive"),
        (1 / (1 - graph.exp(C)), "negative"),
        (-b / (1 - graph.exp(C)), "positive"),
        (n / (1 - graph.exp(C)), "nonpositive"),
        (-n / (1 - graph.exp(C)), "nonnegative"),
        (1 / (graph.exp(C) - 2), "unknown"),
        ((b + n) / (b - n), "unknown"),
        (-graph.sqrt(n), "nonpositive"),
        (graph.num(-3), "negative"),
        (C - D, "unknown"),
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


KNOWN = {"C": (1, 2), "D": (1, 3), "b": (1, 4), "n": (0, 1, 3), "any": (-2, 0, 1)}
HOLDS = {
    "positive": lambda value: value > 0,
    "nonnegative": lambda value: value >= 0,
    "zero": lambda value: value == 0,
    "nonpositive": lambda value: value <= 0,
    "negative": lambda value: value < 0,
    "unknown": lambda value: True,
}


@pytest.mark.parametrize("seed", range(3))
def test_a_sign_that_is_decided_is_that_of_every_value(seed: int) -> None:
    """By enumeration of all small values that respect what is assumed of the names."""
    rng = random.Random(seed)
    atoms: list[Node] = [C, D, b, n, sym("any"), graph.exp(C), graph.exp(-D), graph.step(sym("any")), graph.exp(n)]
    points = [dict(zip(KNOWN, values, strict=True)) for values in product(*KNOWN.values())]
    seen = set()
    for _ in range(60):
        terms = [
            graph.multiply(*(rng.choice(atoms) for _ in range(rng.randint(1, 2)))) * rng.choice([1, 1, 2, -1])
            for _ in range(rng.randint(1, 3))
        ]
        below = rng.choice([graph.ONE, graph.ONE, b + n, -C, 1 - graph.exp(C)])
        node = graph.add(terms) / below
        answer = decide_sign(node, positive=["C", "D", "b"], nonnegative=["n"])
        seen.add(answer)
        for point in rng.sample(points, 12):
            (value,) = graph.evaluate([node], point, graph.FLOAT_FUNCTIONS, float)
            assert HOLDS[answer](value), (node, answer, point)
    assert {"positive", "negative", "unknown"} <= seen


def test_an_inequality_hands_over_what_it_proved_or_its_negation() -> None:
    assumed = {"positive": ("C",), "nonnegative": ("n",)}

    def told(**nodes: Node) -> tuple[str, tuple[object, ...]]:
        with stated.recorded():
            verdict = always_positive(nodes, ["C"], ["n"])
        return verdict.as_stated, verdict.stated

    first, second = Stated("p", "<", graph.ZERO, graph.exp(C), **assumed), Stated("q", "<", graph.ZERO, C, **assumed)
    assert told(p=graph.exp(C), q=C) == ("holds", (first, second))
    assert told(p=-C) == ("fails", (Stated("p is negative", "<", graph.ZERO, C, **assumed),))
    gap = graph.exp(C) * graph.exp(-C) * n - n + (C + n) ** 2 - C**2 - 2 * C * n - n**2
    assert told(p=gap) == ("fails", (Stated("p is not positive: it vanishes", "=", gap, graph.ZERO, **assumed),))
    answer, (left_out,) = told(p=-n)
    assert answer == "fails" and isinstance(left_out, Unstated) and "not exported yet" in left_out.why
    assert always_positive({"p": C}, ["C"]).stated == () == always_positive({"p": -C}, ["C"]).stated


def test_what_is_proved_refuted_for_all_values_or_left_open_is_said() -> None:
    method = "coefficients of one sign, with e^x = 1 + u"
    one, two = always_positive({"p": C}, ["C"], ["n"]), always_positive({"p": C, "q": C + n}, ["C"], ["n", "m"])
    assert (one.details, two.details) == tuple({"inequalities": k, "method": method} for k in (1, 2))
    assert one.proof is not None and (one.proof.steps, one.proof.assumed) == ((method,), ("C > 0",))
    assert two.proof is not None and two.proof.steps == (f"2 inequalities: {method}",)
    assert two.proof.assumed == ("C > 0", "n >= 0")
    for node, sign, where in (
        (-C - n - graph.exp(sym("x")), "negative", "every C > 0, n >= 0, x"),
        (-n, "nonpositive", "every n >= 0"),
        (graph.num(-1), "negative", "all values"),
        (C - C, "zero", "all values"),
    ):
        verdict = always_positive({"fine": C, "gap": node}, ["C"], ["n"])
        assert verdict.witness == {"where": "gap", "sign": sign, "for": where} and str(verdict.evidence) == "proof"
    left = always_positive({"fine": C, "n": n, "square": (C - n) ** 2 + 1}, ["C"], ["n"])
    assert left.residual == "n: nonnegative; square: unknown" and str(left.evidence) == "proof"


def test_witnesses_of_a_sign_come_from_the_points_given() -> None:
    asked: list[tuple[str, ...]] = []

    def points(names, seed):
        asked.append(tuple(names))
        for k in (-3, 5, 7, 6):
            yield dict.fromkeys(names, Fraction(k, 2))

    verdict = always_positive({"gap": 3 - C - n}, ["C"], ["n"], points=points)
    assert verdict.witness == {"where": "gap", "at": {"C": "5/2", "n": "5/2"}, "value": "-2"}
    assert asked == [("C", "n")] and str(verdict.evidence) == "certificate"
