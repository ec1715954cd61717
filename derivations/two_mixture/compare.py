r"""Finite networks against the infinite-width flow: the score matrix of the + head at the end of stage 2.

Each network is trained for real through stages 1 and 2 (weights moved by gradients of the program) up to the times of
the infinite-width flow; the deviation is the Frobenius norm of the difference of the score matrices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from odesys import ParameterError, ProgramNetwork, WidthMeasure, over_widths

from . import dynamics
from .protocol import three_stage_run


@cache
def _target(frozen: tuple[tuple[str, Any], ...]) -> tuple[float, np.ndarray]:
    """T2 and the infinite-width score matrix of the + head at T2."""
    run = three_stage_run({**dict(frozen), "eps": 1.0})  # stage 3 ends at once: only T2 matters here
    quotient = dynamics.reduced("stage2", dict(frozen)["K"])
    (t2,) = (event.time for event in run.events if event.name == "T2")
    return t2, quotient.flow.layout.unpack(quotient.lift(run.at(t2)))["KQ_p"]


def start_network(width: int, seed: int, parameters: Mapping[str, Any], stage: str = "simultaneous") -> ProgramNetwork:
    """The paper's initialisation: w = 0, keys and queries with variance omega^2 / m; seeded by (width, seed)."""
    flow, rng = dynamics.full_flow(stage, parameters["K"]), np.random.default_rng([seed, width])
    return flow.network(width, rng, parameters["omega"], parameters={"b": parameters["b"]})


def score_deviation(width: int, seed: int, parameters: tuple[tuple[str, Any], ...]) -> float:
    """Frobenius distance of a network's + score matrix from the infinite-width one at T2."""
    values = dict(parameters)
    t2, expected = _target(parameters)
    net = start_network(width, seed, values, "stage1")
    for stage, time in (("stage1", values["T1"]), ("stage2", t2 - values["T1"])):
        net = replace(net, flow=dynamics.full_flow(stage, values["K"]))
        net = net.flow_run(time, rtol=1e-7, atol=1e-10)[1][-1]
    images = net.images()
    return float(np.linalg.norm(images["W_K.p"].T @ images["W_Q.p"] - expected))


@over_widths
def compare(widths: list[int], parameters: Mapping[str, Any]) -> WidthMeasure:
    """Deviation of M+ at T2 over widths and seeds, with the fitted exponent of the width."""
    if parameters["L"] != 3:
        raise ParameterError("the comparison runs the three stages, which are defined for L = 3")
    frozen = tuple(sorted(parameters.items()))
    _target(frozen)  # a mistake in the parameters shows here, once, not in every worker
    measure = partial(score_deviation, parameters=frozen)
    return WidthMeasure(r"$\|M_+ - M_+^\infty\|_F$ at $T_2$", parameters, measure)
