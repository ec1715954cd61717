r"""One pass over all pairs (q_i, k_i) of several runs, as machine code; here because NumPy would make fifty.

The text of the loops is written around the expressions of `array_step`, so that both are the same derived step: rounded
alike, apart from the order in which a mean over samples is added, of which only the sign is read. `tests` compare them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from odesys import compiled_loops

from . import array_step
from .recursion import NAMES, Start, State

PAIRS = {"q": "q_1_z1", "k": "k_1_z1"}
BITS = {"q": 1.0, "k": 2.0}  # of whose last move was downwards, in one number per pair
KINDS = ("q", "q zero", "k", "k zero")

LOGITS = """
def logits(
    runs: int, neurons: int, samples: int,
    q_mu: Array, k_mu: Array, q: Array, k: Array, z11: Array, z21: Array,
) -> None:
    for run in range(runs):
        to = run * samples
        for i in range(samples):
            z11[to + i] = 0.0
            z21[to + i] = 0.0
        for neuron in range(run * neurons, run * neurons + neurons):
            place = neuron * samples
            q_1_mu = q_mu[neuron]
            k_1_mu = k_mu[neuron]
            for i in range(samples):
                q_1_z1 = q[place + i]
                k_1_z1 = k[place + i]
                z11[to + i] = z11[to + i] + {s11}
                z21[to + i] = z21[to + i] + {s21}
"""

MOVE = """
def move(
    runs: int, neurons: int, samples: int, m: float, widths: Array, norms: Array,
    w_all: Array, A_weights: Array, q_weights: Array, k_weights: Array, scales: Array,
    q_mu: Array, k_mu: Array, q: Array, k: Array,
    falls: Array, q_turns: Array, q_zeros: Array, k_turns: Array, k_zeros: Array, counts: Array,
) -> None:
    some_q_turns = some_q_zeros = some_k_turns = some_k_zeros = 0
    for run in range(runs):
        eta = widths[run]
        if eta == 0.0:
            continue
        to = run * samples
        for neuron in range(run * neurons, run * neurons + neurons):
            place = neuron * samples
            q_1_mu = q_mu[neuron]
            k_1_mu = k_mu[neuron]
            q_sum = k_sum = 0.0
            for i in range(samples):
                q_1_z1 = q[place + i]
                k_1_z1 = k[place + i]
                l1 = norms[to + i]
                w = w_all[to + i]
                B = {B}
                A = {A}
                q_sum = q_sum + {q_mu} * q_weights[to + i]
                k_sum = k_sum + {k_mu} * k_weights[to + i]
                sign = {q}
                to_q_1_z1 = 1.0 if sign > 0.0 else (-1.0 if sign < 0.0 else 0.0 * sign)
                sign = {k}
                to_k_1_z1 = 1.0 if sign > 0.0 else (-1.0 if sign < 0.0 else 0.0 * sign)
                new_q = {new_q}
                new_k = {new_k}
                odd = (1 if A < 0.0 else 0) + (1 if B < 0.0 else 0) + (1 if w < 0.0 else 0)
                if odd == 1 or odd == 3:
                    far_A = abs(A) * scales[to + i]
                    far_B = abs(B)
                    reach = l1 * eta
                    short = min(far_A, far_B)
                    if short < reach:
                        if far_B <= far_A:
                            new_q = q_1_z1 + to_q_1_z1 * (2.0 * short - reach)
                        else:
                            new_k = k_1_z1 + to_k_1_z1 * (2.0 * short - reach)
                k_fell = falls[place + i] >= 2.0
                q_fell = falls[place + i] == 1.0 or falls[place + i] == 3.0
{q_watch}
{k_watch}
            to_q_1_mu = 1.0 if q_sum > 0.0 else (-1.0 if q_sum < 0.0 else 0.0 * q_sum)
            to_k_1_mu = 1.0 if k_sum > 0.0 else (-1.0 if k_sum < 0.0 else 0.0 * k_sum)
            q_mu[neuron] = {new_q_mu}
            k_mu[neuron] = {new_k_mu}
    counts[0] = some_q_turns
    counts[1] = some_q_zeros
    counts[2] = some_k_turns
    counts[3] = some_k_zeros
"""

WATCH = """
                if {x}_fell:
                    if new_{x} > {x}_1_z1:
                        falls[place + i] = falls[place + i] - {bit}
                        {x}_turns[some_{x}_turns] = place + i
                        some_{x}_turns += 1
                elif new_{x} < {x}_1_z1:
                    falls[place + i] = falls[place + i] + {bit}
                    {x}_turns[some_{x}_turns] = place + i
                    some_{x}_turns += 1
                if ({x}_1_z1 < 0.0 and new_{x} >= 0.0) or ({x}_1_z1 >= 0.0 and new_{x} < 0.0):
                    {x}_zeros[some_{x}_zeros] = place + i
                    some_{x}_zeros += 1
                {x}[place + i] = new_{x}
