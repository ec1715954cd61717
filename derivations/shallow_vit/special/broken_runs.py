"""Hand-written gradient steps, broken as `laboratory` says; here because no derived system has this many neurons.

`Rules` and `Counting` say what is broken of the network and of its samples; the laboratory breaks the derived systems
by the same two records, so that both can be compared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit

from odesys import Distribution, IntegrationError, PathSpeeds, Sample

from ..setting import Case, CountedSteps, Features
from . import class_network
from .class_network import Counts, Forces, State

LEAVES = ("O", "V", "K", "Q")
LONGEST = 60_000  # steps of one run


@dataclass(frozen=True)
class Rules:
    """The network and its loss; the defaults are the paper's."""

    halved: bool = False  # logits count half in the softmax
    linear: bool = False  # neurons without ReLU
    exponential: bool = False  # the loss, in place of the hinge


@dataclass(frozen=True)
class Counting:
    """How samples and tokens count; the defaults are the paper's."""

    label: int = 1  # factor of every label
    negative: int = 1  # how often samples with label -1 count
    nuisance: int = 1  # how often tokens of nuisance patterns count

    def distribution(self, data: Distribution) -> Distribution:
        """Samples of derived systems, counted in this way."""
        return Distribution.proportional(
            replace(
                s,
                label=self.label * s.label,
                weight=s.weight * (self.negative if s.label < 0 else 1),
                counts=self._tokens(s),
            )
            for s in data.samples
        )

    def _tokens(self, sample: Sample) -> Any:
        if sample.counts is None or self.nuisance == 1:
            return sample.counts
        rows = zip(sample.tokens, sample.counts, strict=True)
        return [count if word in ("mu1", "mu2") else self.nuisance * count for word, count in rows]

    def counts(self, data: Counts) -> Counts:
        """Samples of runs, counted in this way."""
        first, patterns = data.take(self.places(data.y)), np.arange(data.counts.shape[1])
        return Counts(first.counts * np.where(patterns < 2, 1, self.nuisance), self.label * first.y)

    def places(self, labels: np.ndarray) -> np.ndarray:
        """Places of all samples, followed by those of samples with label -1 again where they count more often."""
        more = [np.flatnonzero(labels < 0)] * (self.negative - 1)
        return np.concatenate([np.arange(len(labels)), *more])


@dataclass(frozen=True, eq=False)
class Record(CountedSteps):
    """A run: data, first and last state, steps, kept states with their step numbers and forces (full batch)."""

    case: Case
    data: Counts
    start: State
    state: State
    ideal: Features | None
    steps: int
    fitted: bool
    times: np.ndarray
    states: list[State]
    made: list[Forces]


def factors(speeds: PathSpeeds, leaf: str, patterns: int) -> np.ndarray:
    """Factors of the moves of one matrix, as a row over the patterns (or tokens) or a single number."""
    return np.array(speeds.table(leaf, (1, patterns)))


def forces(rules: Rules, state: State, data: Counts, margin: float, variant: str = "") -> Forces:
    """C, G and the pass they come from."""
    if rules.halved:
        state = replace(state, kappa=state.kappa / 2)
    found = class_network.forward(state, data)
    if rules.linear:
        F = np.einsum("nk,nki,i->n", data.fractions, found.h, state.a, optimize=True)
        found = class_network.Pass(found.A, np.ones_like(found.h), F, data.y * F)
    if rules.exponential:  # the label times the slope of the loss
        return class_network.forces(state, Counts(data.counts, data.y * np.exp(-found.margins)), math.inf, found)
    if variant == "logistic":
        weighted, margin = Counts(data.counts, data.y * expit(-found.margins)), math.inf
    else:
        weighted = data
    made = class_network.forces(state, weighted, margin, found)
    return Forces(made.C, made.G / 2, found) if rules.halved else made


def _move(speeds: PathSpeeds, state: State, made: Forces, eta: float, frozen: bool, variant: str) -> None:
    speed = {leaf: eta * factors(speeds, leaf, len(state.v)) for leaf in (*LEAVES, "S")}
    w, v = state.w + speed["O"] * made.C @ state.v, state.v + speed["V"].T * (made.C.T @ state.w)
    if variant == "merged":
        state.kappa = state.kappa + speed["S"] * made.G
    elif not frozen:
        kappa = state.kappa + speed["K"] * made.G @ state.rho
        state.kappa, state.rho = kappa, state.rho + speed["Q"] * made.G.T @ state.kappa
    state.w, state.v = w, v


def train(
    rules: Rules,
    speeds: PathSpeeds,
    case: Case,
    data: Counts,
    state: State,
    ideal: Features | None,
    seed: Any,
    steps: int | None,
    stop: bool,
    every: int,
    variant: str = "",
) -> Record:
    """Gradient steps, in place on `state`, until every margin is reached; options as in the laboratory."""
    rng = np.random.default_rng([7, *(seed if isinstance(seed, (list, tuple)) else [seed])])
    limit = min(case.steps if steps is None else steps, LONGEST)
    first, number, fitted = state.copy(), 0, False
    times, states, kept = list[int](), list[State](), list[Forces]()
    while True:
        made = forces(rules, state, data, case.margin, variant)
        fitted = bool(np.all(made.found.margins >= case.margin))
        last = number >= limit or (fitted and stop)
        if last or (every and number % every == 0):
            times.append(number)
            states.append(state.copy())
            kept.append(made)
        if last:
            break
        if case.B not in (0, len(data.y)):
            batch = data.take(rng.choice(len(data.y), case.B, replace=False))
            made = forces(rules, state, batch, case.margin, variant)
        _move(speeds, state, made, case.eta, bool(case.frozen), variant)
        if not np.isfinite(state.w).all() or np.abs(state.v).max() > 1e150:
            raise IntegrationError(f"the run overflows at step {number}", time=float(number))
        number += 1
    if stop and steps is None and not fitted:
        raise IntegrationError(f"the training margins are not reached in {number} steps", time=float(number))
    return Record(case, data, first, state, ideal, number, fitted, np.array(times), states, kept)
