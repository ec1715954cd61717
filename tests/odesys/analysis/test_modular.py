"""Residues that respect the relations between functions, and rational vectors lifted from primes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from odesys.analysis.modular import NoPoint, kernel, primes, rational, residue, residues, residues_somewhere
from odesys.expr import graph
from odesys.expr.graph import sym

x, y = sym("x"), sym("y")
PRIME = primes(1)[0]


def test_primes_have_square_roots_as_powers() -> None:
    assert PRIME == 2**61 - 1 and all(p % 4 == 3 for p in primes(5)) and len(set(primes(5))) == 5


@pytest.mark.parametrize(
    "zero",
    [
        graph.call("sin", x) ** 2 + graph.call("cos", x) ** 2 - 1,
        graph.sqrt(x**2 + y**2) ** 2 * graph.exp(x) - (x**2 + y**2) * graph.exp(x),
        graph.power(x**2 + 1, Fraction(-3, 2)) * (x**2 + 1) ** 2 - graph.sqrt(x**2 + 1),
        graph.exp(2 * x) - graph.exp(x) ** 2,
    ],
)
def test_identities_hold_modulo_a_prime(zero: graph.Node) -> None:
    (values,) = residues([zero], 20, 0, PRIME)
    assert len(values) == 20 and not any(values)


def test_what_is_not_zero_is_not() -> None:
    (values,) = residues([graph.sqrt(x**2 + y**2) - x], 20, 0, PRIME)
    assert all(values)


def test_fixed_symbols_have_one_value() -> None:
    first, second = residues([x, y], 9, 0, PRIME, {"x": 5})
    assert set(first) == {5} and len(set(second)) == 9


@pytest.mark.parametrize("value", [Fraction(3, 7), Fraction(10**40 + 1, 10**39 + 3)])
def test_vectors_are_lifted_with_as_many_primes_as_they_need(value: Fraction) -> None:
    def matrix(prime: int) -> list[np.ndarray]:  # columns (-value) and 1: the kernel is (1, value)
        return [np.array([-residue(value, prime) % prime], dtype=object), np.array([1], dtype=object)]

    assert any(kernel(matrix, count)[1] == [{0: 1, 1: value}] for count in (1, 2, 4, 8))
    size, _ = kernel(matrix, 1)
    assert size == 1


def test_a_matrix_without_values_has_no_kernel() -> None:
    """Before, the kernel was empty: nothing that was looked at became nothing that is there."""

    def nowhere(prime: int) -> list[np.ndarray]:
        raise NoPoint("no root of 2 here")

    with pytest.raises(NoPoint, match="no point modulo any"):
        kernel(nowhere, 1)


def test_roots_of_several_numbers_are_found_modulo_some_prime() -> None:
    root = graph.multiply(*(graph.sqrt(graph.num(n) + sym("x") - sym("x")) for n in (2, 3, 5, 7)))
    prime, (values,) = residues_somewhere([root], 3, 0)
    assert all(int(v) * int(v) % prime == 210 for v in values)


def test_a_fraction_comes_back_from_its_residue() -> None:
    for value in (Fraction(p, q) for p in range(-9, 10) for q in range(1, 10)):
        assert rational(residue(value, PRIME), PRIME) == value


def test_sine_and_cosine_lie_on_a_circle_and_powers_are_powers() -> None:
    sine, cosine = graph.call("sin", x), graph.call("cos", x)
    s, c, r, q, e = residues([sine, cosine, graph.sqrt(x), x, 1 / (x + y)], 30, 3, PRIME)
    assert not ((s * s + c * c - 1) % PRIME).any() and len(set(s)) == 30
    assert not ((r * r - q) % PRIME).any()
    v, w = residues([1 / (x + y), x + y], 30, 3, PRIME)
    assert ((v * w) % PRIME == 1).all() and e.all()
