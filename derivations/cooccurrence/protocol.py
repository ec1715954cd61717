r"""Protocols of the co-occurrence paper: all four matrices trained at once by gradient flow, phases found as events.

``mean-field`` runs the 113 orbit variables from the infinite-width start, ``network`` the Gram variables of one random
network of the given widths, ``kernel`` and ``planar`` the two limits. All columns are in the paper's units and under
one name in every protocol (see the table of symbols), but for the time, which is :math:`\tau = \sigma_1^2 m m_1 t`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from odesys import (
    Node,
    ParameterError,
    Progress,
    Simulation,
    StopWhen,
    System,
    Trajectory,
    graph,
    integrate,
    invariant_drift,
    load_later,
    silent,
)

from . import dynamics, setting
from .laboratory import Laboratory
from .special.phases import phase_times
from .special.trajectories import course

T_HALF = 0.2  # T_0.5 is where R passes 1 + this
DRIFT_ROWS, DRIFT_POWERS = 12, 3  # recorded times and powers of the conserved matrices that gauge the error
PLOT = load_later(f"{__package__}.figures", "plot_run")


def events(system: System, parameters: Mapping[str, Any]) -> tuple[StopWhen, ...]:
    """R = 1, T_0.5, T_cls and T_1 of a reduced system, as events that do not stop the run."""
    rhs = system.equations
    down = -rhs["G_3"] if "G_3" in rhs else rhs["z"]
    up = rhs["G_1"] if "G_1" in rhs else rhs["x"]
    slope = down - up

    def event(name: str, node: Node, level: float = 0.0) -> StopWhen:
        return StopWhen(name, node, direction=1, terminal=False, level=level)

    return (
        event("R=1", slope),
        event("T_0.5", slope - _exact(T_HALF) * up),
        event("T_cls", system.observables["margin_I2"]),
        event("T_1", graph.sym("t"), parameters["C_T1"]),
    )


def _exact(value: float) -> Node:
    from fractions import Fraction

    return graph.num(Fraction(str(value)))


def mean_field(parameters: Mapping[str, Any], progress: Progress = silent) -> Simulation:
    """The infinite-width flow on 113 orbit variables."""
    n, L, scale = parameters["n"], parameters["L"], setting.scales(parameters)
    setting.check_sizes(n, L)
    progress("deriving", 0.0)
    system, start = dynamics.mean_field(n, L), dynamics.unit_start(dynamics.symmetric(n, L))
    eps = scale.epsilon
    run = integrate(
        system,
        {name: float(start[name]) for name in system.names},
        (0.0, parameters["tau_end"]),
        {p: eps[p] for p in system.parameters},
        rtol=1e-9,
        atol=1e-9 * min(*eps.values(), 1e-3),
        events=events(system, parameters),
        method="LSODA",
        progress=progress,
        label="mean field",
    )
    return _simulation("mean-field", parameters, run, _drift(run, n, L, scale), units(run.system, scale))


def units(system: System, scale: setting.Scales) -> dict[str, float]:
    """What the states of the dimensionless system are multiplied by to be the paper's: B, 1, sqrt(m) or k0."""
    unit = {"beta": scale.B, "G": 1.0, "A": float(np.sqrt(scale.m)), "V": scale.k0, "K": scale.k0, "Q": scale.k0}
    return {name: unit[dynamics.letter(system, name)] for name in system.names}


def _drift(run: Trajectory, n: int, L: int, scale: setting.Scales) -> float:
    """Drift of the conserved spectra, back in the units of the paper."""
    quotient = dynamics.symmetric(n, L)
    rows = np.array(run.states)[np.unique(np.linspace(0, len(run.states) - 1, DRIFT_ROWS).astype(int))]
    states = rows * list(units(run.system, scale).values())
    order = [run.names.index(name) for name in quotient.system.names]
    return invariant_drift(quotient.flow, quotient.lift(states[:, order]), {"m1": float(scale.m1)}, DRIFT_POWERS)


def kernel(parameters: Mapping[str, Any], progress: Progress = silent) -> Simulation:
    """Level 3: logistic regression on bags of words."""
    setting.check_sizes(parameters["n"], parameters["L"])
    return _limit("kernel", dynamics.kernel_ode(parameters["n"], parameters["L"]), parameters, progress)


