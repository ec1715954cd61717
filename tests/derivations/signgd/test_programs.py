"""The hand-written networks of signgd against programs.

Signs that survive underflow, and symbols for all values at once, are why they are written by hand.
"""

from __future__ import annotations

import numpy as np
import pytest

from derivations.signgd.special import network, toy_network
from derivations.signgd.special.network import Weights
from odesys import Data, ManySamples, Sample, System, Units, Words, gradient_flow, graph, logistic, maps, num, softmax


def program(words: Words, m_k: int, m_v: int):
    q, k = maps("Q K", Units("r", m_k), words)
    plus, minus = maps("P N", Units("s", m_v), words)
    read = [[num(1) / m_v] * m_v]
    return lambda X: (read @ (plus - minus) @ X @ softmax(X.T @ k.T @ q @ X)).sum()


@pytest.mark.parametrize("L", [2, 3])
def test_the_gradient_on_patches(L: int) -> None:
    rng = np.random.default_rng(L)
    n, d, m_k, m_v = 5, 7, 3, 2
    x, y = rng.normal(size=(n, L, d)), rng.choice([-1.0, 1.0], n)
    weights = Weights(rng.normal(size=(m_k, d)), rng.normal(size=(m_k, d)), rng.normal(size=(2, m_v, d)))
    words = Words([f"x{i}" for i in range(L)])
    one = Data(words, [Sample(words.words, "y")])
    many = ManySamples(program(words, m_k, m_v), one, logistic, ["y"])
    arrays = {"Q": weights.W_Q, "K": weights.W_K, "P": weights.W_V[0], "N": weights.W_V[1]}
    found = many.gradients(arrays, np.ascontiguousarray(x.mT), y[:, None])
    slope, _ = network.gradient(weights, x, y)
    for name, by_hand in zip("QKPN", (slope.W_Q, slope.W_K, *slope.W_V), strict=True):
        assert np.abs(found[name] - by_hand).max() < 1e-13


def test_the_slopes_of_the_toy() -> None:
    words = Words([f"e{c}" for c in range(toy_network.SIZE)])
    signal = [{"e0": "m"}, {"e0": graph.sym("m") * -1}]
    noise = [{f"e{c}": f"x{i}_{k}" for k, c in enumerate(toy_network.SUPPORTS[i - 1], 1)} for i in (1, 2)]
    data = Data(words, [([signal[i], noise[i]], toy_network.LABELS[i]) for i in range(2)])
    flow = gradient_flow(program(words, toy_network.NEURONS, toy_network.ROWS), data, logistic)
    slopes = toy_network.toy().slopes()
    rng = np.random.default_rng(4)
    values = {name: float(v) for name, v in zip(slopes, rng.normal(size=len(slopes)), strict=True)}
    known = {name: float(v) for name, v in zip(toy_network.POSITIVE, rng.uniform(0.5, 2, 5), strict=True)}
    states = [_by_hand(name) for name in flow.system.names]
    assert set(states) == set(slopes)
    field = flow.system.compile(known)(0.0, [values[name] for name in states])
    by_hand = System.from_equations({name: slopes[name] for name in states}, parameters=tuple(known)).compile(known)
    assert np.abs(field + by_hand(0.0, [values[name] for name in states])).max() < 1e-13


def _by_hand(name: str) -> str:
    """K_e0_r1 or P_s1_e0 of the flow as K1_0 or P1_0 of the toy."""
    letter, *ends = name.split("_")
    row, column = sorted(ends, key=lambda end: end[0] == "e")
    return f"{letter}{row[1:]}_{column[1:]}"
