"""What is known of functions."""

from pathlib import Path

from odesys import graph, sym
from tests.coq import needs_coq, said, same

X, Y = sym("x"), sym("y")
SIGMOID = graph.call("sigmoid", X)


@needs_coq
def test_exponentials_sigmoids_and_roots(tmp_path: Path) -> None:
    assert said(
        [
            same(graph.exp(2 * X + Y) - 1, graph.exp(X) ** 2 * graph.exp(Y) - 1),
            same(SIGMOID + graph.call("sigmoid", -X), graph.ONE),
            same(graph.call("tanh", X), 2 * graph.call("sigmoid", 2 * X) - 1),
            same((1 + graph.sqrt(Y)) ** 2, 1 + 2 * graph.sqrt(Y) + Y, ["y"]),
        ],
        tmp_path,
    ).ok
