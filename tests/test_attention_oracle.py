"""Finite-width networks: gradients against finite differences, outputs against a literal loop, flows and descents."""

import math
import warnings
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import sympy as sp

from odesys.errors import IntegrationError, ModelError, ParameterError
from odesys.expr import graph
from odesys.model.attention import FixedVector, Head, Neurons, Value
from odesys.model.dictionary import Dictionary
from odesys.model.distribution import Distribution, Sample
from odesys.program.attention import AttentionModel
from tests.attention_oracle import (
    Network,
    attention_weights,
    descent_run,
    flow_run,
    network_gradients,
    network_loss,
    network_outputs,
    random_network,
    word_vectors,
)

WORDS = Dictionary(["c", "v", "u"])
SKEWED = Dictionary(
    ["c", "v", "u"], gram=[[2, Fraction(1, 2), 0], [Fraction(1, 2), 1, Fraction(-1, 3)], [0, Fraction(-1, 3), 3]]
)
FLAT = Dictionary(["c", "v", "u"], gram=[[1, 0, 1], [0, 1, 1], [1, 1, 2]])  # u = c + v: rank 2
MIXED = Distribution.proportional(
    [
        Sample(["c", "v", "-v"], +1, 2),
        Sample(["u", "u", "v"], -1),
        Sample(["c", "-u"], +1, 3),
        Sample(["v"], -1),
        Sample(["c", "-c", "u", "v", "c"], -1),
        Sample(["-v", "u", "-c"], +1),
    ]
)
PATCHES = Distribution.proportional(
    [
        Sample(["c", "v"], +1),
        Sample(["-c", "u"], -1),
        Sample(["u", "c"], +1),
        Sample(["v", "-c"], -1),
        Sample(["u", "u"], +1),
    ]
)


@dataclass(frozen=True)
class Toy:
    """A model with data, parameters and, if not width, the sizes of its free spaces."""

    model: AttentionModel
    data: Distribution
    parameters: dict[str, float] = field(default_factory=dict)
    loss: Any = "logistic"
    hidden: dict[str, int] = field(default_factory=dict)
    dimension: int = 4

    def network(self, seed: int, scale: float = 0.7, width: int = 6) -> Network:
        scales = dict.fromkeys(self.model.weights, scale)
        return random_network(self.model, width, self.dimension, scales, seed, self.parameters, self.hidden)


TWO_HEADS = Toy(AttentionModel(WORDS, [Head(+1, "relu", "b"), Head(-1, "relu", "b")]), MIXED, {"b": 0.3}, dimension=5)
TOYS = {
    "two relu heads": TWO_HEADS,
    "linear head, a W W_V": Toy(
        AttentionModel(WORDS, [Head()], Value(("W", "W_V"), FixedVector("a", "m1")), scale=1 / sp.sqrt(sp.Symbol("m"))),
        MIXED,
        {"m": 6, "m1": 2.0},
        hidden={"W": 7},
    ),
    "mean pooling, skewed words": Toy(
        AttentionModel(SKEWED, [Head(bias=Fraction(1, 5))], Value(("W_V",), FixedVector("w_O")), ("W_KQ",), "mean"),
        MIXED,
    ),
    "two patches": Toy(AttentionModel(WORDS, [Head()], scale="beta"), PATCHES, {"beta": 1.5}),
    "relu neurons": Toy(
        AttentionModel(WORDS, [Head()], Value(("W_O", "W_V"), Neurons((1, -1, Fraction(1, 2), "r"))), pooling="mean"),
        MIXED,
        {"r": -0.8},
        "hinge",
    ),
    "relu neurons by position": Toy(
        AttentionModel(FLAT, [Head(), Head(-1)], Value(("W_O", "W_V"), Neurons(([1, -1, 2], [2, "r", 1])))),
        PATCHES,
        {"r": 0.4},
        "hinge",
        dimension=3,
    ),
    "linear neurons, long chains": Toy(
        AttentionModel(
            SKEWED,
            [Head(1, "relu"), Head(-1)],
            Value(("A", "B", "C"), Neurons((1, -2), "linear")),
            ("P", "Q'", "R", "T'"),
            scale=sp.exp(-sp.Symbol("g")),
        ),
        MIXED,
        {"g": 0.5},
        (lambda z: np.exp(-z), lambda z: -np.exp(-z)),
        {"B": 3, "C": 4, "R": 5},
    ),
    "row vector after W_V, turned score map": Toy(AttentionModel(WORDS, [Head()], ("w", "W_V"), ("W_KQ'",)), MIXED),
}
each_toy = pytest.mark.parametrize("toy", TOYS.values(), ids=TOYS)


