"""Five programs as a theorist types them, imports included: they run, and their fields are what weights do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

NAMES = """
from odesys import Words, Space, Units, maps, Data, Sample, Gaussian, relu, softmax, function, norm
from odesys import logistic, hinge, squared, cross_entropy
from odesys import gradient_flow, gradient_descent, heavy_ball, sign_descent, integrate
"""

TWO_HEADS = """
from odesys import Words, Space, Units, maps, Data, relu, softmax, gradient_flow, logistic

words, m = Words("c1 c2 v1 v2"), Space("m")                     # listed and free

def head(name):
    w, (W_K, W_Q) = maps("w", 1, words, of=name), maps("W_K W_Q", m, words, of=name)   # rows, columns
    return lambda X: relu((w @ X @ softmax(X.T @ W_K.T @ W_Q @ X)).sum() + "b")

plus, minus = head("p"), head("m")

def f(X):                                                        # X: the d x L matrix of the papers
    return plus(X) - minus(X)

data = Data(words, [(("c1", "v1", "-v2"), +1), (("c1", "v1", "v2"), +1), (("c1", "-v1", "v2"), -1),
                    (("c1", "-v1", "-v2"), -1), (("c2", "v2", "-v1"), +1), (("c2", "v2", "v1"), +1),
                    (("c2", "-v2", "v1"), -1), (("c2", "-v2", "-v1"), -1)])
flow = gradient_flow(f, data, logistic)                          # 80 states
"""

DECODER = """
from fractions import Fraction
from odesys import Words, Units, maps, Data, softmax, gradient_flow, cross_entropy

words, classes = Words("q d1 d2 d3 c"), Units("y", 3)            # decoder with classes; the query is no key
Y, Z = maps("Y", classes, words), maps("Z", words, words)
def f(X):
    keys, query = X[:-1], X[-1]
    return Y @ keys @ softmax(keys.T @ Z @ query)
data = Data(words, [(("d1", "c", "q"), 0), (("d2", "c", "q"), 1), (("d3", "c", "q"), 2)])
flow = gradient_flow(f, data, cross_entropy, rates={"Z": Fraction(1, 10)})
"""

REGRESSION = """
from odesys import Gaussian, maps, gradient_flow, squared

population = Gaussian.regression(2, 3)
words = population.words
p, A = maps("p", 1, words), maps("A", words, words)              # in-context regression, linear attention
def f(X):
    T, query = X[:-1], X[-1]
    return (p @ T) @ (T.T @ A @ query) / T.count                # a number, or a symbol N
flow = gradient_flow(f, population, squared)
"""

TWO_LAYERS = """
import sympy as sp
from odesys import Words, Units, maps, Data, function, gradient_flow, squared

z = sp.Symbol("z")
words, hidden, out = Words("n0 n1 n2"), Units("r", 6), Units("k", 3)    # two-layer network, any activation
W, V, phi = maps("W", hidden, words), maps("V", out, hidden), function(z**2)
def f(X):
    return V @ phi(W @ (X[0] + X[1]))
data = Data(words, [((f"n{a}", f"n{b}"), (a + b) % 3) for a in range(3) for b in range(3)])
flow = gradient_flow(f, data, squared)
"""

INDUCTION = """
from odesys import Words, maps, Data, softmax, gradient_flow, cross_entropy

words = Words("a b c", positions=4)                              # two layers, the value map between them frozen
A1, V1, A2, W2 = maps("A1 V1 A2 W2", words, words)
def f(X):
    P = X.positions
    H = X + V1 @ X @ softmax(P.T @ A1 @ P, mask=lambda key, query: key < query or query == 0)
    return words.all.T @ W2 @ X @ softmax(H.T @ A2 @ H[-1])
