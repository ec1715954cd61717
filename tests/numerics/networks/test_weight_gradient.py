"""Reverse mode through tables and chains: shared images, transposed and repeated maps, maps that are not read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from numerics.networks.block_kernel import VARYING
from numerics.networks.weight_gradient import WeightGradient, _degree, _each, _may_be_tiny, _mean_sandwich, _sandwich
from odesys import Data, Sample, Space, Units, Words, blocks, gradient_flow, graph, logistic, maps, squared
from odesys.program.program import read_program

WORDS = Words("a b")
DATA = Data(WORDS, [(("a", "b"), 1), (("b", "-a"), 0)])


def tied(X: Any) -> Any:
    W = maps("W", Space("m"), WORDS)
    return (X.T @ W.T @ W @ X).sum()


def twice(X: Any) -> Any:
    A, w = maps("A", WORDS, WORDS), maps("w", 1, WORDS)
    return w @ A @ A.T @ A @ X[0]


def units(X: Any) -> Any:
    V, W = maps("V", 1, Units("r", 2)), maps("W", Units("r", 2), WORDS)
    return V @ (W @ X[0]) ** 2


def layers(X: Any) -> Any:
    V, W = maps("V", Units("s", 3), Units("r", 2)), maps("W", Units("r", 2), WORDS)
    return ((V @ (W @ X[0]) ** 2) ** 2).sum()


@pytest.mark.parametrize(("function", "train"), [(tied, "W"), (twice, "w"), (units, "V W"), (layers, "V W")])
def test_slopes_are_differences_of_the_loss(function: Any, train: str) -> None:
    program = gradient_flow(function, DATA, squared, train=train).program
    rng, sizes = (
        np.random.default_rng(0),
        {"W": (2, 2), "A": (2, 2), "w": (1, 2), "V": (3, 2) if function is layers else (1, 2)},
    )
    weights = {name: rng.normal(size=(1, *sizes[name])) for name in program.maps}
    words = {"E": np.linalg.qr(rng.normal(size=(2, 2)))[0][None]}
    reverse = WeightGradient(program, program.maps, {})
    for name, slope in reverse.gradients(weights, words).items():
        direction, h = rng.normal(size=slope.shape), 1e-5
        ends = [
            reverse.observe({**weights, name: weights[name] + s * h * direction}, words)["loss"][0] for s in (1, -1)
        ]
        assert (slope * direction).sum() == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-7, abs=1e-9)


def test_images_are_shared_between_tables_and_slopes() -> None:
    program = gradient_flow(tied, DATA, squared).program
    assert len(WeightGradient(program, ("W",), {}).images) == 2  # the words, and W on them


@pytest.mark.parametrize(("function", "train"), [(tied, "W"), (units, "V W"), (layers, "V W")])
def test_several_networks_have_the_means_over_their_own_vectors(function: Any, train: str) -> None:
    """Two networks with three sets of vectors each: as each of the six alone, and then the mean."""
    program = gradient_flow(function, DATA, squared, train=train).program
    rng, sizes = np.random.default_rng(3), {"W": (2, 2), "V": (3, 2) if function is layers else (1, 2)}
    weights = {name: rng.normal(size=(2, *sizes[name])) for name in program.maps}
    words = np.linalg.qr(rng.normal(size=(6, 2, 2)))[0]
    reverse = WeightGradient(program, program.maps, {})
    alone = [
        reverse.gradients({name: w[k // 3 : k // 3 + 1] for name, w in weights.items()}, {"E": words[k : k + 1]})
        for k in range(6)
    ]
    for name, mean in reverse.means(weights, {"E": words}).items():
        for network in range(2):
            own = np.mean([one[name][0] for one in alone[3 * network : 3 * network + 3]], axis=0)
            assert mean[network] == pytest.approx(own, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("sizes", [(2, 5, 3, 7), (7, 2, 5, 1), (1, 1, 4, 4), (6, 3, 2, 8)])
def test_products_in_any_order(sizes: tuple[int, ...]) -> None:
    p, r, q, c = sizes
    rng = np.random.default_rng(1)
    rows, slope, columns = rng.normal(size=(4, p, r)), rng.normal(size=(4, r, q)), rng.normal(size=(4, c, q))
    left, right = np.eye(r), np.eye(q)
    for given_rows, given_columns in ((rows, columns), (None, columns), (rows, None), (None, None)):
        expected = np.array(
            [
                (left if given_rows is None else given_rows[k])
                @ slope[k]
                @ (right if given_columns is None else given_columns[k]).T
                for k in range(4)
            ]
        )
        np.testing.assert_allclose(_sandwich(given_rows, slope, given_columns), expected, rtol=1e-12)


@pytest.mark.parametrize("networks", [1, 2, 6])
@pytest.mark.parametrize("shared", [(True, True), (True, False), (False, True), (False, False)])
def test_the_mean_of_products_over_the_samples_of_each_network(networks: int, shared: tuple[bool, bool]) -> None:
    rng = np.random.default_rng(2)
    slope = rng.normal(size=(6, 3, 2))
    rows, columns = (rng.normal(size=(1 if one else 6, 4, n)) for one, n in zip(shared, (3, 2), strict=True))
    for given_rows, given_columns in ((rows, columns), (None, columns), (rows, None), (None, None)):
        each = [
            (np.eye(3) if given_rows is None else given_rows[k % len(rows)])
            @ slope[k]
            @ (np.eye(2) if given_columns is None else given_columns[k % len(columns)]).T
            for k in range(6)
        ]
        expected = np.array(each).reshape(networks, 6 // networks, *each[0].shape).mean(axis=1)
        found = _mean_sandwich(given_rows, given_columns, slope, networks)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("networks", [1, 2, 3, 6])
def test_a_matrix_of_each_network_meets_the_vectors_of_its_samples(networks: int) -> None:
    rng = np.random.default_rng(3)
    matrix, inner = rng.normal(size=(networks, 5, 4)), rng.normal(size=(6, 4, 3))
    expected = np.array([matrix[k * networks // 6] @ inner[k] for k in range(6)])
    np.testing.assert_allclose(_each(matrix, inner), expected, rtol=1e-12)


def test_how_many_factors_a_loss_has() -> None:
    A, B = blocks.leaf("A", (2, 2)), blocks.leaf("B", (2, 2))
    for root, degree in (
        (blocks.constant([[1]]), 1),
        (A, 1),
        (blocks.add(A, B), 1),
        (A @ B, 2),
        (blocks.multiply(A @ B, A), 3),
        (blocks.softmax(A @ B) @ A, 3),
    ):
        assert _degree([root]) == degree
    assert _degree([A, A @ B @ A, B]) == 3


def weights_of(program: Any, networks: int = 1, seed: int = 0) -> dict[str, np.ndarray]:
    sizes = {"W": (2, 2), "A": (2, 2), "w": (1, 2), "V": (1, 2)}
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=(networks, *sizes[name])) for name in program.maps}


def test_a_map_that_is_not_read_has_no_slope() -> None:
    program = gradient_flow(units, DATA, squared, train="V W").program
    reverse = WeightGradient(program, ("V", "B", "W"), {})
    weights = {**weights_of(program, 2), "B": np.ones((2, 3, 5))}
    words = {"E": np.linalg.qr(np.random.default_rng(1).normal(size=(4, 2, 2)))[0]}
    for found in (reverse.means(weights, words), reverse.signs(weights, words)):
        assert list(found) == ["V", "B", "W"] and found["V"].any() and found["W"].any()
        assert found["B"].shape == (2, 3, 5) and not found["B"].any()
    alone = {name: array[:1] for name, array in weights.items()}
    found = reverse.gradients(alone, {"E": words["E"][:1]})
    assert found["B"].shape == (1, 3, 5) and not found["B"].any() and found["V"].any()


def pairs(X: Any) -> Any:
    V, W = maps("V", 1, Units("r", 2)), maps("W", Units("r", 2), WORDS)
    return V @ ((W @ X[0]) * (W @ X[0]))


@pytest.mark.parametrize("function", [pairs, twice])
def test_numbers_that_differ_from_sample_to_sample_are_as_if_they_were_bound(function: Any) -> None:
    """A label y and a bias b: values, slopes, their means and signs, in floats and beyond."""
    one = Data(WORDS, [Sample(["a", "b"], "y")])
    program = read_program(lambda X: function(X) + "b", one, squared)
    given = np.array([[1.0, 0.5], [-2.0, 0.25], [0.5, -1.0], [3.0, 2.0]])
    weights = weights_of(program)
    words = np.linalg.qr(np.random.default_rng(5).normal(size=(4, 2, 2)))[0]
    reverse = WeightGradient(program, program.maps, {}, ["y", "b"])
    vectors = {"E": words, VARYING: given}
    each = [WeightGradient(program, program.maps, {"y": y, "b": b}) for y, b in given]
    seen = reverse.observe(weights, vectors)
    alone = [own.gradients(weights, {"E": words[k : k + 1]}) for k, own in enumerate(each)]
    for name, values in seen.items():
        exact = [own.observe(weights, {"E": words[k : k + 1]})[name][0] for k, own in enumerate(each)]
        assert values == pytest.approx(exact, rel=1e-12)
    many, means, signs = (f(weights, vectors) for f in (reverse.gradients, reverse.means, reverse.signs))
    reverse.far = np.inf
    beyond = reverse.signs(weights, vectors)
    for name in program.maps:
        for k in range(4):
            assert many[name][k] == pytest.approx(alone[k][name][0], rel=1e-11, abs=1e-12)
        assert means[name][0] == pytest.approx(np.mean([a[name][0] for a in alone], axis=0), rel=1e-11, abs=1e-12)
        assert np.array_equal(signs[name], np.sign(means[name])) and np.array_equal(beyond[name], signs[name])


@pytest.mark.parametrize("exponent", [-80, -110, -160, -200])
def test_signs_of_slopes_whose_factors_underflow_together(exponent: int) -> None:
    """The slope of log(1 + exp(-V (W x)^2)) by V is -(W x)^2 / 2 for tiny weights, and by W it is -V W x x'."""
    program = gradient_flow(pairs, Data(WORDS, [("a", 1)]), logistic, train="V W").program
    weights, small = weights_of(program), 10.0**exponent
    reverse = WeightGradient(program, program.maps, {})
    words = {"E": np.eye(2)[None]}
    first = weights["W"][0, :, 0]
    slopes = {"V": -(first**2)[None], "W": -np.outer(weights["V"][0, 0] * first, [1, 0])}
    found = reverse.signs({name: small * array for name, array in weights.items()}, words)
    for name, exact in slopes.items():
        assert np.array_equal(found[name][0], np.sign(exact)), name


