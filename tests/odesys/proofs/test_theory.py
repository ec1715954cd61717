"""Whole files: what checks, and what must not."""

from pathlib import Path

from odesys import graph, sym
from odesys.proofs.theory import comment, theory
from tests.coq import needs_coq, said, said_of, same

X, Y = sym("x"), sym("y")
BINOMIAL = same((X + Y) ** 2 / 2, X * X / 2 + X * Y + Y * Y / 2)


@needs_coq
def test_a_broken_twin_does_not_check(tmp_path: Path) -> None:
    text = theory(["t"], [BINOMIAL]).text
    assert said_of(text, tmp_path / "true").ok
    right = next(line for line in text.splitlines() if line.startswith("Definition right_1"))
    twin = text.replace(right, right.replace(" + ", " - ", 1))
    assert twin != text
    assert not said_of(twin, tmp_path / "twin").ok


@needs_coq
def test_a_false_identity_does_not_check(tmp_path: Path) -> None:
    assert not said([same((X + Y) ** 2, X * X + Y * Y)], tmp_path).ok


def test_a_difference_alone_is_left_out_and_the_rest_is_there() -> None:
    made = theory(["t"], [same(X, graph.ZERO, residual=True), BINOMIAL])
    assert made.statements == 1
    assert "not its two sides" in made.left_out[0]
    assert theory(["t"], [same(X, graph.ZERO, residual=True)]).statements == 0


def test_sides_of_one_normal_form_are_counted() -> None:
    assert theory(["t"], [same(X + Y, Y + X), BINOMIAL]).by_definition == 1


def test_a_comment_can_not_end_early() -> None:
    assert comment("a *) b (* c") == "(* a * ) b ( * c *)"
