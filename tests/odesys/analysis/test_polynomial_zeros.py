"""Real zeros of polynomial systems against answers known otherwise."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import flint
import numpy as np
import pytest

from odesys.analysis.number_field import evaluate, inverse, rational_point
from odesys.analysis.polynomial_form import quotients
from odesys.analysis.polynomial_zeros import (
    Case,
    RealZeros,
    Solved,
    ZeroFamily,
    _basis,
    _coefficient,
    _full_rank,
    _in_closure,
    _is_isolated,
    _is_on,
    _largest,
    _lowest_terms,
    _may_touch,
    _Quotient,
    _sum_of_squares,
    _univariate,
    parametric_zeros,
    real_zeros,
)
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


@pytest.mark.parametrize("seed", range(10))
def test_zeros_of_products_of_lines_are_where_lines_of_both_meet(seed: int) -> None:
    rng, context = random.Random(seed), ring("x y")
    x, y = context.gens()
    families = []
    for _ in range(2):
        slopes = rng.sample([(1, 2), (2, -1), (3, 1), (1, -1), (0, 1), (1, 0), (1, 1), (2, 3)], 3)
        families.append([(a, b, rng.randint(-4, 4)) for a, b in slopes])
    shared = {(a, b) for a, b, _ in families[0]} & {(a, b) for a, b, _ in families[1]}
    families[1] = [(a, b, c) for a, b, c in families[1] if (a, b) not in shared]
    wanted = set()
    for (a, b, c), (d, e, f) in product(*families):
        det = a * e - b * d
        wanted.add((round((b * f - c * e) / det, 9), round((c * d - a * f) / det, 9)))
    polynomials = []
    for family in families:
        p = context.constant(1)
        for a, b, c in family:
            p = p * (a * x + b * y + c)
        polynomials.append(p)
    found = real_zeros(polynomials, context)
    places = [tuple(round(float(v), 9) + 0.0 for v in p.expressions()) for p in found.points]
    assert not found.families and not found.open and len(places) == len(set(places))
    assert set(places) == {(u + 0.0, v + 0.0) for u, v in wanted}
    away = real_zeros(polynomials, context, [x - y])
    left = {tuple(round(float(v), 9) + 0.0 for v in p.expressions()) for p in away.points}
    assert left == {(u, v) for u, v in set(places) if u != v}


@pytest.mark.parametrize("seed", range(6))
def test_zeros_on_a_graph_are_the_roots_of_one_polynomial(seed: int) -> None:
    """y = q(x) put into p(x, y), by NumPy."""
    rng, context = random.Random(seed), ring("x y")
    x, y = context.gens()
    q = [rng.randint(-2, 2) for _ in range(3)]
    p = {(i, j): rng.randint(-3, 3) for i in range(3) for j in range(2)}
    inner = np.polynomial.Polynomial(q)
    whole = sum(
        (c * np.polynomial.Polynomial([0] * i + [1]) * inner**j for (i, j), c in p.items()),
        np.polynomial.Polynomial([0]),
    )
    roots = sorted({round(r.real, 6) + 0.0 for r in whole.roots() if abs(r.imag) < 1e-9})
    found = real_zeros([y - q[0] - q[1] * x - q[2] * x**2, sum(c * x**i * y**j for (i, j), c in p.items())], context)
    assert sorted({round(float(v.expressions()[0]), 6) + 0.0 for v in found.points}) == roots
    assert all(inner(float(a)) == pytest.approx(float(b)) for a, b in (v.expressions() for v in found.points))


def test_what_a_polynomial_is() -> None:
    context = ring("x y z")
    x, y, z = context.gens()
    assert _sum_of_squares(x**2 + 3 * y**4) == [y, x] and _sum_of_squares(-(x**2) * y**2 - z**2) == [x * y, z]
    assert (
        _sum_of_squares(x**2 + 1) == [] and _sum_of_squares(x**2 - y**2) is None and _sum_of_squares(x**2 + y) is None
    )
    assert _univariate(3 * y**3 - y + 2) == flint.fmpq_poly([2, -1, 0, 3]) and _univariate(x * y) is None
    assert _univariate(context.constant(2)) is None
    slope, rest = _coefficient(x * y + 2 * y - z**2 + 1, 1)
    assert (slope, rest) == (x + 2, 1 - z**2)


def holds_in(case: Any, values: tuple[int, ...]) -> bool:
    """Whether a point is in a case: its equations vanish, what must not does not, and each variable is as solved."""
    lines = [s.slope(*values) * values[s.variable] + s.rest(*values) for s in case.solved]
    zero = not any(p(*values) for p in case.equations) and not any(lines)
    return zero and all(p(*values) for p in case.nonzero) and all(s.slope(*values) for s in case.solved)


@pytest.mark.parametrize("seed", range(25))
def test_cases_of_a_system_with_parameters_are_disjoint_and_cover_it(seed: int) -> None:
    """Every zero among small integers is in one case, and what is no zero is in none."""
    rng, context = random.Random(seed), ring("x y a b")
    x, y, a, b = context.gens()
    parts = [x, y, a, b, x - a, y + b, a * x - b, b * x**2 + a, x * y - a, x - y, a - 1, a * y**2 - x + b, x + y + 1]
    equations = [rng.choice(parts) * rng.choice([*parts, context.constant(1)]) for _ in range(2)]
    nonzero = rng.sample(parts, rng.randint(0, 1))
    cases = parametric_zeros(equations, 2, nonzero)
    for values in product(range(-2, 3), repeat=4):
        is_zero = not any(p(*values) for p in equations) and all(p(*values) for p in nonzero)
        assert sum(holds_in(case, values) for case in cases) == is_zero, (equations, nonzero, values)
    for case in cases:
        assert all(s.variable < 2 for s in case.solved)
        assert all(p.leading_coefficient() > 0 for p in case.equations)


@pytest.mark.parametrize("seed", range(25))
def test_zeros_of_products_are_points_or_on_continua(seed: int) -> None:
    """Every small integer zero is found, what is found is zero, and no continuum is inside another or has a point."""
    rng, context = random.Random(1000 + seed), ring("x y z")
    x, y, z = context.gens()
    parts = [x, y, z, x - y, y + z - 1, x * y - 1, x**2 - y, x + z, z**2 - 4, x - 1, y * z - x, x + y + z - 2, y**2 - x]
    equations = [rng.choice(parts) * rng.choice(parts) for _ in range(rng.choice([2, 3]))]
    nonzero = rng.sample(parts, rng.randint(0, 1))
    found = real_zeros(equations, context, nonzero)
    assert not found.open and not found.doubtful
    for point in found.points:
        assert not any(point.value(p) for p in equations) and all(point.value(p) for p in nonzero)
        assert not any(_in_closure(point, family) for family in found.families)
    places = [tuple(point.expressions()) for point in found.points]
    assert len(set(places)) == len(places)
    for values in product(range(-3, 4), repeat=3):
        here = rational_point([Fraction(v) for v in values])
        on_family = any(_in_closure(here, family) for family in found.families)
        if not any(p(*values) for p in equations) and all(p(*values) for p in nonzero):
            assert on_family != (values in places), (equations, nonzero, values)
        elif any(p(*values) for p in equations):
            assert values not in places
    for family in found.families:
        assert len(family.free) == family.dimension
        gone = {s.variable for s in family.solved}
        if family.equations or len(gone) + len(family.free) < 3:
            continue
        for _ in range(4):
            known = {j: flint.fmpq_poly([rng.randint(5, 90)]) for j in family.free}
            line = flint.fmpq_poly([0, 1])
            for s in reversed(family.solved):
                slope = evaluate(s.slope, known, line)
                known[s.variable] = -evaluate(s.rest, known, line) * inverse(slope, line) % line
            assert not any(evaluate(p, known, line) for p in equations)


def test_a_continuum_of_which_another_is_a_part_is_named_once() -> None:
    """The line x = y = 0 is in the plane x = 0, and the plane is all that is named; a skew line is named too."""
    context = ring("x y z")
    x, y, z = context.gens()
    (plane,) = real_zeros([x * y, x * z], context, [y]).families
    assert plane.dimension == 2
    found = real_zeros([x * (y - 1), x * z], context)
    assert sorted(family.dimension for family in found.families) == [1, 2]
    assert [f.dimension for f in real_zeros([x * y], context).families] == [2, 2]
    assert [f.dimension for f in real_zeros([x * x * (x - y), x * (y**2 - 1) * z], context).families].count(2) == 1


def test_a_variable_in_no_equation_is_free() -> None:
    found = solve("x y z", "x**2 - 2", "y**3 - x*y - 1")
    assert found.families and all(f.dimension == 1 and f.free == (2,) for f in found.families)
    assert not solve("x y", "x**4 + x**2 + 1").families
    (line,) = solve("x y z", "x**2 + y**2").families
    assert line.dimension == 1
    assert [family.dimension for family in solve("x y", "0*x").families] == [2]


def test_what_must_not_vanish_takes_points_away() -> None:
    context = ring("x y")
    x, y = context.gens()
    circle = [x**2 + y**2 - 25, x * y - 12]
    everything = {tuple(p.expressions()) for p in real_zeros(circle, context).points}
    assert everything == {(3, 4), (4, 3), (-3, -4), (-4, -3)}
    for away, left in ((x - 3, {(4, 3), (-3, -4), (-4, -3)}), (x - y + 1, {(4, 3), (-3, -4)}), (x, everything)):
        assert {tuple(p.expressions()) for p in real_zeros(circle, context, [away]).points} == left
    assert real_zeros([x], context, [x]).families == () and real_zeros([context.constant(3)], context).points == ()


@pytest.mark.parametrize(("names", "wanted"), [("x y", 4), ("x y z", 8)])
def test_all_intersections_of_quadrics_with_irrational_coordinates(names: str, wanted: int) -> None:
    """x_k^2 = x_(k+1) + 3 around a ring has 2^n real solutions, the points of period n of x^2 - 3."""
    context = ring(names)
    gens = context.gens()
    size = len(gens)
    found = real_zeros([gens[k] ** 2 - gens[(k + 1) % size] - 3 for k in range(size)], context)
    points = sorted(tuple(float(ball) for ball in p.balls()) for p in found.points)
    assert len(points) == wanted and not found.families and not found.open
    for point in points:
        for k in range(size):
            assert point[k] ** 2 == pytest.approx(point[(k + 1) % size] + 3, abs=1e-12)
    assert min(max(abs(a - b) for a, b in zip(p, q, strict=True)) for p, q in pairwise(points)) > 1e-3


@pytest.mark.parametrize("seed", range(8))
def test_multiplication_modulo_an_ideal_commutes_and_satisfies_its_equations(seed: int) -> None:
    """The classes of conjugate zeros have irreducible polynomials, and their coordinates are zeros in those fields."""
    rng, context = random.Random(seed), ring("x y")
    x, y = context.gens()
    place = [rng.randint(-2, 2) for _ in range(2)]
    equations = []
    for lead in (x**2, y**2 if seed % 2 else y**3):
        p = lead + sum(rng.randint(-2, 2) * m for m in (x * y, x, y))
        equations.append(p - p(*place))
    basis = _basis(equations, context)
    assert basis is not None
    quotient = _Quotient.of(basis, context)
    assert quotient is not None and quotient.monomials[0] == (0, 0)
    first, second = quotient.matrices
    assert first * second == second * first
    one = flint.fmpq_mat(
        first.nrows(), first.nrows(), [int(i == j) for i in range(first.nrows()) for j in range(first.nrows())]
    )
    for p in equations:
        total = 0 * one
        for (i, j), c in p.to_dict().items():
            total += int(c) * first ** int(i) * second ** int(j)
        assert total == 0 * one
    fields = quotient.fields()
    assert fields is not None
    for minimal, coordinates in fields:
        assert len(minimal.factor()[1]) == 1
        assert all(not evaluate(p, dict(enumerate(coordinates)), minimal) for p in equations)
    count = sum(minimal.degree() for minimal, _ in fields)
    roots = flint.fmpq_poly(first.charpoly().coeffs())
    assert count <= len(quotient.monomials) == roots.degree() <= (4 if seed % 2 else 6)
    assert any(m.degree() == 1 and [c[0] for c in v] == place for m, v in fields)


def test_an_ideal_with_infinitely_many_zeros_has_no_finite_quotient() -> None:
    context = ring("x y")
    x, y = context.gens()
    assert _Quotient.of([x * y], context) is None and _Quotient.of([x**2], context) is None
    double = _Quotient.of([x**2, y], context)
    assert double is not None and double.monomials == ((0, 0), (1, 0))
    (found,) = double.fields() or ()
    assert found[0].degree() == 1 and [c[0] if c else 0 for c in found[1]] == [0, 0]
    assert _Quotient.of([x**11, y**11], context) is None, "121 are too many"
    many = _Quotient.of([x**10, y**12], context)
    assert many is not None and len(many.monomials) == 120


def test_a_matrix_of_balls_has_full_rank_if_a_minor_is_not_zero() -> None:
    one, zero, open_one = flint.arb(1), flint.arb(0), flint.arb(0, 1)
    assert _full_rank([[one, zero], [zero, one]], 2) and not _full_rank([[one, one], [one, one]], 2)
    assert _full_rank([[zero, zero], [one, one], [zero, one]], 2) and not _full_rank([[one, open_one], [one, zero]], 2)
    assert _full_rank([[zero], [one]], 1) and not _full_rank([[open_one], [zero]], 1)
    assert not _full_rank([[one, zero]], 2)


def test_points_and_families_lie_on_what_they_satisfy() -> None:
    context = ring("x y z")
    x, y, z = context.gens()
    one = context.constant(1)
    on_line, off_line = rational_point([0, 0, 5]), rational_point([0, 1, 5])
    line = ZeroFamily(1, (2,), (Solved(0, one, 0 * x), Solved(1, one, 0 * x)), (), ())
    plane = ZeroFamily(2, (1, 2), (Solved(0, one, 0 * x),), (), ())
    other = ZeroFamily(2, (0, 2), (Solved(1, 2 * one, -z),), (), ())
    curve = ZeroFamily(1, (2,), (Solved(0, one, 0 * x),), (y**2 - z,), ())
    assert _in_closure(on_line, line) and not _in_closure(off_line, line) and _in_closure(off_line, plane)
    assert _in_closure(rational_point([7, 3, 6]), other) and not _in_closure(rational_point([7, 3, 5]), other)
    assert _largest([line, plane, other, curve]) == [plane, other, curve]
    assert (
        _largest([line]) == [line]
        and _largest([other, line]) == [other, line]
        and _largest([plane, plane]) == [plane, plane]
    )
    skew = ZeroFamily(1, (2,), (Solved(0, one, -y), Solved(1, one, -z)), (), ())
    graph_of = ZeroFamily(2, (1, 2), (Solved(0, one, -z),), (), ())
    assert _largest([skew, graph_of]) == [graph_of] and _largest([skew, plane]) == [skew, plane]
    case = Case((x * y,), (z,), (Solved(2, one, -5 * one),))
    assert _may_touch(on_line, case) and _may_touch(off_line, case)
    assert not _may_touch(rational_point([1, 1, 5]), case) and not _may_touch(rational_point([0, 1, 4]), case)


@pytest.mark.parametrize("seed", range(30))
def test_no_zero_is_lost_where_the_slope_of_a_family_vanishes(seed: int) -> None:
    """Every small integer zero is a point, doubtful, or on a family where what gives its variables has a value."""
    rng, context = random.Random(2000 + seed), ring("x y z")
    x, y, z = context.gens()
    parts = [x**2 * z + y**2, x**2 * z - y**2, x * z**2 + y**3 - y, x**2 * z + x * y + y**2, y * (z**2 - 4), x * z**2]
    parts += [z**2 - 1, z**3 - z * x**2, x**2 + y**2 * z, x * (x**2 * z + y**2), x**2 * y**2 - z**2, x**2 * z - y]
    equations = [rng.choice(parts) + rng.choice([0 * x, 0 * x, *parts]) * rng.choice([0, 1]) for _ in range(2)]
    found = real_zeros(equations, context)
    for point in (*found.points, *found.doubtful):
        assert not any(point.value(p) for p in equations)
    places = [tuple(point.expressions()) for point in (*found.points, *found.doubtful)]
    for values in product(range(-4, 5), repeat=3):
        if any(p(*values) for p in equations) or values in places:
            continue
        here = rational_point([Fraction(v) for v in values])
        assert any(_is_on(here, f) for f in found.families) or any(_may_touch(here, c) for c in found.open), values


def test_a_point_is_isolated_if_its_lowest_terms_have_no_other_zero() -> None:
    context = ring("x y z")
    x, y, z = context.gens()
    origin, above = rational_point([0, 0, 0]), rational_point([0, 0, 2])
    assert _lowest_terms(x**2 * z + y**2, above) == {(2, 0, 0): 2, (0, 2, 0): 1}
    assert _lowest_terms(x**2 * z + y**2, origin) == {(0, 2, 0): 1} and _lowest_terms(0 * x, origin) == {}
    assert _is_isolated(above, [x**2 * z + y**2, z**2 - 4])
    assert not _is_isolated(rational_point([0, 0, -2]), [x**2 * z + y**2, z**2 - 4])
    assert not _is_isolated(origin, [x**2 * z + y**2, z])
    assert _is_isolated(origin, [x**2 + y**2 + x**3, z - x**4, 0 * x]) and not _is_isolated(origin, [x * y, z])
    assert _is_isolated(origin, [x**2 + x * y + z**2, x - y**3, z]), "finite, with a mixed term"


def test_a_family_is_inside_another_only_where_that_has_a_value() -> None:
    context = ring("x y v")
    x, y, _ = context.gens()
    one = context.constant(1)
    umbrella = ZeroFamily(2, (0, 1), (Solved(2, x**2, y**2),), (), (x,))
    axis = ZeroFamily(1, (2,), (Solved(0, one, 0 * x), Solved(1, one, 0 * x)), (), ())
    curve = ZeroFamily(1, (0,), (Solved(1, one, -x), Solved(2, one, one)), (), (x,))
    through = ZeroFamily(1, (0,), (Solved(1, one, -x), Solved(2, one, one)), (), ())
    assert _largest([axis, umbrella]) == [axis, umbrella] and _largest([curve, umbrella]) == [umbrella]
    assert _largest([through, umbrella]) == [through, umbrella], "it goes through x = 0"
    always = ZeroFamily(2, (0, 1), (Solved(2, x**2 + 1, y),), (), ())
    flat = ZeroFamily(1, (0,), (Solved(1, one, 0 * x), Solved(2, one, 0 * x)), (), ())
    assert _largest([flat, always]) == [always]
    here = rational_point([0, 0, 5])
    assert _in_closure(here, umbrella) and not _is_on(here, umbrella) and _is_on(here, axis)
