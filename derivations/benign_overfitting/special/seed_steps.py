"""Steps of the flow of many drawn training sets, seed by seed as machine code; here because NumPy goes over all seeds
for every stage of a step, which is more than a processor keeps at hand.

Stages, error and control of the steps are those of SciPy's RK45 over all seeds together, so both take the same steps;
`tests` compare them. Products of different tokens are left out, and tables are those of `wide_flow`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy.integrate import RK45

from odesys import compiled_loops

ORDER, SAFETY, LEAST, MOST = 5, 0.9, 0.2, 10.0  # of the control of steps, as in RK45


class SeedSteps:
    """As much of RK45 as `wide_flow.follow` uses, for states (seeds, S, Q, K, V), each of them whole."""

    def __init__(
        self,
        places: np.ndarray,
        labels: np.ndarray,
        lengths: np.ndarray,
        w2: float,
        start: np.ndarray,
        t_bound: float,
        first_step: float,
        rtol: float,
        atol: np.ndarray,
    ) -> None:
        code = _code()
        assert code is not None
        (seeds, samples, M), P = places.shape, lengths.shape[1]
        self.t, self.y, self.status = 0.0, start.copy(), "running"
        self._bound, self._next, self._code = t_bound, first_step, code
        self._old = self.t, self.y
        self._stages, self._sizes = np.zeros((7, start.size)), (seeds, samples, M, P)
        self._given = places.astype(float), labels.astype(float), np.ascontiguousarray(lengths)
        self._tables = tuple(np.array(table, dtype=float, order="C") for table in (RK45.A, RK45.B, RK45.E))
        self._room = np.empty(M * M), np.empty(samples * M * M), np.empty(P), np.empty(3 * P * P)
        self._w2, self._rtol, self._atol = w2, rtol, np.ascontiguousarray(atol)
        code["all_rates"](*self._sizes, w2, *self._given, self.y, self._stages[6], *self._room)

    @staticmethod
    def possible() -> bool:
        """True where there is machine code."""
        return _code() is not None

    def step(self) -> str | None:
        """The next step that is accepted, or what is wrong."""
        least = 10 * (math.nextafter(self.t, math.inf) - self.t)
        width, rejected, new = max(self._next, least), False, np.empty_like(self.y)
        self._stages[0] = self._stages[6]
        while width >= least:
            end = min(self.t + width, self._bound)
            width = end - self.t
            numbers = width, self._w2, self._rtol
            tables = (*self._given, *self._tables, self.y, self._stages, new, self._atol, *self._room)
            squares = self._code["attempt"](*self._sizes, *numbers, *tables)
            error = math.sqrt(squares / new.size)
            if error < 1:
                factor = min(MOST, SAFETY * error ** (-1 / ORDER)) if error else MOST
                self._old = self.t, self.y
                self.t, self.y, self._next = end, new, width * (min(1.0, factor) if rejected else factor)
                if end >= self._bound:
                    self.status = "finished"
                return None
            width, rejected = width * (max(LEAST, SAFETY * error ** (-1 / ORDER)) if error > 0 else LEAST), True
        return "the step is too small for the distance of floats"

    def dense_output(self) -> Callable[[float], np.ndarray]:
        """The state within the last step."""
        begin, y = self._old
        width = self.t - begin

        def at(time: float) -> np.ndarray:
            powers = np.cumprod(np.full(RK45.P.shape[1], (time - begin) / width))
            return np.asarray(y + width * ((RK45.P @ powers) @ self._stages))

        return at


@cache
def _code() -> dict[str, Callable[..., Any]] | None:
    return compiled_loops(attempt, all_rates)


def attempt(
    seeds: int, samples: int, M: int, P: int, width: float, w2: float, rtol: float,
    places: np.ndarray, labels: np.ndarray, lengths: np.ndarray, A: np.ndarray, B: np.ndarray, E: np.ndarray,
    y: np.ndarray, stages: np.ndarray, new: np.ndarray, atol: np.ndarray,
    weights: np.ndarray, pull: np.ndarray, push: np.ndarray, room: np.ndarray,
) -> float:  # fmt: skip
    """One step of every seed, whose rates are the first stage; the sum of all squares of errors over tolerances."""
    size = 3 * P * P + P
    row = seeds * size
    total = 0.0
    for seed in range(seeds):
        begin = seed * size
        own, signs, L = places[seed * samples * M :], labels[seed * samples :], lengths[seed * P :]
        for stage in range(1, 7):
            if stage < 6:
                combined(size, stage, row, width, A[5 * stage :], y[begin:], stages[begin:], new[begin:])
            else:
                combined(size, stage, row, width, B, y[begin:], stages[begin:], new[begin:])
            rates(
                samples, M, P, w2, own, signs, L, new[begin:], stages[stage * row + begin :], weights, pull, push, room
            )
        total += squares(size, row, width, rtol, E, y[begin:], stages[begin:], new[begin:], atol[begin:])
    return total


def all_rates(
    seeds: int, samples: int, M: int, P: int, w2: float,
    places: np.ndarray, labels: np.ndarray, lengths: np.ndarray, x: np.ndarray, out: np.ndarray,
    weights: np.ndarray, pull: np.ndarray, push: np.ndarray, room: np.ndarray,
) -> None:  # fmt: skip
    """Rates of all seeds."""
    size = 3 * P * P + P
    for seed in range(seeds):
        own, signs, L = places[seed * samples * M :], labels[seed * samples :], lengths[seed * P :]
        rates(samples, M, P, w2, own, signs, L, x[seed * size :], out[seed * size :], weights, pull, push, room)


def rates(
    samples: int, M: int, P: int, w2: float,
    places: np.ndarray, labels: np.ndarray, lengths: np.ndarray, x: np.ndarray, out: np.ndarray,
    weights: np.ndarray, pull: np.ndarray, push: np.ndarray, room: np.ndarray,
) -> None:  # fmt: skip
    """Rates of one seed."""
    forces(samples, M, P, places, labels, x, x[3 * P * P :], weights, pull, push)
    products(samples, M, P, w2, places, lengths, pull, push, x, room, out)


def combined(
    size: int, stage: int, row: int, width: float, factors: np.ndarray,
    y: np.ndarray, stages: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    """The state moved by a combination of the stages before."""
    for i in range(size):
        out[i] = factors[0] * stages[i]
    for j in range(1, stage):
        factor = factors[j]
        other = stages[j * row :]
        for i in range(size):
            out[i] = out[i] + factor * other[i]
    for i in range(size):
        out[i] = y[i] + width * out[i]


def squares(
    size: int, row: int, width: float, rtol: float, E: np.ndarray,
    y: np.ndarray, stages: np.ndarray, new: np.ndarray, atol: np.ndarray,
) -> float:  # fmt: skip
    """The sum of the squares of all errors over tolerances."""
    total = 0.0
    for i in range(size):
        error = E[0] * stages[i] + E[2] * stages[2 * row + i] + E[3] * stages[3 * row + i]  # the second is zero
        error = error + E[4] * stages[4 * row + i] + E[5] * stages[5 * row + i] + E[6] * stages[6 * row + i]
        error = error * width / (atol[i] + max(abs(y[i]), abs(new[i])) * rtol)
        total += error * error
    return total


def forces(
    samples: int, M: int, P: int, places: np.ndarray, labels: np.ndarray, S: np.ndarray, V: np.ndarray,
    weights: np.ndarray, pull: np.ndarray, push: np.ndarray,
) -> None:  # fmt: skip
    """The forces on the scores within samples, and their sums on every token: `wide_flow.forces`."""
    for token in range(P):
        push[token] = 0.0
    for sample in range(samples):
        own = places[sample * M :]
        margin = 0.0
        for query in range(M):
            scores = S[P * int(own[query]) :]
            top = scores[int(own[0])]
            for key in range(1, M):
                top = max(top, scores[int(own[key])])
            total = 0.0
            for key in range(M):
                weight = math.exp(scores[int(own[key])] - top)
                weights[query * M + key] = weight
                total += weight
            for key in range(M):
                weights[query * M + key] = weights[query * M + key] / total
                margin += weights[query * M + key] * V[int(own[key])]
        c = labels[sample] / (1.0 + math.exp(labels[sample] * margin / M)) / (samples * M)
        for query in range(M):
            for key in range(M):
                v = V[int(own[key])]
                apart = 0.0
                for other in range(M):
                    apart += weights[query * M + other] * (v - V[int(own[other])])
                weight = c * weights[query * M + key]
                pull[(sample * M + query) * M + key] = weight * apart
                push[int(own[key])] = push[int(own[key])] + weight


def products(
    samples: int, M: int, P: int, w2: float, places: np.ndarray, lengths: np.ndarray,
    pull: np.ndarray, push: np.ndarray, x: np.ndarray, room: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    """Rates of S, Q, K, V for G = diag(lengths): H has M times M entries for every sample, all else in it is zero.

    `room` holds S', Q' and the part of the rate of S that comes from keys, turned round.
    """
    square = P * P
    s, q, k = x, x[square:], x[2 * square :]
    dS, dQ, dK, dV = out, out[square:], out[2 * square :], out[3 * square :]
    turned_S, turned_Q, other = room, room[square:], room[2 * square :]
    for i in range(P):
        for j in range(P):
            turned_S[j * P + i] = s[i * P + j]
            turned_Q[j * P + i] = q[i * P + j]
    for i in range(square):
        dS[i] = 0.0
        dQ[i] = 0.0
        dK[i] = 0.0
        other[i] = 0.0
    for sample in range(samples):
        for row in range(M):
            a = P * int(places[sample * M + row])
            own = lengths[int(places[sample * M + row])]
            for column in range(M):
                b = P * int(places[sample * M + column])
                force = pull[(sample * M + row) * M + column]
                first, second = own * force, lengths[int(places[sample * M + column])] * force
                for i in range(P):
                    dS[a + i] = dS[a + i] + first * k[b + i]
                    dQ[a + i] = dQ[a + i] + first * turned_S[b + i]
                    dK[b + i] = dK[b + i] + second * s[a + i]
                    other[b + i] = other[b + i] + second * turned_Q[a + i]
    for i in range(P):
        dV[i] = w2 * lengths[i] * push[i]
        for j in range(P):
            dS[i * P + j] = dS[i * P + j] + other[j * P + i]
        for j in range(i + 1):
            both = dQ[i * P + j] + dQ[j * P + i]
            dQ[i * P + j] = both
            dQ[j * P + i] = both
            both = dK[i * P + j] + dK[j * P + i]
            dK[i * P + j] = both
            dK[j * P + i] = both
