"""Real zeros of polynomial systems against answers known otherwise."""

from __future__ import annotations

from typing import Any

import flint
import numpy as np
import pytest

from odesys.analysis.polynomial_form import quotients
from odesys.analysis.polynomial_zeros import RealZeros, parametric_zeros, real_zeros
from odesys.reading.grammar import Grammar


def ring(names: str) -> Any:
    return flint.fmpz_mpoly_ctx.get(tuple(names.split()), "degrevlex")


def solve(names: str, *polynomials: str) -> RealZeros:
    context = ring(names)
    found = quotients([Grammar().read(p) for p in polynomials], context)
    assert found is not None
    return real_zeros([top for top, _ in found[0]], context)


def test_circle_and_line() -> None:
    zeros = solve("x y", "x**2 + y**2 - 25", "x - 7*y + 25")
    assert sorted(p.expressions() for p in zeros.points) == [(-4, 3), (3, 4)]


@pytest.mark.parametrize(
    ("polynomial", "dimension"),
    [("x**2 + y**2 - 1", 1), ("x**2*(x - 1) - y**2", 1), ("x*y - 1", 1), ("x**2 + y**2 + z**2 - 1", 2)],
)
def test_continua_have_their_real_dimension(polynomial: str, dimension: int) -> None:
    names = "x y z" if "z" in polynomial else "x y"
    (family,) = solve(names, polynomial).families
    assert family.dimension == dimension


def test_no_real_point() -> None:
    zeros = solve("x y", "x**2 + y**2 + 1")
    assert not zeros.points and not zeros.families and not zeros.open


def test_cases_are_disjoint_and_complete() -> None:
    """A point on two branches is counted once."""
    zeros = solve("x y", "x*y*(x - y)", "(x + y - 2)*(x - 1)")
    assert sorted(tuple(map(float, p.expressions())) for p in zeros.points) == [(0, 2), (1, 0), (1, 1), (2, 0)]


@pytest.mark.parametrize("seed", range(20))
def test_random_triples_of_quadrics(seed: int) -> None:
    """Points that were put in are found, and every point found is a zero."""
    rng, context = np.random.default_rng(seed), ring("x y z")
    gens = context.gens()
    wanted = rng.integers(-3, 4, 3).tolist()
    polynomials = []
    for _ in range(3):
        p = sum(int(rng.integers(-2, 3)) * gens[i] * gens[j] for i in range(3) for j in range(i, 3))
        p = p + sum(int(rng.integers(-2, 3)) * g for g in gens)
        polynomials.append(p - p(*wanted))
    zeros = real_zeros(polynomials, context)
    inside = any([float(v) for v in p.expressions()] == wanted for p in zeros.points)
    on_family = any(
        all(q(*wanted) == 0 for q in f.equations)
        and all(s.slope(*wanted) * wanted[s.variable] + s.rest(*wanted) == 0 for s in f.solved)
        for f in zeros.families
    )
    assert inside or on_family
    assert all(not p.value(q) for p in zeros.points for q in polynomials)


def test_parameters_are_not_eliminated() -> None:
    context = ring("x a b")
    x, a, b = context.gens()
    cases = parametric_zeros([a * x - b], 1)
    kinds = {(len(c.solved), tuple(map(str, c.equations))) for c in cases}
    assert (1, ()) in kinds and any(not solved and set(e) == {"a", "b"} for solved, e in kinds)


def test_a_leading_coefficient_vanishes_or_does_not() -> None:
    context = ring("x a b c")
    x, a, b, c = context.gens()
    for n in (2, 3):
        p = a * x**n + b * x + c
        cases = {
            (tuple(map(str, case.nonzero)), tuple(sorted(map(str, case.equations))), len(case.solved))
            for case in parametric_zeros([p], 1)
        }
        assert cases == {(("a",), (str(p),), 0), (("b",), ("a",), 1), ((), ("a", "b", "c"), 0)}
