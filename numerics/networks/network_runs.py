"""Networks and their closed system side by side: weight-space runs measured as the system's own states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from odesys import Flow
from odesys.errors import ModelError
from odesys.expr.tape import ARRAYS, Tape
from odesys.model.loss import Loss
from odesys.terminal import Progress, silent

from ..flows.integrate import integrate
from ..flows.trajectory import Trajectory
from .compare import Comparison, compare_widths
from .finite_width import Network, flow_run, random_network


def simulate_network(
    flow: Flow,
    network: Network,
    t_span: tuple[float, float],
    t_eval: Sequence[float] | None = None,
    rtol: float = 1e-10,
    atol: float = 1e-12,
) -> Trajectory:
    """Gradient flow of a real network, recorded as the path scalars of `flow`: same states, same names.

    The weights are moved by the simulator's own gradients; the derived equations are not used.

    >>> import numpy as np
    >>> from odesys import AttentionModel, Dictionary, Distribution, Sample, gradient_flow
    >>> flow = gradient_flow(AttentionModel(Dictionary(["a"])), Distribution([Sample(["a"], +1)]))
    >>> net = random_network(flow.model, width=3, dimension=1, scales={}, seed=0)
    >>> run = simulate_network(flow, net, (0.0, np.e))  # w + exp(w) = 1 + t
    >>> round(run.final["w_a"], 9)
    1.0
    """
    times, nets = flow_run(network, flow.data, flow.train, t_span, numeric_loss(flow.loss), rtol, atol, t_eval)
    states = np.array([flow.initial_state(weights=net.images()) for net in nets])
    return Trajectory(flow.system, dict(network.parameters), np.asarray(times), states, float(times[-1]), states[-1])


def numeric_loss(loss: Loss) -> Any:
    """A loss as the simulator takes it: its name, or value and slope of the margin as functions of arrays."""
    if loss.name in ("logistic", "hinge"):
        return loss.name

    def function(node: Any) -> Any:
        program = Tape.of([node]).over(ARRAYS)
        return lambda z: program({"z": z})[0] + 0 * z

    return function(loss.value), function(loss.slope)


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

    Networks start with w = 0 and score maps of variance omega^2 / m; the distance is the Euclidean norm over all states
    whose name starts with `states` (all of them by default). For models with one value map.

    >>> from odesys import AttentionModel, Dictionary, Distribution, Sample, gradient_flow
    >>> flow = gradient_flow(AttentionModel(Dictionary(["a", "b"])), Distribution([Sample(["a", "b"], +1)]))
    >>> found = compare(flow, widths=[8, 32], seeds=3, t_end=1.0, omega=0.5)
    >>> found.exponent.low < -0.5 < found.exponent.high
    True
    """
    if len(flow.model.value.maps) != 1 or flow.model.value.output is not None:
        raise ModelError("compare knows the start of models with a single value map w; use simulate_network for others")
    bound = dict(parameters or {})
    chosen = [i for i, name in enumerate(flow.system.names) if name.startswith(states)]
    if not chosen:
        raise ModelError(f"no state starts with {states!r}; the states are {', '.join(flow.system.names[:8])}, ...")
    target = integrate(flow.system, flow.initial_state(omega), (0.0, t_end), bound).end_state
    maps = [name.removesuffix("'") for name in flow.model.score]

    def measure(width: int, seed: int) -> float:
        scales = dict.fromkeys(maps, omega / np.sqrt(width))
        rng = np.random.default_rng([seed, width])
        net = random_network(flow.model, width, len(flow.model.words), scales, rng, bound)
        run = simulate_network(flow, net, (0.0, t_end), rtol=1e-8, atol=1e-11)
        return float(np.linalg.norm((run.end_state - target)[chosen]))

    what = rf"distance from infinite width at $t = {t_end:g}$"
    return compare_widths(what, widths, seeds, {**bound, "omega": omega, "t_end": t_end}, measure, progress, workers=1)