def number(node: Any, parameters: dict[str, float]) -> float:
    return float(graph.evaluate([node], parameters, {"exp": math.exp}, float, lambda x, p: x ** float(p))[0])


def output_by_loops(network: Network, tokens: tuple[str, ...]) -> float:
    """The formula of `odesys.model.attention`, one sum at a time."""
    model, weights, values = network.model, network.weights, dict(network.parameters)
    x = [sign * network.words[:, i] for i, sign in map(model.words.parse, tokens)]
    total = 0.0
    for k, head in enumerate(model.heads):
        maps = [weights[name][k] for name in model.value.maps]
        scores = [weights[n[:-1]][k].T if n.endswith("'") else weights[n][k] for n in model.score]
        pooled = 0.0
        for l, query in enumerate(x):
            s = []
            for key in x:
                image = query
                for matrix in reversed(scores):
                    image = matrix @ image
                s.append(number(model.scale, values) * float(key @ image))
            p = [1 / sum(math.exp(other - own) for other in s) for own in s]
            u = []
            for key in x:
                for matrix in reversed(maps):
                    key = matrix @ key
                u.append(weights[model.value.output.name] @ key if isinstance(model.value.output, FixedVector) else key)
            rows = np.atleast_1d(sum(p[h] * u[h] for h in range(len(x))))
            readout = model.readout[l] if model.readout.ndim == 2 else model.readout
            for i, row in enumerate(rows):
                pooled += number(readout[i], values) * (
                    max(row, 0.0) if getattr(model.value.output, "activation", "") == "relu" else row
                )
        pooled = pooled / (len(x) if model.pooling == "mean" else 1) + number(head.bias, values)
        total += head.sign * (max(pooled, 0.0) if head.activation == "relu" else pooled)
    return total


def finite_differences(network: Network, data: Distribution, name: str, loss: Any, h: float = 1e-5) -> np.ndarray:
    def shifted(index: tuple[int, ...], change: float) -> float:
        moved = np.array(network.weights[name])
        moved[index] += change
        return network_loss(replace(network, weights={**network.weights, name: moved}), data, loss)

    slope = np.empty(network.weights[name].shape)
    for index in np.ndindex(slope.shape):
        # fourth order, so that a step large against rounding is small against truncation
        near, far = (shifted(index, c) - shifted(index, -c) for c in (h, 2 * h))
        slope[index] = (8 * near - far) / (12 * h)
    return slope


def relative(difference: np.ndarray, size: np.ndarray) -> float:
    return float(np.linalg.norm(difference) / np.linalg.norm(size))


@each_toy
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_gradients_are_those_of_finite_differences(toy: Toy, seed: int) -> None:
    network = toy.network(seed)
    slopes = network_gradients(network, toy.data, toy.model.weights, toy.loss)
    assert list(slopes) == list(toy.model.weights)
    for name, slope in slopes.items():
        expected = finite_differences(network, toy.data, name, toy.loss)
        assert np.linalg.norm(expected) > 1e-6, "a flat direction tests nothing"
        assert relative(slope - expected, expected) < 1e-6, name
        assert relative(-slope - expected, expected) > 1, "the check can not fail"
        alone = network_gradients(network, toy.data, [name], toy.loss)
        assert list(alone) == [name]
        np.testing.assert_allclose(alone[name], slope, rtol=1e-12, atol=1e-15)


