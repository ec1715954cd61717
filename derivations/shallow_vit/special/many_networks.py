r"""Many networks on noiseless tokens at once, with exact risks; here because sample complexity asks for thousands.

Samples with the same counts are the same sample, so a training set of N samples is a list of kinds and how often each
occurs, and the risk (4) is a sum over kinds:

.. math::  f = \sum_k P(k)\,\max\{1 - y_kF(X_k), 0\} .
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from odesys import ParameterError, PathSpeeds

from .. import setting
from ..setting import Case
from .class_network import State, program_of
from .rules import LEAVES, PAPER, Counting, Rules, factors

PLAIN = Counting()
MOVING = ("w", "v", "kappa", "rho")
AT_ONCE = 40_000  # pre-activations: what stays in the cache of a processor takes half the time


@dataclass(frozen=True, eq=False)
class Law:
    """A law of samples: counts of each kind (kinds, M), labels and probabilities (kinds,)."""

    counts: np.ndarray
    y: np.ndarray
    chance: np.ndarray

    def drawn(self, N: int, rng: np.random.Generator) -> np.ndarray:
        """Shares of the kinds in a training set of N samples, as many of each class."""
        out = np.zeros(len(self.y))
        for label, many in ((1, N - N // 2), (-1, N // 2)):
            here = self.y == label
            out[here] = rng.multinomial(many, self.chance[here] / self.chance[here].sum()) / N
        return out


def exact_law(case: Case) -> Law:
    """One sample of each class with the exact fractions."""
    counts, y = setting.exact_counts(case)
    return Law(counts, y, np.full(2, 0.5))


def fluctuating(case: Case, spread: float, steps: int = 12) -> Law:
    """The fraction of label-relevant tokens is alpha_* plus a centred binomial with this standard deviation.

    The fraction of confusion tokens is alpha_#, and nuisance patterns share the rest evenly. All fractions keep their
    majority, or the law is refused.
    """
    places = np.arange(-steps, steps + 1)
    chance = np.array([comb(2 * steps, int(k) + steps) / 4**steps for k in places])
    star = case.alpha_s + spread * places / np.sqrt(steps / 2)
    rest = 1 - star - case.alpha_c
    if star.min() <= case.alpha_c or rest.min() < 0:
        raise ParameterError(
            f"fractions from {star.min():.3g} to {star.max():.3g} do not keep a majority over alpha_# = "
            f"{case.alpha_c:g}; use a smaller spread"
        )
    return _both_classes(
        star, np.full_like(star, case.alpha_c), np.tile(rest / case.nuisance, (case.nuisance, 1)).T, chance
    )


def _both_classes(star: np.ndarray, confusion: np.ndarray, rest: np.ndarray, chance: np.ndarray) -> Law:
    plus, minus = (np.column_stack([a, b, rest]) for a, b in ((star, confusion), (confusion, star)))
    return Law(np.vstack([plus, minus]).astype(float), np.repeat([1, -1], len(chance)), np.tile(chance, 2) / 2)


@dataclass(frozen=True, eq=False)
class Trained:
    """Networks at the end of training, stacked as in `State`; steps of each, and whether all margins were reached."""

    state: State
    steps: np.ndarray
    fitted: np.ndarray
    margin: float
    rules: Rules

    def margins(self, law: Law) -> np.ndarray:
        """y F of every kind, (networks, kinds)."""
        _, found = _slopes(self.state, law, np.zeros((len(self.steps), len(law.y))), self.margin, self.rules)
        return found

    def risk(self, law: Law) -> np.ndarray:
        """The population risk (4) of each network."""
        loss = np.maximum(self.margin - self.margins(law), 0.0)
        return np.asarray(loss @ law.chance)


def starts(case: Case, seeds: Sequence[int | tuple[int, ...]], size: float = 1.0) -> State:
    """Starts of Assumption 1, one for each seed, stacked; features times `size`."""
    rngs = [np.random.default_rng(seed) for seed in seeds]
    made = [(setting.features(case, rng), setting.hidden(case, rng)) for rng in rngs]
    v, kappa, rho = (size * np.stack([getattr(f, name) for f, _ in made]) for name in ("v", "kappa", "rho"))
    return State(np.stack([h for _, h in made]), v, kappa, rho, np.repeat([1.0, -1.0], case.m // 2) / np.sqrt(case.m))


def train_many(
    case: Case,
    law: Law,
    shares: np.ndarray,
    state: State,
    eta: float | np.ndarray | None = None,
    steps: int | None = None,
    rules: Rules = PAPER,
    speeds: PathSpeeds | None = None,
    counting: Counting = PLAIN,
    sharp: bool = False,
    merged: bool = False,
) -> Trained:
    """Full-batch steps of each network on its own training set until its margins are reached.

    `shares` (networks, kinds) are the training sets, `eta` the step size of all or of each; with `merged` kappa holds
    trained logits. With `sharp` the last step is cut where the last margin is reached, as the flow of small eta has it.
    The cut is linear in the weights, so that margins there are 1 up to second order in the step, 1e-3 at the step sizes
    of the figures. Networks do not know of each other: as many are trained at once as keep arrays small.
    """
    count = len(shares)
    few = max(1, AT_ONCE // (law.counts.size * len(state.a)))
    if count > few:
        sizes = np.broadcast_to(np.asarray(case.eta if eta is None else eta, dtype=float), (count,))
        parts = [
            train_many(case, law, shares[k], _some(state, k), sizes[k], steps, rules, speeds, counting, sharp, merged)
            for k in (slice(first, first + few) for first in range(0, count, few))
        ]
        whole = {name: np.concatenate([getattr(part.state, name) for part in parts]) for name in MOVING}
        taken, fitted = (np.concatenate([getattr(part, name) for part in parts]) for name in ("steps", "fitted"))
        return Trained(State(**whole, a=state.a), taken, fitted, case.margin, rules)
    seen = Law(counting.tokens(law.counts), counting.label * law.y, law.chance)
    weights = shares * np.where(law.y < 0, counting.negative, 1)
    weights = weights / weights.sum(axis=1, keepdims=True)
    limit = case.steps if steps is None else steps
    sizes = np.broadcast_to(np.asarray(case.eta if eta is None else eta, dtype=float), (count,))
    ends, taken, fitted = state.copy(), np.full(count, limit), np.zeros(count, dtype=bool)
    now, left = state.copy(), np.arange(count)
    before, earlier = now, np.full(shares.shape, -np.inf)
    for number in range(limit + 1):
        slopes, margins = _slopes(now, seen, weights[left], case.margin, rules)
        setting.check_outputs(margins, number, case)
        reached = np.all((margins >= case.margin) | (weights[left] == 0), axis=1)
        stop = reached | (number == limit)
        if stop.any():
            part = np.ones(len(left))
            if sharp and number:
                part = np.where(reached, _last_crossing(earlier, margins, weights[left], case.margin), 1.0)
            for name in MOVING:
                first, last = getattr(before, name)[stop], getattr(now, name)[stop]
                getattr(ends, name)[left[stop]] = first + part[stop][:, None, None] * (last - first)
            taken[left[stop]], fitted[left[stop]] = number, reached[stop]
            keep = ~stop
            left = left[keep]
            now, margins = _some(now, keep), margins[keep]
            slopes = {name: slope[keep] for name, slope in slopes.items()}
        if not left.size:
            break
        before, earlier = State(now.w, now.v, now.kappa, now.rho, now.a), margins
        _move(now, slopes, sizes[left][:, None, None], bool(case.frozen), speeds, merged)
    return Trained(ends, taken, fitted, case.margin, rules)


def _some(state: State, which: slice | np.ndarray) -> State:
    """Some of stacked networks."""
    return State(**{name: getattr(state, name)[which] for name in MOVING}, a=state.a)


def _last_crossing(before: np.ndarray, after: np.ndarray, weights: np.ndarray, margin: float) -> np.ndarray:
    """The part of a step, for each network, at which the last of its training samples passes the margin."""
    crossing = (before < margin) & (weights > 0)
    with np.errstate(all="ignore"):
        part = np.where(crossing, (margin - before) / (after - before), 0.0)
    return np.asarray(part.max(axis=1))


def _slopes(
    state: State, law: Law, shares: np.ndarray, margin: float, rules: Rules
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    made = program_of(state.v.shape[1], state.a.tobytes(), float(margin), rules)
    tables = {"OV": state.w @ state.v.mT, "KQ": state.kappa @ state.rho.mT}
    return made.ensemble(tables, np.column_stack([law.y, law.counts]), shares)


def _move(
    state: State, slopes: dict[str, np.ndarray], eta: np.ndarray, frozen: bool, speeds: PathSpeeds | None, merged: bool
) -> None:
    """One step of all networks in place, as `class_network.move`."""
    C, G = -slopes["OV"], -slopes["KQ"]
    names = (*LEAVES, "S")
    O, V, K, Q, S = (eta if speeds is None else eta * factors(speeds, leaf, state.v.shape[1]).T for leaf in names)
    w, v = state.w + O * (C @ state.v), state.v + V * (C.mT @ state.w)
    if merged:
        state.kappa = state.kappa + S * G
    elif not frozen:
        state.kappa, state.rho = state.kappa + K * (G @ state.rho), state.rho + Q * (G.mT @ state.kappa)
    state.w, state.v = w, v
