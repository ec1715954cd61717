"""Sign descent, normalised descent and momentum with listed axes, against steps of weights written out in NumPy.

Nothing of the program is used on the side of the weights: forward pass, gradient and step are written by hand, the
gradient is compared with finite differences, and states are compared with the inner products that their names say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
import sympy as sp

from odesys import (
    Data,
    Units,
    Words,
    cross_entropy,
    function,
    gradient_descent,
    gradient_flow,
    heavy_ball,
    logistic,
    maps,
    normalised_descent,
    sign_descent,
    softmax,
    squared,
)

Weights = dict[str, np.ndarray]
ETA, STEPS, FRICTION = 0.05, 7, 0.6
TANH = function(sp.tanh(sp.Symbol("z")))
WORDS = Words("a b c")
EYE = dict(zip("abc", np.eye(3), strict=True))


@dataclass(frozen=True)
class Case:
    """A program and its data, and the same by hand: axes of weights, loss and gradient."""

    program: Callable[[Any], Any]
    data: Data
    criterion: Any
    axes: dict[str, tuple[str, str]]  # of rows and columns of each map, blank for a single one
    loss: Callable[[Weights], float]
    gradient: Callable[[Weights], Weights]


def two_layers() -> Case:
    """Two layers, tanh, squared loss: mean of (A tanh(B x) - y)^2 / 2."""
    hidden = Units("h", 3)
    A, B = maps("A", 1, hidden), maps("B", hidden, WORDS)
    samples = [("a", 1), ("b", -2), ("c", 3)]

    def loss(w: Weights) -> float:
        return float(np.mean([((w["A"] @ np.tanh(w["B"] @ EYE[x]))[0] - y) ** 2 / 2 for x, y in samples]))

    def gradient(w: Weights) -> Weights:
        out = {name: np.zeros_like(value) for name, value in w.items()}
        for x, y in samples:
            inner = np.tanh(w["B"] @ EYE[x])
            error = (w["A"] @ inner)[0] - y
            out["A"] += error * inner[None, :] / 3
            out["B"] += np.outer(error * w["A"][0] * (1 - inner**2), EYE[x]) / 3
        return out

    return Case(
        lambda X: A @ TANH(B @ X[0]),
        Data(WORDS, samples),
        squared,
        {"A": ("", "h1 h2 h3"), "B": ("h1 h2 h3", "a b c")},
        loss,
        gradient,
    )


def classifier() -> Case:
    """Three classes of two tokens, cross-entropy: -log softmax(Y Z (x1 + x2)) at the class."""
    classes, middle = Units("y", 3), Units("m", 2)
    Y, Z = maps("Y", classes, middle), maps("Z", middle, WORDS)
    samples = [("a b", 0), ("b c", 1), ("c c", 2), ("a c", 1)]

    def tokens(text: str) -> np.ndarray:
        return np.sum([EYE[word] for word in text.split()], axis=0)

    def loss(w: Weights) -> float:
        scores = [w["Y"] @ w["Z"] @ tokens(text) for text, _ in samples]
        return float(np.mean([np.log(np.exp(s).sum()) - s[y] for s, (_, y) in zip(scores, samples, strict=True)]))

    def gradient(w: Weights) -> Weights:
        out = {name: np.zeros_like(value) for name, value in w.items()}
        for text, y in samples:
            x = tokens(text)
            odds = np.exp(w["Y"] @ w["Z"] @ x)
            error = (odds / odds.sum() - np.eye(3)[y]) / 4
            out["Y"] += np.outer(error, w["Z"] @ x)
            out["Z"] += np.outer(w["Y"].T @ error, x)
        return out

    def program(X: Any) -> Any:
        return Y @ Z @ (X[0] + X[1])

    return Case(
        program,
        Data(WORDS, samples),
        cross_entropy,
        {"Y": ("y1 y2 y3", "m1 m2"), "Z": ("m1 m2", "a b c")},
        loss,
        gradient,
    )


def attention() -> Case:
    """One head whose query is the last token, w X softmax(X' K' Q x), logistic loss."""
    axes = Units("k", 2)
    w_, (K, Q) = maps("w", 1, WORDS), maps("K Q", axes, WORDS)
    samples = [("a b", 1), ("b c", -1), ("c a", 1)]

    def parts(w: Weights, text: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        X = np.stack([EYE[word] for word in text.split()], axis=1)
        scores = X.T @ w["K"].T @ w["Q"] @ X[:, -1]
        p = np.exp(scores) / np.exp(scores).sum()
        return X, p, w["w"] @ X

    def loss(w: Weights) -> float:
        found = []
        for text, y in samples:
            _, p, values = parts(w, text)
            found.append(np.log1p(np.exp(-y * float(values[0] @ p))))
        return float(np.mean(found))

    def gradient(w: Weights) -> Weights:
        out = {name: np.zeros_like(value) for name, value in w.items()}
        for text, y in samples:
            X, p, values = parts(w, text)
            f = float(values[0] @ p)
            slope = -y / (1 + np.exp(y * f)) / 3
            out["w"] += slope * (X @ p)[None, :]
            by_scores = slope * p * (values[0] - f)
            out["K"] += np.outer(w["Q"] @ X[:, -1], X @ by_scores)
            out["Q"] += np.outer(w["K"] @ X @ by_scores, X[:, -1])
        return out

    def program(X: Any) -> Any:
        return (w_ @ X @ softmax(X.T @ K.T @ Q @ X[-1])).sum()

    return Case(
        program,
        Data(WORDS, samples),
        logistic,
        {"w": ("", "a b c"), **dict.fromkeys("KQ", ("k1 k2", "a b c"))},
        loss,
        gradient,
    )


CASES = {"two_layers": two_layers, "classifier": classifier, "attention": attention}


def random_weights(case: Case, seed: int) -> Weights:
    rng = np.random.default_rng(seed)
    return {name: rng.normal(0, 0.7, [len(ends.split()) or 1 for ends in axes]) for name, axes in case.axes.items()}


def values_of(case: Case, weights: Weights, speeds: Weights, names: tuple[str, ...]) -> np.ndarray:
    """What the names of states say: entries of maps by the labels of their axes, and of velocities after a d."""
    found = []
    for name in names:
        letter, *ends = name.split("_")
        table = weights if letter in weights else speeds
        letter = letter if letter in weights else letter.removeprefix("d")
        place = tuple(
            next((k for k, label in enumerate(axis.split()) if label in ends), 0) for axis in case.axes[letter]
        )
        found.append(table[letter][place])
    return np.array(found)


@pytest.mark.parametrize("name", CASES)
def test_gradients_by_hand_are_those_of_finite_differences(name: str) -> None:
    case = CASES[name]()
    weights = random_weights(case, 1)
    found = case.gradient(weights)
    for key, value in weights.items():
        for place in np.ndindex(value.shape):
            sides = []
            for h in (1e-5, -1e-5):
                moved = {k: v.copy() for k, v in weights.items()}
                moved[key][place] += h
                sides.append(case.loss(moved))
            assert (sides[0] - sides[1]) / 2e-5 == pytest.approx(found[key][place], abs=1e-8)


# ---- rules: the direction of a step, by hand ------------------------------------------------------------------------


def plain(slopes: Weights) -> Weights:
    return slopes


def signs(slopes: Weights) -> Weights:
    return {name: np.sign(slope) for name, slope in slopes.items()}


def normalised(slopes: Weights) -> Weights:
    length = np.sqrt(sum((slope**2).sum() for slope in slopes.values()))
    return {name: slope / length for name, slope in slopes.items()}


DIRECTIONS: dict[str, tuple[Callable[[Weights], Weights], Any, Any]] = {
    "gradient": (plain, gradient_descent, gradient_flow),
    "sign": (signs, sign_descent, partial(sign_descent, kind="flow")),
    "normalised": (normalised, normalised_descent, partial(normalised_descent, kind="flow")),
}
MORE: list[tuple[float, float]] = [(1, 0), (0.5, 0.25)]  # the rate of the first map, and weight decay


@pytest.mark.parametrize(("rate", "decay"), MORE)
@pytest.mark.parametrize("rule", DIRECTIONS)
@pytest.mark.parametrize("name", CASES)
def test_steps_and_flows_are_those_by_hand(name: str, rule: str, rate: float, decay: float) -> None:
    case = CASES[name]()
    direction, step, flow = DIRECTIONS[rule]
    first = next(iter(case.axes))
    options: dict[str, Any] = {"rates": {first: Fraction(rate)}, "decay": Fraction(decay)}
    rates = {key: rate if key == first else 1.0 for key in case.axes}
    weights = random_weights(case, 2)

    def rate_of(w: Weights) -> Weights:
        towards = direction(case.gradient(w))
        return {key: -rates[key] * towards[key] - decay * w[key] for key in w}

    moving = flow(case.program, case.data, case.criterion, **options).system
    x = values_of(case, weights, {}, moving.names)
    assert np.allclose(moving.compile()(0.0, x), values_of(case, rate_of(weights), {}, moving.names), atol=1e-12)
    made = step(case.program, case.data, case.criterion, **options).system
    compiled = made.compile(eta=ETA)
    for _ in range(STEPS):
        x = values_of(case, weights, {}, made.names)
        by_hand = rate_of(weights)
        weights = {key: weights[key] + ETA * by_hand[key] for key in weights}
        assert np.allclose(compiled(0.0, x), values_of(case, weights, {}, made.names), atol=1e-12)


@pytest.mark.parametrize(("rate", "decay"), MORE)
@pytest.mark.parametrize("name", CASES)
def test_momentum_is_that_by_hand(name: str, rate: float, decay: float) -> None:
    case = CASES[name]()
    first = next(iter(case.axes))
    options: dict[str, Any] = {"rates": {first: Fraction(rate)}, "decay": Fraction(decay)}
    rates = {key: rate if key == first else 1.0 for key in case.axes}
    weights, speeds = random_weights(case, 3), random_weights(case, 4)

    def force(w: Weights) -> Weights:
        slopes = case.gradient(w)
        return {key: -rates[key] * slopes[key] - decay * w[key] for key in w}

    moving = heavy_ball(case.program, case.data, case.criterion, **options).system
    x = values_of(case, weights, speeds, moving.names)
    turned = {key: force(weights)[key] - FRICTION * speeds[key] for key in weights}
    assert np.allclose(
        moving.compile(gamma=FRICTION)(0.0, x), values_of(case, speeds, turned, moving.names), atol=1e-12
    )
    made = heavy_ball(case.program, case.data, case.criterion, step=True, **options).system
    compiled = made.compile(eta=ETA, gamma=FRICTION)
    for _ in range(STEPS):
        x = values_of(case, weights, speeds, made.names)
        pushed = force(weights)
        speeds = {key: FRICTION * speeds[key] + ETA * pushed[key] for key in speeds}
        weights = {key: weights[key] + speeds[key] for key in weights}
        assert np.allclose(compiled(0.0, x), values_of(case, weights, speeds, made.names), atol=1e-12)
