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


@needs_coq
def test_exponentials_of_logarithms_with_roots(tmp_path: Path) -> None:
    root = graph.sqrt(X**2 + Y**4)
    grown = graph.exp(graph.call("log", (X + root) / Y**2))
    arsinh = same(Y**2 * (grown - 1 / grown) / 2, X, ["x", "y"])
    assert said([arsinh], tmp_path).ok
    assert not said([same(Y**2 * (grown - 1 / grown) / 2, 2 * X, ["x", "y"])], tmp_path).ok


@needs_coq
def test_roots_with_divisors_under_them(tmp_path: Path) -> None:
    root = graph.sqrt(1 + X**2 / Y**4)
    assert said([same((root + X / Y**2) * (root - X / Y**2), graph.ONE, ["x", "y"])], tmp_path).ok


@needs_coq
def test_powers_of_exponentials_that_have_names(tmp_path: Path) -> None:
    slow = X * Y / (9 * (1 + X + Y + X * Y))
    twice = graph.exp(2 * slow) + graph.exp(slow) * graph.exp(slow)
    assert said([same(twice, 2 * graph.exp(slow) ** 2, ["x", "y"])], tmp_path).ok
