"""What proofs hand over."""

from odesys import always_positive, equal, graph, identity, proved, sym
from odesys.stated import Stated, Unstated, recorded
from odesys.verdicts import without_statements

X, Y = sym("x"), sym("y")


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


def test_a_difference_and_a_bare_proof_say_so() -> None:
    with recorded():
        both = identity({"gap": X - X}) & proved()
    gap, bare = both.stated
    assert isinstance(gap, Stated)
    assert gap.residual
    assert isinstance(bare, Unstated)
    assert without_statements(both).stated == ()
