"""Reading order: by states, then by size; the same for a sum and its negative, and whatever was built before."""

from __future__ import annotations

from fractions import Fraction

import pytest

from odesys.expr.graph import ONE, Node, exp, linear_terms, num, sym
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
