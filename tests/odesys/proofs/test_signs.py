"""Inequalities."""

from pathlib import Path

from odesys import graph, sym
from odesys.proofs.theory import theory
from tests.coq import above, needs_coq, said, said_of

X, Y = sym("x"), sym("y")


@needs_coq
def test_coefficients_of_one_sign(tmp_path: Path) -> None:
    assert said(
        [
            above(X * X + Y + graph.exp(Y), ["x"], ["y"]),
            above(graph.exp(2 * X) - graph.exp(-X) + Y, ["x"], ["y"]),
            above(1 / X - 1 / (X + 1), ["x"]),
        ],
        tmp_path,
    ).ok


@needs_coq
def test_an_inequality_the_other_way_round_does_not_check(tmp_path: Path) -> None:
    made = theory(["t"], [above(1 / (X + 1) - 1 / X, ["x"])])
    assert made.statements == 1
    assert not said_of(made.text, tmp_path).ok
