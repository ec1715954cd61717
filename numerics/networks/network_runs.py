"""Networks and their closed system side by side: weight-space runs measured as the system's own states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from odesys.derive.flow import Flow
from odesys.errors import ModelError
from odesys.terminal import Progress, silent

from ..flows.integrate import integrate
from ..flows.trajectory import Trajectory
from .compare import Comparison, compare_widths
from .network import ProgramNetwork


def simulate_network(
    network: ProgramNetwork,
    end: float,
    times: Sequence[float] | None = None,
    rtol: float = 1e-10,
    atol: float = 1e-12,
) -> Trajectory:
    """Gradient flow of a real network from time 0, recorded as the path scalars of its flow: same states, same names.

    The weights are moved by gradients of the program; the derived equations are not used.

    Parameters
    ----------
    network : ProgramNetwork
        The network to train.
    end : float
        Last time.
    times : Sequence[float], optional
        Times to record; by default every step of the solver.
    rtol : float, optional
        Relative tolerance of a step.
    atol : float, optional
        Absolute tolerance of a step.

    Returns
    -------
    Trajectory
        The path scalars of the network, under the names of the states of its flow.

    Examples
    --------
    >>> import math
    >>> from odesys import Data, Words, gradient_flow, logistic, maps, simulate_network
    >>> words = Words("a")
    >>> w = maps("w", 1, words)
    >>> flow = gradient_flow(lambda X: w @ X[0], Data(words, [("a", +1)]), logistic)
    >>> run = simulate_network(flow.network(), math.e)  # w + exp(w) = 1 + t
    >>> round(run.final["w_a"], 9)
    1.0
    """
    at, nets = network.flow_run(end, times, rtol, atol)
    states = np.array([net.paths() for net in nets])
    return Trajectory(network.flow.system, dict(network.parameters), at, states, float(at[-1]), states[-1])


def compare(
    flow: Flow,
    widths: Sequence[int],
    seeds: int,
    t_end: float,
    omega: float,
    parameters: Mapping[str, float] | None = None,
    states: str = "",
    progress: Progress = silent,
) -> Comparison:
    r"""Distance of networks from the infinite-width flow at `t_end`, over widths and seeds.

    Networks start as in ``flow.network(width, omega=omega)``; the distance is the Euclidean norm over all states whose
    name starts with `states` (all of them by default).

    Parameters
    ----------
    flow : Flow
        The derived flow.
    widths : Sequence[int]
        Widths of the networks.
    seeds : int
        How many networks per width.
    t_end : float
        When the distance is taken.
    omega : float
        Scale of the maps at the start.
    parameters : Mapping[str, float], optional
        Values of the parameters of the flow, by name.
    states : str, optional
        Only states whose names start like this.
    progress : Progress, optional
        Told what is done, and the fraction of all.

    Returns
    -------
    Comparison
        Distances by width and seed, with the fitted exponent.

    Examples
    --------
    >>> from odesys import AttentionModel, Dictionary, Distribution, Sample, gradient_flow
    >>> flow = gradient_flow(AttentionModel(Dictionary(["a", "b"])), Distribution([Sample(["a", "b"], +1)]))
    >>> found = compare(flow, widths=[8, 32], seeds=3, t_end=1.0, omega=0.5)
    >>> found.exponent.low < -0.5 < found.exponent.high
    True
    """
    bound = dict(parameters or {})
    chosen = [i for i, name in enumerate(flow.system.names) if name.startswith(states)]
    if not chosen:
        raise ModelError(f"no state starts with {states!r}; the states are {', '.join(flow.system.names[:8])}, ...")
    target = integrate(flow.system, flow.initial_state(omega), (0.0, t_end), bound).end_state

    def measure(width: int, seed: int) -> float:
        net = flow.network(width, np.random.default_rng([seed, width]), omega, parameters=bound)
        end = net.flow_run(t_end, rtol=1e-8, atol=1e-11)[1][-1].paths()
        return float(np.linalg.norm((end - target)[chosen]))

    what = rf"distance from infinite width at $t = {t_end:g}$"
    return compare_widths(what, widths, seeds, {**bound, "omega": omega, "t_end": t_end}, measure, progress, workers=1)
