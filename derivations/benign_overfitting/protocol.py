r"""Protocols: the mean-field flow and finite-width gradient descent, both until the training loss is eps.

Stages, independent of the paper's unnamed constants: T1, the signal (benign) or the first noise token
(harmful) dominates all others by 3 M; T2, every training row has attention at least 0.9 there; T3, the loss is eps. A
stage that is not reached is not listed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from odesys import ParameterError, Progress, Simulation, Trajectory, load_later, silent

from .setting import Case, labels
from .special import mean_field as runs
from .special import span_network
from .special.two_classes import CLASSES, SHARE

POINTS = 400
THETA = 0.1
PLOT = load_later(f"{__package__}.figures", "plot_run")


def mean_field(parameters: Mapping[str, Any], progress: Progress = silent) -> Simulation:
    """The 18-variable flow at infinite width from V(0) as the paper draws it (36 for unequal classes); tau = eta t."""
    case, share = _case(parameters), parameters["share"]
    run = runs.run_share(case, share, parameters["eps"])
    progress("mean field", 1.0)
    times = np.unique(np.concatenate([run.times, np.linspace(0.0, run.end_time, POINTS)]))
    columns = columns_of(run, times)
    regime, events = stages(case, columns) if share == 0.5 else _both_stages(case, columns)
    final = {"t": run.end_time, "regime": regime, **{name: float(v[-1]) for name, v in columns.items() if name != "t"}}
    numbers = {name: value for name, value in final.items() if isinstance(value, float)}
    note = f"stage 1 ends {regime}" if regime != "neither" else "neither token dominates by 3 M before the end"
    return Simulation(
        "mean-field",
        dict(parameters),
        numbers,
        tuple(events),
        run.cost.as_json(),
        drift(case, run),
        columns,
        note,
        partial(PLOT, columns, events),
    )


def _case(parameters: Mapping[str, Any]) -> Case:
    if parameters["N"] == "symbol":
        raise ParameterError("a run needs a number N")
    return Case.of(parameters)


def columns_of(run: Trajectory, times: np.ndarray) -> dict[str, np.ndarray]:
    """States and observables of a mean-field run at `times`."""
    states, compiled = run.at(times), run.system.compile(dict(run.parameters))
    columns = {"t": times} | compiled.observed(times, states)
    return columns | {name: states[:, i] for i, name in enumerate(run.system.names)}


def attention(columns: Mapping[str, np.ndarray], M: int, row: str, key: str) -> np.ndarray:
    """Attention of a row of type `row` on one token of type `key`."""
    count = {"s": 1, "2": 1, "w": M - 2}
    top = np.max([columns[f"S_{row}{b}"] for b in count if f"S_{row}{b}" in columns], axis=0)
    total = sum(n * np.exp(columns[f"S_{row}{b}"] - top) for b, n in count.items() if f"S_{row}{b}" in columns)
    return np.asarray(np.exp(columns[f"S_{row}{key}"] - top) / total)


def stages(case: Case, columns: Mapping[str, np.ndarray]) -> tuple[str, list[dict[str, Any]]]:
    """The regime of stage 1, and the stage events found in recorded columns."""
    v = {a: columns[f"v_{a}"] for a in ("s", "2", "w") if f"v_{a}" in columns}
    rows = list(v)
    found: list[dict[str, Any]] = []
    for regime, key in (("benign", "s"), ("harmful", "2")):
        rest = np.max([np.abs(v[a]) for a in rows if a != key], axis=0)
        exits = np.flatnonzero((v[key] >= 3 * case.M * rest) & (v[key] > 0))
        if not exits.size:
            continue
        first = int(exits[0])
        found.append({"name": "T1", "kind": "stage", "time": float(columns["t"][first])})
        least = np.min([attention(columns, case.M, a, key) for a in rows], axis=0)
        done = np.flatnonzero((least >= 1 - THETA) & (np.arange(least.size) >= first))
        if done.size:
            found.append({"name": "T2", "kind": "stage", "time": float(columns["t"][done[0]])})
        found.append({"name": "T3", "kind": "stage", "time": float(columns["t"][-1])})
        return regime, found
    return "neither", [{"name": "T3", "kind": "stage", "time": float(columns["t"][-1])}]


def _both_stages(case: Case, columns: Mapping[str, np.ndarray]) -> tuple[str, list[dict[str, Any]]]:
    """The same for two classes: a stage ends when it has ended in both."""
    parts = []
    for mark in CLASSES:
        own = {name.removesuffix(f"_{mark}"): values for name, values in columns.items() if name.endswith(f"_{mark}")}
        parts.append(stages(case, {"t": columns["t"], **own}))
    (regime, first), (other, second) = parts
    times = {event["name"]: event["time"] for event in second}
    both = [{**event, "time": max(event["time"], times[event["name"]])} for event in first if event["name"] in times]
    return (regime, both) if regime == other else ("neither", both[-1:])


def drift(case: Case, run: Trajectory) -> float:
    """Largest |tr G^-1 (Q - K)| of a class along a mean-field run over tr G^-1 (Q + K)."""
    own, found = case.N * run.parameters.get(SHARE, 0.5), []
    for end, N in (("_p", own), ("_m", case.N - own)) if SHARE in run.parameters else (("", own),):
        terms = {"s": 1 / case.m_s, "2": N / case.m_2, "w": N * (case.M - 2) / case.m_w}
        kept = {a: size for a, size in terms.items() if f"Q_{a}{end}" in run.system.names}
        parts = {x: sum(size * run.state(f"{x}_{a}{end}") for a, size in kept.items()) for x in "QK"}
        found.append(float(np.max(np.abs(parts["Q"] - parts["K"]) / (parts["Q"] + parts["K"]))))
    return max(found)


def descent(parameters: Mapping[str, Any], progress: Progress = silent) -> Simulation:
    """Finite-width gradient descent in the span of the tokens, with the test loss on fresh samples."""
    case = _case(parameters)
    eta = parameters["rate"] / case.largest
    signs = np.array(labels(case.N, parameters["share"]))
    made = span_network.draw(case, parameters["seed"], signs)
    record = max(1, math.ceil(parameters["steps"] / 2000))
    run = span_network.descend(made, eta, parameters["eps"], parameters["steps"], record, progress=progress)
    test = span_network.test_loss(run, parameters["tests"], parameters["seed"])
    columns = {"t": run.times * eta, "step": run.times, **run.table}
    events = tuple(
        {"name": name, "kind": "stage", "time": number * eta}
        for name, number in run.stages.items()
        if number is not None
    )
    final = {
        "t": run.tau,
        "steps": float(run.steps),
        "test_loss": test.loss,
        "test_loss_error": test.error,
        "test_accuracy": test.accuracy,
        **{name: float(values[-1]) for name, values in run.table.items()},
    }
    note = (
        f"stage 1 ends {run.regime}"
        if run.stages["T3"] is not None
        else (f"stopped after {run.steps} steps before the loss reached eps = {parameters['eps']:g}")
    )
    values = span_network.gram_values(made, run.state)
    inverse = np.linalg.inv(made.gram)
    both = [float(np.trace(inverse @ values[x])) for x in ("Q", "K")]
    first = span_network.gram_values(made)
    gap = both[0] - both[1] - float(np.trace(inverse @ (first["Q"] - first["K"])))
    cost = {"field_evaluations": run.steps, "steps": run.steps}
    return Simulation(
        "descent",
        dict(parameters),
        final,
        events,
        cost,
        abs(gap) / sum(both),
        columns,
        note,
        partial(PLOT, columns, list(events)),
    )
