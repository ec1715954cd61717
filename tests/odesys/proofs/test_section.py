"""Hypotheses and lemmas of a section."""

from odesys import graph, sym
from odesys.proofs.section import Section
from odesys.proofs.terms import Writer

X, Y = sym("x"), sym("y")


def section() -> Section:
    return Section(Writer({"x": "x", "y": "y"}), ["x"], [])


def test_a_divisor_of_known_sign_is_a_lemma_and_any_other_a_hypothesis() -> None:
    made = section()
    assert made.nonzero(X + graph.exp(Y)).startswith("z")
    assert not made.hypotheses
    made.nonzero(X + Y)
    assert list(made.hypotheses.values()) == ["(x + y) <> 0"]


def test_a_lemma_that_is_known_is_not_written_twice() -> None:
    made = section()
    first = made.equality((X + Y) * (X - Y), X * X - Y * Y)
    second = made.equality((X + Y) * (X - Y), X * X - Y * Y)
    assert first == second
    assert len(made.lemmas) == 1


def test_what_is_false_gets_no_lemma() -> None:
    made = section()
    assert made.equality((X + Y) ** 2, X * X + Y * Y) is None
    assert made.lemmas == []
