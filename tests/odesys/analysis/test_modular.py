"""Residues that respect the relations between functions, and rational vectors lifted from primes."""

from __future__ import annotations

import random
from fractions import Fraction
from math import gcd, isqrt

import flint
import numpy as np
import pytest

from odesys.analysis.modular import (
    NoPoint,
    kernel,
    kernel_modulo,
    power,
    primes,
    rational,
    residue,
    residues,
    residues_somewhere,
)
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


def test_primes_are_the_largest_below_a_power_of_two() -> None:
    found = primes(4)
    assert [p for p in range(found[-1], 2**61, 2) if p % 4 == 3 and flint.fmpz(p).is_prime()] == sorted(found)
    assert found == sorted(found, reverse=True)


@pytest.mark.parametrize("modulus", [3, 101, 997, 10007])
def test_a_residue_is_the_one_fraction_with_small_parts_or_none(modulus: int) -> None:
    """Of all fractions p/q with |p| and q up to the root of half the modulus, at most one has a given residue."""
    bound = isqrt(modulus // 2)
    wanted = {
        residue(Fraction(p, q), modulus): Fraction(p, q)
        for q in range(1, bound + 1)
        for p in range(-bound, bound + 1)
        if gcd(p, q) == 1
    }
    for value in range(min(modulus, 2000)):
        assert rational(value, modulus) == wanted.get(value)


def test_powers_and_inverses_of_arrays_are_those_of_their_entries() -> None:
    rng = random.Random(1)
    values = np.array([rng.randrange(1, PRIME) for _ in range(6)], dtype=object)
    for exponent in (0, 1, 2, 3, 7, 100, PRIME - 1, -1, -2, -5):
        assert power(values, exponent, PRIME).tolist() == [pow(int(v), exponent, PRIME) for v in values]
    with pytest.raises(ZeroDivisionError, match="a divisor vanishes"):
        power(np.array([3, 0, 5], dtype=object), -1, PRIME)
    assert power(np.array([0, 2], dtype=object), 3, PRIME).tolist() == [0, 8]


def test_gates_are_open_or_shut_and_roots_of_symbols_are_roots() -> None:
    third = graph.power(x, Fraction(1, 3))
    gate, cube, whole, square = residues([graph.step(y), third, x, graph.power(x, Fraction(2, 3))], 40, 1, PRIME)
    assert set(gate) == {0, 1}
    assert not ((cube**3 - whole) % PRIME).any() and not ((cube**2 - square) % PRIME).any()
    again, sixth = residues([graph.power(x, Fraction(1, 2)), graph.power(x, Fraction(1, 3))], 9, 1, PRIME)
    assert not ((again**2 - sixth**3) % PRIME).any()
    root, twice = residues([graph.power(x + y, Fraction(1, 3)), graph.power(x + y, Fraction(2, 3))], 9, 1, PRIME)
    assert not ((root**2 - twice) % PRIME).any() and root.all()


def test_values_are_those_of_the_expression_at_the_values_of_its_symbols() -> None:
    node = (3 * x**2 - y / 7) ** 3 * x - 5 / (x * y + 1) + Fraction(2, 9)
    found, a, b = residues([node, x, y], 25, 2, PRIME)
    for value, u, v in zip(found, a, b, strict=True):
        exact = (3 * Fraction(int(u)) ** 2 - Fraction(int(v), 7)) ** 3 * int(u) - Fraction(5, int(u) * int(v) + 1)
        assert value == residue(exact + Fraction(2, 9), PRIME)
    assert all(0 < v < PRIME for v in (*a, *b))
    assert not np.array_equal(residues([x], 25, 3, PRIME)[0], residues([x], 25, 4, PRIME)[0])


def test_a_number_without_a_root_has_no_point_modulo_that_prime() -> None:
    """2 is a square modulo p = 7 mod 8, and -1 is none modulo any prime that leaves 3 modulo 4."""
    for prime in primes(12):
        root = graph.sqrt(graph.num(2) + x - x)
        if prime % 8 == 7:
            (values,) = residues([root], 3, 0, prime)
            assert all(int(v) ** 2 % prime == 2 for v in values)
    with pytest.raises(NoPoint, match="no point modulo any of"):
        residues_somewhere([graph.sqrt(graph.num(-1))], 3, 0)


@pytest.mark.parametrize("seed", range(6))
def test_the_kernel_of_a_matrix_of_fractions_is_its_null_space_in_echelon_form(seed: int) -> None:
    rng = random.Random(seed)
    height, width, rank = rng.randint(2, 5), 6, rng.randint(1, 4)
    basis = [[Fraction(rng.randint(-9, 9), rng.randint(1, 4)) for _ in range(width)] for _ in range(rank)]
    rows = []
    for _ in range(height):
        weights = [Fraction(rng.randint(-3, 3)) for _ in basis]
        rows.append([sum((w * b[j] for w, b in zip(weights, basis, strict=True)), Fraction(0)) for j in range(width)])

    def matrix(prime: int) -> list[np.ndarray]:
        return [np.array([residue(row[j], prime) for row in rows], dtype=object) for j in range(width)]

    exact = flint.fmpq_mat(height, width, [flint.fmpq(v.numerator, v.denominator) for row in rows for v in row])
    size, vectors = kernel(matrix, 3)
    assert size == width - exact.rank() == len(vectors)
    pivots = []
    for vector in vectors:
        assert vector is not None
        pivots.append(min(vector))
        assert vector[min(vector)] == 1
        assert all(sum(row[j] * v for j, v in vector.items()) == 0 for row in rows)
    assert pivots == sorted(set(pivots))
    for vector, pivot in zip(vectors, pivots, strict=True):
        assert vector is not None and all(p not in vector for p in pivots if p != pivot)
    modulo = kernel_modulo(matrix(PRIME), PRIME)
    assert [[residue(v.get(j, Fraction(0)), PRIME) for j in range(width)] for v in vectors if v is not None] == modulo


def test_primes_at_which_the_rank_falls_do_not_count() -> None:
    """A matrix that vanishes modulo the first prime, or the second, has a larger kernel there alone."""
    first, second, third, *_ = primes(5)
    for bad in (first, second, third):

        def matrix(prime: int, bad: int = bad) -> list[np.ndarray]:
            return [np.array([bad % prime], dtype=object), np.array([2 * bad % prime], dtype=object)]

        assert kernel(matrix, 3) == (1, [{0: 1, 1: Fraction(-1, 2)}])
    looked: list[int] = []

    def full(prime: int) -> list[np.ndarray]:
        looked.append(prime)
        return [np.array([1], dtype=object)]

    assert kernel(full, 2) == (0, []) and looked == [first, second]
    passed: list[int] = []

    def sometimes(prime: int) -> list[np.ndarray]:
        passed.append(prime)
        if prime in (first, third):
            raise NoPoint("no root here")
        return [np.array([prime - 3], dtype=object), np.array([1], dtype=object)]

    assert kernel(sometimes, 1) == (1, [{0: 1, 1: 3}]) and passed == [first, second]


def test_a_vector_that_the_primes_do_not_suffice_for_is_none() -> None:
    """A residue that is that of no small fraction, beside one that is."""
    bare = next(v for v in range(2**40, 2**41) if rational(v, PRIME) is None)

    def matrix(prime: int) -> list[np.ndarray]:
        rows = ((-bare % prime, 1, 0), (-3 % prime, 0, 1))
        return [np.array(column, dtype=object) for column in zip(*rows, strict=True)]

    assert kernel(matrix, 1) == (1, [None])
    assert kernel(matrix, 4) == (1, [{0: 1, 1: bare, 2: 3}])
