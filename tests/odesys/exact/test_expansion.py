"""Expanded forms: the same value, and the same node when read back."""

from __future__ import annotations

import random
from fractions import Fraction

import flint
import pytest

from odesys.exact.balls import ball_evaluate
from odesys.exact.expansion import Expansion, Relations, TooLarge, nested_sums
from odesys.exact.rewriting import Rewriter
from odesys.exact.zero import zero_test
from odesys.expr import graph
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


def whole(root: Node, relations: Relations | None = None, limit: int = 10_000) -> Expansion:
    return Expansion(root, relations or Relations(), None, limit)


def exactly(node: Node, point: dict[str, Fraction]) -> Fraction:
    return Fraction(graph.evaluate([node], point, {})[0])


def polynomial_value(expansion: Expansion, polynomial: flint.fmpq_mpoly, point: dict[str, Fraction]) -> Fraction:
    """From coefficients and monomials, whose bases are evaluated by themselves."""
    total = Fraction(0)
    for c, powers in expansion.terms(polynomial):
        for base, exponent in powers:
            assert exponent.denominator == 1
            c *= exactly(base, point) ** int(exponent)
        total += c
    return total


@pytest.mark.parametrize("seed", range(3))
def test_a_quotient_has_the_exact_value_of_what_it_was_made_from(seed: int) -> None:
    """With a cosine and its sine, gates and edges among the symbols, at rational points that respect what is known."""
    rng = random.Random(seed)
    c, s, g, z_edge = (sym(name) for name in ("c", "s", "g", "e"))
    relations = Relations({c: s}, {g}, {z_edge: (g, x - y)})
    atoms = [x, y, c, s, g, z_edge, num(1), num(2), num(Fraction(-1, 3))]

    def drawn(depth: int) -> Node:
        if not depth:
            return rng.choice(atoms)
        kind = rng.random()
        if kind < 0.45:
            return drawn(depth - 1) + rng.choice([1, -1, 3]) * drawn(depth - 1)
        if kind < 0.8:
            return drawn(depth - 1) * drawn(depth - 1)
        if kind < 0.9:
            return drawn(depth - 1) ** rng.randint(1, 3)
        return drawn(depth - 1) / (2 + drawn(depth - 1) ** 2)

    for _ in range(12):
        root = drawn(4)
        expansion = whole(root, relations)
        above, below = expansion.lowest_terms()
        assert below.is_constant() or above.gcd(below).is_constant()
        written, divided = expansion.node(), expansion.node(divided=True)
        assert whole(root - written, relations).is_zero() and whole(root - divided, relations).is_zero()
        assert whole(root + 1 - written, relations).is_zero() is False
        for _ in range(4):
            point = {name: Fraction(rng.randint(-9, 9), rng.randint(1, 5)) for name in "xy"}
            if rng.random() < 0.5:
                point["y"] = point["x"]
            t = Fraction(rng.randint(-5, 5), rng.randint(1, 5))
            point |= {"c": (1 - t * t) / (1 + t * t), "s": 2 * t / (1 + t * t)}
            point |= {"e": Fraction(point["x"] == point["y"]), "g": Fraction(point["x"] > point["y"])}
            try:
                value = exactly(root, point)
                assert exactly(written, point) == exactly(divided, point) == value
                parts = [polynomial_value(expansion, p, point) for p in (expansion.numerator, expansion.denominator)]
            except ZeroDivisionError:
                continue
            assert parts[0] == value * parts[1]


@pytest.mark.parametrize(
    "root",
    [
        (1 + x) ** Fraction(3, 2) * x ** Fraction(-1, 2) + (1 + x) ** Fraction(-5, 3),
        x ** Fraction(2, 3) / x ** Fraction(1, 6) + y ** Fraction(5, 2),
        (2 + (1 + y) ** HALF) ** Fraction(4, 3) / (1 + y) ** Fraction(3, 2),
        num(2) ** HALF * num(3) ** HALF / (1 + num(6) ** HALF),
        (1 + 1 / (1 + x)) ** Fraction(-7, 2) * (1 + x) ** -3,
        (x + y) ** Fraction(-1, 2) + (x + y) ** Fraction(-3, 2),
    ],
)
def test_roots_keep_their_values(root: Node) -> None:
    expansion = whole(root)
    for point in ({"x": 0.3, "y": 1.7}, {"x": 2.5, "y": 0.1}):
        (value,) = graph.evaluate([root], point, graph.FLOAT_FUNCTIONS, float)
        for divided in (False, True):
            (again,) = graph.evaluate([expansion.node(divided)], point, graph.FLOAT_FUNCTIONS, float)
            assert again == pytest.approx(value, rel=1e-12)
    assert whole(root - expansion.node()).is_zero() and not expansion.is_zero()


