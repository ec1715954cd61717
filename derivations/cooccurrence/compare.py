r"""Finite networks against the limit of infinite width: the sub-network G of the three special words at T_1.

A network is trained for real, all four matrices at once. The limit keeps its start values G(0) and its speed
:math:`\beta(0) + m_1 k_0`, with attention uniform and nothing but W_V moving; it is derived by the engine too. What is
left is the motion of beta and of the value Gram matrix, which falls like 1/m^2, and the start of the attention,
like 1/m.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import numpy as np

from odesys import Flow, ProgramNetwork, WidthMeasure, gradient_flow, integrate, over_widths

from . import dynamics, setting
from .special.trajectories import network


@cache
def uniform_flow(n: int, L: int) -> Flow:
    """Only W_V moves: G' = beta xi(G) at whatever attention the scores give; beta and the scores stand still."""
    return gradient_flow(setting.model(setting.words_needed(n, L)), setting.data(n, L), train=("W_V",))


def uniform_limit(n: int, L: int, G: np.ndarray, speed: float, t_end: float) -> np.ndarray:
    """G(t_end) of the limit that starts at `G` with the given speed and uniform attention."""
    flow = uniform_flow(n, L)
    start = np.zeros(flow.system.dimension)
    segments = {dynamics.LETTER[s.leaf]: s.index for s in flow.layout.segments}
    start[segments["G"]], start[segments["beta"]] = G, speed
    parameters = dict.fromkeys(flow.system.parameters, 1.0)  # the scores are zero, whatever they are divided by
    run = integrate(flow.system, start, (0.0, t_end), parameters, rtol=1e-9, atol=1e-12, backend="block")
    return np.asarray(run.end_state[segments["G"]][0])


def deviation(width: int, seed: int, parameters: tuple[tuple[str, Any], ...]) -> float:
    """Largest distance of G(mu1), G(mu2), G(mu3) of a network from its limit at tau = C_T1."""
    values = dict(parameters)
    n, L = values["n"], values["L"]
    scale = setting.condition_one(L, width, values["m1"], values["c0"])
    flow = dynamics.gram_flow(n, L)
    net = network(flow, scale, [seed, width])
    t_end = values["C_T1"] / scale.B
    _, nets = net.flow_run(t_end, rtol=1e-6, atol=1e-8, method="RK45")
    G, beta = sub_network(net)
    expected = uniform_limit(n, L, G, beta + scale.m1 * scale.k0, t_end)
    return float(np.abs(sub_network(nets[-1])[0] - expected)[:3].max())


def sub_network(net: ProgramNetwork) -> tuple[np.ndarray, float]:
    """G(mu) of all words, and beta = |W' a|^2, from the weights."""
    images = net.images()
    (b,) = images["W"]  # a' W
    return np.asarray(b @ images["W_V"]), float(b @ b)


@over_widths
def compare(widths: list[int], parameters: Mapping[str, Any]) -> WidthMeasure:
    """Deviation of G at T_1 over widths and seeds, with the fitted exponent of the width."""
    setting.check_sizes(parameters["n"], parameters["L"])
    frozen = tuple(sorted((k, v) for k, v in parameters.items() if k in ("n", "L", "m1", "c0", "C_T1")))
    measure = partial(deviation, parameters=frozen)
    shown: dict[str, Any] = {k: v for k, v in parameters.items() if k not in ("m", "seed", "tau_end")}
    what = r"$\max_{k\leq 3}|G(\mu_k)-G^\infty(\mu_k)|$ at $T_1$"
    return WidthMeasure(what, shown, measure)
