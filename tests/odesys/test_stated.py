"""What proofs hand over."""

import pytest

from odesys import always_positive, equal, graph, identity, proved, stated, sym
from odesys.stated import Stated, Unstated, recorded
from odesys.verdicts import without_statements

X, Y = sym("x"), sym("y")


def handed(check):
    """What a check hands over."""
    with recorded():
        return check().stated


def test_nothing_is_recorded_unless_asked_for() -> None:
    assert equal({"same": ((X + 1) ** 2, X**2 + 2 * X + 1)}).stated == ()


def test_both_sides_values_and_signs_are_handed_over() -> None:
    with recorded():
        first = equal({"at y": (X * Y, X**2)}, ["x"], given={Y: X})
        both = first & always_positive({"above": graph.exp(X)}, ["x"])
    sides, above = both.stated
    assert isinstance(sides, Stated)
    assert isinstance(above, Stated)
    assert (sides.left, sides.right, sides.values, sides.positive) == (X * Y, X**2, ((Y, X),), ("x",))
    assert (above.relation, above.right) == ("<", graph.exp(X))


def test_a_difference_hands_over_its_sides_as_they_were_written() -> None:
    (gap,) = handed(lambda: identity({"gap": X * (X + Y) - X**2 - X * Y}))
    assert (gap.left, gap.right, gap.residual) == (X * (X + Y) - X**2, X * Y, False)
    (total,) = handed(lambda: identity({"sum": X * (X + Y) + (-(X**2) - X * Y)}))
    assert (total.left, total.right) == (X * (X + Y), X**2 + X * Y)


def test_a_difference_at_values_hands_over_its_sides_and_the_values() -> None:
    (gap,) = handed(lambda: identity({"gap": graph.substitute([X * (X + Y) - 2 * Y**2], {X: Y})[0]}))
    assert gap.residual  # it vanishes as it is: nothing is left to look up
    at_two = {Y: graph.num(2)}
    (gap,) = handed(lambda: identity({"gap": graph.substitute([(X + Y) * (X - Y) - (X**2 - 4)], at_two)[0]}))
    assert (gap.left, gap.right, dict(gap.values)) == ((X + Y) * (X - Y), X**2 - 4, at_two)


def test_what_never_is_positive_hands_over_its_negation() -> None:
    (below,) = handed(lambda: always_positive({"gap": graph.exp(-X) - 1}, positive=["x"]))
    assert (below.relation, below.left, below.right) == ("<", graph.ZERO, 1 - graph.exp(-X))


def test_the_number_of_written_forms_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stated, "MOST_WRITTEN", 2)
    with recorded():
        first, last = X - Y, X - Y**2
        assert X - Y**3 is not X
    assert (stated.sides(first), stated.sides(last)) == (None, (X, Y**2))


def test_a_difference_and_a_bare_proof_say_so() -> None:
    with recorded():
        both = identity({"gap": X - X}) & proved()
    gap, bare = both.stated
    assert isinstance(gap, Stated)
    assert gap.residual
    assert isinstance(bare, Unstated)
    assert without_statements(both).stated == ()
