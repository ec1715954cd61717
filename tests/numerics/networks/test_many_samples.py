"""One program over arrays of samples: the slopes of the flow that lists these samples, and its networks."""

import numpy as np
import pytest
import sympy as sp

from odesys import (
    Data,
    ManySamples,
    ParameterError,
    Sample,
    Space,
    Words,
    function,
    gradient_flow,
    logistic,
    maps,
    relu,
    softmax,
)
from odesys.errors import ModelError

WORDS, M = Words("a b c"), Space("m")
w, (W_K, W_Q) = maps("w", 1, WORDS), maps("W_K W_Q", M, WORDS)
COUNTS, LABELS = [[1, 2, 3], [2, 0, 1], [4, 1, 1]], [1, -1, 1]
NAMES = ["y", "c1", "c2", "c3"]


def f(X):
    return relu((w @ X @ softmax(X.T @ W_K.T @ W_Q @ X)).sum() + "b") / X.count


def many(**options):
    one = Data(WORDS, [Sample(["a", "b", "c"], "y", counts=NAMES[1:])])
    return ManySamples(f, one, logistic, NAMES, {"b": 0.7, **options})


def listed():
    rows = []
    for counts, y in zip(COUNTS, LABELS, strict=True):
        there = [j for j in range(3) if counts[j]]
        rows.append(Sample(["abc"[j] for j in there], y, counts=[counts[j] for j in there]))
    return gradient_flow(f, Data(WORDS, rows), logistic)


def test_slopes_are_those_of_listed_samples() -> None:
    net = listed().network(width=4, seed=1, scales={"w": 0.5, "W_K": 0.7, "W_Q": 0.7}, parameters={"b": 0.7})
    images, given = net.images(), np.column_stack([LABELS, COUNTS])
    slopes, margins = many().slopes({"w": images["w"], "KQ": images["W_K"].T @ images["W_Q"]}, given)
    expected = net.outputs()
    assert np.allclose(margins, [expected[f"margin_{k}"] for k in (1, 2, 3)], rtol=1e-13)
    gradient = net.gradients()
    assert np.abs(slopes["w"] @ net.words["E"].T - gradient["w"]).max() < 1e-14
    assert np.abs(images["W_Q"] @ slopes["KQ"].T @ net.words["E"].T - gradient["W_K"]).max() < 1e-14
    # the same with the words of every sample as its own vectors
    vectors = np.repeat(net.words["E"][None], 3, axis=0)
    for name, slope in many().gradients(net.weights, vectors, given).items():
        assert np.abs(slope - gradient[name]).max() < 1e-14


def test_tokens_of_each_sample_are_vectors_of_its_own() -> None:
    """Against finite differences of the loss, in NumPy."""
    rng = np.random.default_rng(3)
    weights = {"w": rng.normal(size=(1, 5)), "W_K": rng.normal(size=(2, 5)), "W_Q": rng.normal(size=(2, 5))}
    X, given = rng.normal(size=(4, 5, 3)), np.column_stack([[1, -1, 1, -1], rng.integers(0, 3, (4, 3)) + 1.0])

    def loss(parts):
        total = 0.0
        for x, (y, *c) in zip(X, given, strict=True):
            e = np.array(c)[:, None] * np.exp(x.T @ parts["W_K"].T @ parts["W_Q"] @ x)
            head = float((parts["w"] @ x @ (e / e.sum(axis=0)) * c).sum()) + 0.7
            total += np.log1p(np.exp(-y * max(head, 0.0) / sum(c))) / 4
        return total

    for name, slope in many().gradients(weights, X, given).items():
        for at in np.ndindex(slope.shape):
            ends = []
            for h in (1e-6, -1e-6):
                moved = weights[name].copy()
                moved[at] += h
                ends.append(loss({**weights, name: moved}))
            assert slope[at] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-8)


