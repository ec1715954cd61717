"""Which parts a proof leaves closed."""

import random
from fractions import Fraction

import flint
import pytest

from odesys import graph, num, sym
from odesys.proofs.strategy import (
    PRIME,
    Outline,
    Twin,
    at_residues,
    choose,
    functions_in,
    is_root,
    outlines,
    residues,
    root_parts,
)

X, Y, Z = sym("x"), sym("y"), sym("z")


def agree(values) -> bool:
    return values[0] == values[1]


def test_a_divisor_that_need_not_be_opened_stays_closed() -> None:
    total = 1 + X + Y
    found = choose([Z / total + X * (1 + Y), Z / total + X + X * Y], agree)
    assert found is not None
    assert total in found.closed


def test_a_divisor_is_opened_where_it_has_to_be() -> None:
    found = choose([1 / (X * X + X), 1 / X - 1 / (1 + X)], agree)
    assert found is not None
    assert X * X + X not in found.closed


def test_what_is_false_has_no_outline() -> None:
    assert choose([X * (Y + Z), X * Y - X * Z], agree) is None


def test_functions_stay_closed() -> None:
    found = choose([graph.exp(X) * 2, graph.exp(X) + graph.exp(X)], agree)
    assert found is None or graph.exp(X) in found.closed


def test_functions_are_seen_up_to_the_first_on_each_way() -> None:
    """In sums, products and powers however deep, and below divisors; not inside of each other."""
    outer, log, tanh = graph.exp(X + graph.call("sin", Y)), graph.call("log", Z), graph.call("tanh", X * Y)
    found = functions_in([outer**2 * (X + 3 / (1 + log)) ** 2, Y - tanh, outer])
    assert {*found} == {outer, log, tanh} and len(found) == 3
    assert functions_in([X * Y + 1 / (Z + 1) ** 2]) == []


def test_values_modulo_a_prime_are_those_of_fractions() -> None:
    rng = random.Random(5)
    for node in (X * Y - Z / 3 + 2, (X + Y) ** 3 / (Z - 5), num(Fraction(-7, 4)) * X**-2):
        point = {name: Fraction(rng.randint(2, 99), rng.randint(2, 99)) for name in "xyz"}
        exact = graph.evaluate([node], point, {}, Fraction)[0]
        (found,) = (
            at_residues([node], {n: flint.nmod(v.numerator, PRIME) / v.denominator for n, v in point.items()}) or []
        )
        assert int(found) % PRIME == exact.numerator * pow(exact.denominator, -1, PRIME) % PRIME
    assert at_residues([graph.exp(X)], {"x": 1}) is None and at_residues([X], {}) is None
    assert residues([1 / (X - X + num(0) + X) - 1 / X]) == [0] and residues([X + Y, Y + X])[0] == residues([X + Y])[0]
    assert residues([X, Y])[0] != residues([X, Y])[1] and residues([X], seed=2) != residues([X], seed=3)


def test_roots_are_bases_to_one_over_a_number() -> None:
    root, cube = graph.sqrt(X), graph.power(X, Fraction(1, 3))
    assert [is_root(n) for n in (root, cube, root * Y, graph.power(X, Fraction(3, 2)), X**2, 1 / X, X, 1 / root)] == [
        True, True, False, False, False, False, False, False
    ]  # fmt: skip
    assert root_parts(X, Fraction(-3, 2)) == (root, -3) and root_parts(X, Fraction(2, 3)) == (cube, 2)


def test_outlines_open_sums_by_depth_and_then_divisors() -> None:
    inner, divisor, function = X * Y + 1, Z + X, graph.exp(Y)
    root = inner**2 * (inner * X + Z) / divisor + function
    closed = [set(each.closed) for each in outlines([root])]
    assert closed[0] == {inner, inner * X + Z, divisor, function}
    assert closed[1] == {inner, divisor, function} or closed[1] == {divisor, function}
    assert closed[-1] == {function} and len(closed) == len({frozenset(c) for c in closed})
    assert [divisor in each for each in closed] == sorted((divisor in each for each in closed), reverse=True)
    assert [each.closed for each in outlines([X + 2 * Y])] == [()]
    assert set(next(outlines([graph.sqrt(X) * Y + graph.power(X, Fraction(3, 2))])).closed) == {graph.sqrt(X)}


def test_what_is_seen_of_an_outline_ends_at_what_is_closed() -> None:
    inner = X * Y + 1
    root = inner**2 * Z + graph.sqrt(inner)
    for closed in ((inner,), (graph.sqrt(inner),), ()):
        seen = Outline((root,), closed).open_nodes()
        assert len(seen) == len({*seen}) and seen[-1] is root
        assert (X in seen) == (inner not in closed) and all(c in seen for c in closed)


def test_twins_are_one_variable_or_one_minus_it() -> None:
    a, b, c = graph.call("sigmoid", X), graph.call("sigmoid", Y), graph.call("sigmoid", Z)
    twins = {b: Twin(a, False, "equal"), c: Twin(a, True, "opposite")}
    assert Outline((a - b, a + c), (a, b, c), twins).residues() == [0, 1]
    values = Outline((a - b, a + c), (a, b, c)).residues()
    assert values is not None and values[0] != 0 and values[1] != 1
    assert choose([a + c + b, 1 + a], agree, twins) is not None and choose([a + c + b, 1 + a], agree) is None


@pytest.mark.parametrize(
    ("left", "right", "closed"),
    [
        (X * (Y + 1), X * Y + X, ()),
        ((X + 1) * Z + (X + 1) * Y, (X + 1) * (Y + Z), ()),
        (graph.exp(X) * (Y + 1), graph.exp(X) * Y + graph.exp(X), (graph.exp(X),)),
        (Z / (X + Y) + 1, Z / (X + Y) + X / X, (X + Y,)),
    ],
)
def test_no_more_is_opened_than_has_to_be(left, right, closed) -> None:
    found = choose([left, right], agree)
    assert found is not None and set(found.closed) == set(closed) and found.roots == (left, right)
