"""Both sides of a statement are one expression: they are shown as they were written."""

import operator
import random
from fractions import Fraction
from pathlib import Path

import pytest

from benchmarks.proofs import broken
from odesys import equal, graph, num, sym
from odesys.proofs.forms import LARGEST, Form, written_forms
from odesys.proofs.theory import theory
from odesys.stated import recorded
from tests.coq import needs_coq, said_of

ALPHA, HALF = sym("alpha"), Fraction(1, 2)


def made(left, right):
    """The file of a pair that is written while statements are recorded."""
    with recorded():
        verdict = equal({"pair": (left(), right())}, ("alpha",))
        return theory(["t"], verdict.stated)


def powers():
    """One power in two ways."""
    return made(lambda: 1 / (ALPHA * ALPHA) ** 2 / (1 / ALPHA**2), lambda: 1 / ALPHA**2)


@needs_coq
def test_two_ways_to_write_a_power(tmp_path: Path) -> None:
    found = powers()
    assert found.by_definition == 0
    assert "(alpha * alpha) ^ 2" in found.text
    assert said_of(found.text, tmp_path).ok


@needs_coq
def test_its_broken_twin_does_not_check(tmp_path: Path) -> None:
    twin = broken(powers().text)
    assert twin is not None
    assert not said_of(twin, tmp_path).ok


def test_one_way_to_write_it_is_by_definition() -> None:
    assert made(lambda: ALPHA + 1, lambda: ALPHA + 1).by_definition == 1
    assert made(lambda: 2 / ALPHA, lambda: 2 / ALPHA).by_definition == 1


def test_a_product_with_one_says_nothing() -> None:
    assert made(lambda: 2 / ALPHA, lambda: (2 / ALPHA) * 1 + 0).by_definition == 1


def test_a_third_of_it_is_it_over_three() -> None:
    assert made(lambda: (ALPHA + 1) / 3, lambda: Fraction(1, 3) * (ALPHA + 1)).by_definition == 1


def test_a_long_sum_is_shown_down_to_its_largest_number_of_operations() -> None:
    with recorded():
        total = ALPHA
        for k in range(LARGEST + 10):
            total = total + sym(f"x{k}")
        (form,) = written_forms(total)
    operations = 0
    while isinstance(form, Form):
        operations, form = operations + 1, form.left
    assert operations == LARGEST


@needs_coq
def test_ways_to_write_a_root(tmp_path: Path) -> None:
    """Coq's field knows nothing of a root but what is said of its square."""
    for left, right in (
        (lambda: ALPHA / ALPHA**HALF, lambda: ALPHA**HALF),
        (lambda: 1 / (ALPHA**HALF * ALPHA**HALF), lambda: ALPHA**HALF / (ALPHA * ALPHA**HALF)),
    ):
        found = made(left, right)
        assert found.by_definition == 0 and "sqrt_positive_square" in found.text
        assert said_of(found.text, tmp_path).ok


def evaluated(part, point):
    """The value of a form at a point."""
    if not isinstance(part, Form):
        return graph.evaluate([part], point, {}, Fraction)[0]
    left = evaluated(part.left, point)
    if isinstance(part.right, Fraction):
        assert part.right.denominator == 1
        return left**part.right.numerator
    right = evaluated(part.right, point)
    match part.operation:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
    assert part.operation == "/"
    return left / right


OPERATIONS = (operator.add, operator.sub, operator.mul, operator.truediv)


@pytest.mark.parametrize("seed", range(30))
def test_a_form_has_the_value_of_its_node(seed: int) -> None:
    """Also where 0 and 1 take part, and powers."""
    rng = random.Random(seed)
    point = {"alpha": Fraction(2, 3), "b": Fraction(-5, 7)}
    with recorded():
        pool = [ALPHA, sym("b"), ALPHA + 2, num(0), num(1)]
        for _ in range(12):
            left, right = rng.choice(pool), rng.choice(pool)
            if rng.random() < 0.2:
                made = left ** rng.choice([2, 3]) if left is not num(0) else left
            else:
                made = left - right if right is num(0) else rng.choice(OPERATIONS)(left, right)
            pool.append(made)
            for form in written_forms(made):
                assert evaluated(form, point) == evaluated(made, point)


def test_what_changes_nothing_is_left_out_of_a_form() -> None:
    with recorded():
        shapes = {
            "1 x": num(1) * (ALPHA + 1),
            "x / 1": (ALPHA + 2) / num(1),
            "0 + x": num(0) + (ALPHA + 3),
            "x - 0": (ALPHA + 4) - num(0),
        }
        for name, node in shapes.items():
            assert [form.operation for form in written_forms(node)] == ["+"], name
        (turned,) = written_forms(num(0) - (ALPHA + 5))[-1:]
        assert (turned.operation, turned.left) == ("-", num(0))


BETA = sym("beta")
PAIRS = {
    "an exponential": (lambda: 2 * (graph.exp(ALPHA) + 1), lambda: 2 * graph.exp(ALPHA) + 2),
    "a nested quotient": (lambda: 1 / (1 / ALPHA + 1 / (ALPHA + 1)), lambda: (1 / ALPHA + 1 / (1 + ALPHA)) ** -1),
    "a quotient of a product": (lambda: (ALPHA * BETA) / (2 * ALPHA * BETA**2), lambda: 1 / (2 * BETA)),
    "a power of a quotient": (lambda: (ALPHA / BETA) ** 3, lambda: ALPHA**3 / BETA**3),
    "a negative power": (lambda: (ALPHA + BETA) ** -2 * ALPHA, lambda: ALPHA / ((ALPHA + BETA) * (ALPHA + BETA))),
    "below a function": (
        lambda: graph.exp(2 * (ALPHA + 1)) * 2,
        lambda: graph.exp(2 * ALPHA + 2) + graph.exp(2 + 2 * ALPHA),
    ),
}


@needs_coq
def test_ways_to_write_an_expression_are_equal_to_it(tmp_path: Path) -> None:
    with recorded():
        verdict = equal({name: (left(), right()) for name, (left, right) in PAIRS.items()}, ("alpha", "beta"))
        found = theory(["t"], verdict.stated)
    assert (found.statements, found.by_definition, found.left_out) == (len(PAIRS), 0, ())
    assert said_of(found.text, tmp_path / "true").ok
    assert not said_of(found.text.replace("(alpha / beta) ^ 3", "(alpha / beta) ^ 2"), tmp_path / "twin").ok


@needs_coq
def test_a_form_over_named_parts_opens_as_many_names_as_it_needs(tmp_path: Path) -> None:
    """A long sum has a name; a form that needs its terms opens it, one that does not leaves it closed."""
    with recorded():
        long = graph.add([sym(f"x{k}") * sym(f"y{k}") ** 2 for k in range(8)])
        pairs = {
            "closed": (2 * (long + 1) * long, 2 * long * long + 2 * long),
            "opened": (long * 2 - long, 3 * long - 2 * long),
        }
        verdict = equal(pairs, (*(f"x{k}" for k in range(8)), *(f"y{k}" for k in range(8))))
        found = theory(["t"], verdict.stated)
    assert found.left_out == ()
    assert said_of(found.text, tmp_path).ok
