r"""Protocols: sign descent (recursion, and the network where supports overlap), the sign flow, three optimisers.

Times are steps in ``recursion`` and ``optimisers``, theta = eta t in ``flow``. Stage events are measured along the
run; the paper's formal times are among the final numbers, as ``formal_T1`` and so on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from odesys import Progress, Simulation, load_later, silent, violated

from .setting import DISJOINT, Case
from .special import mean_field, network, shared_supports, stages
from .special import recursion as reduced
from .special import sign_flow as sign_flow
from .special.conditions import CONDITION_3_1, condition_point
from .special.network import Optimiser, Training
from .special.recursion import Run
from .special.training_sets import make

POINTS = 1000
PLOT = load_later(f"{__package__}.figures", "plot_run")
LABELS = {"signgd": "SignGD", "adam": "Adam"}
MEANINGS = {  # of the rows of a simulation
    "s11": "attention of the signal patch on the signal patch, mean over samples",
    "s21": "attention of the noise patch on the signal patch, mean over samples",
    "aligned": "part of pairs (r, i) whose query and key noise have one sign",
    "v_mu": "<v, mu>",
    "v_mean": "<v, y_i xi_i>, mean over samples; v_1, v_2, ... those of each",
    "q_mu_1": "<w_Q,1, mu> of the first neuron, k_mu_1 <w_K,1, mu>",
    "q_1_1": "<w_Q,1, y_1 xi_1>, k_1_1 <w_K,1, y_1 xi_1>, and so on for each sample",
    "T_f": "flip time sqrt(log 4 Lambda) / (eta Lambda |mu| sqrt(m_k))",
    "vote_rule": "part of neurons whose query signal has the sign of its vote",
    "sigma_p": "standard deviation of noise coordinates that was used",
    "sigma_0": "standard deviation of the weights at the start that was used",
    "conditions_violated": f"of the {len(CONDITION_3_1)} inequalities of Condition 3.1",
} | {f"condition_{c.number}": f"Condition 3.1: {c.name}; it holds from 1 on" for c in CONDITION_3_1}


def recursion(parameters: Mapping[str, Any], progress: Progress = silent) -> Simulation:
    """Sign descent on the reduced variables; with overlapping supports on the network, the recursion beside it."""
    case, eta, steps = Case.of(parameters), parameters["eta"], parameters["steps"]
    seed = parameters["seed"]
    note = ""
    extra: dict[str, float] = {}
    if case.supports == DISJOINT:
        start = reduced.draw(case, seed)
        run = reduced.descend(start, eta, steps, progress=progress)
        theory = run
    else:
        trained, theory, found = shared_supports.measure(case, seed, eta, steps, progress=progress)
        run, note = trained.run, found.sentence()
        extra = {f"overlap_{name}": value for name, value in found.__dict__.items() if isinstance(value, float)}
        extra |= {f"reduced_{name}": value for name, value in found.reduced_flips.items()}
    found_stages = stages.stages(run)
    traps = sign_flow.trapped(run) if steps >= 3 else []
    columns = columns_of(run, eta)
    if run is not theory:
        columns["loss_reduced"] = theory.loss
    columns["loss_mean_field"] = mean_field.loss(
        stages.mean_field_samples(run, stages.REFERENCE * found_stages.flip_unit), run.times
    )
    events = [
        *found_stages.as_events(),
        *(
            {"name": f"trap_{t.neuron + 1}_{t.sample + 1}", "kind": "cycle", "time": float(t.start), "length": t.length}
            for t in traps
        ),
    ]
    final = {
        **_final(columns),
        **extra,
        **_stage_numbers(found_stages),
        "trapped_pairs": float(len(traps)),
        "trap_longest": float(max((t.length for t in traps), default=0)),
        "trap_probability": sign_flow.trap_probability(run.start, eta),
        **_condition_numbers(case, eta),
    }
    final = {name: value for name, value in final.items() if math.isfinite(value)}
    note = "; ".join(filter(None, [note, _trap_note(traps, case), _condition_note(case, eta)]))
    return Simulation(
        "recursion",
        _told(parameters, case),
        final,
        tuple(sorted(events, key=lambda e: (e["kind"] == "cycle", e["time"]))),  # stages first
        {"field_evaluations": steps, "steps": steps},
        None,
        columns,
        note,
        partial(PLOT, columns, events),
        meanings=MEANINGS,
    )


def _trap_note(traps: list[sign_flow.Trap], case: Case) -> str:
    if not traps:
        return ""
    return (
        f"{len(traps)} of {case.n * case.m_k} pairs are held in a two-step cycle for up to "
        f"{max(t.length for t in traps)} steps, which the flow does not have; a smaller eta removes them"
    )


def _condition_note(case: Case, eta: float) -> str:
    missing = violated(CONDITION_3_1, condition_point(case, eta))
    return (
        f"Condition 3.1 fails in {len(missing)} of its {len(CONDITION_3_1)} inequalities: {'; '.join(missing)}"
        if missing
        else ""
    )


def _condition_numbers(case: Case, eta: float) -> dict[str, float]:
    """Scales, what is there over what Condition 3.1 needs, for each of its inequalities, and how many are missed."""
    point = condition_point(case, eta)
    scales = {name: point[name] for name in ("sigma_p", "sigma_0")}
    ratios = {f"condition_{c.number}": c.ratio_at(point) for c in CONDITION_3_1}
    return {**scales, **ratios, "conditions_violated": float(len(violated(CONDITION_3_1, point)))}


def _told(parameters: Mapping[str, Any], case: Case) -> dict[str, Any]:
    """The parameters with the scales that a zero stands for."""
    return {**parameters, "sigma_p": case.sigma_p, "sigma_0": case.sigma_0}


def _stage_numbers(found: stages.Stages) -> dict[str, float]:
    formal = {f"formal_{name}": value for name, value in found.formal.as_dict().items()}
    units = {f"{name}_over_T_f": value for name, value in found.flips.in_units(found.flip_unit).items()}
    return {
        name: value
        for name, value in {
            **formal,
            "T_f": found.flip_unit,
            **units,
            "unaligned_pairs": float(found.flips.count),
            "contested_neurons": float(found.flips.contested),
            "vote_rule": found.vote_rule,
            "aligned_fraction": float(found.fractions.mean()),
            "aligned_fraction_least": float(found.fractions.min()),
        }.items()
        if math.isfinite(value)
    }


def columns_of(run: Run, eta: float) -> dict[str, np.ndarray]:
    """What is saved of a run: time, loss, attention, values, and the noise and signal products of the first neuron."""
    out = {
        "t": run.times,
        "theta": run.times * run.eta,
        "loss": run.loss,
        "s11": run.s11.mean(axis=1),
        "s21": run.s21.mean(axis=1),
        "aligned": stages.aligned(run),
        "v_mu": run.v_mu,
        "v_mean": run.v.mean(axis=1),
        "q_mu_1": run.q_mu[:, 0],
        "k_mu_1": run.k_mu[:, 0],
    }
    for i in range(run.q.shape[2]):
        out |= {f"v_{i + 1}": run.v[:, i], f"q_1_{i + 1}": run.q[:, 0, i], f"k_1_{i + 1}": run.k[:, 0, i]}
    return out


def _final(columns: Mapping[str, np.ndarray]) -> dict[str, float]:
    return {name: float(values[-1]) for name, values in columns.items()}


def flow(parameters: Mapping[str, Any], progress: Progress = silent) -> Simulation:
    """The sign flow to theta = eta * steps: event by event if it is small, else by geometric steps."""
    case, end = Case.of({**parameters, "supports": DISJOINT}), parameters["eta"] * parameters["steps"]
    start = reduced.draw(case, parameters["seed"])
    small = case.n * case.m_k <= sign_flow.LARGEST
    events: list[dict[str, Any]] = []
    if small:
        trajectory = sign_flow.integrate_flow(start, end)
        progress("sign flow", 1.0)
        run = sign_flow.as_run(start, trajectory, np.linspace(0.0, end, POINTS + 1))
        events = [e.as_json() for e in trajectory.events]
        cost: Mapping[str, float] = trajectory.cost.as_json()
        note = f"event by event: {len(trajectory.times_of('switch'))} switches, {len(trajectory.slides)} slides"
    else:
        run = reduced.geometric(start, end, records=POINTS, progress=progress)
        cost = {"steps": len(run.times) - 1}
        note = (
            f"{case.n * case.m_k} pairs are too many to follow event by event (at most {sign_flow.LARGEST}): "
            f"geometric steps of 0.3 percent, saddles passed exactly"
        )
    found = stages.stages(run)
    columns = columns_of(run, 1.0)
    all_events = tuple(sorted([*found.as_events(), *events], key=lambda e: e["time"]))
    return Simulation(
        "flow",
        _told(parameters, case),
        {**_final(columns), **_stage_numbers(found), **_condition_numbers(case, parameters["eta"])},
        all_events,
        cost,
        None,
        columns,
        "; ".join(filter(None, [note, _condition_note(case, parameters["eta"])])),
        partial(PLOT, columns, list(found.as_events())),
        meanings=MEANINGS,
    )


def optimisers(parameters: Mapping[str, Any], progress: Progress = silent) -> Simulation:
    """Sign descent, Adam and gradient descent from the same data and weights, with test losses on fresh samples."""
    runs = train_all(parameters, progress)
    columns: dict[str, np.ndarray] = {"t": runs["signgd"].run.times}
    final: dict[str, float] = {}
    for name, trained in runs.items():
        result = network.test(trained, parameters["tests"], (parameters["seed"], 2))
        columns |= {
            f"loss_{name}": trained.loss,
            f"s11_{name}": trained.run.s11.mean(axis=1),
            f"s21_{name}": trained.run.s21.mean(axis=1),
        }
        final |= {
            f"loss_{name}": float(trained.loss[-1]),
            f"test_loss_{name}": result.loss,
            f"test_loss_error_{name}": result.error,
            f"test_wrong_{name}": result.wrong,
            f"s11_{name}": float(trained.run.s11[-1].mean()),
            f"s21_{name}": float(trained.run.s21[-1].mean()),
        }
    worst = max(LABELS, key=lambda name: final[f"test_loss_{name}"])
    note = (
        f"test loss: SignGD {final['test_loss_signgd']:.3f}, Adam {final['test_loss_adam']:.3f}, GD "
        f"{final['test_loss_gd']:.3f} (seed {parameters['seed']}); {LABELS[worst]} generalises worst"
        if final[f"test_loss_{worst}"] > final["test_loss_gd"]
        else ""
    )
    steps, case = parameters["steps"], Case.of(parameters)
    final |= _condition_numbers(case, parameters["eta"])
    note = "; ".join(filter(None, [note, _condition_note(case, parameters["eta"])]))
    return Simulation(
        "optimisers",
        _told(parameters, case),
        final,
        (),
        {"field_evaluations": 3 * steps, "steps": 3 * steps},
        None,
        columns,
        note,
        partial(PLOT, columns, []),
        meanings=MEANINGS,
    )


def train_all(
    parameters: Mapping[str, Any], progress: Progress = silent, record: int | None = None
) -> dict[str, Training]:
    """The three trainings of one seed: data (seed, 0), weights (seed, 1), fresh samples (seed, 2)."""
    case, seed = Case.of(parameters), parameters["seed"]
    data, weights = make(case, (seed, 0)), network.gaussian(case, (seed, 1))
    chosen = (
        Optimiser("signgd", parameters["eta"]),
        Optimiser("adam", parameters["eta"], parameters["beta1"], parameters["beta2"], parameters["eps"]),
        Optimiser("gd", parameters["eta_gd"]),
    )
    every = record or max(1, parameters["steps"] // 200)
    return {
        o.kind: network.train(data, weights, o, parameters["steps"], every, progress=progress, seed=seed)
        for o in chosen
    }
