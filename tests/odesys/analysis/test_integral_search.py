"""The search behind first integrals: nothing is lost to large numbers, and copies are told from new ones."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp

from odesys.analysis import integral_search
from odesys.analysis.conserved import check_integral
from odesys.analysis.integral_search import (
    FirstIntegral,
    Monomial,
    Polynomial,
    Search,
    _primitive,
    _products,
    _rank,
    _Span,
    _sparse,
    monomials,
)
from odesys.analysis.modular import NoPoint, kernel_modulo, primes
from odesys.expr import graph
from odesys.expr.graph import sym
from odesys.expr.sympy_bridge import to_sympy
from odesys.expr.system import System
from tests.found_integrals import only, same_up_to_factor

x, y = sp.symbols("x y")


@pytest.mark.parametrize("coefficient", [123456789012, 10**40 + 7, sp.Rational(987654321987, 123456789011)])
def test_large_coefficients_are_not_lost(coefficient: Any) -> None:
    duffing = System.from_equations({x: y, y: coefficient * x - x**3})
    assert same_up_to_factor(only(duffing, 4), 2 * y**2 - 2 * coefficient * x**2 + x**4)
    assert only(System.from_equations({x: 10**10 * y, y: -y})) is graph.as_node(x + 10**10 * y)


def test_constants_between_quotients_are_no_reason_to_search_on() -> None:
    """1/(k + x) and x/(k + x) have a constant combination with k in it, which is no conserved quantity."""
    prey = System.from_strings({"x": "x*(1 - x) - a*x*y/(x + m)", "y": "s*y*(1 - y/x)"})
    nothing = prey.first_integrals(degree=3)
    assert len(nothing) == 0 and nothing.complete
    enzyme = System.from_strings({"x": "-a*x/(k + x)", "y": "b*x/(k + x)"})
    found = enzyme.first_integrals(degree=2)
    assert found.complete and any(check_integral(enzyme, i.node).answer == "zero" for i in found)
    assert next(str(to_sympy(i.node)) for i in found) == "a*y + b*x"
    pendulum = System.from_strings({"x": "y", "y": "-g*sin(x)"}).first_integrals()
    assert len(pendulum) == 1 and pendulum.complete


def test_monomials_come_with_the_highest_degree_first() -> None:
    assert monomials(range(2), 2) == [(0, 0), (0, 1), (1, 1), (0,), (1,)]


def test_a_function_of_another_integral_is_a_copy() -> None:
    turn = System.from_equations({x: y, y: -x})
    energy = graph.as_node(x**2 + y**2)
    pair = [FirstIntegral("a", energy, ""), FirstIntegral("b", graph.call("log", energy), "")]
    kept, independent = Search(turn, [sym("x"), sym("y")], 0).without_copies(pair)
    assert [i.node for i in kept] == [energy] and independent == 1


def test_all_of_laplaces_vector_with_the_mass_as_a_parameter() -> None:
    """Its components depend on one another and on the energy, but none is a polynomial in the others."""
    r = "(x**2 + y**2)**(3/2)"
    kepler = System.from_strings({"x": "u", "y": "v", "u": f"-m*x/{r}", "v": f"-m*y/{r}"})
    found = kepler.first_integrals(degree=3)
    assert len(found) == 4 and found.independent == 3 and found.complete
    for text in ("v*(x*v - y*u) - m*x/sqrt(x**2 + y**2)", "u*(x*v - y*u) + m*y/sqrt(x**2 + y**2)"):
        assert any(same_up_to_factor(i.node, sp.sympify(text)) for i in found), text


def test_roots_of_numbers_hide_no_integral() -> None:
    """Modulo one prime of two there is no root of a number; with five of them all primes that were tried had none."""
    speed = "(sqrt(2) + sqrt(3) + sqrt(5) + sqrt(7) + sqrt(11))"
    system = System.from_strings({"x": f"{speed}*y", "y": f"-{speed}*x"})
    assert same_up_to_factor(only(system), x**2 + y**2)


def test_roots_of_parameters_hide_no_integral() -> None:
    assert same_up_to_factor(only(System.from_strings({"x": "sqrt(k)", "y": "sqrt(k)"}), 1), x - y)


def test_an_integral_is_written_with_few_terms() -> None:
    """A rotation about (1, 1, 2): the squares have three terms, their remainder after (x + y + 2 z)^2 has four."""
    linear, squares = System.from_strings("x' = 2*y - z; y' = z - 2*x; z' = x - y").first_integrals(degree=2)
    assert [str(to_sympy(i.node)) for i in (linear, squares)] == ["x + y + 2*z", "x**2 + y**2 + z**2"]


def test_where_no_prime_has_a_point_what_was_found_is_given_as_not_all(monkeypatch: pytest.MonkeyPatch) -> None:
    system = System.from_strings({"x": "k*y", "y": "-x"})
    with_points = system.first_integrals(degree=2)
    assert len(with_points) == 1 and with_points.complete
    monkeypatch.setattr(Search, "_has_points", lambda *_: False)
    without = system.first_integrals(degree=2)
    assert not without.complete and len(without) <= 1


def test_products_of_known_polynomials_have_the_degree_and_are_not_of_parameters_alone() -> None:
    """Over x, y = 0, 1 and a parameter 2: of the parameter, of x + y and of x y."""
    one = Fraction(1)
    known = [{(2,): one}, {(0,): one, (1,): one}, {(0, 1): one}]
    assert list(_products(known, 2, 1)) == [
        {(0, 2): one, (1, 2): one},
        {(0, 0): one, (0, 1): 2 * one, (1, 1): one},
    ]
    cubes = list(_products(known, 3, 1))
    assert {(0, 1, 2): one} in cubes and {(0, 0, 1): one, (0, 1, 1): one} in cubes and len(cubes) == 5
    assert {(2, 2, 2): one} not in cubes and {(2, 2): one} in list(_products(known, 2, 0))


def test_a_span_reduces_what_lies_in_it_to_nothing() -> None:
    columns = [(0, 0), (0, 1), (1, 1), (0,), (1,)]
    span = _Span(columns)
    rows = [{(0, 0): Fraction(2), (0,): Fraction(1)}, {(0, 1): Fraction(1), (0,): Fraction(-3)}, {(0,): Fraction(1)}]
    for row in rows:
        assert span.reduce(row)
        span.insert(row)
    mixed = {(0, 0): Fraction(3), (0, 1): Fraction(5), (0,): Fraction(7)}
    assert span.reduce(mixed) == {} and span.reduce({}) == {}
    assert span.reduce({**mixed, (1,): Fraction(2)}) == {(1,): Fraction(2)}
    before = len(span._rows)
    span.insert(mixed)
    assert len(span._rows) == before == 3


def test_multiples_of_products_are_taken_off_while_that_makes_it_shorter() -> None:
    square = {(0, 0): Fraction(1), (0, 1): Fraction(2), (1, 1): Fraction(1)}
    long = {(0, 0): Fraction(3), (0, 1): Fraction(6), (1, 1): Fraction(4)}
    assert _sparse(long, [square]) == {(1, 1): Fraction(1)}
    assert _sparse({(0, 0): Fraction(1)}, [square]) == {(0, 0): Fraction(1)} and _sparse({}, [square]) == {}


COLUMNS = monomials(range(3), 2)
PRIME = next(iter(primes(1)))


def random_polynomial(rng: random.Random, columns: list[Monomial], terms: int) -> Polynomial:
    return {m: Fraction(rng.choice([-3, -2, -1, 1, 2, 5]), rng.randint(1, 3)) for m in rng.sample(columns, terms)}


def ranked(polynomials: list[Polynomial]) -> int:
    columns = sorted({m for p in polynomials for m in p})
    rows = [[sp.Rational(str(p.get(m, Fraction(0)))) for m in columns] for p in polynomials]
    return int(sp.Matrix(rows).rank()) if columns else 0


def less(one: Polynomial, other: Polynomial) -> Polynomial:
    both = {m: one.get(m, Fraction(0)) - other.get(m, Fraction(0)) for m in {*one, *other}}
    return {m: c for m, c in both.items() if c}


@pytest.mark.parametrize("seed", range(6))
def test_a_span_is_that_of_linear_algebra(seed: int) -> None:
    """What is taken off lies in the space, nothing is left of what lies in it, and what is left is new."""
    rng = random.Random(seed)
    span, rows = _Span(COLUMNS), list[Polynomial]()
    for _ in range(7):
        new = random_polynomial(rng, COLUMNS, rng.randint(1, 4))
        rest = span.reduce(new)
        assert (rest == {}) is (ranked([*rows, new]) == ranked(rows)) and all(rest.values())
        assert ranked([*rows, less(new, rest)]) == ranked(rows)
        span.insert(new)
        rows.append(new)
        assert len(span._rows) == ranked(rows) and not span.reduce(new)
    for pivot, row in span._rows:
        assert row[pivot] == 1


def test_a_row_of_a_span_is_led_by_what_is_no_column_and_then_by_the_first_column() -> None:
    span = _Span([(0, 0), (0,), (1,)])
    one = Fraction(1)
    span.insert({(0,): 2 * one, (1,): one})
    span.insert({(1,): one, (1, 1, 1): 3 * one, (0, 0): one})
    assert [pivot for pivot, _ in span._rows] == [(0,), (1, 1, 1)]


@pytest.mark.parametrize("seed", range(4))
def test_products_are_those_of_sympy(seed: int) -> None:
    rng = random.Random(seed)
    letters = sp.symbols("a b c")
    known: list[Polynomial] = [{(2,): Fraction(1)}]
    known += [random_polynomial(rng, [m for m in COLUMNS if len(m) == d], 2) for d in (1, 1, 2)]

    def written(p: Polynomial) -> sp.Expr:
        return sp.expand(sum(sp.Rational(str(c)) * sp.prod([letters[i] for i in m]) for m, c in p.items()))

    sizes = [1, 1, 1, 2]
    for degree in (2, 3):
        wanted = [
            sp.expand(sp.prod([written(known[k]) for k in choice]))
            for count in range(2, degree + 1)
            for choice in integral_search.combinations_with_replacement(range(4), count)
            if sum(sizes[k] for k in choice) == degree and set(choice) != {0}
        ]
        assert [written(p) for p in _products(known, degree, 1)] == wanted


@pytest.mark.parametrize("seed", range(4))
def test_a_shorter_form_differs_by_multiples_of_products(seed: int) -> None:
    rng = random.Random(seed)
    products = [random_polynomial(rng, COLUMNS, 3) for _ in range(2)]
    for _ in range(5):
        product = rng.choice(products)
        start = random_polynomial(rng, [m for m in COLUMNS if m not in product], 2)
        factor = Fraction(rng.choice([-3, -1, 2, 5]), 2)
        long = less(start, {m: factor * c for m, c in product.items()})
        assert len(long) == 5 and _sparse(long, [product]) == start
        short = _sparse(long, products)
        assert len(short) <= len(long) and all(short.values()) and _sparse(short, products) == short
        assert ranked([*products, less(long, short)]) == ranked(products)


def test_coefficients_are_coprime_whole_numbers_most_of_them_positive() -> None:
    def made(*values: Any) -> list[Fraction]:
        return list(_primitive({(k,): Fraction(v) for k, v in enumerate(values)}).values())

    assert made("1/2", "1/3") == [3, 2] and made(4, 6) == [2, 3] and made(-4) == [1]
    assert made(-1, -2, 3) == [1, 2, -3] and made(1, -2) == [1, -2] and made(-1, 2) == [1, -2]
    assert made("-2/3", "4/9", "-2") == [3, -2, 9] and _primitive({}) == {}


OSCILLATOR = System.from_strings({"x": "k*y", "y": "-k*x"})
TURN = System.from_strings({"x": "y", "y": "-x"}, kind="map")


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("system", [OSCILLATOR, TURN, System.from_strings({"x": "x*y", "y": "-x*y"}, ["k"])])
def test_changes_of_monomials_obey_the_rule_of_products(system: System, fixed: bool) -> None:
    """The change of each monomial is checked against that of its factors: for a flow by the product rule, for a map by
    values before and after, and parameters do not change."""
    search = Search(system, [sym("x"), sym("y")], 3)
    columns = monomials(range(2 + len(system.parameters)), 3)
    changes = dict(zip(columns, search.changes_of(columns, PRIME, fixed), strict=True))
    values = search._values[PRIME, fixed, len(columns) + integral_search.SPARE_POINTS]
    size = {(0,): values[0], (1,): values[1], **({(2,): values[4]} if system.parameters else {})}
    move = {(0,): values[2], (1,): values[3], (2,): 0 * values[0]}
    assert len(values[0]) == len(columns) + integral_search.SPARE_POINTS
    for m in columns:
        total = np.full(len(values[0]), 1, dtype=object)
        for i in m:
            total = total * size[(i,)]
        if system.kind == "map":
            after = np.full(len(values[0]), 1, dtype=object)
            for i in m:
                after = after * (size[(i,)] if i == 2 else move[(i,)])
            expected = after - total
        else:
            expected = 0 * total
            for k in range(len(m)):
                part = move[(m[k],)]
                for i in (*m[:k], *m[k + 1 :]):
                    part = part * size[(i,)]
                expected = expected + part
        assert ((changes[m] - expected) % PRIME == 0).all(), m
    if fixed and system.parameters:
        assert len(set(values[4].tolist())) == 1


def test_relations_are_conserved_quantities() -> None:
    columns = monomials(range(2), 2)
    for system in (OSCILLATOR, TURN):
        (row,) = kernel_modulo(Search(system, [sym("x"), sym("y")], 0).changes_of(columns, PRIME, True), PRIME)
        assert row[0] == row[2] != 0 and not any(row[k] for k in (1, 3, 4))


def test_what_follows_from_integrals_is_counted() -> None:
    """Of x^2 + y^2 for a rotation, up to degree 2 one relation and up to degree 4 two; without it none."""
    search = Search(OSCILLATOR, [sym("x"), sym("y")], 0)
    energy = FirstIntegral("I1", sym("x") ** 2 + sym("y") ** 2, "")
    for degree, count in ((2, 1), (3, 1), (4, 2)):
        columns = monomials(range(2), degree)
        assert search._covered([energy], columns, PRIME, degree) == count
        assert search._covered([], columns, PRIME, degree) == 0
    other = FirstIntegral("I2", sym("x") * sym("y"), "")
    assert search._covered([energy, other], monomials(range(2), 2), PRIME, 2) == 2


def test_constant_combinations_of_columns_need_no_integral() -> None:
    """x/(x + k) and k/(x + k) are one together, whatever moves."""
    system = System.from_strings({"x": "-a*x/(k + x)", "y": "b*x/(k + x)"})
    over = 1 / (sym("x") + sym("k"))
    search = Search(system, [sym("x"), sym("y"), over, sym("x") * over], 0)
    assert search._covered([], [(0,), (1,), (2,), (3,)], PRIME, 1) == 1
    line = FirstIntegral("I1", sym("b") * sym("x") + sym("a") * sym("y"), "")
    assert search._covered([line], [(0,), (1,), (2,), (3,)], PRIME, 1) == 2
    assert _rank([np.array([1, 0, 2], dtype=object), np.array([2, 0, 4], dtype=object)], PRIME) == 1
    assert _rank([np.array([1, 0, 2], dtype=object), np.array([2, 1, 4], dtype=object)], PRIME) == 2


def test_only_independent_integrals_are_kept_and_numbered_again() -> None:
    x, y, z = map(sym, "xyz")
    top = System.from_strings({"x": "y*z", "y": "-2*x*z", "z": "x*y"})
    search = Search(top, [x, y, z], 0)
    one, two, three = (FirstIntegral("?", node, "p") for node in (2 * x**2 + y**2, y**2 + 2 * z**2, x**2 - z**2))
    kept = search._generic_rank([two, three], [one])
    assert [(i.name, i.node, i.proof) for i in kept] == [("I1", one.node, "p"), ("I2", two.node, "p")]
    assert [i.node for i in search._generic_rank([], [three, one, two])] == [three.node, one.node]
    copies, independent = search.without_copies([one, FirstIntegral("?", 3 * one.node + 5, "q"), two, three])
    assert [(i.name, i.node) for i in copies] == [("I1", one.node), ("I2", two.node), ("I3", three.node)]
    assert independent == 2 and search.without_copies([]) == ([], 0)
    new = search.new_ones([one.node, x * y, three.node, two.node], [one])
    assert [(i.name, i.node) for i in new] == [("I2", three.node)] and new[0].proof.startswith("exact: ")
    assert search.new_ones([x], []) == []


def test_constants_and_logarithms() -> None:
    x, y = sym("x"), sym("y")
    turn = Search(OSCILLATOR, [x, y], 0)
    assert turn.is_constant(graph.call("sin", x) ** 2 + graph.call("cos", x) ** 2) and turn.is_constant(sym("k"))
    assert not turn.is_constant(x**2 + y**2) and not turn.is_constant(x)
    growth = System.from_strings({"x": "2*x", "y": "-3*y"})
    logs = Search(growth, [x, y, graph.call("log", x), graph.call("log", y)], 0)
    found = logs.proved({(2,): Fraction(3), (3,): Fraction(2)}, 4)
    assert found is not None and found.node is x**3 * y**2 and found.name == "I4" and found.proof.startswith("exact: ")
    assert logs.proved({(2,): Fraction(3), (3,): Fraction(1)}, 1) is None
    assert logs.node({(0, 0, 1): Fraction(2), (2,): Fraction(-1)}) is 2 * x**2 * y - graph.call("log", x)


def test_powers_are_written_up_to_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = sym("x"), sym("y")
    growth = System.from_strings({"x": "2*x", "y": "-3*y"})
    search = Search(growth, [x, y, graph.call("log", x), graph.call("log", y)], 0)
    for power, written in ((3, True), (2, False)):
        monkeypatch.setattr(integral_search, "LARGEST_POWER", power)
        found = search.proved({(2,): Fraction(3), (3,): Fraction(2)}, 1)
        assert found is not None and (found.node is x**3 * y**2) is written
    monkeypatch.setattr(integral_search, "LARGEST_POWER", 3)
    half = search.proved({(2,): Fraction(1), (3,): Fraction(2, 3)}, 1)
    assert half is not None and half.node is x * y ** Fraction(2, 3)
    monkeypatch.setattr(integral_search, "LARGEST_POWER", 2)
    half = search.proved({(2,): Fraction(1), (3,): Fraction(2, 3)}, 1)
    assert half is not None and half.node is graph.call("log", x) + 2 * graph.call("log", y) / 3


def test_integrals_are_shown_by_name_and_proof() -> None:
    assert repr(FirstIntegral("I3", sym("x") ** 2, "exact: why")) == "<FirstIntegral I3 = x**2, proved: exact: why>"


@pytest.mark.parametrize(
    ("equations", "degree", "found"),
    [
        ("x' = a*y; y' = -b*x", 2, ["a*y**2 + b*x**2"]),
        ("x' = a*y; y' = -b*x", 4, ["a*y**2 + b*x**2"]),
        ("x' = y; y' = -x; z' = 0", 2, ["z", "x**2 + y**2"]),
        ("x' = a^2*y; y' = -b^3*x", 2, ["a**2*y**2 + b**3*x**2"]),
        ("x' = 1; y' = a", 1, ["a*x - y"]),
        ("x' = a*b*y; y' = -c*x; z' = y", 2, ["a*b*z - x", "a*b*y**2 + c*x**2"]),
        ("x' = x^2 + 1", 3, []),
    ],
)
def test_integrals_over_polynomials_with_parameters_in_coefficients(
    equations: str, degree: int, found: list[str]
) -> None:
    system = System.from_strings(equations)
    search = Search(system, [sym(name) for name in system.names], 0)
    integrals, complete = search.over(monomials(range(system.dimension), degree))
    assert complete and len(integrals) == len(found)
    for text in found:
        assert any(same_up_to_factor(i.node, sp.sympify(text)) for i in integrals), text
    assert [i.name for i in integrals] == [f"I{k + 1}" for k in range(len(found))]


def test_a_search_that_finds_no_point_says_that_it_is_not_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = monomials(range(2), 2)
    search = Search(System.from_strings({"x": "k*y", "y": "-x"}), [sym("x"), sym("y")], 0)
    assert search._has_points(columns, PRIME)
    assert search.with_numbers(columns, 2) == ([], True)

    def nowhere(*_: object) -> None:
        raise NoPoint

    with monkeypatch.context() as without:
        without.setattr(integral_search, "PRIMES_TRIED", ())
        assert search.with_numbers(columns, 2) == ([], False)
    with monkeypatch.context() as without:
        without.setattr(Search, "changes_of", nowhere)
        assert search._has_points(columns, PRIME) is False
        assert search.with_numbers(columns, 2) == ([], False) and search.over(columns) == ([], False)
    with monkeypatch.context() as without:
        without.setattr(integral_search, "residues", nowhere)
        energy = FirstIntegral("I1", sym("k") * sym("y") ** 2 + sym("x") ** 2, "")
        assert search._covered([energy], columns, PRIME, 2) == 0
    with monkeypatch.context() as without:
        without.setattr(integral_search, "HIGHEST_COEFFICIENT", 0)
        assert search.over(columns) == ([], False)
    with monkeypatch.context() as without:
        without.setattr(integral_search, "LARGEST_SEARCH", 2)
        assert search.over(columns) == ([], False)
    found, complete = search.over(columns)
    assert complete and len(found) == 1


def test_candidates_that_are_not_proved_are_counted() -> None:
    """x^2 + y^2 is conserved and x y is not; what is a polynomial in what is known is no candidate."""
    search = Search(System.from_strings({"x": "y", "y": "-x"}), [sym("x"), sym("y")], 0)
    columns = monomials(range(2), 4)
    one = Fraction(1)
    energy, other = {(0, 0): one, (1, 1): one}, {(0, 1): one}
    square = {(0, 0, 0, 0): one, (0, 0, 1, 1): 2 * one, (1, 1, 1, 1): one}
    found, refused = search._independent([energy, other, square], columns, 4, [])
    assert [i.node for i in found] == [sym("x") ** 2 + sym("y") ** 2] and found[0].name == "I1" and refused == 1
    assert search._independent([square], columns, 4, [])[0][0].node is search.node(square)
    assert search._independent([energy], columns, 1, []) == ([], 0)
