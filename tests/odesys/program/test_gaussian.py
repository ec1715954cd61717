"""Gaussian populations: means and flows against exact quadrature, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import sympy as sp

from odesys import (
    Gaussian,
    Units,
    Words,
    cross_entropy,
    function,
    gradient_descent,
    gradient_flow,
    logistic,
    maps,
    norm,
    relu,
    softmax,
    squared,
    sym,
)
from odesys.errors import DistributionError, ModelError


def quadrature_points(number: int, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Points (k, number) and weights of Gauss-Hermite quadrature: exact to degree 2 nodes - 1 in each normal."""
    at, weights = np.polynomial.hermite_e.hermegauss(nodes)
    weights = weights / weights.sum()
    mass = np.array([np.prod(w) for w in product(weights, repeat=number)])
    return np.array(list(product(at, repeat=number))), mass


def regression(d: int, N: int) -> Any:
    data = Gaussian.regression(d, N)
    p, A = maps("p", 1, data.words), maps("A", data.words, data.words)

    def f(X: Any) -> Any:
        T, query = X[:-1], X[-1]
        return (p @ T) @ (T.T @ A @ query) / T.count

    return f, data


def regression_loss(d: int, N: int) -> Callable[..., Any]:
    """The mean loss by quadrature over task, inputs and query."""
    points, mass = quadrature_points(d * (N + 2), 6)
    w, q = points[:, :d], points[:, d : 2 * d]
    x = points[:, 2 * d :].reshape(-1, N, d)
    y = np.einsum("kd,knd->kn", w, x)
    T = np.concatenate([x, y[:, :, None]], axis=2)
    query = np.concatenate([q, np.zeros((len(q), 1))], axis=1)
    target = (w * q).sum(axis=1)

    def loss(p: np.ndarray, A: np.ndarray) -> Any:
        f = np.einsum("kn,kn->k", T @ p[0], np.einsum("kna,ab,kb->kn", T, A, query)) / N
        return mass @ (f - target) ** 2 / 2

    return loss


@pytest.mark.parametrize(("d", "N"), [(1, 1), (1, 3), (2, 1)])
def test_in_context_regression_against_quadrature(d: int, N: int) -> None:
    loss, rng = regression_loss(d, N), np.random.default_rng(d + N)
    f, data = regression(d, N)
    weights = {"p": rng.normal(size=(1, d + 1)), "A": rng.normal(size=(d + 1, d + 1))}
    flow = gradient_flow(f, data, squared)
    state = flow.initial_state(weights=weights)
    slopes = {}
    for name, matrix in weights.items():
        slopes[name] = np.empty(matrix.shape)
        for at in np.ndindex(matrix.shape):
            moved = matrix.astype(complex)
            moved[at] += 1e-30j
            slopes[name][at] = -loss(**{**weights, name: moved}).imag / 1e-30
    found = flow.system.compile()(0.0, state)
    assert np.abs(found - flow.initial_state(weights=slopes)).max() < 1e-11 * max(1.0, np.abs(found).max())
    value = _loss(flow, state)
    assert abs(value - loss(**weights)) < 1e-11 * max(1.0, value)
    step = gradient_descent(f, data, squared)
    moved_by = step.system.compile(eta=0.1)(0.0, state) - state
    assert np.abs(moved_by - 0.1 * found).max() < 1e-11 * max(1.0, np.abs(found).max())


def _loss(flow: Any, state: np.ndarray) -> float:
    from odesys.expr.tape import ARRAYS, Tape

    tape = Tape.of([flow.system.observables["loss"]]).over(ARRAYS)
    return float(tape(dict(zip(flow.system.names, state, strict=True)))[0])


def test_a_layer_with_quadratic_activation_and_two_outputs() -> None:
    words, hidden, out = Words("a b"), Units("r", 2), Units("k", 2)
    W, V, square = maps("W", hidden, words), maps("V", out, hidden), function(sym("z") ** 2)
    x, y = sym("x"), sym("y")
    data = Gaussian(words, [[x, 2 * y], {"a": y}], target=[x * y, 1 - x**2])
    flow = gradient_flow(lambda X: V @ square(W @ (X[0] + X[1])), data, squared)
    rng = np.random.default_rng(0)
    weights = {"W": rng.normal(size=(2, 2)), "V": rng.normal(size=(2, 2))}
    points, mass = quadrature_points(2, 8)
    tokens = np.array([points[:, 0] + points[:, 1], 2 * points[:, 1]])
    target = np.array([points[:, 0] * points[:, 1], 1 - points[:, 0] ** 2])
    gap = weights["V"] @ (weights["W"] @ tokens) ** 2 - target
    wanted = mass @ (gap**2).sum(axis=0) / 2
    assert abs(_loss(flow, flow.initial_state(weights=weights)) - wanted) < 1e-12 * wanted


