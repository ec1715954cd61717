r"""How a run answers to its parameters and start values, and how fast the fastest and slowest parts of it move.

.. math::  S' = \partial_x F\, S + \partial_p F, \qquad S = \frac{\partial x}{\partial p},

integrated beside the state with exact derivatives. Time scales are one over the real parts of the eigenvalues of the
Jacobian along the run. Both are measurements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from odesys.errors import EquationError, ParameterError
from odesys.expr import graph
from odesys.expr.field import ScalarField
from odesys.expr.graph import Node
from odesys.expr.system import System, state_vector

from .integrate import integrate, own_system
from .trajectory import Trajectory

LARGEST = 600  # states times what they are sensitive to


@dataclass(frozen=True, eq=False)
class Sensitivities:
    """A run with the derivatives of its states by parameters or start values.

    Parameters
    ----------
    run : Trajectory
        The run, with the derivatives as further states.
    names : tuple[str, ...]
        The states.
    to : tuple[str, ...]
        Parameters, and start values as ``x(0)``.
    at_end : np.ndarray
        Derivatives at the end, one row per state.

    Examples
    --------
    >>> decay = System.from_strings({"x": "-k*x"})
    >>> round(float(sensitivities(decay, {"x": 1}, 1.0, {"k": 1}).at_end[0, 0]), 6)  # -exp(-1)
    -0.367879
    """

    run: Trajectory
    names: tuple[str, ...]
    to: tuple[str, ...]
    at_end: np.ndarray

    def relative(self, values: Mapping[str, float]) -> np.ndarray:
        """Per cent of change of a state at the end for a per cent of change of what it is sensitive to."""
        state = self.run.end_state[: len(self.names)]
        given = np.array([float(values[name.removesuffix("(0)")]) for name in self.to])
        with np.errstate(all="ignore"):
            result: np.ndarray = self.at_end * given[None, :] / state[:, None]
        return result


def sensitivities(
    system: Any,
    x0: Any,
    t_end: float,
    parameters: Mapping[str, Any] | None = None,
    to: Sequence[str] | None = None,
    rtol: float = 1e-8,
) -> Sensitivities:
    """Integrate a flow with the derivatives of its states by parameters, or by start values written as ``x(0)``.

    Parameters
    ----------
    system : Any
        A flow without switches, or what has one as its ``.system``.
    x0 : Any
        Start values, as a vector or by name.
    t_end : float
        The end of the run, which starts at 0.
    parameters : Mapping[str, Any], optional
        Values of the parameters.
    to : Sequence[str], optional
        What to be sensitive to; by default all parameters.
    rtol : float, optional
        Relative tolerance.

    Returns
    -------
    Sensitivities
        The run, and the derivatives at its end.

    Examples
    --------
    >>> decay = System.from_strings({"x": "-k*x"})
    >>> round(float(sensitivities(decay, {"x": 2}, 1.0, {"k": 1}, to=["x(0)"]).at_end[0, 0]), 6)
    0.367879
    """
    flow = own_system(system, "sensitivities")
    if flow.surfaces:
        raise EquationError("the field switches, and sensitivities jump where it does; hold the gates first")
    wanted = tuple(flow.parameters if to is None else to)
    known = {*flow.parameters, *(f"{name}(0)" for name in flow.names)}
    for name in wanted:
        if name not in known:
            raise ParameterError(f"{name} is neither a parameter nor a start value x(0) of this system")
    if flow.dimension * len(wanted) > LARGEST:
        raise ParameterError(f"{flow.dimension} states and {len(wanted)} names are more than {LARGEST} derivatives")
    larger = _with_derivatives(flow, wanted)
    start = list(_start(flow, x0))
    start += [float(name == f"{state}(0)") for name in wanted for state in flow.names]
    run = integrate(larger, start, (0.0, float(t_end)), parameters, rtol=rtol)
    n = flow.dimension
    at_end = run.end_state[n:].reshape(len(wanted), n).T
    return Sensitivities(run, flow.names, wanted, at_end)


def _start(system: System, x0: Any) -> list[float]:
    return [float(value) for value in state_vector(system, x0)]


def _with_derivatives(flow: System, wanted: Sequence[str]) -> System:
    """The system with S' = J S + dF/dp beside it, one block of states per name."""
    states = [graph.sym(name) for name in flow.names]
    rows = graph.jacobian(flow.nodes, states)
    names, nodes = list(flow.names), list(flow.nodes)
    for k, name in enumerate(wanted):
        own = [graph.sym(f"sensitivity_{k}_{j}") for j in range(flow.dimension)]
        direct = (
            [graph.gradient(node, [graph.sym(name)])[0] for node in flow.nodes] if name in flow.parameters else None
        )
        for i in range(flow.dimension):
            parts: list[Node] = [graph.multiply(slope, own[j]) for j, slope in rows[i].items()]
            parts += [direct[i]] if direct is not None else []
            names.append(str(own[i].args[0]))
            nodes.append(graph.add(parts) if parts else graph.ZERO)
    return System(tuple(names), ScalarField(tuple(nodes), {}), flow.parameters)


@dataclass(frozen=True)
class TimeScales:
    """The shortest and the longest time in which a part of a run moves, and their ratio.

    Parameters
    ----------
    shortest : float
        One over the largest rate along the run.
    longest : float
        One over the smallest rate that is not zero.
    at : float
        When the shortest was seen.

    Examples
    --------
    >>> from odesys import integrate
    >>> run = integrate(System.from_strings({"x": "-1000*x", "y": "-y"}), [1, 1], (0, 1))
    >>> time_scales(run)
    TimeScales(shortest=0.001, longest=1.0, at=0.0)
    """

    shortest: float
    longest: float
    at: float

    @property
    def ratio(self) -> float:
        """How stiff the run is."""
        return self.longest / self.shortest


def time_scales(run: Trajectory, points: int = 41) -> TimeScales:
    """Time scales at equally spaced times of a run, from the eigenvalues of the Jacobian; rates of zero are left out.

    Parameters
    ----------
    run : Trajectory
        A run with dense output.
    points : int, optional
        At how many times.

    Returns
    -------
    TimeScales
        The shortest and longest of all times.

    Examples
    --------
    >>> from odesys import integrate
    >>> run = integrate(System.from_strings({"x": "-x"}), [1], (0, 1))
    >>> time_scales(run).ratio
    1.0
    """
    compiled = run.system.compile(dict(run.parameters))
    found: list[tuple[float, float]] = []
    for t in np.linspace(run.times[0], run.end_time, points).tolist():
        matrix = np.asarray(compiled.jacobian(t, run.at(t)), dtype=float)
        if not np.isfinite(matrix).all():  # at the edge of where the field has a value: no rate there
            continue
        sizes = np.abs(np.linalg.eigvals(matrix))
        found += [(1.0 / float(size), t) for size in sizes if size > 1e-12 * max(1.0, sizes.max())]
    if not found:
        raise EquationError("all eigenvalues of the Jacobian are zero along this run, or it is not finite")
    shortest = min(found)
    return TimeScales(shortest[0], max(found)[0], shortest[1])
