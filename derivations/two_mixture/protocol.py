r"""Protocols of the two-mixture paper: three-stage training (Algorithm 1) and simultaneous training.

Stage 1 trains :math:`w_\pm` on all samples up to T1; stage 2 trains keys and queries on the conflicting samples until
the score of :math:`c_1` for :math:`v_1` reaches x*; stage 3 trains :math:`w_\pm` on all samples until the loss
reaches eps.
All run on the 22 orbit variables from the infinite-width start. Where simultaneous training slides so close to another
kink that a step of gradient descent at the paper's rate can cross it, that descent is run beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
    System,
    Trajectory,
    clearances,
    family_drift,
    integrate,
    invariant_drift,
    iterate,
    join_trajectories,
    load_later,
    silent,
)

from . import dynamics, setting

RTOL = 1e-10
ROWS = 400  # of the curves of a run
DESCENT_STEPS = 200_000  # at most, of the descent beside a flow
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
    run = simultaneous_run(parameters, progress)
    return _simulation("simultaneous", parameters, run, partial(descent_run, parameters, progress))


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


def descent_run(parameters: Mapping[str, Any], progress: Progress = silent) -> Trajectory:
    """Exact gradient descent from the same start at the paper's rate, to t_end or DESCENT_STEPS."""
    reduced = dynamics.descent_variables(parameters["K"], parameters["L"])
    steps = min(max(1, round(parameters["t_end"] / setting.RATE)), DESCENT_STEPS)
    return iterate(
        reduced.system,
        reduced.initial_state(parameters["omega"]),
        steps,
        {"b": parameters["b"], "eta": setting.RATE},
        record_every=max(1, steps // ROWS),
        progress=progress,
        label="descent",
    )


def drift(run: Trajectory, K: int, L: int = 3) -> float:
    """Drift of the conserved quantities of all heads along a run of the 22 orbit variables."""
    quotient = dynamics.variables("simultaneous", K, L)
    if isinstance(quotient, FamilyFlow):
        return family_drift(quotient, run.states)
    return invariant_drift(quotient.flow, quotient.lift(np.asarray(run.states)))


def _simulation(
    name: str, parameters: Mapping[str, Any], run: Trajectory, descend: Callable[[], Trajectory] | None = None
) -> Simulation:
    K, L = parameters["K"], parameters["L"]
    system = dynamics.variables("simultaneous", K, L).system
    times = np.unique(np.concatenate([run.times, np.linspace(run.times[0], run.end_time, ROWS)]))
    columns = _columns(system, parameters, times, run.at(times))
    near = clearances(run)
    warning = min(near, key=lambda found: found.rate).warning(setting.RATE) if near else ""
    nearest = {(found.slide.surface, found.slide.start): found.as_json() for found in near}
    # the events that end stages 2 and 3 are stage events of the protocol
    events = tuple(
        {"name": e.name, "kind": "stage" if e.kind == "user" else e.kind, "time": e.time}
        | ({"end": e.detail["end"], "nearest": nearest.get((e.detail["surface"], e.time))} if e.kind == "slide" else {})
        for e in run.events
    )
    beside = descend() if warning and descend is not None else None
    steps = None if beside is None else _columns(system, parameters, setting.RATE * beside.times, beside.states)
    return Simulation(
        name,
        dict(parameters),
        _final(system, parameters, run.end_time, run.end_state),
        events,
        run.cost.as_json(),
        drift(run, K, L),
        columns,
        "; ".join(sentence for sentence in (_note(run, parameters), warning) if sentence),
        partial(PLOT, columns, events, descent=steps),
        None if beside is None else _descent_entry(system, parameters, beside),
    )


def _final(system: System, parameters: Mapping[str, Any], t: float, x: np.ndarray) -> dict[str, float]:
    """Time, loss, smallest margin and the 22 variables where a run ends."""
    last = system.compile({"b": parameters["b"]}).observables(t, x)
    margin = min(value for key, value in last.items() if key.startswith("margin_"))
    return {"t": t, "loss": last["loss"], "smallest_margin": margin, **dict(zip(system.names, x.tolist(), strict=True))}


def _columns(
    system: System, parameters: Mapping[str, Any], times: np.ndarray, states: np.ndarray
) -> dict[str, np.ndarray]:
    """Time, loss and the 22 variables along a run."""
    loss = system.compile({"b": parameters["b"]}).observed(times, states)["loss"]
    return {"t": times, "loss": loss, **{name: states[:, i] for i, name in enumerate(system.names)}}


def _descent_entry(system: System, parameters: Mapping[str, Any], run: Trajectory) -> dict[str, Any]:
    """Gradient descent as the result of a simulation has it; its time is rate times steps."""
    final = _final(system, parameters, setting.RATE * run.end_time, run.end_state)
    return {"rate": setting.RATE, "steps": int(run.end_time), "final": final}


def _note(run: Trajectory, parameters: Mapping[str, Any]) -> str:
    """Why a run ended before what was asked, in one sentence; empty if it did not."""
    if run.stop == "end" and any(event.name == "T2" for event in run.events):
        return f"stopped at t_end = {parameters['t_end']:g} before the loss reached eps = {parameters['eps']:g}"
    return ""