def test_divided_with_remainder_and_without() -> None:
    root = (x**2 + 1) / (x + 1) + y
    assert whole(root).node(divided=True) is x - 1 + y + 2 / (x + 1)
    assert whole(root).node() is (x**2 + x * y + y + 1) / (x + 1)
    assert whole((x**2 - 1) / (x - 1)).node() is x + 1 and whole(num(Fraction(2, 3))).node() is num(Fraction(2, 3))
    above, below = whole((x**2 - 1) / (x**2 - 2 * x + 1)).lowest_terms()
    assert len(above) == len(below) == 2 and above.total_degree() == below.total_degree() == 1


def test_what_only_divides_is_a_letter_of_its_own() -> None:
    """1/x + 1/x^2 is a polynomial in 1/x; of a cosine it is one in the cosine, which its sine knows."""
    expansion = whole(1 / x + 3 / x**2)
    assert expansion.denominator.is_constant()
    assert dict((powers, c) for c, powers in expansion.terms(expansion.numerator)) == {((x, -1),): 1, ((x, -2),): 3}
    mixed = whole(1 / x + x)
    assert not mixed.denominator.is_constant() and mixed.node() is (x**2 + 1) / x
    c, s = sym("c"), sym("s")
    pair = Relations({c: s})
    assert whole((1 - s**2) / c**2 - 1, pair).is_zero() and not whole((1 - s**2) / c**2 - 1).is_zero()
    assert whole(c**4 - (1 - s**2) ** 2, pair).is_zero() and whole(c**3 * s + c * s**3 - c * s, pair).is_zero()
    for nothing in (1 / (c**2 + s**2 - 1), 1 / (1 / ((x + 1) ** 2 - x**2 - 2 * x - 1) + y)):
        with pytest.raises(ZeroDivisionError, match="a divisor vanishes identically"):
            whole(nothing, pair)


def test_powers_of_a_gate_are_added_up_and_an_edge_excludes_its_gate() -> None:
    g, h, e = sym("g"), sym("h"), sym("e")
    relations = Relations({}, {g}, {e: (g, x - 2)})
    assert whole(g * x + g**2 * x + 3 * g**3 * x, relations).node() is 5 * g * x
    assert whole(g**2 * h**2 - g * h**2, relations).is_zero() and not whole(h**2 - h, relations).is_zero()
    assert whole(e**2 - e, relations).is_zero() and whole(e * g * y, relations).is_zero()
    assert whole(e * x**3 - 8 * e, relations).is_zero() and not whole(e * x**3 - 7 * e, relations).is_zero()
    assert whole(e * (x * y - 2 * y) + y, relations).node() is y
    assert not whole((x - 2) * y, relations).is_zero() and not whole(g * (x - 2), relations).is_zero()


def test_depth_is_counted_from_the_outside_and_opaque_sums_are_symbols() -> None:
    inner = x + y
    product = inner * (z + 1) - z * inner - inner
    nested = (1 + inner * (z + 1)) ** 2 - 1 - 2 * inner * (z + 1) - (inner * (z + 1)) ** 2
    for root, zero_from, complete_from in ((product, 2, 2), (nested, 2, 2), (x * y - x * y + z, None, 1)):
        for depth in (1, 2, 3, 4):
            expansion = Expansion(root, Relations(), depth, 1000)
            assert expansion.complete is (depth >= complete_from)
            assert expansion.is_zero() is (zero_from is not None and depth >= zero_from)
    shares = x / inner + y / inner - 1
    assert whole(shares).is_zero() and not Expansion(shares, Relations(), None, 1000, divisors=False).is_zero()


def test_sums_and_their_levels() -> None:
    """By hand: each sum at the smallest depth at which it stands; numbers under roots count at any depth."""
    a, b = x + 1, y + 1
    deep = (a * b + z) ** 2
    root = deep * a + 1 / b + num(2) ** HALF * a**2
    level, complete = nested_sums([root], None, divisors=True)
    assert complete and level == {root: 0, a * b + z: 1, a: 1, b: 1, num(2): 1}
    level, complete = nested_sums([root], None, divisors=False)
    assert complete and level == {root: 0, a * b + z: 1, a: 1, b: 2, num(2): 1}
    level, complete = nested_sums([root], 1, divisors=True)
    assert not complete and level == {root: 0, num(2): 1}
    level, complete = nested_sums([root], 2, divisors=True)
    assert complete and set(level) == {root, a * b + z, a, b, num(2)}
    level, complete = nested_sums([root, a], 2, divisors=False)
    assert not complete and level == {root: 0, a: 0, a * b + z: 1, num(2): 1}
    half = nested_sums([num(2) ** -HALF], 1, divisors=False)
    assert half == ({num(2) ** -HALF: 0, num(2): 1}, True)


def test_a_limit_is_the_largest_number_of_products_that_is_allowed() -> None:
    two, three = x + y, x + y + z
    for root, products in ((two * three + 1, 6), (two**2 + z, 4), (two**3 + z, 6)):
        assert not whole(root, limit=products).is_zero()
        with pytest.raises(TooLarge):
            whole(root, limit=products - 1)