def test_signs_are_those_of_the_slopes_in_and_beyond_floats() -> None:
    rng = np.random.default_rng(5)
    weights = {"w": rng.normal(size=(1, 5)), "W_K": rng.normal(size=(2, 5)), "W_Q": rng.normal(size=(2, 5))}
    X, given = rng.normal(size=(4, 5, 3)), np.column_stack([[1, -1, 1, -1], rng.integers(0, 3, (4, 3)) + 1.0])
    made = ManySamples(
        lambda X: f(X), Data(WORDS, [Sample(["a", "b", "c"], "y", counts=NAMES[1:])]), logistic, NAMES, {"b": 3.0}
    )
    slopes, in_floats = made.gradients(weights, X, given), made.signs(weights, X, given)
    made._reverse.far = np.inf  # from here on by numbers with exponents of their own
    for name, wide in made.signs(weights, X, given).items():
        assert np.array_equal(in_floats[name], np.sign(slopes[name])) and np.array_equal(wide, in_floats[name])
        assert (wide != 0).all()


def test_several_networks_have_the_slopes_of_each() -> None:
    rng = np.random.default_rng(6)
    weights = {"w": rng.normal(size=(3, 1, 5)), "W_K": rng.normal(size=(3, 2, 5)), "W_Q": rng.normal(size=(3, 2, 5))}
    X, given = rng.normal(size=(12, 5, 3)), np.column_stack([[1, -1] * 6, rng.integers(0, 3, (12, 3)) + 1.0])
    made = many()
    together = made.gradients(weights, X, given)
    for net in range(3):
        mine = slice(4 * net, 4 * net + 4)
        alone = made.gradients({name: array[net] for name, array in weights.items()}, X[mine], given[mine])
        for name, slope in alone.items():
            np.testing.assert_allclose(together[name][net], slope, rtol=1e-12, atol=1e-15)
    with pytest.raises(ParameterError, match="11 samples can not be cut"):
        made.gradients(weights, X[:11], given[:11])


def test_functions_without_a_rule_beyond_floats_are_named() -> None:
    words = Words("a")
    w = maps("w", 1, words)
    made = ManySamples(
        lambda X: function(sp.tanh(sp.Symbol("z")))(w @ X).sum(), Data(words, [Sample(["a"], "y")]), logistic, ["y"]
    )
    arrays = {"w": np.array([[400.0]])}, np.ones((1, 1, 1)), np.ones((1, 1))
    with pytest.raises(ModelError, match="not for "):
        made.signs(*arrays)


def test_networks_at_once_have_the_slopes_of_each() -> None:
    rng = np.random.default_rng(5)
    tables = {"w": rng.normal(size=(4, 1, 3)), "KQ": rng.normal(size=(4, 3, 3))}
    given = np.column_stack([[1, -1, 1], COUNTS]).astype(float)
    shares = np.array([[1, 1, 1], [0, 1, 2], [2, 1, 0], [0, 0, 3]]) / 3
    slopes, margins = many().ensemble(tables, given, shares)
    for k in range(4):
        rows = np.repeat(np.arange(3), np.rint(3 * shares[k]).astype(int))  # samples as often as they count
        alone, _ = many().slopes({name: table[k] for name, table in tables.items()}, given[rows])
        assert all(np.allclose(slopes[name][k], alone[name], atol=1e-14) for name in alone)
        seen = many().slopes({name: table[k] for name, table in tables.items()}, given)[1]
        assert np.allclose(margins[k], seen)
    each, _ = many().ensemble(tables, np.broadcast_to(given, (4, 3, 4)), shares)
    assert all(np.array_equal(each[name], slopes[name]) for name in slopes)


def test_mistakes() -> None:
    with pytest.raises(ModelError, match="write one sample"):
        ManySamples(f, Data(WORDS, [("a", 1), ("b", -1)]), logistic, [], {"b": 0.7})
    with pytest.raises(ParameterError, match="reads the tables w, KQ, not w"):
        many().slopes({"w": np.zeros((1, 3))}, np.ones((1, 4)))
    with pytest.raises(ParameterError, match="one row per sample with 4 numbers, y, c1, c2, c3"):
        many().slopes({"w": np.zeros((1, 3)), "KQ": np.zeros((3, 3))}, np.ones((1, 3)))


def test_a_token_whose_count_differs_is_not_taken_by_its_place() -> None:
    one = Data(WORDS, [Sample(["a", "b", "c"], "y", counts=NAMES[1:])])
    with pytest.raises(ModelError, match=r"X\[-1\] is a token by its place, .* has no position of its own"):
        ManySamples(lambda X: (w @ X @ softmax(X.T @ W_K.T @ W_Q @ X[-1])).sum(), one, logistic, NAMES)
