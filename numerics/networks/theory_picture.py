"""Theory on a trained network in one picture: the closed system as lines, the network with moved weights as dots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from odesys.derive.motion import STEP_SIZE
from odesys.errors import ParameterError

from ..flows.integrate import integrate
from ..flows.trajectory import Trajectory
from ..maps.iterate import iterate
from ..pictures.plotting import new_figure
from .network import ProgramNetwork

Shown = Mapping[str, str | Callable[[Mapping[str, np.ndarray]], Any]]
DOTS = 13


def theory_on_network(
    network: ProgramNetwork, end: float, show: Shown | Sequence[str], *, step: float | None = None, ax: Any = None
) -> Any:
    """Draw quantities along the run of a network, and along that of its closed system from the same start.

    Parameters
    ----------
    network : ProgramNetwork
        One network; its flow says how it is trained.
    end : float
        The time to run to, or with `step` the number of steps.
    show : Shown | Sequence[str]
        Names of states, outputs and ``loss``, or a mapping from labels to names or to functions of all of them.
    step : float, optional
        The size of steps, for a rule of steps.
    ax : Any, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Any
        The figure of Matplotlib.

    Examples
    --------
    >>> from odesys import Data, Words, gradient_flow, logistic, maps, theory_on_network
    >>> words = Words("a")
    >>> w = maps("w", 1, words)
    >>> flow = gradient_flow(lambda X: w @ X[0], Data(words, [("a", +1)]), logistic)
    >>> figure = theory_on_network(flow.network(), 5.0, ["w_a", "loss"])
    >>> [line.get_label() for line in figure.axes[0].lines[:2]]
    ['w_a', 'network']
    """
    listed = [show] if isinstance(show, str) else show
    names = dict(listed) if isinstance(listed, Mapping) else {name: name for name in listed}
    if network.several:
        raise ParameterError("this is an ensemble; choose one of its networks, network[0]")
    run, times, marks, nets = _runs(network, end, step)
    states = run.at(times)
    lines = dict(zip(run.names, states.T, strict=True))
    lines |= run.system.compile(run.parameters).observed(times, states)
    dots = dict(zip(run.names, np.array([net.paths() for net in nets]).T, strict=True))
    dots["loss"] = np.array([net.loss() for net in nets])  # by the program itself, not by the closed system
    dots |= {name: np.array([net.outputs()[name] for net in nets]) for name in nets[0].outputs()}
    figure, ax = new_figure() if ax is None else (ax.figure, ax)
    for k, (label, what) in enumerate(names.items()):
        ax.plot(times, _value(what, lines), color=f"C{k % 10}", label=label)
        ax.plot(marks, _value(what, dots), "o", color=f"C{k % 10}", markersize=4, label="" if k else "network")
    ax.set_xlabel("t" if step is None else "steps")
    ax.legend(fontsize=9)
    return figure


def _runs(
    network: ProgramNetwork, end: float, step: float | None
) -> tuple[Trajectory, np.ndarray, np.ndarray, list[ProgramNetwork]]:
    """The run of the closed system, the times of its lines, and the networks with the times of the dots."""
    system, start, parameters = network.flow.system, network.paths(), dict(network.parameters)
    if step is None:
        marks, nets = network.flow_run(float(end), np.linspace(0.0, float(end), DOTS).tolist())
        run = integrate(system, start, (0.0, float(end)), parameters)
        return run, np.linspace(0.0, float(end), 301), marks, nets
    steps = int(end)
    record = np.unique(np.linspace(0, steps, DOTS).round().astype(int))
    run = iterate(system, start, steps, {**parameters, STEP_SIZE: step})
    return run, run.times, record, network.descend_recorded(step, steps, record.tolist())


def _value(what: Any, table: Mapping[str, np.ndarray]) -> Any:
    if callable(what):
        return what(table)
    if what not in table:
        raise ParameterError(f"there is nothing called {what!r}; there are loss, {', '.join(list(table)[:6])}, ...")
    return table[what]
