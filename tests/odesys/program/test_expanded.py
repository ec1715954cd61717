"""Means of arrays over normals against quadrature and known moments; a dropped pairing is noticed."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from odesys import blocks, graph, num, sym
from odesys.errors import ModelError
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

    def bYhand(point: np.ndarray) -> np.ndarray:
        u, v = point
        P = values @ np.array([[u, 1], [u * v, v], [2, u - v]])
        S = (P**2 - 3 * P + b) * P.T
        cubes = np.array([[S[0, 1], S[1, 1]], [S[1, 0], S[1, 1]]]) ** 3
        out = np.array([[cubes[0, 0], cubes[0, 1]], [0, cubes[1, 0] + cubes[1, 1]]])
        total: np.ndarray = out.sum(axis=0) + P.sum(axis=1)
        return total

    (floats,) = blocks.evaluate([found], {"W": values}, {"b": b})
    assert np.allclose(floats[0], quadrature(bYhand, 2, 20), rtol=1e-11)
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


def test_parts_meet_where_both_maYdiffer_from_zero() -> None:
    a, b = np.array([[True, False], [False, True]]), np.array([[True, False], [True, True], [False, False]])
    assert _overlaps(a, b).tolist() == [[True, True, False], [False, True, False]]


def test_the_mean_of_a_product_maYhave_a_plain_factor() -> None:
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


X, Y, Z = sym("x"), sym("y"), sym("z")


def random_block(rng: Random, depth: int) -> blocks.Block:
    """Blocks of two axes: constants with and without normals, a leaf, and every operation of low degree."""
    if depth == 0:
        shape = rng.choice([(2, 3), (1, 3), (2, 1), (1, 1)])
        if rng.random() < 0.25:
            return blocks.take(blocks.leaf("W", (2, 3)), tuple(np.zeros(shape, dtype=int) + k for k in (1, 2)))
        pool = [X, Y, num(0), num(2), X * Y, X - 1, sym("b") * Y, num(0), Y**2 + X]
        return blocks.constant([[rng.choice(pool) for _ in range(shape[1])] for _ in range(shape[0])])
    left, right = random_block(rng, depth - 1), random_block(rng, rng.randrange(depth))
    if any(a != b and 1 not in (a, b) for a, b in zip(left.shape, right.shape, strict=True)):
        right = left
    rows, columns = left.shape
    match rng.randrange(8):
        case 0:
            return blocks.add(left, right)
        case 1:
            return blocks.multiply(left, right)
        case 2:
            return left @ right.T if right.shape[1] == columns else left @ left.T
        case 3:
            return blocks.sum_axis(left, rng.randrange(2))
        case 4:
            return blocks.reshape(left, (columns, rows)).T if rng.random() < 0.5 else left.T.T
        case 5:
            return blocks.apply(rng.choice([Z**2 - 3 * Z + sym("b"), 2 * Z + 1, Z**3 if depth == 1 else Z**2]), left)
        case 6:
            index = np.ix_([rng.randrange(rows) for _ in range(2)], [rng.randrange(columns) for _ in range(3)])
            return blocks.take(left, tuple(np.broadcast_to(i, (2, 3)) for i in index))
    places = tuple(np.array([[rng.randrange(2) for _ in range(columns)] for _ in range(rows)]) for _ in range(2))
    return blocks.add(blocks.scatter(left, places, (2, 2)), blocks.scatter(left, places[::-1], (2, 2)))


@pytest.mark.parametrize("seed", range(40))
def test_the_mean_of_random_blocks_is_that_of_their_values(seed: int) -> None:
    """The block itself, evaluated at the points of a quadrature that is exact for its degree."""
    rng = Random(seed)
    root = random_block(rng, 2)
    if rng.random() < 0.5:
        root = blocks.multiply(root, root)
    if rng.random() < 0.3:
        root = blocks.multiply(root, blocks.constant([[[Y]], [[X + 1]]]))  # one axis more, broadcast as in NumPy
    leaves = {"W": np.arange(6.0).reshape(2, 3) / 3 - 1}

    def value(point: np.ndarray) -> np.ndarray:
        return np.asarray(blocks.evaluate([root], leaves, {"b": 0.7, "x": point[0], "y": point[1]})[0], dtype=float)

    found = mean(root, ["x", "y"])
    assert found.shape == root.shape
    (floats,) = blocks.evaluate([found], leaves, {"b": 0.7})
    wanted = np.tensordot(*_points(value), axes=1)
    np.testing.assert_allclose(
        np.asarray(floats, dtype=float), wanted, rtol=1e-9, atol=1e-8 * np.abs(wanted).max() + 1e-9
    )


def _points(value: Any, nodes: int = 13) -> tuple[np.ndarray, np.ndarray]:
    """Weights and values at the points."""
    at, weights = np.polynomial.hermite_e.hermegauss(nodes)
    weights = weights / weights.sum()
    points = list(product(at, repeat=2))
    return np.array([u * v for u in weights for v in weights]), np.array([value(np.array(p)) for p in points])


def test_products_that_never_meet_are_zero_and_keep_their_shape() -> None:
    a, b = blocks.constant([[X, 0], [0, 0]]), blocks.constant([[0, Y], [X, 0]])
    for root in (blocks.multiply(a, b), blocks.multiply(blocks.multiply(a, b), b), blocks.constant([[X, Y, X**3]])):
        found = mean(root, ["x", "y"])
        assert found.shape == root.shape
        assert all(entry is num(0) for entry in blocks.evaluate([found], {})[0].flat)
    never = blocks.constant([[X, 0]]) @ blocks.constant([[0], [Y]])
    (entry,) = blocks.evaluate([mean(blocks.apply(Z**2 + 1, never), ["x", "y"])], {})[0].flat
    assert entry is num(1)


def test_what_has_no_expansion_is_refused_with_its_name() -> None:
    normal = blocks.constant([[X, 1]])
    for root in (blocks.Block("shifted_exp", (normal,), (1, 2)), blocks.log_sum_exp(normal)):
        with pytest.raises(ModelError, match=r"^softmax is no polynomial"):
            mean(root, ["x"])
    with pytest.raises(ModelError, match="is no polynomial"):
        mean(blocks.apply(graph.exp(Z), normal), ["x"])
