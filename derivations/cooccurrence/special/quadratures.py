"""Quadratures over the planar limit at leading order; here because what attention learns is an integral over G."""

from __future__ import annotations

import numpy as np

from odesys import Node, System, Trajectory, computed_once, graph, integrate, sym

from .. import setting
from ..laboratory import Laboratory
from .trajectories import class_sums


def quadratures(lab: Laboratory, L: int, scores: bool) -> System:
    """The planar limit with integrals at leading order: beta, the value Gram matrix and, if asked for, the scores.

    In units m1 / beta for ``beta``, 1 / beta for ``V_..`` and k0 / (sqrt(m) beta) for ``A_..``.
    """
    system = lab.planar()  # the same for every L
    x, z = sym("x"), sym("z")
    s = class_sums(system)
    margins = {c: system.observables[f"margin_I{c}"] for c in setting.CLASSES}
    rhs = system.equations
    G, xi = {1: x, 3: -z}, {1: rhs["x"], 3: -rhs["z"]}
    extra: dict[str, Node] = {"beta": 2 * graph.add([s[c] * margins[c] for c in setting.CLASSES])}
    for a, b in ((1, 1), (1, 3), (3, 3)):
        extra[f"V_{a}{b}"] = G[a] * xi[b] + G[b] * xi[a]
    at = {sym("G_1"): x, sym("G_3"): -z, **{sym(f"G_r{c}"): graph.ZERO for c in (1, 2, 4)}}
    rates = lab.score_rates(12, L) if scores else {}
    for name in ("A_12", "A_31", "A_11", "A_33") if scores else ():
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
