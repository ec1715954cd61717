"""Which paths a program reads, and what its blocks are worth; random programs are in the tests of their networks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from odesys import (
    Data,
    OdesysError,
    Sample,
    Space,
    Units,
    Words,
    cross_entropy,
    gradient_flow,
    graph,
    logistic,
    maps,
    norm,
    softmax,
    squared,
)
from odesys.program.program import read_program

WORDS, M = Words("a b c"), Space("m")
DATA = Data(WORDS, [("a b", 1), ("c b", -1)])
W_K, W_Q = maps("W_K W_Q", M, WORDS)
w, Z = maps("w", 1, WORDS), maps("Z", WORDS, WORDS)


def paths(f, data: Data = DATA, loss=logistic) -> set[str]:
    return {str(path) for path in read_program(f, data, loss).tables}


def test_paths_are_read_once_in_one_orientation() -> None:
    assert paths(lambda X: (w @ X @ softmax(X.T @ W_K.T @ W_Q @ X)).sum()) == {"E'.W_K'.W_Q.E", "w.E"}
    assert paths(lambda X: (X[0].T @ Z @ X[1]) + (X[1].T @ Z.T @ X[0])) == {"E'.Z.E"}


def test_a_number_and_its_transpose_are_one() -> None:
    """x' Z y = y' Z' x, whichever of the two is met first, so one may stand for the other."""
    one = gradient_flow(lambda X: X[0].T @ Z @ X[1] * 2, DATA, logistic).system
    pairs = [
        lambda X: (X[0].T @ Z @ X[1]) + (X[1].T @ Z.T @ X[0]),
        lambda X: (X[1].T @ Z.T @ X[0]) + (X[0].T @ Z @ X[1]),
        lambda X: (X[1].T @ Z.T @ X[0]) * 2,
    ]
    point = np.random.default_rng(2).normal(size=(3, 3))
    for pair in pairs:
        other = gradient_flow(pair, DATA, logistic).system
        found = []
        for system in (one, other):  # whose states are the entries of Z or of its transpose
            turned = r"Z^\top" in system.tex["Z_a_b"]
            rates = np.reshape(system.compile()(0.0, (point.T if turned else point).ravel()), (3, 3))
            found.append(rates.T if turned else rates)
        assert found[0][0, 1] != 0
        np.testing.assert_allclose(found[1], found[0], rtol=1e-14)


def test_sums_of_maps_and_residual_streams_are_multiplied_out() -> None:
    B, A = maps("B", 1, M), maps("A", M, WORDS)
    assert paths(lambda X: (w + B @ A) @ X[0]) == {"w.E", "B.A.E"}
    assert paths(lambda X: w @ (X[0] + Z @ X[1])) == {"w.E", "w.Z.E"}


def test_products_of_columns_and_rows_associate_either_way() -> None:
    left = gradient_flow(lambda X: w @ (X @ X.T) @ Z @ X[-1], DATA, logistic).system
    right = gradient_flow(lambda X: w @ X @ (X.T @ Z @ X[-1]), DATA, logistic).system
    assert left.names == right.names and left.nodes == right.nodes


def test_counts_are_repeated_tokens() -> None:
    def f(X):
        return w @ X @ softmax(X.T @ Z @ X[-1]) + (w @ X).mean() + (w @ X @ X.T @ Z @ X[-1]) / X.count

    listed = Data(WORDS, [(("b", "a", "a", "c"), 1)])
    counted = Data(WORDS, [Sample(["b", "a", "c"], 1, counts=[1, 2, 1])])
    one, two = (gradient_flow(f, data, logistic).system for data in (listed, counted))
    assert one.names == two.names and one.nodes == two.nodes


