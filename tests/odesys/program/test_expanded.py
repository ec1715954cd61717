"""Means of arrays over normals against quadrature and known moments; a dropped pairing is noticed."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from odesys import blocks, graph, num, sym
from odesys.program import wick
from odesys.program.expanded import _overlaps, mean


def quadrature(function: Any, number: int, nodes: int = 8) -> Any:
    """The mean over `number` standard normals by Gauss-Hermite quadrature, exact to degree 2 nodes - 1 in each."""
    at, weights = np.polynomial.hermite_e.hermegauss(nodes)
    weights = weights / weights.sum()
    points = np.array(list(product(at, repeat=number)))
    mass = np.array([np.prod(w) for w in product(weights, repeat=number)])
    return mass @ np.array([function(p) for p in points])


def test_the_mean_of_a_block_against_quadrature() -> None:
    """Every operation: constants, sums, products, matrix products, transposes, entries, powers."""
    x, y, z = sym("x"), sym("y"), sym("z")
    W = blocks.leaf("W", (2, 3))
    T = blocks.constant([[x, 1], [x * y, y], [2, x - y]])
    index = (np.array([[0, 1], [1, 1]]), np.array([[1, 1], [0, 1]]))
    product_ = W @ T
    square = blocks.apply(z**2 - 3 * z + sym("b"), product_)
    chosen = blocks.take(blocks.multiply(square, product_.T), index)
    spread = blocks.scatter(
        blocks.apply(z**3, chosen), (np.array([[0, 0], [1, 1]]), np.array([[0, 1], [1, 1]])), (2, 2)
    )
    root = blocks.add(blocks.sum_axis(spread, 0), blocks.reshape(blocks.sum_axis(product_, 1), (1, 2)))
    found = mean(root, ["x", "y"])
    values, b = np.random.default_rng(5).normal(size=(2, 3)), 0.7

    def by_hand(point: np.ndarray) -> np.ndarray:
        u, v = point
        P = values @ np.array([[u, 1], [u * v, v], [2, u - v]])
        S = (P**2 - 3 * P + b) * P.T
        cubes = np.array([[S[0, 1], S[1, 1]], [S[1, 0], S[1, 1]]]) ** 3
        out = np.array([[cubes[0, 0], cubes[0, 1]], [0, cubes[1, 0] + cubes[1, 1]]])
        total: np.ndarray = out.sum(axis=0) + P.sum(axis=1)
        return total

    (floats,) = blocks.evaluate([found], {"W": values}, {"b": b})
    assert np.allclose(floats[0], quadrature(by_hand, 2, 20), rtol=1e-11)
    assert not {"x", "y"} & {
        s for c in blocks.topological([found]) if c.op == "constant" for s in graph.symbols(c.data.flat)
    }


def wishart_square(d: int, n: int) -> list[list[Any]]:
    """E (X X')^2 for a d x n matrix of normals."""
    X = blocks.constant([[sym(f"x{i}_{j}") for j in range(n)] for i in range(d)])
    S = X @ X.T
    (found,) = blocks.evaluate([mean(S @ S, [f"x{i}_{j}" for i in range(d) for j in range(n)])], {})
    return [list(row) for row in found]


def wishart_known(d: int, n: int) -> list[list[Any]]:
    return [[num(n * (n + d + 1) if i == j else 0) for j in range(d)] for i in range(d)]


@pytest.mark.parametrize(("d", "n"), [(1, 1), (2, 1), (1, 3), (2, 2), (3, 2)])
def test_second_moment_of_a_wishart_matrix(d: int, n: int) -> None:
    assert wishart_square(d, n) == wishart_known(d, n)


def test_a_dropped_pairing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wick, "_pairings", lambda power: 2 if power == 4 else 0 if power % 2 else 1)
    assert wishart_square(2, 2) != wishart_known(2, 2)


def test_what_has_no_normals_stays_as_it_is() -> None:
    W = blocks.leaf("W", (2, 2))
    root = blocks.apply(graph.exp(sym("z")), W)
    assert mean(root, ["x"]) is root
    x = blocks.constant([[sym("x"), 0], [0, sym("x")]])
    (zero,) = blocks.evaluate([mean(blocks.multiply(root, x), ["x"])], {"W": np.ones((2, 2))}, {})
    assert not zero.any()


def test_parts_meet_where_both_may_differ_from_zero() -> None:
    a, b = np.array([[True, False], [False, True]]), np.array([[True, False], [True, True], [False, False]])
    assert _overlaps(a, b).tolist() == [[True, True, False], [False, True, False]]


def test_the_mean_of_a_product_may_have_a_plain_factor() -> None:
    x = sym("x")
    plain = blocks.leaf("W", (1, 2))
    random = blocks.constant([[x, x**2]])
    rng = np.random.default_rng(1)
    W = rng.normal(size=(1, 2))
    for first, second, expected in (
        (plain, random, W * [0, 1]),
        (random, plain, W * [0, 1]),
        (plain, plain, W * W),
        (random, random, np.array([[1, 3]])),
    ):
        found = mean(blocks.multiply(first, second), ["x"])
        np.testing.assert_allclose(blocks.evaluate([found], {"W": W}, {})[0].reshape(1, 2), expected)
