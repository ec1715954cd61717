"""Every rule of training against real weights, moved by hand-written NumPy with derivatives by complex steps."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from odesys import (
    Data,
    Space,
    Units,
    Words,
    blocks,
    function,
    gradient_descent,
    gradient_flow,
    graph,
    heavy_ball,
    logistic,
    maps,
    normalised_descent,
    sign_descent,
    softmax,
    squared,
    sym,
)
from odesys.derive.flow import derive_flow
from odesys.derive.motion import Turn
from odesys.errors import ModelError
from odesys.program.program import read_program

Weights = dict[str, np.ndarray]
ETA = 0.3
WORDS = Words("a b c")
SAMPLES = [((0, 1), +1), ((0, 2), -1), ((1, 2, 2), +1), ((2, 0), +1)]
DATA = Data(WORDS, [([WORDS.words[i] for i in tokens], label) for tokens, label in SAMPLES])


# ---- two networks, as programs and by hand ---------------------------------------------------------------------------


def attention() -> Callable[[Any], Any]:
    """Two heads with a free key space."""

    def head(name: str) -> Callable[[Any], Any]:
        w, (W_K, W_Q) = maps("w", 1, WORDS, of=name), maps("W_K W_Q", Space("m"), WORDS, of=name)
        return lambda X: w @ X @ softmax(X.T @ W_K.T @ W_Q @ X[-1])

    plus, minus = head("p"), head("m")
    return lambda X: plus(X) - minus(X)


def attention_loss(weights: Weights, sample: tuple[tuple[int, ...], int]) -> Any:
    tokens, label = list(sample[0]), sample[1]
    value = 0
    for sign, head in ((1, "p"), (-1, "m")):
        w, K, Q = (weights[f"{name}.{head}"] for name in ("w", "W_K", "W_Q"))
        scores = np.exp(K[:, tokens].T @ Q[:, tokens[-1]])
        value += sign * w[0, tokens] @ (scores / scores.sum())
    return np.log(1 + np.exp(-label * value))


def attention_weights(seed: int = 3) -> Weights:
    rng = np.random.default_rng(seed)
    shapes = {"w": (1, 3), "W_K": (5, 3), "W_Q": (5, 3)}
    return {f"{name}.{head}": rng.normal(size=shape) for head in "pm" for name, shape in shapes.items()}


def listed() -> Callable[[Any], Any]:
    """All axes listed, and A read in two places and both orientations."""
    hidden = Units("r", 2)
    W, V, A = maps("W", hidden, WORDS), maps("V", 1, hidden), maps("A", WORDS, WORDS)
    square = function(sym("z") ** 2)
    return lambda X: V @ square(W @ X[0]) + X[0].T @ A @ X[1] - 2 * (X[0].T @ A.T @ X[1])


def listed_loss(weights: Weights, sample: tuple[tuple[int, ...], int]) -> Any:
    (i, j), label = sample[0][:2], sample[1]
    W, V, A = (weights[name] for name in "WVA")
    return (V[0] @ W[:, i] ** 2 + A[i, j] - 2 * A[j, i] - label) ** 2 / 2


def listed_weights(seed: int = 4) -> Weights:
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=shape) for name, shape in {"W": (2, 3), "V": (1, 2), "A": (3, 3)}.items()}


def forces(loss: Callable[..., Any], weights: Weights, samples: Any = SAMPLES) -> Weights:
    """Minus the gradient of the mean loss, by complex steps: exact to rounding."""
    out = {}
    for name, matrix in weights.items():
        slope = np.empty(matrix.shape)
        for at in np.ndindex(matrix.shape):
            moved = matrix.astype(complex)
            moved[at] += 1e-30j
            slope[at] = np.mean([loss({**weights, name: moved}, s).imag for s in samples]) / 1e-30
        out[name] = -slope
    return out


def test_the_oracle_agrees_with_finite_differences() -> None:
    for loss, weights in ((attention_loss, attention_weights()), (listed_loss, listed_weights())):
        for name, force in forces(loss, weights).items():
            at, shift = (0, 1), np.zeros(weights[name].shape)
            shift[at] = 1e-5
            up, down = (
                np.mean([loss({**weights, name: weights[name] + s * shift}, x) for x in SAMPLES]) for s in (1, -1)
            )
            assert abs(force[at] + (up - down) / 2e-5) < 1e-9


def size(parts: Weights) -> float:
    return float(np.sqrt(sum((part**2).sum() for part in parts.values())))


def along(flow: Any, weights: Weights, direction: Weights) -> np.ndarray:
    """The rate of all path scalars (of at most two maps) when weights move along `direction`."""
    ends = [{name: weights[name] + h * direction[name] for name in weights} for h in (0.5, -0.5)]
    out: np.ndarray = flow.initial_state(weights=ends[0]) - flow.initial_state(weights=ends[1])
    return out


def field(flow: Any, weights: Weights, **parameters: float) -> np.ndarray:
    out: np.ndarray = flow.system.compile(**parameters)(0.0, flow.initial_state(weights=weights))
    return out


RATES = {"W_K": Fraction(1, 4), "w.p": 3}


def rate(name: str) -> float:
    return {"W_K.p": 0.25, "W_K.m": 0.25, "w.p": 3.0}.get(name, 1.0)


# ---- flows and steps -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rates", "decay"), [*product([None, RATES], [0, Fraction(1, 5)])])
def test_flow_and_step_with_rates_and_decay(rates: Any, decay: Any) -> None:
    weights, options = attention_weights(), {"rates": rates, "decay": decay}
    force = forces(attention_loss, weights)
    move = {n: (rate(n) if rates else 1) * force[n] - float(decay) * weights[n] for n in weights}
    flow = gradient_flow(attention(), DATA, logistic, **options)
    assert np.abs(field(flow, weights) - along(flow, weights, move)).max() < 1e-12
    step = gradient_descent(attention(), DATA, logistic, **options)
    moved = step.initial_state(weights={n: weights[n] + ETA * move[n] for n in weights})
    assert np.abs(field(step, weights, eta=ETA) - moved).max() < 1e-12


def test_a_trained_part_moves_alone() -> None:
    weights = attention_weights()
    force = forces(attention_loss, weights)
    flow = gradient_flow(attention(), DATA, logistic, train="W_K w.m", rates={"w": 2})
    move = {n: force[n] * {"W_K.p": 1, "W_K.m": 1, "w.m": 2}.get(n, 0) for n in weights}
    assert np.abs(field(flow, weights) - along(flow, weights, move)).max() < 1e-12


@pytest.mark.parametrize("step", [False, True])
def test_heavy_ball(step: bool) -> None:
    weights, friction, decay = attention_weights(), 0.7, Fraction(1, 5)
    rng = np.random.default_rng(8)
    velocity = {n: rng.normal(size=w.shape) for n, w in weights.items()}
    name = {n: "d" + n.removeprefix("W_") for n in weights}
    both = weights | {name[n]: velocity[n] for n in weights}
    force = forces(attention_loss, weights)
    pull = {n: rate(n) * force[n] - float(decay) * weights[n] for n in weights}
    flow = heavy_ball(attention(), DATA, logistic, rates=RATES, decay=decay, step=step)
    if step:
        fast = {n: friction * velocity[n] + ETA * pull[n] for n in weights}
        moved = {n: weights[n] + fast[n] for n in weights} | {name[n]: fast[n] for n in weights}
        gap = field(flow, both, gamma=friction, eta=ETA) - flow.initial_state(weights=moved)
    else:
        move = velocity | {name[n]: pull[n] - friction * velocity[n] for n in weights}
        gap = field(flow, both, gamma=friction) - along(flow, both, move)
    assert np.abs(gap).max() < 1e-12


# ---- signs and sizes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["step", "flow"])
def test_sign_descent(kind: str) -> None:
    weights = listed_weights()
    weights["A"][2, 0] = weights["W"][0, 1] = 0  # a gradient of exactly zero: the square has no slope there
    force = forces(listed_loss, weights)
    assert force["W"][0, 1] == 0
    move = {n: (2 if n == "V" else 1) * np.sign(force[n]) for n in weights}
    flow = sign_descent(listed(), DATA, squared, rates={"V": 2}, kind=kind)
    assert flow.system.kind == ("map" if kind == "step" else "flow")
    if kind == "flow":
        assert np.array_equal(field(flow, weights), flow.initial_state(weights=move))
    else:
        moved = flow.initial_state(weights={n: weights[n] + ETA * move[n] for n in weights})
        assert np.abs(field(flow, weights, eta=ETA) - moved).max() < 1e-15


def test_forces_of_all_reads_are_summed_before_the_sign() -> None:
    """A twin that takes the sign of each read alone gives something else."""
    weights = listed_weights()
    parts = [np.sign(forces(listed_loss, weights, [sample])["A"]) for sample in SAMPLES]
    flow = sign_descent(listed(), DATA, squared, train="A", kind="flow")
    found = flow.layout.unpack(field(flow, weights))["A"]
    assert np.array_equal(found, np.sign(forces(listed_loss, weights)["A"]))
    assert not np.array_equal(found, sum(parts))


def test_sign_descent_needs_axes() -> None:
    with pytest.raises(
        ModelError,
        match=r"needs the axes of W_K.p listed: W_K.p is read in the chain .* list its space with Units\('m', n\)",
    ):
        sign_descent(attention(), DATA, logistic)
    assert sign_descent(attention(), DATA, logistic, train="w").train == ("w.p", "w.m")
    tilted = Words("a b", gram=[[1, Fraction(1, 2)], [Fraction(1, 2), 1]])
    w = maps("w", 1, tilted)
    with pytest.raises(ModelError, match="its words a, b have a Gram matrix"):
        sign_descent(lambda X: w @ X[0], Data(tilted, [("a", 1)]), squared)
    with pytest.raises(ModelError, match="kind='map' is 'step'"):
        sign_descent(listed(), DATA, squared, kind="map")


def test_listed_axes_make_sign_descent_of_attention() -> None:
    m = Units("m", 2)
    w, (W_K, W_Q) = maps("w", 1, WORDS), maps("W_K W_Q", m, WORDS)
    step = sign_descent(lambda X: w @ X @ softmax(X.T @ W_K.T @ W_Q @ X[-1]), DATA, logistic)
    rng = np.random.default_rng(2)
    weights = {"w": rng.normal(size=(1, 3)), "W_K": rng.normal(size=(2, 3)), "W_Q": rng.normal(size=(2, 3))}
    still = {f"{n}.m": np.zeros(v.shape) for n, v in weights.items()}
    force = forces(attention_loss, {f"{n}.p": v for n, v in weights.items()} | still)
    moved = {n: v + ETA * np.sign(force[f"{n}.p"]) for n, v in weights.items()}
    assert np.abs(field(step, weights, eta=ETA) - step.initial_state(weights=moved)).max() < 1e-15


@pytest.mark.parametrize("kind", ["step", "flow"])
def test_normalised_descent_at_any_width(kind: str) -> None:
    weights = attention_weights()
    force = {n: f for n, f in forces(attention_loss, weights).items() if n != "w.m"}
    train = " ".join(force)
    unit = {n: rate(n) * f / size(force) for n, f in force.items()} | {"w.m": np.zeros((1, 3))}
    flow = normalised_descent(attention(), DATA, logistic, train=train, rates=RATES, kind=kind)
    if kind == "flow":
        gap = field(flow, weights) - along(flow, weights, unit)
    else:
        moved = {n: weights[n] + ETA * unit[n] for n in weights}
        gap = field(flow, weights, eta=ETA) - flow.initial_state(weights=moved)
    assert np.abs(gap).max() < 1e-12
    with pytest.raises(ModelError, match=r"rate 0 to W_K\.m; leave it out"):
        normalised_descent(attention(), DATA, logistic, rates={"W_K": 0})


def test_normalised_descent_with_listed_axes_has_steps_of_one_length() -> None:
    weights = listed_weights()
    step = normalised_descent(listed(), DATA, squared)
    change = field(step, weights, eta=ETA) - step.initial_state(weights=weights)
    assert abs(np.linalg.norm(change) - ETA) < 1e-14


def test_a_rule_of_ones_own() -> None:
    z = sym("z")
    cut = graph.relu(z + 1) - graph.relu(z - 1) - 1
    turn = Turn("clipped descent", lambda found, square: [blocks.apply(cut, force) for force in found], entries=True)
    flow = derive_flow(read_program(listed(), DATA, squared), turn=turn)
    weights = listed_weights()
    force = forces(listed_loss, weights)
    move = {n: np.clip(f, -1, 1) for n, f in force.items()}
    assert max(np.abs(f).max() for f in force.values()) > 1
    assert np.abs(field(flow, weights) - flow.initial_state(weights=move)).max() < 1e-14
    assert flow.rule.turn is turn


# ---- mini-batches ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size_of", [1, 2, 3, 4])
def test_the_averaged_step_is_the_mean_over_all_batches(size_of: int) -> None:
    weights = attention_weights()
    step = gradient_descent(attention(), DATA, logistic, rates=RATES, decay=Fraction(1, 5), batch=size_of)
    ends = []
    for batch in combinations(SAMPLES, size_of):
        force = forces(attention_loss, weights, batch)
        moved = {n: weights[n] + ETA * (rate(n) * force[n] - weights[n] / 5) for n in weights}
        ends.append(step.initial_state(weights=moved))
    assert np.abs(field(step, weights, eta=ETA) - np.mean(ends, axis=0)).max() < 1e-12
    full = gradient_descent(attention(), DATA, logistic, rates=RATES, decay=Fraction(1, 5))
    gap = np.abs(field(full, weights, eta=ETA) - np.mean(ends, axis=0)).max()
    assert gap < 1e-12 if size_of == 4 else gap > 1e-4  # the full batch is another step


def test_batches_with_momentum_are_the_mean_over_all_batches() -> None:
    weights, friction = attention_weights(), 0.7
    rng = np.random.default_rng(9)
    velocity = {n: rng.normal(size=w.shape) for n, w in weights.items()}
    name = {n: "d" + n.removeprefix("W_") for n in weights}
    step = heavy_ball(attention(), DATA, logistic, rates=RATES, decay=Fraction(1, 5), step=True, batch=2)
    ends = []
    for batch in combinations(SAMPLES, 2):
        force = forces(attention_loss, weights, batch)
        fast = {n: friction * velocity[n] + ETA * (rate(n) * force[n] - weights[n] / 5) for n in weights}
        moved = {n: weights[n] + fast[n] for n in weights} | {name[n]: fast[n] for n in weights}
        ends.append(step.initial_state(weights=moved))
    both = weights | {name[n]: velocity[n] for n in weights}
    assert np.abs(field(step, both, gamma=friction, eta=ETA) - np.mean(ends, axis=0)).max() < 1e-12
    with pytest.raises(ModelError, match="mini-batches are steps, add step=True"):
        heavy_ball(attention(), DATA, logistic, batch=2)


def test_batches_are_refused_in_a_sentence() -> None:
    for size_of in (0, 5, True, 1.5):
        with pytest.raises(ModelError, match="how many of the 4 samples one step sees"):
            gradient_descent(attention(), DATA, logistic, batch=size_of)
    uneven = Data(WORDS, [("a b", 1, Fraction(1, 3)), ("b c", -1, Fraction(2, 3))])
    with pytest.raises(ModelError, match="equal weight; repeat a sample"):
        gradient_descent(attention(), uneven, logistic, batch=1)
