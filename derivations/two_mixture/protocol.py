r"""Protocols of the two-mixture paper: three-stage training (Algorithm 1) and simultaneous training.

Stage 1 trains :math:`w_\pm` on all samples up to T1; stage 2 trains keys and queries on the conflicting samples until
the score of :math:`c_1` for :math:`v_1` reaches x*; stage 3 trains :math:`w_\pm` on all samples until the loss
reaches eps.
All run on the 22 orbit variables from the infinite-width start.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from odesys import (
    FamilyFlow,
    IntegrationError,
    ParameterError,
    Progress,
    Simulation,
    StagedTrajectory,
    StopWhen,
    Trajectory,
    family_drift,
    integrate,
    invariant_drift,
    join_trajectories,
    load_later,
    silent,
)

from . import dynamics

RTOL = 1e-10
PLOT = load_later(f"{__package__}.figures", "plot_run")


def three_stage(parameters: Mapping[str, Any], progress: Progress = silent) -> Simulation:
    """Run Algorithm 1; T1 is given, T2 and T3 are found as events."""
    L = parameters["L"]
    if L != 3:
        raise ParameterError(
            f"three-stage training is defined for L = 3, not L = {L}: a sample with several distractors is neither "
            f"consistent nor conflicting; use --protocol simultaneous"
        )
    return _simulation("three-stage", parameters, three_stage_run(parameters, progress))


def three_stage_run(parameters: Mapping[str, Any], progress: Progress = silent) -> StagedTrajectory:
    """The trajectory of Algorithm 1 on the 22 orbit variables; refuses to go on before x* was reached."""
    K, t_end = parameters["K"], parameters["t_end"]
    if t_end <= parameters["T1"]:
        raise ParameterError(f"t_end = {t_end:g} must be above T1 = {parameters['T1']:g}")
    learned = StopWhen("T2", "M_cv_same", direction=1, level=parameters["x_star"])
    fitted = StopWhen("T3", "loss", direction=-1, level=parameters["eps"])
    ends = {"stage1": (parameters["T1"], ()), "stage2": (t_end, (learned,)), "stage3": (t_end, (fitted,))}
    time, state = 0.0, dynamics.variables("stage1", K).initial_state(parameters["omega"])
    runs: list[Trajectory] = []
    for name, (end, events) in ends.items():
        run = integrate(
            dynamics.variables(name, K).system,
            state,
            (time, end),
            {"b": parameters["b"]},
            events=events,
            progress=progress,
            label=name,
            rtol=RTOL,
        )
        if name == "stage2" and run.stop != "event:T2":
            raise _not_learned(run, parameters)
        runs.append(run)
        time, state = run.end_time, run.end_state
    return join_trajectories(runs, list(ends))


def _not_learned(run: Trajectory, parameters: Mapping[str, Any]) -> IntegrationError:
    return IntegrationError(
        f"the score of c1 for v1 has not reached x_star = {parameters['x_star']:g} by t = {run.end_time:g} "
        f"(it is {run.final['M_cv_same']:.3g}); raise t_end, T1 or omega",
        time=run.end_time,
    )


def simultaneous(parameters: Mapping[str, Any], progress: Progress = silent) -> Simulation:
    """Train all weights at once on all samples, from 0 to t_end."""
    return _simulation("simultaneous", parameters, simultaneous_run(parameters, progress))


def simultaneous_run(parameters: Mapping[str, Any], progress: Progress = silent) -> Trajectory:
    """The trajectory of simultaneous training on the 22 orbit variables."""
    reduced = dynamics.variables("simultaneous", parameters["K"], parameters["L"])
    start = reduced.initial_state(parameters["omega"])
    return integrate(
        reduced.system,
        start,
        (0.0, parameters["t_end"]),
        {"b": parameters["b"]},
        progress=progress,
        label="simultaneous",
        rtol=RTOL,
    )


def drift(run: Trajectory, K: int, L: int = 3) -> float:
    """Drift of the conserved quantities of all heads along a run of the 22 orbit variables."""
    quotient = dynamics.variables("simultaneous", K, L)
    if isinstance(quotient, FamilyFlow):
        return family_drift(quotient, run.states)
    return invariant_drift(quotient.flow, quotient.lift(np.asarray(run.states)))


def _simulation(name: str, parameters: Mapping[str, Any], run: Trajectory) -> Simulation:
    K, L = parameters["K"], parameters["L"]
    system = dynamics.variables("simultaneous", K, L).system
    compiled = system.compile({"b": parameters["b"]})
    times = np.unique(np.concatenate([run.times, np.linspace(run.times[0], run.end_time, 400)]))
    states = run.at(times)
    last = compiled.observables(run.end_time, run.end_state)
    margin = min(value for key, value in last.items() if key.startswith("margin_"))
    final = {
        "t": run.end_time,
        "loss": last["loss"],
        "smallest_margin": margin,
        **dict(zip(system.names, run.end_state.tolist(), strict=True)),
    }
    columns = {
        "t": times,
        "loss": compiled.observed(times, states)["loss"],
        **{n: states[:, i] for i, n in enumerate(system.names)},
    }
    # the events that end stages 2 and 3 are stage events of the protocol
    events = tuple(
        {"name": e.name, "kind": "stage" if e.kind == "user" else e.kind, "time": e.time}
        | ({"end": e.detail["end"]} if e.kind == "slide" else {})
        for e in run.events
    )

    return Simulation(
        name,
        dict(parameters),
        final,
        events,
        run.cost.as_json(),
        drift(run, K, L),
        columns,
        _note(run, parameters),
        partial(PLOT, columns, events),
    )


def _note(run: Trajectory, parameters: Mapping[str, Any]) -> str:
    """Why a run ended before what was asked, in one sentence; empty if it did not."""
    if run.stop == "end" and any(event.name == "T2" for event in run.events):
        return f"stopped at t_end = {parameters['t_end']:g} before the loss reached eps = {parameters['eps']:g}"
    return ""