def test_a_parameter_may_have_the_name_of_a_normal() -> None:
    words = Words("a")
    w, x = maps("w", 1, words), sym("x")
    data = Gaussian(words, [{"a": sym("s") * x}], target=x, parameters="s")
    flow = gradient_flow(lambda X: w @ X[0] + "x", data, squared)
    assert data.parameters == {"s"} and flow.system.parameters == ("s", "x")
    assert flow.system.compile(s=2, x=5)(0.0, [1.0]) == [-2.0]  # w' = -s^2 w + s


COSINE = function(sp.cos(sp.Symbol("z")))
REFUSED = [
    (lambda w, A: lambda X: w @ X @ softmax(X.T @ A @ X[0]), squared, "^softmax is no polynomial"),
    (lambda w, A: lambda X: relu(w @ X[0]), squared, "^relu, with its kink, is no polynomial"),
    (lambda w, A: lambda X: w @ X[0] / norm(X[0]), squared, "is no polynomial"),
    (lambda w, A: lambda X: w @ X[0], logistic, "^the loss logistic is no polynomial .*squared, or a finite sample"),
    (lambda w, A: lambda X: w @ X[0], "hinge", "^the loss hinge is no polynomial"),
    (lambda w, A: lambda X: maps("Y", Units("y", 2), 1) @ w @ X[0], cross_entropy, "^the loss cross_entropy is no"),
    (lambda w, A: lambda X: w @ X[0], lambda f, y: COSINE(f - y), "^the loss is no polynomial"),
    (lambda w, A: lambda X: relu(w @ X[0]), logistic, "^relu, with its kink, is no polynomial"),
]


@pytest.mark.parametrize(("program", "loss", "sentence"), REFUSED)
def test_what_is_no_polynomial_is_refused(program: Any, loss: Any, sentence: str) -> None:
    words = Words("a b")
    w, A = maps("w", 1, words), maps("A", words, words)
    data = Gaussian(words, [{"a": sym("x"), "b": 1}, {"b": sym("y")}], target=1)
    with pytest.raises(ModelError, match=sentence):
        gradient_flow(program(w, A), data, loss)


def test_functions_of_weights_alone_are_welcome() -> None:
    words = Words("a")
    w, v = maps("w", 1, words), maps("v", 1, 1)
    flow = gradient_flow(lambda X: relu(v) * (w @ X[0]), Gaussian(words, [{"a": sym("x")}], sym("x")), squared)
    found = dict(zip(flow.system.names, flow.system.compile()(0.0, [2.0, 3.0]), strict=True))
    assert sorted(found.values()) == [-15.0, -10.0]  # (1 - 6) times 3 and times 2


def test_sentences() -> None:
    words, x = Words("a b"), sym("x")
    wrong: list[Any] = ["a", {"a": x}, []]
    for tokens in wrong:
        with pytest.raises(DistributionError, match="tokens are a list such as"):
            Gaussian(words, tokens, 1)
    with pytest.raises(DistributionError, match="begins with the Words"):
        Gaussian("a", ["a"], 1)  # type: ignore[arg-type]
    with pytest.raises(DistributionError, match="no symbol is left to be a normal"):
        Gaussian(words, ["a"], x, parameters="x")
    with pytest.raises(DistributionError, match="parameters has s, which is in no token"):
        Gaussian(words, [{"a": x}], 1, parameters="s")
    with pytest.raises(DistributionError, match="orthonormal words"):
        Gaussian(Words("a b", gram=[[2, 0], [0, 1]]), [{"a": x}], 1)
    with pytest.raises(DistributionError, match="examples=0 is a whole number above 0"):
        Gaussian.regression(2, 0)
    w = maps("w", 1, words)
    with pytest.raises(ModelError, match="not from Gaussian"):
        gradient_descent(lambda X: w @ X[0], Gaussian(words, [{"a": x}], 1), squared, batch=1)
    assert repr(Gaussian.regression(2, 3)) == "Gaussian(4 tokens in 10 normals)"
