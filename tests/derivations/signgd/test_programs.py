"""The network of signgd against gradients by hand, and its toy, which is symbols for all values, against a program."""

from __future__ import annotations

import math
import random
import re

import mpmath
import numpy as np
import pytest

from derivations.signgd import PAPER, dynamics
from derivations.signgd.setting import published
from derivations.signgd.special import network, toy_network
from derivations.signgd.special.network import Optimiser, Weights
from derivations.signgd.special.training_sets import make
from odesys import Data, System, Units, Words, gradient_flow, graph, logistic, maps, num, softmax
from odesys.tex.latex import system_latex, system_text
from tests import signgd_gradients


def program(words: Words, m_k: int, m_v: int):
    q, k = maps("Q K", Units("r", m_k), words)
    plus, minus = maps("P N", Units("s", m_v), words)
    read = [[num(1) / m_v] * m_v]
    return lambda X: (read @ (plus - minus) @ X @ softmax(X.T @ k.T @ q @ X)).sum()


def drawn(seed: int, n: int, L: int, d: int, m_k: int = 3, m_v: int = 2, scale: float = 1.0):
    """Gaussian patches and weights, and random labels."""
    rng = np.random.default_rng(seed)
    shapes = (m_k, d), (m_k, d), (2, m_v, d)
    return (
        Weights(*(scale * rng.normal(size=s) for s in shapes)),
        rng.normal(size=(n, L, d)),
        rng.choice([-1.0, 1.0], n),
    )


def same_signs(weights: Weights, x: np.ndarray, y: np.ndarray) -> None:
    found, (by_hand, _) = network.gradient(weights, x, y, signs=True), signgd_gradients.gradient(weights, x, y, True)
    for mine, other in zip(found.all(), by_hand.all(), strict=True):
        assert np.array_equal(mine, np.sign(other))


@pytest.mark.parametrize("L", [2, 3, 6])
def test_the_gradient_on_patches(L: int) -> None:
    weights, x, y = drawn(L, 5, L, 7)
    found, (by_hand, margins) = network.gradient(weights, x, y), signgd_gradients.gradient(weights, x, y)
    for mine, other in zip(found.all(), by_hand.all(), strict=True):
        assert np.abs(mine - other).max() < 1e-13
    assert np.allclose(y * network.forward(weights, x).f, margins, rtol=1e-13)
    same_signs(weights, x, y)


@pytest.mark.parametrize("L", [2, 3])
@pytest.mark.parametrize("scale", [8.0, 30.0, 300.0])
def test_signs_where_attention_and_slopes_underflow(L: int, scale: float) -> None:
    """Logits from hundreds to millions: attention is 1 in floats, and margins reach hundreds to thousands."""
    for seed in range(10):
        weights, x, y = drawn(seed, 4, L, 9, scale=scale)
        seen = signgd_gradients.forward(weights, x)
        assert seen.log_attention.min() < -460 and np.exp(seen.log_attention).max() == 1  # 460: 1e-200
        same_signs(weights, x, y)
    assert scale < 300 or np.abs(seen.f).max() > 800


@pytest.mark.parametrize(("letter", "eta"), [("a", 5e-4), ("d", 5e-4), ("d", 1e-2)])
def test_signs_on_runs_of_the_paper(letter: str, eta: float) -> None:
    """At every recorded step, to the end; with the large step margins reach hundreds."""
    data = make(published(letter, 200), (3, 0))
    x = data.x[:, :, data.active]
    margins = []

    def watch(weights: Weights, signs: Weights, changes: list[np.ndarray]) -> dict[str, float]:
        by_hand, seen = signgd_gradients.gradient(weights, x, data.y, True)
        for mine, other in zip(signs.all(), by_hand.all(), strict=True):
            assert np.array_equal(mine, np.sign(other))
        margins.append(seen.max())
        return {}

    network.train(data, network.gaussian(data.case, (3, 1)), Optimiser("signgd", eta), 400, 20, watch=watch)
    assert len(margins) == 21 and margins[-1] > (100 if eta > 1e-3 else 1)


