"""Shared products: every monomial is still the product of its powers, and fewer products are made."""

import math
import random
from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from odesys import gradient_flow
from odesys.expr import graph
from odesys.jit import shared_factors
from odesys.jit.shared_factors import Pair, shared_products
from tests.toy_models import Toy, all_toys

a, b, c, d = map(graph.sym, "abcd")


def products_that_share(rng: random.Random) -> list[graph.Node]:
    """Products in x and y of the same few factors, with powers of every kind, and sums of them."""
    x, y = graph.sym("x"), graph.sym("y")
    bases = [x, y, x + y, graph.exp(x), graph.exp(y), x * y - 1, 3 + graph.call("sin", x * y), 2 + x * x]
    whole, broken = [1, 1, 1, 2, 3, 4, 5, 6, 9, -1, -2, -3, -4, -5, -9], [(1, 2), (-1, 2), (-3, 2), (1, 3)]
    powers = [*map(Fraction, whole), *(Fraction(*pair) for pair in broken)]

    def one() -> graph.Node:
        return graph.multiply(*(graph.power(base, rng.choice(powers)) for base in rng.sample(bases, rng.randint(1, 4))))

    roots = [one() for _ in range(12)]
    return roots + [
        sum((rng.choice([-2, -1, 1, Fraction(1, 3)]) * rng.choice(roots) for _ in "four"), x) for _ in "sums"
    ]


def powers(found: shared_factors.Products, number: int) -> dict[graph.Node, Fraction]:
    """What a factor is the product of."""
    defined = found.definitions[number]
    if not isinstance(defined, Pair):
        return {defined[0]: defined[1]}
    return powers(found, defined.first) | powers(found, defined.second)


def multiplications(found: shared_factors.Products) -> int:
    pairs = sum(isinstance(defined, Pair) for defined in found.definitions)
    return pairs + sum(len(row) - 1 for row in found.factors.values())


def test_the_most_frequent_pair_is_shared() -> None:
    monomials = [a * b * c, a * b * d, a * b / c, c * d]
    found = shared_products(graph.topological(monomials))
    pairs = [defined for defined in found.definitions if isinstance(defined, Pair)]
    assert len(pairs) == 1 and powers(found, len(found.definitions) - 1) == {a: 1, b: 1}
    assert multiplications(found) == 5 and found.uses[-1] == 3


@pytest.mark.parametrize("toy", all_toys(), ids=lambda toy: toy.name if hasattr(toy, "name") else None)
def test_monomials_stay_what_they_are(toy: Toy) -> None:
    order = graph.topological(gradient_flow(toy.model, toy.data, train=toy.train).system.nodes)
    found = shared_products(order)
    assert set(found.factors) == {node for node in order if node.op == "mul"}
    for node, row in found.factors.items():
        assert {k: v for number in row for k, v in powers(found, number).items()} == dict(node.args)
        assert sum(len(powers(found, number)) for number in row) == len(node.args)
    before = sum(len(node.args) - 1 for node in found.factors)
    assert multiplications(found) < 0.8 * before or before < 20


def test_what_is_not_read_is_left_out() -> None:
    z = graph.exp(a)
    order = shared_factors.read_nodes([b / z, graph.step(c) * d], {graph.step(c)})
    assert z not in order and c not in order and {a, b, d, graph.step(c)} <= set(order)


def test_large_systems_share_powers_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_factors, "MOST_PAIRS", 3)
    found = shared_products(graph.topological([a * b * c, a * b * d]))
    assert not any(isinstance(defined, Pair) for defined in found.definitions) and found.uses == (2, 2, 1, 1)


