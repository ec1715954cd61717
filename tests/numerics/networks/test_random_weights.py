"""Random weights: which maps move away from zero, how large they are, and which draws are shared."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from odesys import Data, Space, Units, Words, gradient_flow, heavy_ball, logistic, maps, program_networks, softmax
from odesys.errors import ModelError

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