def test_real_tokens_are_combinations_of_words() -> None:
    half = Fraction(1, 2)
    real = Data(WORDS, [(({"a": half, "b": 2}, "c"), 1)])

    def f(X):
        return w @ X[0] + X[0].T @ Z @ X[1]

    system = gradient_flow(f, real, squared).system
    x = np.arange(1.0, 1 + system.dimension)
    value = dict(zip(system.names, x, strict=True))
    known = 0.5 * value["w_a"] + 2 * value["w_b"] + 0.5 * value["Z_a_c"] + 2 * value["Z_b_c"]
    assert float(system.with_observables({}).compile()(0.0, x)[system.names.index("w_c")]) == 0.0
    observed = system.observables["f_1"]
    got = graph.substitute([observed], {graph.sym(n): graph.num(Fraction(int(v))) for n, v in value.items()})[0]
    assert float(got.args[0]) == known


def test_norm_of_free_vectors_is_a_path() -> None:
    assert paths(lambda X: (W_K @ X[0]).T @ (W_Q @ X[1]) / norm(W_K @ X[0])) == {"E'.W_K'.W_Q.E", "E'.W_K'.W_K.E"}


def test_cross_entropy_of_a_sure_network_keeps_its_digits() -> None:
    Y = maps("Y", Units("y", 3), WORDS)
    flow = gradient_flow(lambda X: Y @ X[0], Data(WORDS, [("a", 0)]), cross_entropy)
    rates = flow.system.compile()
    x = np.zeros(9)
    x[flow.system.names.index("Y_y1_a")] = 60.0
    rate = dict(zip(flow.system.names, rates(0.0, x), strict=True))
    assert rate["Y_y1_a"] == pytest.approx(2 * np.exp(-60.0), rel=1e-12)


def classes(X):
    return maps("Y", Units("y", 3), WORDS) @ X[0]


def placed(X):
    return maps("v", 1, X.rows) @ X.positions[0]


def counted() -> Data:
    return Data(Words("a b c", positions=2), [Sample(["a", "b"], 1, counts=[1, 2])])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: read_program(lambda X: Z @ X[0], DATA, squared), "is in the space of the words a"),
        (lambda: read_program(lambda X: 3, DATA, squared), "returns int"),
        (lambda: read_program(lambda X: X[0].T @ X[1], DATA, squared), "reads no map"),
        (lambda: read_program(lambda X: w @ X[0], [("a", 1)], squared), "is trained on Data"),
        (lambda: read_program(lambda X: w @ X[0], DATA, lambda f, y: 3), "a function \\(f, y\\) that returns numbers"),
        (lambda: read_program(lambda X: w @ X[0], DATA, lambda f: f), "a loss is a function"),
        (lambda: read_program(lambda: w, DATA, squared), "a program is a function of the tokens"),
        (lambda: read_program(lambda X: w @ X[0], Data(WORDS, [("a", 0)]), logistic), "takes signs \\+1 and -1"),
        (lambda: read_program(classes, Data(WORDS, [("a", [1, 1, 0])]), cross_entropy), "sums to 2"),
        (lambda: read_program(classes, Data(WORDS, [("a", [2, -1, 0])]), cross_entropy), "has the entry -1"),
        (lambda: read_program(classes, Data(WORDS, [("a", 0)]), lambda f, y: (f - y) @ (f - y).T), "is a table of"),
        (lambda: read_program(placed, counted(), squared), "no position of its own"),
        (
            lambda: read_program(
                lambda X: w @ X[0] + maps("w", 1, Words("x y")).T.T @ Words("x y").all[0], DATA, squared
            ),
            "same name E|two maps are called w",
        ),
    ],
)
def test_refused(make, words: str) -> None:
    with pytest.raises(OdesysError, match=words):
        make()


def test_products_of_columns_and_rows_compose_in_any_order() -> None:
    words = Words("a b")
    w = maps("w", 1, words)
    data = Data(words, [(({"a": 2, "b": 1}, "b"), 1)])
    left = gradient_flow(lambda X: (w @ (X @ X.T @ (X @ X.T)) @ X).sum(), data, squared)
    right = gradient_flow(lambda X: (X.T @ (X @ X.T @ (X @ X.T)).T @ w.T).sum(), data, squared)
    assert all(a is b for a, b in zip(left.system.nodes, right.system.nodes, strict=True))
