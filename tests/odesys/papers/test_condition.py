"""A condition with its ratio: holds up to rounding, and says by how much it is violated."""

from odesys.papers.condition import Condition, violated


def test_equality_holds_up_to_rounding_and_no_further() -> None:
    assert Condition("7", "m >= M^2", 1 - 1e-12).holds and not Condition("7", "m >= M^2", 1 - 1e-6).holds


def test_sentences_say_by_how_much() -> None:
    assert str(Condition(7, "m >= M^2", 3.0)) == "(7) m >= M^2: holds with a factor 3 to spare"
    assert str(Condition(7, "m >= M^2", 0.25)) == "(7) m >= M^2: violated by a factor 4"
    assert str(Condition(7, "m >= M^2", 0.0)) == "(7) m >= M^2: violated whatever the constant"


def test_only_what_is_violated_is_told() -> None:
    both = [Condition("1", "a >= b", 2.0), Condition("2", "b >= c", 0.5)]
    assert violated(both) == ["(2) b >= c: violated by a factor 2"] and violated(both[:1]) == []