data = Data(words, [(("a", "b", "c", "a"), 1), (("b", "c", "a", "b"), 2), (("c", "a", "b", "c"), 0)])
flow = gradient_flow(f, data, cross_entropy, train="A1 A2 W2")
"""


def typed(source: str) -> dict[str, Any]:
    """What a script leaves behind."""
    space: dict[str, Any] = {}
    exec(source, space)
    return space


def test_names() -> None:
    assert "heavy_ball" in typed(NAMES)


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=0))
    return e / e.sum(axis=0)


def two_heads(W: dict[str, np.ndarray]) -> float:
    words, total, b = ["c1", "c2", "v1", "v2"], 0.0, 0.3
    samples = [(g, s, t, s) for g in (1, 2) for s in (1, -1) for t in (1, -1)]
    for g, s, t, y in samples:
        X = np.zeros((4, 3))
        X[words.index(f"c{g}"), 0], X[words.index(f"v{g}"), 1], X[words.index(f"v{3 - g}"), 2] = 1, s, t
        out = 0.0
        for sign, h in ((1, "p"), (-1, "m")):
            A = softmax(X.T @ W[f"W_K.{h}"].T @ W[f"W_Q.{h}"] @ X)
            out += sign * max(0.0, float((W[f"w.{h}"] @ X @ A).sum() + b))
        total += np.log1p(np.exp(-y * out)) / 8
    return total


def decoder(W: dict[str, np.ndarray]) -> float:
    E, total = np.eye(5), 0.0
    for k in range(3):
        keys, query = E[:, [1 + k, 4]], E[:, [0]]
        out = W["Y"] @ keys @ softmax(keys.T @ W["Z"] @ query)
        total += float(np.log(np.exp(out).sum()) - out[k, 0]) / 3
    return total


def two_layers(W: dict[str, np.ndarray]) -> float:
    E, total = np.eye(3), 0.0
    for a in range(3):
        for b in range(3):
            out = W["V"] @ (W["W"] @ (E[:, a] + E[:, b])) ** 2
            total += ((out - E[:, (a + b) % 3]) ** 2).sum() / 2 / 9
    return total


def induction(W: dict[str, np.ndarray]) -> float:
    E, total = np.eye(7), 0.0
    P = E[:, 3:]
    for tokens, target in (((0, 1, 2, 0), 1), ((1, 2, 0, 1), 2), ((2, 0, 1, 2), 0)):
        X = E[:, list(tokens)]
        scores = P.T @ W["A1"] @ P
        for key in range(4):
            for query in range(4):
                if not (key < query or query == 0):
                    scores[key, query] = -np.inf
        H = X + W["V1"] @ X @ softmax(scores)
        out = (E[:, :3].T @ W["W2"] @ X @ softmax(H.T @ W["A2"] @ H[:, [-1]]))[:, 0]
        total += float(np.log(np.exp(out).sum()) - out[target]) / 3
    return total


@pytest.mark.parametrize(
    ("source", "states", "loss", "options"),
    [
        (TWO_HEADS, 80, two_heads, {"width": 5, "omega": 0.7, "scales": {"w": 0.5}, "parameters": {"b": 0.3}}),
        (DECODER, 40, decoder, {"scales": {"Y": 0.5, "Z": 0.5}}),
        (TWO_LAYERS, 36, two_layers, {"scales": {"W": 0.5, "V": 0.5}}),
        (INDUCTION, None, induction, {"scales": {"A1": 0.5, "V1": 0.5, "A2": 0.5, "W2": 0.5}}),
    ],
)
def test_the_field_is_what_the_weights_do(
    source: str, states: int | None, loss: Callable[[dict[str, np.ndarray]], float], options: dict[str, Any]
) -> None:
    """The program again in NumPy, moved by finite differences; nothing of the language is used in it."""
    flow = typed(source)["flow"]
    assert states in (None, flow.system.dimension)
    net = flow.network(seed=5, **options)
    images, h = net.images(), 1e-6  # maps in the coordinates of the words, which are orthonormal
    assert net.loss() == pytest.approx(loss(images), rel=1e-12)
    moved = dict(images)
    for name in flow.train:
        slope = np.zeros_like(images[name])
        for at in np.ndindex(slope.shape):
            ends = []
            for s in (h, -h):
                shifted = images[name].copy()
                shifted[at] += s
                ends.append(loss({**images, name: shifted}))
            slope[at] = (ends[0] - ends[1]) / (2 * h)
        moved[name] = -slope * (0.1 if name == "Z" else 1.0)
    parameters = options.get("parameters", {})
    field = flow.system.compile(parameters)(0.0, net.paths())
    e = 1e-6
    there, back = ({n: images[n] + s * (moved[n] if n in flow.train else 0) for n in images} for s in (e, -e))
    rate = (flow.initial_state(weights=there) - flow.initial_state(weights=back)) / (2 * e)
    assert np.abs(field - rate).max() < 1e-7


def test_in_context_regression_tends_to_its_limit() -> None:
    from odesys import integrate

    flow = typed(REGRESSION)["flow"]
    start = np.zeros(flow.system.dimension)
    for name, value in {"p_y": 0.3, "A_x1_x1": 0.3, "A_x2_x2": 0.3}.items():
        start[flow.system.names.index(name)] = value
    final = integrate(flow.system, start, (0.0, 200.0)).final
    assert final["p_y"] * final["A_x1_x1"] == pytest.approx(3 / 6, abs=1e-8)  # N / (N + d + 1)