def planar(parameters: Mapping[str, Any], progress: Progress = silent) -> Simulation:
    """Level 4: the parameter-free planar flow."""
    return _limit("planar", dynamics.planar_ode(parameters["L"]), parameters, progress)


def _limit(name: str, system: System, parameters: Mapping[str, Any], progress: Progress) -> Simulation:
    run = integrate(
        system,
        np.zeros(system.dimension),
        (0.0, parameters["tau_end"]),
        rtol=1e-11,
        atol=1e-13,
        events=events(system, parameters),
        method="LSODA",
        progress=progress,
        label=name,
    )
    return _simulation(name, parameters, run, None)


def network(parameters: Mapping[str, Any], progress: Progress = silent) -> Simulation:
    """The Gram variables of one network of finite width, on a logarithmic grid of times."""
    n, L, scale = parameters["n"], parameters["L"], setting.scales(parameters)
    setting.check_sizes(n, L)
    end = parameters["tau_end"]
    if end <= 0.1:
        raise ParameterError(f"tau_end = {end:g} is too short for the protocol network; it must be above 0.1")
    progress("network", 0.0)
    taus = tuple(np.unique([0.0, *np.geomspace(0.1, end, 120)]).tolist())
    c = course(Laboratory(), n, L, scale, parameters["seed"], taus)
    times = phase_times(c, T_HALF)
    found = [("T_0.5", times.half), ("T_cls", times.classified), ("T_1", parameters["C_T1"])]
    columns = {
        "tau": c.taus,
        "loss": c.loss,
        **{f"loss_I{k}": np.logaddexp(0, -c.margins[:, p]).mean(axis=1) for k, p in c.classes.items()},
        **{f"margin_I{k}": c.margins[:, p].min(axis=1) for k, p in c.classes.items()},
        "smallest_margin": c.margins.min(axis=1),
        "R": c.R(),
        "beta": c.beta,
        **{f"G_{i + 1}": c.G[:, i] for i in range(3)},
        **{f"A_{i + 1}{j + 1}": c.tables["KQ"][:, i, j] for i in range(3) for j in range(3)},
        **{f"V_{i + 1}{j + 1}": c.tables["VV"][:, i, j] for i in range(3) for j in range(i, 3)},
    }
    final = {name: float(column[-1]) for name, column in columns.items()}
    events_ = tuple({"name": name, "kind": "stage", "time": t} for name, t in found if np.isfinite(t))
    drift = invariant_drift(c.flow, c.states[:: max(1, len(taus) // DRIFT_ROWS)], {"m1": float(scale.m1)}, DRIFT_POWERS)
    return Simulation(
        "network",
        dict(parameters),
        final,
        events_,
        {"recorded": len(taus)},
        drift,
        columns,
        "",
        partial(PLOT, columns, events_),
    )


def _simulation(
    name: str,
    parameters: Mapping[str, Any],
    run: Trajectory,
    drift: float | None,
    unit: Mapping[str, float] | None = None,
) -> Simulation:
    times = np.unique(np.concatenate([run.times, np.geomspace(1e-2, run.end_time, 400)]))
    times = times[times <= run.end_time]
    compiled = run.system.compile({p: run.parameters[p] for p in run.system.parameters})
    states = run.at(times)
    seen = compiled.observed(times, states)
    margins = {f"margin_I{c}": seen[f"margin_I{c}"] for c in setting.CLASSES}
    columns = {
        "tau": times,
        "loss": seen["loss"],
        **{key.replace("margin", "loss"): np.logaddexp(0, -u) for key, u in margins.items()},
        **margins,
        "smallest_margin": np.min(list(margins.values()), axis=0),
        **{key: states[:, i] * (unit or {}).get(key, 1.0) for i, key in enumerate(run.names)},
    }
    final = {key: float(column[-1]) for key, column in columns.items()}
    happened = tuple({"name": e.name, "kind": "stage", "time": e.time} for e in run.events)
    return Simulation(
        name,
        dict(parameters),
        final,
        happened,
        run.cost.as_json(),
        drift,
        columns,
        "",
        partial(PLOT, columns, happened),
    )