"""


@cache
def _kernels() -> dict[str, Callable[..., Any]] | None:
    """The two passes, for logits and for the move; nothing where there is no machine code."""
    parts = array_step.lifted()
    moved = dict(zip(("v_mu", "v_z1", "q_1_mu", "q_1_z1", "k_1_mu", "k_1_z1"), parts.moved.texts, strict=True))
    terms = enumerate(value.texts[0] for _, value in parts.drivers["A"].terms)
    count = len(parts.drivers["A"].terms)
    assert parts.drivers["B"].plain and parts.drivers["w"].plain
    assert array_step.pairs_are_saddles()
    signs = {
        name: " * ".join([f"{parts.directions[full].front:.1f}", *parts.directions[full].drivers])
        for name, full in (*PAIRS.items(), ("q_mu", "q_1_mu"), ("k_mu", "k_1_mu"))
    }
    return compiled_loops(
        LOGITS.format(**{row: f"({value.texts[0]})" for row, value in parts.logits.items()})
        + MOVE.format(
            B=parts.drivers["B"].terms[0][1].texts[0],
            A=" + ".join(["0.0", *(f"A_weights[{count} * (to + i) + {j}] * ({text})" for j, text in terms)]),
            **signs,
            **{f"new_{name}": moved[full] for name, full in PAIRS.items()},
            **{f"new_{name}_mu": moved[f"{name}_1_mu"] for name in PAIRS},
            **{f"{name}_watch": WATCH.strip("\n").format(x=name, bit=BITS[name]) for name in PAIRS},
        )
    )


class Read(NamedTuple):
    """What a step reads off the states of all runs, (runs, n): the same as in `recursion.Drivers`."""

    log_a: np.ndarray
    log_b: np.ndarray
    w: np.ndarray
    A_weights: np.ndarray  # of the terms of A, (runs, n, terms)
    q_weights: np.ndarray  # of samples in the means of q_mu and k_mu
    k_weights: np.ndarray
    scales: np.ndarray  # from A to how far q is from where it vanishes


class PairRuns:
    """Sign flows with their saddles (`recursion.saddle_step`) side by side, whose states change in place.

    `falls` says whose last move was downwards, by "q" and "k".
    """

    def __init__(self, state: State, start: Start, falls: Mapping[str, np.ndarray]) -> None:
        self.start, self.sizes, self._code = start, state.q.shape, _kernels() or {}
        self.state = State(*(np.array(getattr(state, name), dtype=float, order="C") for name in NAMES))
        self._falls = sum(bit * falls[name] for name, bit in BITS.items())
        self._events, self._counts = [np.empty(state.q.size) for _ in KINDS], np.zeros(len(KINDS))
        self._logits = [np.empty(state.v.shape) for _ in range(2)]
        self._norms = np.array(start.l1, dtype=float, order="C")

    @staticmethod
    def possible() -> bool:
        """True where there is machine code."""
        return _kernels() is not None

    def read(self) -> Read:
        """Softmax weights and all that follows from them; the pairs are read once."""
        parts, now = array_step.lifted(), self.state
        self._code["logits"](*self.sizes, now.q_mu, now.k_mu, now.q, now.k, *self._logits)
        values, rows = now.arrays(), dict(zip(("s11", "s21"), (z[:, None] for z in self._logits), strict=True))
        _, logs, _ = array_step.logarithms(values, logits=rows)
        weights, log_A = parts.drivers["A"].weights(logs)
        scale = {"w": 0.0, "B": 0.0, "A": log_A}
        means = (
            array_step.sample_weights(found, logs, [scale[x] for x in found.drivers])
            for found in (parts.directions["q_1_mu"], parts.directions["k_1_mu"])
        )
        log_a, log_b = (logs[parts.names[row]] + logs[parts.names[f"not {row}"]] for row in rows)
        far = np.exp(np.minimum(log_A - log_b, 700.0))
        w = parts.drivers["w"](values, logs)[0]
        flat = (np.ascontiguousarray(x[:, 0]) for x in (log_a, log_b, w, np.stack(weights, axis=-1), *means, far))
        return Read(*flat)

    def move(self, read: Read, widths: np.ndarray) -> dict[str, np.ndarray]:
        """A step of every run, each of its own width; by kind the places (run, neuron, sample) of what happened."""
        parts, now, start = array_step.lifted(), self.state, self.start
        idle = {name: 0.0 for full in (*PAIRS.values(), "q_1_mu", "k_1_mu") for name in (full, f"to_{full}")}
        steady = {f"to_{name}": float(to) for name, to in parts.values.items()}
        eta = widths[:, None]
        v_mu, v, *_ = parts.moved(
            {**idle, **steady, "v_mu": now.v_mu[:, None], "v_z1": now.v, "eta": eta, "m": start.mu, "l1": self._norms}
        )
        given = (start.mu, np.array(widths, dtype=float), self._norms, *read[2:])
        pairs = (now.q_mu, now.k_mu, now.q, now.k, self._falls)
        self._code["move"](*self.sizes, *given, *pairs, *self._events, self._counts)
        now.v_mu[:], now.v[:] = v_mu[:, 0], v
        found = zip(KINDS, self._events, self._counts.astype(int), strict=True)
        return {
            kind: np.column_stack(np.unravel_index(places[:count].astype(int), self.sizes))
            for kind, places, count in found
            if count
        }