def test_code_with_shared_products_gives_the_same_numbers() -> None:
    from odesys import System

    x = {name: 0.3 + 0.2 * k for k, name in enumerate("abcd")}
    rhs = [
        a * b * c / d**2 + graph.exp(a) * b * c,
        a * b / graph.exp(2 * a) - d,
        graph.exp(-a) * b * c * d,
        a ** Fraction(1, 2) * b * c,
    ]
    system = System.from_equations(dict(zip("abcd", rhs, strict=True)))
    A, B, C, D = x.values()
    expected = [
        A * B * C / D**2 + math.exp(A) * B * C,
        A * B * math.exp(-2 * A) - D,
        math.exp(-A) * B * C * D,
        math.sqrt(A) * B * C,
    ]
    assert np.allclose(system.compile()(0.0, list(x.values())), expected, rtol=1e-15)
    source = system.compile(backend="scalar").source
    assert source.count("exp(") == 3  # of a, -a and -2 a, once each


def monomials_of(rng: random.Random, names: int, rows: int) -> list[graph.Node]:
    letters = [graph.sym(f"z{k}") for k in range(names)]
    chosen = [rng.sample(letters, rng.randint(2, min(5, names))) for _ in range(rows)]
    return [graph.multiply(*(graph.power(z, Fraction(rng.choice([1, 1, 1, 2]))) for z in row)) for row in chosen]


@pytest.mark.parametrize("seed", range(20))
def test_pairs_are_shared_the_most_frequent_first(seed: int) -> None:
    """As by counting all pairs anew each time; of pairs as frequent the one whose factors were seen first."""
    rng = random.Random(seed)
    order = graph.topological(monomials_of(rng, rng.randint(3, 8), rng.randint(2, 14)))
    found = shared_products(order)
    monomials = [node for node in order if node.op == "mul"]
    numbers = {power: k for k, power in enumerate(dict.fromkeys(power for node in monomials for power in node.args))}
    rows, definitions = [[numbers[power] for power in node.args] for node in monomials], list[object](numbers)
    while True:
        together = Counter(tuple(sorted(pair)) for row in rows for pair in combinations(row, 2))
        pair = min(together, key=lambda pair: (-together[pair], pair), default=None)
        if pair is None or together[pair] < 2:
            break
        for row in rows:
            if set(pair) <= set(row):
                row[row.index(pair[0])] = len(definitions)
                row.remove(pair[1])
        definitions.append(Pair(*pair))
    assert list(found.definitions) == definitions
    assert found.factors == {node: tuple(row) for node, row in zip(monomials, rows, strict=True)}
    uses = Counter(number for row in rows for number in row)
    uses.update(number for defined in definitions if isinstance(defined, Pair) for number in defined)
    assert list(found.uses) == [uses[k] for k in range(len(definitions))]


def test_pairs_are_counted_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    order = graph.topological([a * b * c, a * b * d, a * b * c * d])
    for limit, shared in ((3 + 3 + 6, True), (3 + 3 + 6 - 1, False)):
        monkeypatch.setattr(shared_factors, "MOST_PAIRS", limit)
        assert any(isinstance(defined, Pair) for defined in shared_products(order).definitions) is shared


def test_whole_powers_of_exponentials_are_read_by_their_exponents() -> None:
    """But for the first: e^x itself is read where it stands, and its roots are those of its value."""
    z = graph.exp(a)
    for exponent, by_exponent in ((1, False), (2, True), (-1, True), (-3, True), (Fraction(1, 2), False)):
        assert shared_factors.is_exponential_power(z, Fraction(exponent)) is by_exponent
        assert not shared_factors.is_exponential_power(b, Fraction(exponent))
    product = graph.multiply(graph.power(z, Fraction(-2)), b)
    assert set(shared_factors.reads(product)) == {a, b} and set(shared_factors.reads(a + b)) == {a, b}
    assert set(shared_factors.reads(z * b)) == {z, b} and list(shared_factors.reads(a)) == []
    gate = graph.step(c - d)
    assert shared_factors.read_nodes([gate * product], {gate}) == [
        node for node in graph.topological([gate * product]) if node in {a, b, gate, gate * product}
    ]
