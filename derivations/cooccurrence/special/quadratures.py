"""Quadratures over the planar limit at leading order; here because what attention learns is an integral over G."""

from __future__ import annotations

import numpy as np

from odesys import System, Trajectory, computed_once, graph, integrate, sym

from ..laboratory import Laboratory


def quadratures(lab: Laboratory, L: int) -> System:
    """The planar limit with integrals of the scores at leading order, in units k0 / (sqrt(m) beta)."""
    rhs = lab.planar().equations  # the same for every L
    at = {sym("G_1"): sym("x"), sym("G_3"): -sym("z"), **{sym(f"G_r{c}"): graph.ZERO for c in (1, 2, 4)}}
    rates = lab.score_rates(12, L)
    extra = {name: graph.substitute([rates[name]], at)[0] for name in ("A_12", "A_31", "A_11", "A_33")}
    return System.from_equations({**rhs, **extra})


@computed_once
def quadrature_run(lab: Laboratory, L: int) -> Trajectory:
    """The quadratures from zero to tau = 1e12."""
    system = quadratures(lab, L)
    return integrate(system, np.zeros(system.dimension), (0.0, 1e12), rtol=1e-11, atol=1e-12, method="LSODA")


def log_squared(run: Trajectory, name: str) -> float:
    """Coefficient of ln^2(tau) of a state at late times: second difference at 1e4, 1e8, 1e12."""
    k = run.names.index(name)
    low, middle, high = (run.at(t)[k] for t in (1e4, 1e8, 1e12))
    return float((low - 2 * middle + high) / (2 * np.log(1e4) ** 2))