def test_products_of_factors_beyond_a_bound_stay_in_floats() -> None:
    for function in (pairs, twice):
        program = gradient_flow(
            function, Data(WORDS, [("a", 1), ("b", -1)]), logistic, train="w" if function is twice else "V W"
        ).program
        reverse = WeightGradient(program, program.maps, {})
        slopes = reverse._watched[0][: len(reverse.moved)]
        assert reverse.far ** _degree(slopes) == pytest.approx(1e-250)
        assert 0 < reverse.far < 1


def test_gates_are_never_tiny_and_other_functions_may_be() -> None:
    z = blocks.leaf("z", (2, 3))
    share = blocks.softmax(z)
    assert _may_be_tiny(share.args[0]) and _may_be_tiny(share.args[1]) and not _may_be_tiny(share)
    assert not _may_be_tiny(blocks.apply(blocks.STEP, z)) and _may_be_tiny(blocks.apply(graph.exp(blocks.Z), z))
    assert not _may_be_tiny(z) and not _may_be_tiny(z @ z.T)
    assert _degree([share]) == 2 and _degree([blocks.apply(blocks.STEP, z @ z.T)]) == 1


def test_a_gradient_of_a_read_out_in_closed_form() -> None:
    """f = w A A' A x under the logistic loss, by every map that occurs, also several times and transposed."""
    program = gradient_flow(twice, Data(WORDS, [("a", 1)]), logistic, train="w").program
    weights = weights_of(program, seed=8)
    A, w, x = weights["A"][0], weights["w"][0], np.array([[1.0], [0.0]])
    f = (w @ A @ A.T @ A @ x).item()
    reverse = WeightGradient(program, ("w", "A"), {})
    slope = -1 / (1 + np.exp(f))
    found = reverse.gradients(weights, {"E": np.eye(2)[None]})
    assert found["w"][0] == pytest.approx(slope * (A @ A.T @ A @ x).T, rel=1e-12)
    by_a = w.T @ (A.T @ A @ x).T + A @ x @ w @ A + (w @ A @ A.T).T @ x.T
    assert found["A"][0] == pytest.approx(slope * by_a, rel=1e-12)
    assert reverse.observe(weights, {"E": np.eye(2)[None]})["loss"] == pytest.approx([np.log1p(np.exp(-f))])