@each_toy
@pytest.mark.parametrize("seed", [4, 5])
def test_outputs_and_loss_are_those_of_literal_loops(toy: Toy, seed: int) -> None:
    network = toy.network(seed, scale=1.0)
    expected = np.array([output_by_loops(network, sample.tokens) for sample in toy.data.samples])
    np.testing.assert_allclose(network_outputs(network, toy.data), expected, rtol=1e-12, atol=1e-13)
    for loss in ("logistic", "hinge"):
        value = {"logistic": lambda z: math.log1p(math.exp(-z)), "hinge": lambda z: max(0.0, 1 - z)}[loss]
        mean = sum(float(s.weight) * value(s.label * f) for s, f in zip(toy.data.samples, expected, strict=True))
        assert network_loss(network, toy.data, loss) == pytest.approx(mean, rel=1e-12)


def test_toys_reach_both_sides_of_every_gate() -> None:
    for name in ("two relu heads", "relu neurons", "relu neurons by position"):
        toy, signs = TOYS[name], set()
        for seed in (1, 2, 3):
            network = toy.network(seed)
            linear = replace(network, model=without_gates(toy.model))
            signs.add(bool(np.allclose(network_outputs(network, toy.data), network_outputs(linear, toy.data))))
            margins = np.array([s.label for s in toy.data.samples]) * network_outputs(network, toy.data)
            assert toy.loss != "hinge" or (margins < 1).any()
        assert False in signs, f"no gate of {name!r} is ever closed"


def without_gates(model: AttentionModel) -> AttentionModel:
    heads = [Head(head.sign, "linear", head.bias) for head in model.heads]
    value = model.value
    if isinstance(value.output, Neurons):
        value = Value(value.maps, Neurons(value.output.readout, "linear"))
    return AttentionModel(model.words, heads, value, model.score, model.pooling, model.scale)


@each_toy
def test_flow_decreases_the_loss_and_moves_only_what_is_trained(toy: Toy) -> None:
    network, train = toy.network(23), toy.model.weights[-1:]  # a seed for which no toy slides along a kink
    times, run = flow_run(network, toy.data, train, (0, 0.5), toy.loss, 1e-8, 1e-10, np.linspace(0, 0.5, 6))
    losses = [network_loss(item, toy.data, toy.loss) for item in run]
    assert len(times) == len(run) == 6
    assert all(after < before for before, after in pairwise(losses))
    for name in network.weights:
        assert (name in train) != np.array_equal(run[-1].weights[name], network.weights[name]), name


def test_a_flow_that_slides_along_a_kink_ends_with_an_error() -> None:
    toy = TOYS["relu neurons"]
    with pytest.raises(IntegrationError, match="2000 gradients led only to") as caught:
        flow_run(toy.network(6), toy.data, ("W_Q",), (0, 0.5), "hinge", 1e-8, 1e-10, max_evaluations=2000)
    assert 0 < caught.value.objects["time"] < 0.5


def test_flow_dissipates_at_the_rate_of_the_squared_gradient() -> None:
    toy, times = TOYS["linear head, a W W_V"], np.linspace(0, 1, 41)
    _, run = flow_run(toy.network(7), toy.data, toy.model.weights, (0, 1), t_eval=times)
    rate = [sum(float(np.sum(g**2)) for g in network_gradients(x, toy.data, toy.model.weights).values()) for x in run]
    lost = network_loss(run[0], toy.data) - network_loss(run[-1], toy.data)
    weights = np.full(41, 4.0)
    weights[::2], weights[[0, -1]] = 2.0, 1.0  # Simpson's rule
    assert float(weights @ rate) / 120 == pytest.approx(lost, rel=1e-6)


def test_descent_approaches_the_flow_at_first_order() -> None:
    toy = TOYS["linear head, a W W_V"]
    network, train = toy.network(8), toy.model.weights
    _, run = flow_run(network, toy.data, train, (0.0, 1.0))
    gaps = []
    for steps in (50, 100, 200, 400):
        (_, end) = descent_run(network, toy.data, train, 1.0 / steps, steps)[-1]
        gaps.append(max(float(np.abs(end.weights[n] - run[-1].weights[n]).max()) for n in train))
    ratios = [a / b for a, b in pairwise(gaps)]
    assert gaps[0] > 1e-4 and all(1.9 < ratio < 2.1 for ratio in ratios), (gaps, ratios)


