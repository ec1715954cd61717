"""Expanded forms: the same value, and the same node when read back."""

from __future__ import annotations

import random
from fractions import Fraction

import flint
import pytest

from odesys.exact.balls import ball_evaluate
from odesys.exact.expansion import Expansion, TooLarge
from odesys.exact.rewriting import Rewriter
from odesys.exact.zero import zero_test
from odesys.expr.graph import Node, call, num, sym

SEED = 20240611
x, y, z = sym("x"), sym("y"), sym("z")
HALF = Fraction(1, 2)


def random_expression(rng: random.Random, depth: int) -> Node:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice([x, y, num(1), num(2), num(-1), num(HALF)])
    kind = rng.random()
    if kind < 0.35:
        return random_expression(rng, depth - 1) + rng.choice([1, -1, 2]) * random_expression(rng, depth - 1)
    if kind < 0.6:
        return random_expression(rng, depth - 1) * random_expression(rng, depth - 1)
    functions = ["exp", "sigmoid", "softplus", "step", "sin", "cos", "tanh", "cosh", "sqrt", "relu", "abs", "log"]
    return call(rng.choice(functions), random_expression(rng, depth - 1))


def test_rewriting_and_expansion_keep_the_value() -> None:
    """Law: the normal form of an expression minus the expression is proved zero, and is small at exact points."""
    print("seed", SEED)
    rng = random.Random(SEED)
    decided = 0
    for _ in range(150):
        left, right = random_expression(rng, 3), random_expression(rng, 2)
        difference = (left + right) ** 2 - left**2 - 2 * left * right - right**2
        if zero_test(difference).answer != "zero":
            continue  # defined nowhere
        decided += 1
        for _ in range(3):
            point = {name: flint.arb(flint.fmpq(rng.randint(-9, 9), 4)) for name in "xy"}
            ball = ball_evaluate([difference], point, 128)[0]
            assert not ball.is_finite() or ball.contains(0)
    assert decided > 100


def test_an_expansion_reads_back() -> None:
    rewriter = Rewriter()
    (root,) = rewriter([(x + 1) * (x - 1) / (y * (x + 1)) + 1 / y])
    assert Expansion(root, rewriter.relations, None, 1000).node() is x / y


def test_a_quotient_of_nested_sums_and_roots_keeps_its_value() -> None:
    """Not only up to a factor: divisors that occur several times, in each other, and under a root."""
    roots = [
        1 / (1 + 1 / x) ** 2 + 1 / (1 + 1 / x),
        (y + 1 / (x + 1)) / (1 + y / (x + 1)) ** 2,
        call("sqrt", 1 + x / (y + 1)) ** 3 / (x + 2) + 1 / y,
        1 / (1 + call("sqrt", 1 + 1 / y)) + call("sin", x) ** 2 / (1 + call("cos", x) ** 2),
    ]
    point = {"x": flint.arb("0.75"), "y": flint.arb("1.25")}
    for root in roots:
        rewriter = Rewriter()
        (rewritten,) = rewriter([root])
        values = {**point, **{str(a.args[0]): _atom_value(rewriter, a, point) for a in rewriter.meaning}}
        for divided in (False, True):
            node = Expansion(rewritten, rewriter.relations, None, 1000).node(divided)
            assert (ball_evaluate([node], values, 128)[0] - ball_evaluate([root], point, 128)[0]).contains(0)
            assert float(ball_evaluate([node], values, 128)[0].rad()) < 1e-25


def _atom_value(rewriter: Rewriter, atom: Node, point: dict[str, flint.arb]) -> flint.arb:
    name, argument = rewriter.meaning[atom]
    return ball_evaluate([call(name, argument)], point, 128)[0]


def test_a_large_power_is_taken_at_once_or_refused() -> None:
    """Of one factor it is; a sum, or a cosine by its sine, would have as many terms as the power says."""
    large = 10**9

    def expanded(node: Node) -> Expansion:
        rewriter = Rewriter()
        return Expansion(rewriter([node])[0], rewriter.relations, None, 1000)

    assert expanded((x + 1) / x**large - x ** (1 - large) - 1 / x**large).is_zero()
    assert not expanded((x + 1) / x**large - x ** (1 - large)).is_zero()
    for node in ((x + 1) ** large, 1 / (x + 1) ** large + y, call("cos", x) ** large):
        with pytest.raises(TooLarge):
            expanded(node + y)