@pytest.mark.parametrize("scale", [1.0, 5.0, 12.0])
def test_signs_against_fifty_digits(scale: float) -> None:
    """Two of four patches are equal; then the largest softmax product has no gap, and logarithms by hand give 0."""
    weights, x, y = drawn(1, 2, 4, 5, m_k=2, m_v=1, scale=scale)
    x[:, 1] = x[:, 0]
    found = network.gradient(weights, x, y, signs=True)
    with mpmath.workdps(50):
        W_Q, W_K, v = (mpmath.matrix(w) for w in (weights.W_Q, weights.W_K, weights.v[:, None]))
        total = {"Q": mpmath.matrix(2, 5), "K": mpmath.matrix(2, 5), "V": mpmath.matrix(1, 5)}
        for patches, label in zip(x, y, strict=True):
            X = mpmath.matrix(patches)
            q, k, u = X * W_Q.T, X * W_K.T, X * v
            z = q * k.T
            s = z.apply(mpmath.exp)
            sums = [mpmath.fsum(s[row, a] for a in range(4)) for row in range(4)]
            for row, a in np.ndindex(4, 4):
                s[row, a] /= sums[row]
            f = mpmath.fsum(s[row, a] * u[a] for row, a in np.ndindex(4, 4))
            outer = -label / (1 + mpmath.exp(label * f))
            slope = mpmath.matrix(4, 4)
            for row, a in np.ndindex(4, 4):
                slope[row, a] = outer * s[row, a] * mpmath.fsum(s[row, b] * (u[a] - u[b]) for b in range(4))
            total["Q"] += (slope * k).T * X
            total["K"] += (slope.T * q).T * X
            total["V"] += outer * mpmath.matrix([[1, 1, 1, 1]]) * s * X
    exact = {name: np.array([int(mpmath.sign(g)) for g in part]).reshape(-1, 5) for name, part in total.items()}
    assert np.array_equal(found.W_Q, exact["Q"]) and np.array_equal(found.W_K, exact["K"])
    assert np.array_equal(found.W_V[:, 0], np.vstack([exact["V"], -exact["V"]]))


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


@pytest.mark.parametrize(("n", "kind"), [(2, "map"), (3, "flow")])
def test_equations_as_they_are_written_are_those_that_run(n: int, kind: str) -> None:
    """Named parts put in again give the right-hand sides; slopes and drivers carry the number of their sample."""
    made = dynamics.reduced(n, 2, kind)
    written, rng = made.written, random.Random(3)
    assert written is not None
    functions = {"sigmoid": lambda z: 1 / (1 + math.exp(-z)), "step": lambda z: float(z > 0)}
    for _ in range(20):
        point = {name: rng.gauss(0, 1) for name in (*made.names, *made.parameters)}
        sides = (graph.evaluate(list(nodes), point, functions, float) for nodes in (made.nodes, written.expanded()))
        assert all(a == pytest.approx(b, abs=1e-12) for a, b in zip(*sides, strict=True))
    for i in range(1, n + 1):
        assert {name for name in graph.symbols([written.definitions[f"g_{i}"]]) if "v_z" in name} == {f"v_z{i}"}
    assert r"\mathrm{sgn}(w_{1})" in made.latex()


@pytest.mark.parametrize("name", ["full", "flow", "raw", "gradient", "adam", "heads"])
@pytest.mark.parametrize("size", ["1", "2"])
def test_written_systems_say_what_their_letters_stand_for(name: str, size: str) -> None:
    """Every kind of state and parameter: the letter before its indices is that of a letter with a meaning."""
    system = PAPER.systems[name](PAPER.read_parameters({"written": size}))

    def kind(letter: str) -> str:
        return re.sub(r"[12]", "#", letter).replace("b_", "a_" if name == "heads" else "b_", 1)

    known = {kind(letter) for letter in system.meanings} | {"eta", "beta#"}
    moments = {f"{letter}_{state}" for letter in "ab" for state in known}
    assert {kind(letter) for letter in (*system.names, *system.parameters)} <= known | moments
    text, tex = system_text(system), system_latex(system)
    assert all(f"# {letter} = {meaning}\n" in text for letter, (meaning, _) in system.meanings.items())
    assert r"\langle w_{Q,1}, y_{1}\xi_{1}\rangle" in tex and "<w_K,1, y_1 xi_1>" in text


def test_letters_of_the_gradient_flow_are_what_they_are_said_to_be() -> None:
    """At random weights of two neurons and one sample: each letter moves as what it stands for."""
    rng, eps = np.random.default_rng(3), 1e-6
    mu, xi, y, m_v = 1.3, rng.normal(size=3), 1.0, 2
    x = np.zeros((1, 2, 4))
    x[0, 0, 0], x[0, 1, 1:] = y * mu, xi
    weights = Weights(rng.normal(size=(2, 4)), rng.normal(size=(2, 4)), rng.normal(size=(2, m_v, 4)))

    def letters(w: Weights) -> dict[str, float]:
        words = {"mu": x[0, 0] * y, "z1": x[0, 1] * y}
        found = {f"cv_{name}": w.v @ word for name, word in words.items()}
        for r in (1, 2):
            found |= {f"q_r{r}_{name}": w.W_Q[r - 1] @ word for name, word in words.items()}
            found |= {f"k_{name}_r{r}": w.W_K[r - 1] @ word for name, word in words.items()}
        return found

    step = network.gradient(weights, x, np.array([y]))
    moved = Weights(*(w - eps * g for w, g in zip(weights.all(), step.all(), strict=True)))
    now, then, system = letters(weights), letters(moved), dynamics.gradient(1, 2)
    field = system.compile(m2=mu**2, s1=float(xi @ xi), c2=2 / m_v)
    rates = dict(zip(system.names, field(0.0, [now[name] for name in system.names]), strict=True))
    for name in system.names:
        assert abs((then[name] - now[name]) / eps - rates[name]) < 1e-5, name