def test_descent_is_weights_minus_step_times_gradient() -> None:
    network, data = TWO_HEADS.network(9), TWO_HEADS.data
    run = descent_run(network, data, ("w", "W_K"), 0.1, 7, record=range(0, 8, 2))
    assert [number for number, _ in run] == [0, 2, 4, 6] and run[0][1] is network
    moved = network
    for _ in range(2):
        slopes = network_gradients(moved, data, ("w", "W_K"))
        moved = replace(moved, weights={**moved.weights, **{n: moved.weights[n] - 0.1 * g for n, g in slopes.items()}})
    for name in network.weights:
        np.testing.assert_allclose(run[1][1].weights[name], moved.weights[name], rtol=1e-13, atol=1e-15)
    assert descent_run(network, data, "w", 0.1, 0) == [(0, network)]


def test_a_frame_changes_nothing() -> None:
    """Words turned together with the maps: the same outputs, and gradients turned the same way."""
    network, data = TWO_HEADS.network(10), TWO_HEADS.data
    turn = np.linalg.qr(np.random.default_rng(11).standard_normal((5, 5)))[0]
    turned = replace(network, words=turn @ network.words, weights={n: w @ turn.T for n, w in network.weights.items()})
    np.testing.assert_allclose(network_outputs(turned, data), network_outputs(network, data), rtol=1e-12)
    for name, slope in network_gradients(network, data, ("w", "W_K", "W_Q")).items():
        np.testing.assert_allclose(
            network_gradients(turned, data, (name,))[name], slope @ turn.T, rtol=1e-10, atol=1e-14
        )
    for name, image in network.images().items():
        np.testing.assert_allclose(turned.images()[name], image, atol=1e-13)


def test_attention_has_a_row_for_each_query() -> None:
    network, tokens = TWO_HEADS.network(12), ("c", "-v", "c")
    weights = attention_weights(network, tokens)
    assert weights.shape == (2, 3, 3)
    np.testing.assert_allclose(weights.sum(axis=-1), 1.0, rtol=1e-14)
    e = network.words
    for k in range(2):
        score = (network.weights["W_K"][k] @ e[:, 0]) @ (network.weights["W_Q"][k] @ -e[:, 1])  # key c, query -v
        other = (network.weights["W_K"][k] @ -e[:, 1]) @ (network.weights["W_Q"][k] @ -e[:, 1])
        assert weights[k, 1, 0] == pytest.approx(1 / (2 + math.exp(other - score)), rel=1e-12)


def test_images_have_the_shapes_a_flow_takes() -> None:
    shapes = {name: {n: x.shape for n, x in toy.network(13).images().items()} for name, toy in TOYS.items()}
    assert shapes["two relu heads"] == {"w": (2, 3), "W_K": (2, 6, 3), "W_Q": (2, 6, 3)}
    assert shapes["linear head, a W W_V"] == {
        "a": (7,),
        "W": (1, 7, 6),
        "W_V": (1, 6, 3),
        "W_K": (1, 6, 3),
        "W_Q": (1, 6, 3),
    }
    assert shapes["mean pooling, skewed words"] == {"w_O": (6,), "W_V": (1, 6, 3), "W_KQ": (1, 3, 3)}
    assert shapes["relu neurons by position"]["W_O"] == (2, 3, 6)
    assert shapes["linear neurons, long chains"] == {
        "A": (2, 2, 3),
        "B": (2, 3, 4),
        "C": (2, 4, 3),
        "P": (2, 3, 6),
        "Q": (2, 5, 6),
        "R": (2, 5, 6),
        "T": (2, 3, 6),
    }
    assert shapes["row vector after W_V, turned score map"]["w"] == (1, 1, 6)
    network = TOYS["mean pooling, skewed words"].network(13)
    e, image = network.words, network.images()
    np.testing.assert_allclose(image["W_KQ"][0], e.T @ network.weights["W_KQ"][0] @ e)
    np.testing.assert_allclose(image["W_V"][0], network.weights["W_V"][0] @ e)


