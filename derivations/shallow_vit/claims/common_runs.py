"""Runs that several claims read, each computed once for each mutation: what is recorded, and at which numbers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, lru_cache

import numpy as np

from odesys import computed_once

from ..laboratory import Laboratory, Run
from ..setting import Case
from ..special import class_network, observables, symmetric_runs
from ..special.class_network import Counts, Forces, State

#: the two exact samples, M = 5, without errors of the initial model; xi = 1/sqrt(m)
MAIN = Case(M=5, alpha_s=0.5, alpha_c=0.05, N=2, m=1000, m_a=6, m_b=6, eta=0.1, steps=1500)
D_START = (0.3, -0.05, 0.04)  # of the runs with two mirrored neurons
TILTED = replace(MAIN, sigma=0.1, delta=0.2, m_a=10, m_b=10)
BY_STEP = replace(MAIN, m=100, xi=0.1)


@computed_once
def prototypes(
    lab: Laboratory,
    margin: float,
    alpha_c: float = 0.05,
    M: int = 5,
    eta: float = 0.02,
    every: int = 25,
    steps: int | None = None,
    alpha_s: float = 0.5,
) -> Run:
    """Two mirrored neurons, a = (1, -1)/sqrt(2), D_+ = (0.3, -0.05, 0.04, ..): the symmetric system with pi = 1/2."""
    D = np.full((2, M), D_START[2])
    D[0, :2], D[1, :2] = D_START[:2], D_START[1::-1]
    start = State(D / np.sqrt(2), np.eye(M), np.eye(M), np.eye(M), np.array([1.0, -1.0]) / np.sqrt(2))
    case = Case(M=M, alpha_s=alpha_s, alpha_c=alpha_c, d=M, m_a=M, m_b=M, m=2, eta=eta, margin=margin, steps=20_000)
    return lab.train(case, 0, state=start, every=every, steps=steps)


def lucky_at_start(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """W and U of (23), (24): neurons active on pattern 1 of the + samples, and on pattern 2 of the - samples."""
    h = class_network.forward(run.start, run.data).h
    label = run.data.y
    return np.all(h[label > 0, 0] > 0, axis=0), np.all(h[label < 0, 1] > 0, axis=0)


def attention(run: Run, place: int = -1) -> dict[str, float]:
    """Attention on label-relevant tokens by type of query."""
    return observables.relevant_attention(run.made[place].found.A, run.data)


@cache
def theory(margin: float = 1.0, alpha_s: float = 0.5, alpha_c: float = 0.05) -> dict[str, float]:
    """End of the paper's own symmetric system (21 variables, pi from frozen values), by default at the fractions of `MAIN`."""
    case = Case(M=5, alpha_s=alpha_s, alpha_c=alpha_c, d=5, m_a=5, m_b=5, m=2, eta=0.02, margin=margin)
    pi = symmetric_runs.living(case)
    run = symmetric_runs.descend(case, "auto", pi, record=10**6)
    return {"eta_T": run.eta_T, "alive": 2 * pi, **symmetric_runs.scalars(run.final, case, pi)}


def before_end(run: Run) -> np.ndarray:
    """The kept steps at which no margin is reached yet."""
    return np.array([bool(np.all(made.found.margins < run.case.margin)) for made in run.made])


@lru_cache(maxsize=1)
def series(run: Run) -> dict[str, np.ndarray]:
    """Arrays over the kept steps: w, v, C, G, A, h, S11, s; of one run after the other."""
    out = {name: np.array([getattr(state, name) for state in run.states]) for name in ("w", "v")}
    out |= {name: np.array([getattr(made, name) for made in run.made]) for name in ("C", "G")}
    out |= {name: np.array([getattr(made.found, name) for made in run.made]) for name in ("A", "h")}
    return out | {"S": np.array([state.S for state in run.states]), "s": run.times * run.case.eta}


# ---- the derived symmetric system as the measure of a run ------------------------------------------------------------


def scalars_of(state: State, made: Forces, data: Counts, m: float) -> dict[str, float]:
    """Means over living neurons, by features and values: own (1), other discriminative (2), nuisance (n), in units 1/sqrt(m).

    d: w'p; u: w'v; step: change of w'p per unit of s; K = G_11; S11; A = A_11; v: length of the change of nuisance values.
    """
    first, second = (int(np.flatnonzero(data.y * sign > 0)[0]) for sign in (1, -1))
    h, M = made.found.h, state.v.shape[0]
    living = [((state.a > 0) & (h[first, 0] > 0), 0), ((state.a < 0) & (h[second, 1] > 0), 1)]
    out: dict[str, float] = {}
    for name, table in (("d", state.w), ("u", state.u), ("step", made.C @ state.v)):
        rows = np.concatenate(
            [
                np.stack([table[mask, own], table[mask, 1 - own], table[mask, 2:M].mean(axis=1)], axis=1)
                for mask, own in living
            ]
        )
        out |= dict(
            zip(
                (f"{name}1", f"{name}2", f"{name}n"),
                (np.sqrt(m) * rows.mean(axis=0)).tolist() if len(rows) else [np.nan] * 3,
                strict=True,
            )
        )
    both = {"K": made.G, "S11": state.S}
    out |= {name: float(table[0, 0] + table[1, 1]) / 2 for name, table in both.items()}
    moved = state.v[2:] - np.eye(*state.v.shape)[2:]
    return out | {
        "A": float(made.found.A[first, 0, 0] + made.found.A[second, 1, 1]) / 2,
        "v": float(np.linalg.norm(moved, axis=1).mean()),
    }


@cache
def reference() -> dict[str, float]:
    """These numbers of the paper's own symmetric system where F = 1/2 (fractions of `MAIN`, auto gates, eta = 0.02)."""
    case = Case(M=5, alpha_s=0.5, alpha_c=0.05, d=5, m_a=5, m_b=5, m=2, eta=0.02)
    pi = symmetric_runs.living(case)
    run = symmetric_runs.descend(case, "auto", pi, record=1)
    place = int(np.flatnonzero(run.F >= 0.5)[0])
    state, data = (
        symmetric_runs.lift(dict(zip(run.names, run.states[place], strict=True)), 5, pi),
        symmetric_runs.samples(case),
    )
    return scalars_of(state, class_network.forces(state, data, 1.0), data, 1 / pi)


@cache
def recursion(alpha_c: float, eta: float, margin: float, M: int = 5, alpha_s: float = 0.5) -> dict[int, float]:
    """Outputs F of the derived symmetric step with two mirrored neurons (pi = 1/2), by step number, while F < `margin`."""
    case = Case(M=M, alpha_s=alpha_s, alpha_c=alpha_c, d=M, m_a=M, m_b=M, m=2, eta=eta, margin=margin, steps=20_000)
    run = symmetric_runs.descend(case, "auto", 0.5, D_START)
    return dict(zip(run.times.tolist(), run.F.tolist(), strict=True))


def off_recursion(run: Run, up_to: float = 50.0) -> float:
    """Largest relative difference of outputs of a run of `prototypes` and of the derived recursion while F < `up_to`."""
    case = run.case
    table = recursion(case.alpha_c, case.eta, min(case.margin, up_to), case.M, case.alpha_s)
    gaps = [
        float(np.abs(made.found.margins / table[int(t)] - 1).max())
        for t, made in zip(run.times, run.made, strict=True)
        if int(t) in table
    ]
    return max(gaps) if len(gaps) > 1 else np.inf
