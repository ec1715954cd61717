r"""Values of expressions modulo primes, and rational vectors that annihilate them.

Every symbol and atom gets a random residue, consistently: cosine and sine lie on the circle, a base under a square root
is a square. A space of vectors found modulo several primes is lifted to rational numbers by the Chinese remainder
theorem. Its dimension modulo a prime is at least the true one, so once all of it is proved, nothing is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from math import gcd, isqrt, lcm
from typing import Any

import flint
import numpy as np

from ..exact.rewriting import Rewriter
from ..expr import graph
from ..expr.graph import Node

PRIMES_TRIED = (1, 2, 4, 8)
PASSED_OVER = 40  # primes modulo which a number may have no root; every other one has that of a single number


def primes(count: int) -> list[int]:
    """The largest primes below 2**61 that leave 3 modulo 4, so that square roots are powers."""
    found: list[int] = []
    candidate = 2**61 - 1
    while len(found) < count:
        if candidate % 4 == 3 and flint.fmpz(candidate).is_prime():
            found.append(candidate)
        candidate -= 2
    return found


class NoPoint(ArithmeticError):
    """A constant under a square root is no square modulo the prime."""


def residues(
    roots: Sequence[Node], points: int, seed: int, prime: int, fixed: Mapping[str, int] | None = None
) -> list[np.ndarray]:
    """Values of expressions modulo a prime at random points; symbols of `fixed` have one value at all of them."""
    rewriter = Rewriter()
    rewritten = rewriter(list(roots))
    order = graph.topological(rewritten)
    split: dict[Node, int] = {}  # a base with fractional powers is itself a power
    for node in order:
        for base, exponent in node.args if node.op == "mul" else ():
            split[base] = lcm(split.get(base, 1), exponent.denominator)
    squares = sum(1 for base, parts in split.items() if parts == 2 and base.op not in ("sym", "num"))
    drawn = points * 2**squares + 8 * 4**squares
    rng = np.random.default_rng(seed)
    sines = {s: c for c, s in rewriter.relations.sine.items()}
    draws: dict[Node, np.ndarray] = {}
    roots_of: dict[Node, np.ndarray] = {}
    good = np.full(drawn, True)

    def draw(top: int = prime) -> np.ndarray:
        return np.array(rng.integers(top == prime, top, drawn), dtype=object)

    def symbol(node: Node) -> np.ndarray:
        if fixed is not None and node.args[0] in fixed:
            return np.full(drawn, fixed[node.args[0]], dtype=object)
        if node in rewriter.relations.gates:
            return draw(2)
        if node in rewriter.relations.edges:
            return np.full(drawn, 0, dtype=object)
        cosine = sines.get(node, node)
        if cosine in rewriter.relations.sine:  # by the tangent of the half angle
            if cosine not in draws:
                t = draw()
                inverse = power(1 + t * t, -1, prime)
                draws[cosine] = (1 - t * t) * inverse % prime
                draws[rewriter.relations.sine[cosine]] = 2 * t * inverse % prime
            return draws[node]
        roots_of[node] = draw()
        return power(roots_of[node], split.get(node, 1), prime)

    def root_of(base: Node) -> np.ndarray:
        nonlocal good
        if base not in roots_of:
            if split[base] == 2:
                roots_of[base] = power(memo[base], (prime + 1) // 4, prime)
                good = good & np.equal(roots_of[base] * roots_of[base] % prime, memo[base] % prime).astype(bool)
            else:  # a higher root is random: it may hide an integral, but shows no wrong one
                roots_of[base] = draw()
        return roots_of[base]

    memo: dict[Node, np.ndarray] = {}
    powers: dict[tuple[Node, Fraction], np.ndarray] = {}
    for node in order:
        if node.op == "num":
            memo[node] = np.full(drawn, residue(node.args[0], prime), dtype=object)
        elif node.op == "sym":
            memo[node] = symbol(node)
        elif node.op == "add":
            memo[node] = np.add.reduce([residue(c, prime) * memo[t] for c, t in node.args]) % prime
        else:
            total = np.full(drawn, 1, dtype=object)
            for base, exponent in node.args:
                if (base, exponent) not in powers:
                    whole = exponent.denominator == 1 and base not in roots_of
                    if whole:
                        powers[base, exponent] = power(memo[base], int(exponent), prime)
                    else:
                        powers[base, exponent] = power(root_of(base), int(exponent * split[base]), prime)
                total = total * powers[base, exponent] % prime
            memo[node] = total
    chosen = np.flatnonzero(good)[:points]
    if len(chosen) < points:
        raise NoPoint(f"only {len(chosen)} of {points} points modulo {prime}")
    return [memo[root][chosen] for root in rewritten]


def residues_somewhere(roots: Sequence[Node], points: int, seed: int) -> tuple[int, list[np.ndarray]]:
    """The same modulo the first prime that has such points, with that prime."""
    for prime in primes(PASSED_OVER):
        with suppress(NoPoint):
            return prime, residues(roots, points, seed, prime)
    raise NoPoint(f"no point modulo any of {PASSED_OVER} primes")


def residue(value: Any, prime: int) -> int:
    """A rational number modulo a prime."""
    return int(value.numerator * pow(value.denominator, -1, prime) % prime)


def power(values: np.ndarray, exponent: int, prime: int) -> np.ndarray:
    """A whole power of every entry modulo a prime."""
    if exponent < 0:
        return power(_inverse(values, prime), -exponent, prime)
    out = np.full(len(values), 1, dtype=object)
    for bit in bin(exponent)[2:]:
        out = out * out % prime if bit == "0" else out * out % prime * values % prime
    return out


def _inverse(values: np.ndarray, prime: int) -> np.ndarray:
    """Inverses of all entries by one inversion: prefix products, then backwards."""
    prefix, total = [], 1
    for v in values:
        prefix.append(total)
        total = total * v % prime
    if not total:  # at a random point, modulo a large prime: by chance hardly ever
        raise ZeroDivisionError("a divisor vanishes everywhere")
    total = pow(int(total), -1, prime)
    out = np.empty(len(values), dtype=object)
    for k in range(len(values) - 1, -1, -1):
        out[k] = total * prefix[k] % prime
        total = total * values[k] % prime
    return out


Row = dict[int, Fraction]


def kernel(matrix: Callable[[int], Sequence[np.ndarray]], count: int) -> tuple[int, list[Row | None]]:
    """Vectors that annihilate the columns of a matrix, given modulo any prime, in reduced echelon form.

    Returns the dimension and the vectors, None for one that `count` primes do not suffice to lift. Primes modulo which
    the matrix has no value are passed over; NoPoint if all that were tried are such.
    """
    rows: list[list[int]] = []
    modulus = 1
    shape: tuple[int, ...] | None = None
    for prime in primes(count + PASSED_OVER):
        try:
            found = kernel_modulo(matrix(prime), prime)
        except NoPoint:
            continue
        pivots = tuple(next(k for k, v in enumerate(row) if v) for row in found)
        if shape is None or len(pivots) < len(shape):
            rows, modulus, shape = found, prime, pivots
        elif pivots == shape:
            lift = pow(modulus, -1, prime)
            rows = [
                [a + modulus * ((b - a) * lift % prime) for a, b in zip(old, new, strict=True)]
                for old, new in zip(rows, found, strict=True)
            ]
            modulus *= prime
        count -= 1
        if not count:
            break
    if shape is None:  # nothing was looked at, which is not the same as nothing found
        raise NoPoint(f"no point modulo any of {count + PASSED_OVER} primes")
    return len(rows), [_lifted(row, modulus) for row in rows]


def kernel_modulo(columns: Sequence[np.ndarray], prime: int) -> list[list[int]]:
    """The same modulo one prime."""
    height, width = len(columns[0]), len(columns)
    entries = np.array(columns, dtype=object).T.ravel().tolist()
    null, nullity = flint.nmod_mat(height, width, entries, prime).nullspace()
    if nullity == 0:
        return []
    table = null.transpose().tolist()[:nullity]
    reduced, _ = flint.nmod_mat(nullity, width, [int(v) for row in table for v in row], prime).rref()
    return [[int(v) for v in row] for row in reduced.tolist()]


def _lifted(row: Sequence[int], modulus: int) -> Row | None:
    lifted = {k: rational(v, modulus) for k, v in enumerate(row) if v}
    known = {k: value for k, value in lifted.items() if value is not None}
    return known if len(known) == len(lifted) else None


def rational(value: int, modulus: int) -> Fraction | None:
    """The fraction with small numerator and denominator that has this residue."""
    bound = isqrt(modulus // 2)
    r0, r1, s0, s1 = modulus, value, 0, 1
    while r1 > bound:
        q = r0 // r1
        r0, r1, s0, s1 = r1, r0 - q * r1, s1, s0 - q * s1
    return Fraction(r1, s1) if s1 and abs(s1) <= bound and gcd(r1, s1) == 1 else None