@pytest.mark.parametrize(("words", "rank"), [(WORDS, 3), (SKEWED, 3), (FLAT, 2)])
def test_word_vectors_have_the_gram_matrix(words: Dictionary, rank: int) -> None:
    rng = np.random.default_rng(14)
    for dimension in (rank, 7):
        vectors = word_vectors(words.gram_floats(), dimension, rng)
        assert vectors.shape == (dimension, 3)
        np.testing.assert_allclose(vectors.T @ vectors, words.gram_array().astype(float), atol=1e-13)
    with pytest.raises(ModelError, match=rf"span {rank} dimensions.*dimension {rank - 1}"):
        word_vectors(words.gram_floats(), rank - 1, rng)


def test_random_network_follows_scales_and_seed() -> None:
    model = AttentionModel(WORDS, [Head()], Value(("W", "W_V"), FixedVector("a", "m1")))
    scales = {"W": 0.5, "W_K": 0.1}
    network = random_network(model, 200, 3, scales, 15, {"m1": 3.0})
    assert float(network.weights["a"] @ network.weights["a"]) == pytest.approx(3.0, rel=1e-14)
    assert len(set(np.abs(network.weights["a"]))) == 1 and len(set(network.weights["a"])) == 2
    assert network.weights["W"].std() == pytest.approx(0.5, rel=0.02)
    assert network.weights["W_K"].std() == pytest.approx(0.1, rel=0.1)
    assert not network.weights["W_V"].any() and not network.weights["W_Q"].any()
    again = random_network(model, 200, 3, {"W_K": 0.1}, np.random.default_rng(15), {"m1": 3.0})
    for name in ("a", "W_K"):
        np.testing.assert_array_equal(again.weights[name], network.weights[name])
    np.testing.assert_array_equal(again.words, network.words)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_huge_weights_do_not_overflow(loss: str) -> None:
    network = TWO_HEADS.network(16)
    huge = replace(network, weights={name: 1e5 * w for name, w in network.weights.items()})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(network_loss(huge, MIXED, loss))
        for slope in network_gradients(huge, MIXED, TWO_HEADS.model.weights, loss).values():
            assert np.isfinite(slope).all()


def test_a_gate_is_closed_on_its_kink() -> None:
    model = AttentionModel(WORDS, [Head(+1, "relu")])
    network = random_network(model, 3, 3, {"W_K": 1.0}, 17)  # w = 0, so every head output is exactly 0
    assert not any(slope.any() for slope in network_gradients(network, MIXED, model.weights).values())
    neurons = AttentionModel(WORDS, [Head()], Value(("W_O",), Neurons((1, 2))))
    assert not network_gradients(random_network(neurons, 3, 3, {}, 17), MIXED, ("W_O",))["W_O"].any()
    linear = random_network(AttentionModel(WORDS, [Head(bias=1)]), 3, 3, {}, 17)  # f = 1: margin 1 on every sample
    assert not network_gradients(linear, Distribution([Sample(["c"], 1)]), ("w",), "hinge")["w"].any()


