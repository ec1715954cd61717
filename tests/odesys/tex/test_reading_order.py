"""Reading order: by states, then by size; the same for a sum and its negative, and whatever was built before."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from odesys.expr import graph
from odesys.expr.graph import ONE, Node, call, exp, linear_terms, num, power, step, sym
from odesys.tex.reading_order import ReadingOrder, monomial, round_off

A, B, C, K = (sym(name) for name in ("a", "b", "c", "k"))
ORDER = ReadingOrder(["a", "b", "c"])


def test_terms_come_in_the_order_of_the_states_whatever_they_are_called() -> None:
    node = C + 2 * A * C + A - B + 7
    shown = [term for _, term in ORDER.terms(node)]
    assert shown[0] is ONE and shown[1] is A and shown[2] is A * C and shown[3] is B and shown[4] is C
    backwards = [term for _, term in ReadingOrder(["c", "b", "a"]).terms(node)]
    assert backwards.index(C) < backwards.index(B) < backwards.index(A)


@pytest.mark.parametrize("node", [A - 2 * B, 6 * A * B - 4 * C + 2, exp(A) / 3 - B / 6])
def test_a_primitive_form_has_coprime_integers_and_is_shared_with_the_negative(node: Node) -> None:
    factor, form = ORDER.primitive(node)
    assert factor * form is node
    coefficients = [c for c, _ in linear_terms(form)]
    assert all(Fraction(c).denominator == 1 for c in coefficients)
    other, same = ORDER.primitive(-node)
    assert same is form and other == -factor


def test_parts_of_a_term() -> None:
    assert monomial(A * B**2) == {A: 1, B: 2} and monomial(ONE) == {} and monomial(A) == {A: 1}
    assert linear_terms(num(3)) == ((3, ONE),) and linear_terms(A) == ((1, A),)


def test_a_new_symbol_is_read_where_its_meaning_is() -> None:
    order, named = ReadingOrder(["a", "b", "c"]), sym("#p")
    order.introduce(named, A * B, order.place(A * B))
    assert order.value(named) == order.value(A * B)
    assert [t for _, t in order.terms(C + named)] == [named, C]


def test_values_that_do_not_exist_are_zero_and_digits_are_cut() -> None:
    assert ORDER.value(1 / (A - A + K - num(Fraction(1, 2)))) == 0.0
    assert round_off(0.1 + 0.2) == round_off(0.3) and round_off(1.00000001) != round_off(1.0000002)


def test_numbers_beyond_all_floats_have_a_place_too() -> None:
    large = Fraction(10) ** 309
    assert [c for c, _ in ORDER.terms(A * B * C + large * A * B / 2 - large * A)] == [-large, large / 2, 1]
    assert ORDER.primitive(large * A - 2 * B)[0] == 2


def test_the_value_is_that_at_a_point_between_three_and_seven_tenths() -> None:
    names = [f"s{k}" for k in range(30)]
    order = ReadingOrder(names)
    point = {name: order.value(sym(name)) for name in names}
    assert all(0.3 <= v < 0.7 for v in point.values()) and len({*point.values()}) == 30
    s, t, u = (sym(name) for name in names[:3])
    for node in (
        2 * s * t - u / 3 + 1,
        s**2 / t**3,
        power(s + t, Fraction(3, 2)),
        call("sin", s * t) + exp(-u),
        step(s - 1) + call("sigmoid", t),
        num(Fraction(7, 3)),
    ):
        wanted = float(graph.evaluate([node], point, graph.FLOAT_FUNCTIONS, float)[0])
        assert order.value(node) == pytest.approx(wanted, rel=1e-14)
    assert order.value(sym("strange")) == 0.5 and order.value(call("log", s - 1)) == 0.0
    assert order.value(power(s - 1, Fraction(1, 2))) == pytest.approx((1 - point["s0"]) ** 0.5)


@pytest.mark.parametrize(
    ("node", "place"),
    [
        (ONE, ()),
        (A, (0,)),
        (C, (2,)),
        (K, (10**9,)),
        (A * C, (0, 2)),
        (C * A * B, (0, 1, 2)),
        (A * K, (0, 10**9)),
        (A**2 / B, (0, 1)),
        (call("sin", A * C), (0, 2)),
        (exp(2 * B), (1,)),
        (exp(call("sin", -3 * A * B)), (0, 1)),
        (A + B, (10**9,)),
        (C * (A + B), (2, 10**9)),
        (call("sin", A + B), (10**9,)),
        (num(7), (10**9,)),
    ],
)
def test_a_term_stands_at_the_symbols_that_it_shows(node: Node, place: tuple[int, ...]) -> None:
    """What is inside of a sum is hidden; a function or a multiple shows what it is made of."""
    order = ReadingOrder(["a", "b", "c"])
    assert order.place(node) == place
    assert order.factor(node) == (place, -round_off(abs(order.value(node))))
    assert order.term(-2, node) == (place, round_off(2 * order.value(node)))
    assert order.leading(-2, node) == order.leading(2, node) == (place, -round_off(abs(2 * order.value(node))))


def test_of_a_long_product_eight_places_are_enough() -> None:
    names = [f"s{k}" for k in range(12)]
    order = ReadingOrder(names)
    assert order.place(math.prod((sym(name) for name in reversed(names)), start=num(1))) == tuple(range(8))


def test_a_sum_and_its_negative_are_one_factor_and_larger_terms_come_first() -> None:
    order = ReadingOrder(["a", "b", "c"])
    assert order.factor(A - B * C) == order.factor(B * C - A)
    assert [c for c, _ in order.terms(2 * (A + B) ** 2 + 5 * (A + C) ** 2 + 3 * (B + C) ** 2)] == [5, 3, 2]
    assert order.primitive(A * B) == (1, A * B) and order.primitive(0.5 * A + B) == (1, 0.5 * A + B)
    inner = 2 * A - 4 * B
    assert order.shown(Fraction(3), inner**2 * C) == 12 and order.shown(Fraction(3), C / inner) == Fraction(3, 2)
    assert order.shown(Fraction(3), power(inner, Fraction(1, 2))) == 3
    assert round_off(1.23456784) == 1.2345678 and round_off(1.23456786) == 1.2345679
    assert round_off(123456789.0) == 123456790.0 and round_off(0.0) == 0.0


def test_terms_without_a_value_have_a_place_in_the_order_too() -> None:
    """The order of terms is that of the sum, however it is put together."""
    order = ReadingOrder(["a", "b", "c"])
    logs = [call("log", A - k) * (A - k - 1) for k in range(2, 8)]
    assert all(not math.isnan(order.value(each)) for each in logs)
    keys = [order.term(1, each) for each in (*logs, A * (B - C))]
    assert sorted(keys) == sorted(keys[::-1]) and len([key for key in keys if key == key]) == 7
