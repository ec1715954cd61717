"""Flows of programs: two_mixture as it is, stages, rates, and sentences for what does not close."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from derivations.two_mixture import setting
from derivations.two_mixture.dynamics import full_flow
from odesys import (
    AttentionModel,
    ClosureError,
    Data,
    Head,
    OdesysError,
    Space,
    Units,
    Words,
    gradient_descent,
    gradient_flow,
    graph,
    logistic,
    maps,
    normalised_descent,
    softmax,
    squared,
    sym,
)

WORDS, M = Words("a b c"), Space("m")
DATA = Data(WORDS, [("a b", 1), ("c b", -1)])
w, W_K, W_Q = maps("w", 1, WORDS), *maps("W_K W_Q", M, WORDS)


def f(X):
    return (w @ X @ softmax(X.T @ W_K.T @ W_Q @ X)).sum()


def test_two_mixture_written_as_the_paper_writes_it() -> None:
    short = gradient_flow(AttentionModel(setting.words(), [Head(s, "relu", "b") for s in (1, -1)]), setting.data())
    long = full_flow()
    assert long.system.names == short.system.names and long.system.tex == short.system.tex
    assert all(a is b for a, b in zip(long.system.nodes, short.system.nodes, strict=True))
    assert long.system.structure == short.system.structure
    assert long.initial_state(omega=0.1).tolist() == short.initial_state(omega=0.1).tolist()


def test_stages_share_one_state_vector() -> None:
    whole = gradient_flow(f, DATA, logistic)
    stage = gradient_flow(f, DATA, logistic, train="w", carry="w W_K W_Q")
    assert stage.system.names == whole.system.names
    assert stage.system.equations["KQ_a_b"] is graph.ZERO
    assert stage.system.equations["w_a"] is whole.system.equations["w_a"]


def test_rates_and_decay() -> None:
    plain = gradient_flow(f, DATA, logistic).system.equations
    rated = gradient_flow(f, DATA, logistic, rates={"w": Fraction(1, 3)}, decay="lam").system.equations
    assert rated["w_a"] is plain["w_a"] / 3 - sym("lam") * sym("w_a")
    assert rated["KQ_a_b"] is plain["KQ_a_b"] - 2 * sym("lam") * sym("KQ_a_b")


def three_maps(*trained: str):
    U, V, W = maps("U", Units("y", 1), M), maps("V", M, Space("v")), maps("W", Space("v"), WORDS)
    return gradient_flow(lambda X: U @ V @ W @ X[0], DATA, squared, train=trained)


def test_three_trained_maps_escape_and_two_close() -> None:
    with pytest.raises(ClosureError, match="does not close with U, V, W all trained"):
        three_maps("U", "V", "W")
    assert three_maps("U", "V").system.dimension > 0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: gradient_flow(f, DATA, ("w",)), "the third argument is the loss; .* train="),
        (lambda: gradient_flow(f, DATA, logistic, train={"w": [0]}), "is a mapping"),
        (lambda: gradient_flow(f, DATA, logistic, train="W_X"), "has no such map; it has w, W_K, W_Q"),
        (lambda: gradient_flow(f, DATA, logistic, train=""), "nothing is trained"),
        (lambda: gradient_flow(f, DATA, logistic, train="w", rates={"W_K": 2}), "which is not trained"),
        (lambda: gradient_flow(f, DATA, logistic, train="w W_K", carry="w"), "is trained but not carried"),
        (lambda: gradient_flow(lambda X: w @ X[0] * "w_a", DATA, logistic), "is the name of a path scalar"),
        (lambda: gradient_flow(7, DATA, logistic), "derived from a function of the tokens"),
    ],
)
def test_refused(make, words: str) -> None:
    with pytest.raises(OdesysError, match=words):
        make()


def test_only_a_step_has_a_size_whose_name_is_taken() -> None:
    def scaled(X):
        return maps("w", 1, WORDS) @ X[0] * "eta"

    assert "eta" in gradient_flow(scaled, DATA, logistic).system.parameters
    with pytest.raises(OdesysError, match="eta of the program is the name of the step size; rename it"):
        gradient_descent(scaled, DATA, logistic)
    for make in (gradient_flow, gradient_descent):
        with pytest.raises(OdesysError, match="is the name of time"):
            make(lambda X: maps("w", 1, WORDS) @ X[0] * "t", DATA, logistic)


def test_a_normalised_step_is_a_plain_one_shortened_by_the_size_of_the_gradient() -> None:
    """And the normalised flow is the plain one over that size, at any states and for any length of the step."""
    rng = np.random.default_rng(6)
    plain, normal = gradient_flow(f, DATA, logistic), normalised_descent(f, DATA, logistic, kind="flow")
    x = plain.initial_state(
        weights={"w": rng.normal(size=(1, 3)), **{W: rng.normal(size=(5, 3)) for W in ("W_K", "W_Q")}}
    )
    force, unit = plain.system.compile()(0.0, x), normal.system.compile()(0.0, x)
    size = np.linalg.norm(force) / np.linalg.norm(unit)
    assert np.allclose(unit * size, force, rtol=1e-12, atol=0)
    normal_step = normalised_descent(f, DATA, logistic, kind="step").system
    plain_step = gradient_descent(f, DATA, logistic).system
    for eta in (0.1, 0.7, 3.0):
        one = normal_step.compile({"eta": eta})(0.0, x)
        assert np.allclose(one, plain_step.compile({"eta": eta / size})(0.0, x), rtol=1e-12, atol=1e-12)
