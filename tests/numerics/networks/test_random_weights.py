"""Random weights: which maps move away from zero, how large they are, and which draws are shared."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from numerics.networks.random_weights import word_vectors
from odesys import (
    Data,
    Space,
    Units,
    Words,
    gradient_flow,
    heavy_ball,
    integrate,
    iterate,
    logistic,
    maps,
    program_networks,
    softmax,
)
from odesys.errors import ModelError, ParameterError

WORDS, M = Words("a b", gram=[[2, 1], [1, 1]]), Space("m")
W, V, A = maps("W", M, WORDS), maps("V", Units("y", 1), M), maps("A", WORDS, WORDS)
FLOW = gradient_flow(lambda X: V @ W @ X @ softmax(X.T @ A @ X[0]), Data(WORDS, [("a b", 1)]), logistic)


def test_words_have_their_inner_products_in_any_dimension() -> None:
    net = FLOW.network(width=3, omega=1, widths={"E": 5})
    assert net.words["E"].shape == (5, 2) and np.allclose(net.words["E"].T @ net.words["E"], [[2, 1], [1, 1]])
    assert {name: array.shape for name, array in net.weights.items()} == {"V": (1, 3), "W": (3, 5), "A": (5, 5)}


def test_maps_that_meet_their_transpose_have_the_scale_and_the_others_are_zero() -> None:
    net = FLOW.network(width=4000, omega=0.5, seed=2)
    assert np.allclose(net.weights["W"].T @ net.weights["W"], 0.25 * np.eye(2), atol=0.02)
    assert np.allclose(net.weights["V"] @ net.weights["V"].T, 0.25, atol=0.02)  # the sum runs over the width
    assert not net.weights["A"].any()


def test_omega_that_reaches_no_map_is_said() -> None:
    """With listed axes no map meets its transpose, and a two-layer network at zero never moves."""
    hidden = Units("h", 2)
    rows, out = maps("W", hidden, WORDS), maps("V", 1, hidden)
    flow = gradient_flow(lambda X: out @ rows @ X[0], Data(WORDS, [("a", 1)]), logistic)
    with pytest.warns(UserWarning, match="all weights start at zero, where the gradient is zero: .* as scales="):
        net = flow.network(omega=0.5)
    assert not any(weights.any() for weights in net.weights.values())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        flow.network(), flow.network(omega=0.5, scales={"W": 1, "V": 1}), FLOW.network(width=4, omega=0.5)
        row = maps("w", 1, WORDS)  # a linear read-out moves from zero
        gradient_flow(lambda X: row @ X[0], Data(WORDS, [("a", 1)]), logistic).network(omega=0.5)


def test_one_scale_changes_no_other_map() -> None:
    one, two = (FLOW.network(width=4, omega=1, seed=5, scales=scales) for scales in ({}, {"V": 3}))
    assert np.array_equal(one.weights["W"], two.weights["W"]) and not np.array_equal(one.weights["V"], two.weights["V"])


def test_velocities_start_at_rest() -> None:
    w = maps("w", 1, WORDS)
    flow = heavy_ball(lambda X: w @ X[0], Data(WORDS, [("a", 1)]), logistic)
    net = flow.network(scales={"w": 1}, parameters={"gamma": 1})
    assert net.weights["w"].any() and not net.weights["dw"].any()


def test_an_ensemble_has_a_network() -> None:
    with pytest.raises(ModelError, match="at least one network"):
        program_networks(FLOW, seeds=[], width=2)


def test_words_are_drawn_in_a_uniform_frame_with_their_inner_products() -> None:
    """The first of two orthonormal words has either sign of each coordinate equally often, and mean square 1/d."""
    rng = np.random.default_rng(0)
    frames = np.array([word_vectors(np.eye(2), 3, rng) for _ in range(400)])
    assert np.allclose(frames.mT @ frames, np.eye(2), atol=1e-12)
    assert np.abs((frames > 0).mean(axis=0) - 0.5).max() < 0.1
    assert np.abs((frames**2).mean(axis=0) - 1 / 3).max() < 0.07
    for gram in ([[2.0, 1.0], [1.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]], [[4.0, 0.0], [0.0, 1e-14]], [[0.0, 0.0]] * 2):
        for dimension in (1, 2, 5):
            rank = int(np.linalg.matrix_rank(np.array(gram), tol=1e-9))
            if dimension >= rank:
                vectors = word_vectors(np.array(gram), dimension, rng)
                assert vectors.shape == (dimension, 2) and np.allclose(vectors.T @ vectors, gram, atol=1e-12)
            else:
                with pytest.raises(ModelError, match=f"span {rank} dimensions, .* into dimension {dimension}") as said:
                    word_vectors(np.array(gram), dimension, rng)
                assert said.value.objects["rank"] == rank


@pytest.mark.parametrize("gram", [None, [[2, 1], [1, 1]]])
def test_values_are_those_at_the_words_on_either_side(gram: list | None) -> None:
    """A matrix with words along its rows, its columns, both or neither, in words that are not orthonormal too."""
    words, hidden = Words("a b", gram=gram), Units("h", 2)
    right, left, both = maps("R", hidden, words), maps("L", words, hidden), maps("A", words, words)
    flow = gradient_flow(
        lambda X: (X[0].T @ both @ X[0]) + (X[0].T @ left @ right @ X[0]), Data(words, [("a", 1)]), logistic
    )
    table = np.array([[1.0, 2.0], [3.0, 5.0]])
    net = flow.network(values={"R": table, "L": 2 * table, "A": 3 * table}, widths={"E": 4})
    assert {name: array.shape for name, array in net.weights.items()} == {"A": (4, 4), "L": (4, 2), "R": (2, 4)}
    images = net.images()
    for name, factor in (("R", 1), ("L", 2), ("A", 3)):
        assert np.allclose(images[name], factor * table, atol=1e-12)
    assert np.allclose(flow.initial_state(weights=images), net.paths(), atol=1e-12)
    for wrong, sentence in (
        ([[1, 2, 3]], r"the values of R have shape \(1, 3\) instead of \(2, 2\)"),
        ([1, 2], r"the values of R have shape \(2,\) instead of \(2, 2\)"),
        ("x", r"the values of R are not a matrix of numbers of shape \(2, 2\)"),
    ):
        with pytest.raises(ModelError, match=sentence):
            flow.network(values={"R": wrong}, omega=1.0)


def test_a_row_of_values_may_be_written_flat() -> None:
    w, v = maps("w", 1, WORDS), maps("v", WORDS, 1)
    flow = gradient_flow(lambda X: w @ X[0] + X[0].T @ v, Data(WORDS, [("a b", 1)]), logistic)
    net = flow.network(values={"w": [3, 4], "v": [5, 6]})
    assert np.allclose(net.images()["w"], [[3, 4]]) and np.allclose(net.images()["v"], [[5], [6]])
    with pytest.raises(ModelError, match=r"not a matrix of numbers of shape \(1, 2\)"):
        flow.network(values={"w": [3, 4, 5]})


def test_values_that_dependent_words_can_not_have_are_refused_on_either_side() -> None:
    """The third word is the sum of the other two."""
    words = Words("a b c", gram=[[1, 0, 1], [0, 1, 1], [1, 1, 2]])
    w, v = maps("w", 1, words), maps("v", words, 1)
    flow = gradient_flow(lambda X: w @ X[0] + X[0].T @ v, Data(words, [("a", 1)]), logistic)
    good = {"w": [1e-3, 2e3, 2e3 + 1e-3], "v": [1, 2, 3]}
    net = flow.network(values=good)
    assert np.allclose(net.images()["w"], [good["w"]]) and np.allclose(net.images()["v"].T, [good["v"]])
    large = {"w": [1e9, -1e9 / 3, 2e9 / 3], "v": [1e9 / 3, -1e9 / 3, 0]}
    assert np.allclose(flow.network(values=large).images()["v"].T, [large["v"]], atol=1e-5)
    for name in ("w", "v"):
        with pytest.raises(ModelError, match=f"the values of {name} differ between words"):
            flow.network(values={**good, name: [1, 2, 3.001]})


def test_dimensions_are_whole_numbers_for_every_space() -> None:
    for options, sentence in (
        ({}, r"the space m needs a dimension; add width=\.\.\., or widths=\{'m': \.\.\.\}"),
        ({"width": True}, "the dimension of m is True"),
        ({"width": 2.0}, "the dimension of m is 2.0"),
        ({"width": 0}, "the dimension of m is 0; it is a whole number above 0"),
        ({"width": 2, "widths": {"y": 3}}, "widths has 'y', but the free spaces of the program are "),
        ({"width": 2, "widths": 3}, r"widths=3 is no table by name, such as widths=\{'m': 100\}; width= is one"),
        ({"width": 2, "scales": 0.1}, r"scales=0.1 is no table by name, such as scales=\{'m': 100\}$"),
    ):
        with pytest.raises((ModelError, ParameterError), match=sentence):
            FLOW.network(omega=1.0, **options)
    one = FLOW.network(width=np.int64(1), omega=1.0, widths={"E": np.int64(2)})
    assert one.weights["W"].shape == (1, 2) and one.weights["V"].shape == (1, 1)
    assert FLOW.network(widths={"m": 3}, omega=1.0).weights["V"].shape == (1, 3)


def test_scales_are_asked_for_where_a_map_starts_at_random() -> None:
    with pytest.raises(ModelError, match=r"the map V starts at random.*scales=\{'V': \.\.\.\}"):
        FLOW.network(width=3)
    with pytest.raises(ModelError, match="the map W starts at random"):
        FLOW.network(width=3, scales={"V": 1})
    with pytest.raises(ModelError, match="the map W starts at random"):
        FLOW.network(width=3, values={"V": [1, 2, 3]})
    net = FLOW.network(width=3, scales={"V": 1}, values={"W": np.ones((3, 2))})
    assert net.weights["V"].any() and np.allclose(net.weights["W"] @ net.words["E"], 1)
    still = FLOW.network(width=3, scales={"V": 0, "W": 0})
    assert not any(array.any() for array in still.weights.values())
    with pytest.raises(ParameterError, match="omega"):
        FLOW.network(width=3, omega=-1)


def test_a_generator_is_gone_on_with_and_a_seed_is_begun_anew() -> None:
    rng = np.random.default_rng(5)
    one, two, again = (FLOW.network(width=2, omega=1, seed=s) for s in (rng, rng, 5))
    assert np.array_equal(one.weights["W"], again.weights["W"]) and not np.array_equal(
        one.weights["W"], two.weights["W"]
    )
    for seed in ("x", -1, 0.5):
        with pytest.raises(ParameterError, match="is not a whole number from 0 on, or a generator"):
            FLOW.network(width=2, omega=1, seed=seed)
    nets = program_networks(FLOW, seeds=[5, 6], width=2, omega=1)
    assert len(nets) == 2 and np.array_equal(nets[0].weights["W"], again.weights["W"])


@pytest.mark.parametrize("step", [False, True])
def test_the_start_with_velocities_is_the_limit_of_networks(step: bool) -> None:
    """Momentum starts at rest at infinite width too: the gap of networks to the theory falls as their width grows."""
    words, omega = Words("a b"), 0.5
    W, V = maps("W", M, words), maps("V", 1, M)
    flow = heavy_ball(lambda X: V @ W @ X[0], Data(words, [("a", 1), ("b", -1)]), logistic, friction=0.5, step=step)
    moving = [("d" in name.partition("_")[0]) for name in flow.system.names]

    def loss(start: np.ndarray) -> float:
        if step:
            return iterate(flow.system, start, 20, {"eta": 0.2}).final["loss"]
        return integrate(flow, start, (0.0, 4.0)).final["loss"]

    start = flow.initial_state(omega=omega)
    assert any(moving) and not start[moving].any() and start.any()
    assert np.array_equal(start, flow.initial_state(omega=omega, dW=0, dV=0))
    assert np.array_equal(start, flow.initial_state(W=omega**2, V=omega**2))
    quotient = flow.quotient()
    np.testing.assert_allclose(quotient.lift(quotient.initial_state(omega=omega)), start, atol=1e-15)
    theory, gaps = loss(start), []
    for width in (20, 2000):
        nets = [flow.network(width, seed, omega) for seed in range(12)]
        gaps.append(np.sqrt(np.mean([(loss(net.paths()) - theory) ** 2 for net in nets])))
    assert gaps[1] < gaps[0] / 5 and gaps[1] < 0.01


def test_a_size_that_is_given_to_a_velocity_is_honoured() -> None:
    words = Words("a b")
    W, V = maps("W", M, words), maps("V", 1, M)
    flow = heavy_ball(lambda X: V @ W @ X[0], Data(words, [("a", 1)]), logistic, friction=0.5)
    rest = flow.network(4000, 1, 0.5)
    net = flow.network(4000, 1, 0.5, scales={"dW": 0.3 / 4000**0.5})
    assert np.array_equal(net.weights["W"], rest.weights["W"]) and np.array_equal(net.weights["V"], rest.weights["V"])
    assert np.allclose(net.weights["dW"].T @ net.weights["dW"], 0.09 * np.eye(2), atol=0.01)
    assert not net.weights["dV"].any() and not rest.weights["dW"].any()
    assert np.abs(net.paths() - flow.initial_state(omega=0.5, dW=0.09)).max() < 0.03
    assert flow.initial_state(omega=0.5, dW=0.09).max() == 0.25
    assert sorted(set(flow.initial_state(omega=0.5, dW=0.09))) == [0, 0.09, 0.25]