def test_errors_are_one_sentence() -> None:
    network, data, train = TWO_HEADS.network(18), TWO_HEADS.data, ("w",)
    for span in ((0, -1), (0, math.nan), (math.nan, 1), (0, math.inf)):
        with pytest.raises(ParameterError, match="time span"):
            flow_run(network, data, train, span)
    for times in ([0, 2], [0.5, 0.5], [0.5, 0.2], [math.nan]):
        with pytest.raises(ParameterError, match="times to record"):
            flow_run(network, data, train, (0, 1), t_eval=times)
    for step, steps in ((0, 1), (-0.1, 1), (math.nan, 1), (math.inf, 1), (0.1, -1), (0.1, 1.5)):
        with pytest.raises(ParameterError, match="steps of size"):
            descent_run(network, data, train, step, steps)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="between 0 and 3"):
        descent_run(network, data, train, 0.1, 3, record=[4])
    with pytest.raises(IntegrationError, match="overflows at step number"):
        linear = TOYS["linear head, a W W_V"]
        exponential = (lambda z: np.exp(-z), lambda z: -np.exp(-z))
        with np.errstate(all="ignore"):
            descent_run(linear.network(18), linear.data, linear.model.weights, 1e6, 100, loss=exponential)
    for run, rest in ((network_gradients, ()), (flow_run, ((0, 1),)), (descent_run, (0.1, 1))):
        with pytest.raises(ModelError, match=r"'W_X' is not a map.*w, W_K, W_Q"):
            run(network, data, ("w", "W_X"), *rest)  # type: ignore[operator]
    with pytest.raises(ModelError, match="'a' is not a map that moves"):
        network_gradients(TOYS["linear head, a W W_V"].network(1), data, ("a",))
    with pytest.raises(ModelError, match="nothing is trained"):
        flow_run(network, data, (), (0, 1))
    for loss in ("squared", (1, 2), 3, (lambda z: z,)):
        with pytest.raises(ModelError, match="loss"):
            network_gradients(network, data, train, loss)  # type: ignore[arg-type]


def test_a_network_checks_its_parts() -> None:
    network = TWO_HEADS.network(19)
    weights = dict(network.weights)
    for bad in (math.nan, math.inf):
        spoilt = np.array(weights["W_K"])
        spoilt[0, 0, 0] = bad
        with pytest.raises(ModelError, match=r"the weights W_K of a network.*NaN"):
            replace(network, weights={**weights, "W_K": spoilt})
    with pytest.raises(ModelError, match="weights W_Q of a network are missing"):
        replace(network, weights={n: w for n, w in weights.items() if n != "W_Q"})
    for name, wrong in (("w", weights["w"][:, 0]), ("W_Q", weights["W_Q"][:, :-1]), ("W_K", weights["W_K"][:1])):
        with pytest.raises(ModelError, match=f"the weights {name} have shape"):
            replace(network, weights={**weights, name: wrong})
    with pytest.raises(ModelError, match="Gram matrix"):
        replace(network, words=2 * network.words)
    with pytest.raises(ValueError, match="read-only"):
        network.weights["w"][0] = 1.0
    with pytest.raises(ParameterError, match=r"the bias of a head.*b"):
        network_outputs(replace(network, parameters={}), MIXED)
    with pytest.raises(ParameterError, match="the bias of a head"):
        network_outputs(replace(network, parameters={"b": math.nan}), MIXED)
    with pytest.raises(ModelError, match=r"3 tokens.*2 positions"):
        network_outputs(TOYS["relu neurons by position"].network(1), Distribution([Sample(["c", "v", "u"], 1)]))
    model = TOYS["linear head, a W W_V"].model
    for scales, hidden, error in (
        ({"w": 1.0}, {}, ModelError),
        ({"W": -1.0}, {}, ParameterError),
        ({"W": math.nan}, {}, ParameterError),
        ({}, {"W_K": 2, "W_Q": 3}, ModelError),
        ({}, {"W": 0}, ParameterError),
        ({}, {"X": 2}, ModelError),
    ):
        with pytest.raises(error):
            random_network(model, 4, 3, scales, 1, {"m1": 1.0}, hidden)
    with pytest.raises(ParameterError, match="the length of a"):
        random_network(model, 4, 3, {}, 1, {"m1": -1.0})
    with pytest.raises(ParameterError, match="positive integers"):
        random_network(model, 0, 3, {}, 1, {"m1": 1.0})


def test_a_flow_over_no_time_stays() -> None:
    network = TWO_HEADS.network(20)
    times, run = flow_run(network, MIXED, ("w",), (2.0, 2.0))
    assert times.tolist() == [2.0] and run == [network]
