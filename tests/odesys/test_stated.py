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


def test_an_expression_knows_the_last_ways_it_was_written() -> None:
    """Each once, the latest last, a few of one expression; of numbers and symbols none."""
    with recorded():
        whole = (X + Y) * (X - Y)
        for factor in range(2, 9):
            assert (whole / factor) * factor is whole
        assert (X - Y) * (X + Y) is whole and (X + Y) * (X - Y) is whole
        ways = stated.forms[whole]
        assert [way[1:] for way in ways] == [
            ("*", whole / 7, graph.num(7)),
            ("*", whole / 8, graph.num(8)),
            ("*", X - Y, X + Y),
            ("*", X + Y, X - Y),
        ]
        assert len(ways) == stated.MOST_FORMS and [way[0] for way in ways] == sorted(way[0] for way in ways)
        assert graph.num(3) * 2 not in stated.forms and (X * Y) / Y is X and X not in stated.forms
        power = (X + 1) ** 2
        assert (X + 1) ** 2 is power
        assert [way[1:] for way in stated.forms[power]] == [("^", X + 1, 2)]
        assert stated.forms[1 / (X + 1)][-1][1:] == ("/", graph.ONE, X + 1)
    with recorded():
        assert not stated.forms and not stated.written


def test_so_many_forms_are_kept_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stated, "MOST_WRITTEN", 2)
    with recorded():
        for k in range(6):
            assert X * (Y + k) is not X
        assert len(stated.forms) == 3


def test_sums_and_differences_are_known_by_their_members() -> None:
    with recorded():
        total, gap = X**2 + Y, X**2 - 2 * Y
        assert stated.sides(total) == (X**2, -Y) and stated.sides(gap) == (X**2, 2 * Y)
        assert gap + 0 is gap and stated.sides(gap) == (X**2, 2 * Y)  # nothing was added
        assert (X + Y) - Y is X and stated.sides(X) is None and stated.sides(X * Y) is None
        assert X**2 + X - (X + 2 * Y) is gap and stated.sides(gap) == (X**2 + X, X + 2 * Y)  # as it was written last
        with recorded(False):
            assert not stated.recording() and (X - 5 * Y) is not X
        assert stated.recording() and stated.sides(X - 5 * Y) == (X, 5 * Y) and stated.sides(gap) is not None
    assert not stated.recording()


def test_what_was_put_in_is_known_of_results_that_are_no_symbols() -> None:
    with recorded():
        values = {X: graph.exp(Y)}
        result, symbol, same = graph.substitute([X * Y, X * 0 + Y, Y**2 + 1], values)
        assert stated.origins[result] == stated.Substituted(X * Y, values)
        assert symbol not in stated.origins and same not in stated.origins
        other = graph.substitute([graph.exp(Y) * X], {X: Y})[0]
        assert other is result and stated.origins[result].root is X * Y  # the first is kept


def test_titles_are_those_of_expressions_and_the_first_one_stays() -> None:
    node = graph.call("sinh", X * Y + 3)
    stated.note_titles({node: "first", X: "a symbol", graph.num(3): "a number"})
    stated.note_titles({node: "second"})
    try:
        assert stated.titles[node] == "first" and X not in stated.titles and graph.num(3) not in stated.titles
    finally:
        del stated.titles[node]


def test_relations_are_turned_so_that_the_smaller_side_is_left() -> None:
    relations = {"a": (1, "=", 2), "b": (1, "!=", 2), "c": (1, "<", 2), "d": (1, "<=", 2)}
    more = {"e": (2, ">", 1), "f": (2, ">=", 1)}
    found = stated.handed(relations | more, ["y", "x", "y"], {"z"}, {X: 3}, [(X, ">", 0), (X, "<=", 5)])
    assert [(s.name, s.left, s.relation, s.right) for s in found] == [
        *((name, 1, relation, 2) for name, (_, relation, _) in relations.items()),
        ("e", 1, "<", 2),
        ("f", 1, "<=", 2),
    ]
    for each in found:
        assert (each.positive, each.nonnegative, each.values) == (("x", "y"), ("z",), ((X, 3),))
        assert each.where == ((0, "<", X), (X, "<=", 5)) and not each.residual
    with pytest.raises(ValueError, match="sides are compared by"):
        stated.handed({"a": (1, "==", 2)}, (), (), {}, ())
