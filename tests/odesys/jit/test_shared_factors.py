"""Shared products: every monomial is still the product of its powers, and fewer products are made."""

import math
from fractions import Fraction

import numpy as np
import pytest

from odesys import gradient_flow
from odesys.expr import graph
from odesys.jit import shared_factors
from odesys.jit.shared_factors import Pair, shared_products
from tests.toy_models import Toy, all_toys

a, b, c, d = map(graph.sym, "abcd")


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
