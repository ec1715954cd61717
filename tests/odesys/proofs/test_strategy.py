"""Which parts a proof leaves closed."""

from odesys import graph, sym
from odesys.proofs.strategy import choose, functions_in

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
