"""Runs that claims share, quadratures over the planar limit; here because constants are read over widths and seeds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from odesys import Node, PowerLaw, System, Trajectory, computed_once, fit_power_law, graph, integrate, sym

from .. import setting
from ..laboratory import Laboratory
from ..setting import Scales
from .trained_network import trained
from .trajectories import Course, class_sums, course, neuron_course

N, L = 48, 4  # n / L = 12: large enough for I4 to be inactive, small enough for many runs
SCALE = setting.condition_one(L, 512, 16, 0.1)
SEEDS = (0, 1)
TAUS = (0.0, *np.geomspace(0.3, 1000.0, 56).tolist())
T1 = 40.0  # where every run of the standard setting has min margin above 0.1; C_T1 is a free constant
WIDTHS, SWEEP_SEEDS, SWEEP_END = (256, 512, 1024, 2048), (0, 1, 2), 20.0
SWEEP_TAUS = (0.0, 5.0, SWEEP_END)
OTHER_WIDTH, OTHER_SEEDS = 384, (10, 11, 12)  # networks that only set constants

Pair = tuple[Course, Course]  # one network: by the derived flow, and trained in weight space


def standard(lab: Laboratory, seed: int = 0, scale: Scales = SCALE) -> Course:
    """One network of the standard setting: n = 48, L = 4, m = 512, m1 = 16, c0 = 0.1, tau up to 1000."""
    return course(lab, N, L, scale, seed, TAUS)


def phase_two_part(run: Course) -> np.ndarray:
    """Mask of the times from T1 on."""
    return run.taus >= T1


@computed_once
def sweep(lab: Laboratory) -> dict[tuple[int, int], Course]:
    """Level-0 networks over widths and seeds: n = 12, L = 5, m1 = 16, c0 = 0.3, at tau = 0, 5 and 20."""
    runs = {}
    for m in WIDTHS:
        for seed in SWEEP_SEEDS:
            scale = setting.condition_one(5, m, 16, 0.3)
            runs[m, seed] = neuron_course(lab, 12, 5, scale, seed, SWEEP_TAUS)
    return runs


def standard_pairs(lab: Laboratory) -> list[Pair]:
    """The standard networks, twice."""
    return [(standard(lab, seed), trained(N, L, SCALE, seed, TAUS)) for seed in SEEDS]


def sweep_pairs(lab: Laboratory) -> list[Pair]:
    """The networks of the sweep, twice."""
    return [(run, trained(12, 5, run.scale, seed, SWEEP_TAUS, True)) for (_, seed), run in sweep(lab).items()]


def other_sweep() -> list[Course]:
    """Networks of another width with other seeds, trained in weight space: constants of phase 1 are set on these."""
    scale = setting.condition_one(5, OTHER_WIDTH, 16, 0.3)
    return [trained(12, 5, scale, seed, SWEEP_TAUS, True) for seed in OTHER_SEEDS]


def other_standard() -> list[Course]:
    """The same for phase 2."""
    scale = setting.condition_one(L, OTHER_WIDTH, 16, 0.1)
    return [trained(N, L, scale, seed, TAUS) for seed in OTHER_SEEDS[:2]]


def exponent(lab: Laboratory, value: Callable[[Course], float]) -> PowerLaw:
    """Exponent in m of a number read off each run of the sweep, with its 95 percent interval."""
    rows = [(m, value(run)) for (m, _), run in sweep(lab).items()]
    return fit_power_law([m for m, _ in rows], [v for _, v in rows])


# ---- quadratures over the planar limit ---------------------------------------------------------------------------


def quadratures(lab: Laboratory, L: int, scores: bool) -> System:
    """The planar limit with integrals at leading order: beta, the value Gram matrix and, if asked for, the scores.

    In units m1 / beta for ``beta``, 1 / beta for ``V_..`` and k0 / (sqrt(m) beta) for ``A_..``.
    """
    system = lab.planar(L)
    x, z = sym("x"), sym("z")
    s = class_sums(system)
    margins = {c: system.observables[f"margin_I{c}"] for c in setting.CLASSES}
    rhs = system.equations
    G, xi = {"s": x, "c": -z}, {"s": rhs["x"], "c": -rhs["z"]}
    extra: dict[str, Node] = {"beta": 2 * graph.add([s[c] * margins[c] for c in setting.CLASSES])}
    for a, b in ("ss", "sc", "cc"):
        extra[f"V_{a}{b}"] = G[a] * xi[b] + G[b] * xi[a]
    at = {sym("G_s"): x, sym("G_c"): -z, **{sym(f"G_r{c}"): graph.ZERO for c in (1, 2, 4)}}
    rates = lab.score_rates(12, L) if scores else {}
    for name in ("A_ss_other", "A_cs", "A_ss_same", "A_cc") if scores else ():
        extra[name] = graph.substitute([rates[name]], at)[0]
    return System.from_equations({**rhs, **extra})


@computed_once
def quadrature_run(lab: Laboratory, L: int, scores: bool = False) -> Trajectory:
    """The quadratures from zero to tau = 1e12."""
    system = quadratures(lab, L, scores)
    return integrate(system, np.zeros(system.dimension), (0.0, 1e12), rtol=1e-11, atol=1e-12, method="LSODA")


def log_squared(run: Trajectory, name: str) -> float:
    """Coefficient of ln^2(tau) of a state at late times: second difference at 1e4, 1e8, 1e12."""
    k = run.names.index(name)
    low, middle, high = (run.at(t)[k] for t in (1e4, 1e8, 1e12))
    return float((low - 2 * middle + high) / (2 * np.log(1e4) ** 2))
