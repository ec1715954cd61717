"""Protocols: the symmetric flow, the class-level network and the token network, each until every margin is reached."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from odesys import ParameterError, Progress, Simulation, load_later, silent, violated

from .dynamics import OVERLAP
from .setting import Case
from .special import bounds, class_network, network, observables, stages
from .special import symmetric_runs as reduced

POINTS = 200
MEANINGS = {  # of the rows of a simulation
    "t": "s = eta t at the end",
    "pi": "living neurons of each sign, as a fraction of all m",
    "d1": "sqrt(m) W_O(i,.) p_1 of a living neuron with a_i > 0: along its own discriminative feature",
    "d2": "the same along the other discriminative feature p_2",
    "dn": "the same along a nuisance feature",
    "x1": "p_1' W_V mu_1: the value of pattern 1 along its own feature",
    "x2": "p_2' W_V mu_1",
    "xn": "p_3' W_V mu_1",
    "z1": "p_1' W_V mu_3: the value of a nuisance pattern along p_1 (and p_2)",
    "zo": "p_3' W_V mu_3",
    "zx": "p_4' W_V mu_3",
    "ka": "q_1' W_K mu_1: the key of pattern 1 along q_1",
    "kb": "q_2' W_K mu_1",
    "kn": "q_3' W_K mu_1",
    "kc": "q_1' W_K mu_3: the key of a nuisance pattern along q_1 (and q_2)",
    "ko": "q_3' W_K mu_3",
    "kx": "q_4' W_K mu_3",
    "ra": "r_1' W_Q mu_1: the query of pattern 1 along r_1",
    "rb": "r_2' W_Q mu_1",
    "rn": "r_3' W_Q mu_1",
    "rc": "r_1' W_Q mu_3: the query of a nuisance pattern along r_1 (and r_2)",
    "ro": "r_3' W_Q mu_3",
    "rx": "r_4' W_Q mu_3",
    "rel_s": "attention of label-relevant queries on label-relevant tokens, the sum in (15)",
    "rel_c": "the same of confusion queries",
    "rel_n": "the same of nuisance queries; at most alpha_*/(alpha_* + alpha_#) in one of the classes",
    "rel": "the same, mean over queries",
    "S11": "mu_1' W_K' W_Q mu_1, |q_1|^2 of the paper",
    "S21": "logit of key mu_2 for query mu_1",
    "Sn1": "logit of a nuisance key for query mu_1",
    "S1n": "logit of key mu_1 for a nuisance query",
    "Skk": "logit of a nuisance pattern for itself",
    "Skx": "logit of a nuisance key for another nuisance query",
    "F": "mean margin y F",
    "K": "K(t)/eta: the force on S11",
    "steps": "steps to zero training loss, the measured T",
    "printed_T": "eta^(-3/5)/alpha_* of (10), with the constant 1",
    "bound_N": "the number of samples of (11), with the constant 1",
    "lucky_kept_signed": "share of W with a_i > 0 that is active at the end (Lemma 4)",
    "lucky_kept_other": "share of W with a_i < 0 that is active at the end",
    "test_loss": "mean hinge loss of fresh samples",
    "kappa": "distance of two patterns",
    "tau": "largest distance of a token from its pattern, (5)",
    "loss": "mean training loss",
    "changed": "share of gates on queries of the own class that the last step switched",
    "moved": "distance of the value of pattern 1 from its start",
}
PLOT = load_later(f"{__package__}.figures", "plot_run")


def symmetric(parameters: Mapping[str, Any], progress: Progress = silent) -> Simulation:
    """The 21-variable flow with the fraction of living neurons of the case; time is s = eta t."""
    case, gates = Case.of(parameters), parameters["gates"]
    pi = reduced.living(case)
    progress("living neurons", 0.5)
    run = reduced.flow(case, gates, pi, variant=OVERLAP if case.overlap else "")
    times = np.linspace(run.start_time, run.end_time, POINTS)
    states = run.at(times)
    rows = [reduced.scalars(dict(zip(run.names, x, strict=True)), case, pi) for x in states]
    columns = {"t": times} | {name: states[:, i] for i, name in enumerate(run.names)}
    columns |= {name: np.array([row[name] for row in rows]) for name in rows[0] if name not in columns}
    columns["F"] = run.system.compile(dict(run.parameters)).observed(times, states)["F"]
    final = {"t": run.end_time, "pi": pi, **{name: float(v[-1]) for name, v in columns.items() if name != "t"}}
    names = reduced.surface_names(case.M, gates)
    events = tuple({**event.as_json(), "name": names.get(event.name, event.name)} for event in run.events)
    note = "" if run.events and run.events[-1].name == "T" else f"the margin {case.margin:g} is not reached"
    return Simulation(
        "symmetric",
        dict(parameters),
        final,
        events,
        run.cost.as_json(),
        drift(states, run.names, case, pi),
        columns,
        _ignored(note, case, "sigma", "delta", "noise", "tau", "jitter", "flips"),
        _plot(columns, events, case),
        meanings=MEANINGS,
    )


def drift(states: np.ndarray, names: tuple[str, ...], case: Case, pi: float) -> float:
    """Largest change of W_O' W_O - W_V W_V' and of W_K W_K' - W_Q W_Q' along a symmetric run."""
    lifted = (reduced.lift(dict(zip(names, x, strict=True)), case.M, pi) for x in states)
    values = [class_network.conserved(state, case.overlap) for state in lifted]
    return float(max(np.abs(a - b).max() for row in values for a, b in zip(row, values[0], strict=True)))


def classes(parameters: Mapping[str, Any], progress: Progress = silent) -> Simulation:
    """The class-level network on the two exact samples, with its stages; noise does not enter."""
    case = Case.of(parameters)
    if case.readout != "shared":
        raise ParameterError(
            f"readout = {case.readout} has no class-level system: tokens of one pattern differ by "
            f"their position; use --protocol tokens"
        )
    if case.overlap:
        raise ParameterError(
            f"overlap = {case.overlap:g} has no class-level network, which is for orthogonal patterns; use "
            f"--protocol symmetric (derived, with lam) or --protocol tokens"
        )
    found = stages.stages(case)
    run = found.run
    columns = {"t": case.eta * run.times, "step": run.times, **run.table}
    lucky = observables.lucky(run.start, run.data)
    kept = observables.lucky(run.state, run.data)
    final = {
        "t": run.eta_T,
        "steps": float(run.steps),
        "printed_T": bounds.iterations(case),
        "lucky_kept_signed": _share(kept.W, lucky.W_signed),
        "lucky_kept_other": _share(kept.W, lucky.W & ~lucky.W_signed),
        **{name: float(v[-1]) for name, v in run.table.items()},
    }
    first, last = class_network.conserved(run.start), class_network.conserved(run.state)
    gap = float(max(np.abs(a - b).max() for a, b in zip(first, last, strict=True)))
    events = tuple(stages.events(found))
    cost = {"field_evaluations": run.steps, "steps": run.steps}
    return Simulation(
        "classes",
        dict(parameters),
        final,
        events,
        cost,
        gap,
        columns,
        _ignored(_note(case, run.steps, run.fitted), case, "noise", "tau", "jitter", "flips"),
        _plot(columns, events, case),
        meanings=MEANINGS,
    )


def _ignored(note: str, case: Case, *names: str) -> str:
    """The note, and which errors were asked for but do not enter the system."""
    asked = [name for name in names if getattr(case, name) > 0]
    verb = "do" if asked[1:] else "does"
    left = f"{', '.join(asked)} {verb} not enter here, but with --protocol tokens" if asked else ""
    return "; ".join(part for part in (note, left) if part)


def _share(part: np.ndarray, whole: np.ndarray) -> float:
    """Fraction of the neurons in `whole` that are also in `part`."""
    return float((part & whole).sum() / max(1, int(whole.sum())))


def tokens(parameters: Mapping[str, Any], progress: Progress = silent) -> Simulation:
    """The token network on N drawn samples, with the test loss on fresh ones."""
    case = Case.of(parameters)

    def observe(net: network.Network, data: network.Tokens, found: network.Pass) -> dict[str, float]:
        return observables.of_network(net, data, found, case.M)

    run = network.train(case, observe=observe, progress=progress)
    columns = {"t": case.eta * run.times, "step": run.times, **run.table}
    test = network.test_loss(run.net, case, (case.seed, 1))
    tau = float(np.linalg.norm(run.data.X - network.patterns(case)[run.data.pattern], axis=2).max())
    final = {
        "t": run.eta_T,
        "steps": float(run.steps),
        "test_loss": test,
        "bound_N": bounds.samples(case),
        "kappa": case.kappa,
        "tau": tau,
        **{name: float(v[-1]) for name, v in run.table.items()},
    }
    gap = max(float(np.abs(a - b).max()) for a, b in zip(balance(run.first), balance(run.net), strict=True))
    events = ({"name": "T_train", "kind": "stage", "time": run.eta_T},) if run.fitted else ()
    cost = {"field_evaluations": run.steps, "steps": run.steps}
    return Simulation(
        "tokens",
        dict(parameters),
        final,
        events,
        cost,
        gap,
        columns,
        _note(case, run.steps, run.fitted),
        _plot(columns, events, case, bounds.token_ceiling(case)),
        meanings=MEANINGS,
    )


def balance(net: network.Network) -> tuple[np.ndarray, np.ndarray]:
    """W_O' W_O - W_V W_V' and W_K W_K' - W_Q W_Q': constant along the gradient flow, also with noise."""
    return net.W_O.T @ net.W_O - net.W_V @ net.W_V.T, net.W_K @ net.W_K.T - net.W_Q @ net.W_Q.T


def _note(case: Case, steps: int, fitted: bool) -> str:
    end = [] if fitted else [f"stopped after {steps} steps before every margin was reached; raise steps"]
    return "; ".join(end + violated(bounds.CONDITIONS, bounds.condition_point(case)))


def _plot(
    columns: Mapping[str, Any], events: tuple[Mapping[str, Any], ...], case: Case, ceiling: float | None = None
) -> Callable[[Path], list[Path]]:
    level = bounds.attention_ceiling(case.alpha_s, case.alpha_c) if ceiling is None else ceiling
    return partial(PLOT, columns, events, case.margin, level)
