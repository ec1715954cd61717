r"""Runs of the 21-variable system and the living neurons; here because gates of silent neurons have to be chosen.

Gates of a + neuron are named by the class of the sample and the type of the query: ``+s``, ``+c``, ``+n``, ``-s``,
``-c``, ``-n`` (label-relevant, confusion, nuisance). Three choices:

* ``auto``: as the ReLUs set them. The gate ``-n`` slides for part of the run: the flow is followed in the sense of
  Filippov, and the gradient step jumps to and fro across the surface;
* ``fixed``: on for all queries of the own class and for confusion queries of the other one, whose pattern is the own;
* ``paper``: on for the own class only.

At D = 0 every gate is on its surface, so ``auto`` starts a small way along the field of ``fixed``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from odesys import (
    EquationError,
    IntegrationError,
    ParameterError,
    StopWhen,
    Switching,
    System,
    Trajectory,
    hold_gates,
    integrate,
    interpolate_count,
)

from .. import dynamics
from ..setting import Case, CountedSteps
from . import class_network, observables
from .class_network import Counts, State

GATES = ("+s", "+c", "+n", "-s", "-c", "-n")
HELD = {
    "fixed": dict(zip(GATES, (1, 1, 1, 0, 1, 0), strict=True)),
    "paper": dict(zip(GATES, (1, 1, 1, 0, 0, 0), strict=True)),
}
CHOICES = ("auto", *HELD)
FIRST = 1e-6  # where auto leaves D = 0, in units of s
DOUBLINGS = 8  # of the time in which living neurons are found
STIFF = 1e3  # margins above this one need a stiff solver


# ---- states ----------------------------------------------------------------------------------------------------------


def start(M: int, D: tuple[float, float, float] = (0.0, 0.0, 0.0), variant: str = "") -> dict[str, float]:
    """The start without errors: v_j = p_j, kappa_j = rho_j = q_j, and the given prototype D = (d1, d2, dn)."""
    out = dict.fromkeys(dynamics.mirrored(M, variant).names, 0.0)
    out |= {name: 1.0 for name in ("x1", "zo", "ka", "ko", "ra", "ro", "s11", "skk") if name in out}
    return out | dict(zip(("d1", "d2", "dn"), D, strict=True))


def lift(values: Mapping[str, float], M: int, pi: float) -> State:
    """The network with two mirrored neurons that a point of the symmetric system stands for; logits go into kappa."""
    v = {name: float(values.get(name, 0.0)) for name in (*dynamics.STATES, *dynamics.LOGITS)}

    def table(own: str, other: str, rest: str, shared: str, diagonal: str, cross: str) -> np.ndarray:
        out = np.full((M, M), v[cross])  # rows are patterns, columns axes
        np.fill_diagonal(out, v[diagonal])
        out[:2, 2:], out[2:, :2] = v[rest], v[shared]
        out[0, :2], out[1, :2] = (v[own], v[other]), (v[other], v[own])
        return out

    D = np.full((2, M), v["dn"])
    D[0, :2], D[1, :2] = (v["d1"], v["d2"]), (v["d2"], v["d1"])
    root = math.sqrt(pi)
    if "s11" in values:  # rows of S are keys: s1k are the logits of pattern 1 for nuisance queries
        kappa, rho = table("s11", "s21", "s1k", "sk1", "skk", "skx"), np.eye(M)
    else:
        kappa, rho = (table(*(f"{x}{kind}" for kind in "abncox")) for x in "kr")
    return State(root * D, table("x1", "x2", "xn", "z1", "zo", "zx"), kappa, rho, np.array([root, -root]))


def samples(case: Case) -> Counts:
    """The two samples of the symmetric system."""
    return class_network.exact_data(case)


def parameters(case: Case, pi: float) -> dict[str, float]:
    """The parameters of the system."""
    if not 0 < pi <= 0.5:
        raise ParameterError(
            f"pi = {pi:g} can not be used: at most half of the neurons are alive in a sign class, so 0 < pi <= 1/2"
        )
    known = {"alpha_s": case.alpha_s, "alpha_c": case.alpha_c, "beta": case.beta, "Gamma": case.margin, "pi": pi}
    return known | ({"lam": case.overlap} if case.overlap else {})


# ---- gates -----------------------------------------------------------------------------------------------------------


@cache
def gate_numbers(M: int, variant: str = "") -> dict[str, int]:
    """The number of the surface of each gate: found by comparing with the pre-activations of the network itself."""
    system = dynamics.mirrored(M, variant)
    case = Case(M=M, alpha_s=0.43, alpha_c=0.17, d=M, m_a=M, m_b=M, m=2, overlap=0.1 * (variant == dynamics.OVERLAP))
    compiled = Switching(system.compile(_known(system, parameters(case, 0.3))))
    rng = np.random.default_rng(0)
    seen, wanted = [], []
    for _ in range(4):
        x = rng.uniform(-1, 1, system.dimension)
        seen.append(compiled.compiled.surfaces(0.0, x))
        h = class_network.forward(lift(dict(zip(system.names, x, strict=True)), M, 0.3), samples(case)).h[:, :, 0]
        wanted.append([h[0, 0], h[0, 1], h[0, 2], h[1, 1], h[1, 0], h[1, 2]])
    ratios = np.array(seen)[:, :, None] / np.array(wanted)[:, None, :]
    same = (np.ptp(ratios, axis=0) < 1e-9 * np.abs(ratios[0])) & (ratios[0] > 0)
    if not np.all(same.sum(axis=0) == 1):
        raise EquationError("the surfaces of the symmetric system are not the pre-activations of its two neurons")
    return {name: int(np.flatnonzero(same[:, k])[0]) for k, name in enumerate(GATES)}


def _known(system: System, values: Mapping[str, float]) -> dict[str, float]:
    """The parameters a system has."""
    return {name: value for name, value in values.items() if name in system.parameters}


@cache
def system(M: int, gates: str = "auto", variant: str = "") -> System:
    """The flow with the chosen gates; the hinge stays."""
    if gates not in CHOICES:
        raise ParameterError(f"the gates {gates!r} are not known; choose {' or '.join(CHOICES)}")
    if gates == "auto":
        return dynamics.mirrored(M, variant)
    numbers = gate_numbers(M, variant)
    return hold_gates(dynamics.mirrored(M, variant), {numbers[name]: value for name, value in HELD[gates].items()})


@cache
def every_number_of_patterns(gates: str = "auto", variant: str = "") -> System:
    """The same flow with M a parameter, for every M >= 4: found at `dynamics.MEMBERS`, where it is derived.

    Every nuisance pattern occurs in every sample, so M enters by multiplicities alone. At M = 3, where there is no
    pair of nuisance patterns, the 18 equations of the other variables are right as well.
    """
    return interpolate_count("M", {M: system(M, gates, variant) for M in dynamics.MEMBERS})


@cache
def running(M: int, gates: str = "auto", variant: str = "") -> System:
    """The flow while F < Gamma: the gate of the hinge loss is on, so that the end is an event and not a surface."""
    numbers, whole = gate_numbers(M, variant), dynamics.mirrored(M, variant)
    hinge = dict.fromkeys(set(range(len(whole.surfaces))) - set(numbers.values()), 1)  # none if the loss is smooth
    rest = {numbers[name]: value for name, value in HELD[gates].items()} if gates in HELD else {}
    system(M, gates, variant)  # refuses gates that are not known
    return hold_gates(whole, {**hinge, **rest}) if hinge or rest else whole


# ---- runs ------------------------------------------------------------------------------------------------------------


def flow(
    case: Case,
    gates: str = "auto",
    pi: float = 0.25,
    D: tuple[float, float, float] = (0.0, 0.0, 0.0),
    s_end: float = 1e4,
    rtol: float = 1e-9,
    variant: str = "",
) -> Trajectory:
    """The flow until F reaches the margin (or `s_end`); time is s. Variants are `dynamics.VARIANTS` and `OVERLAP`."""
    made = running(case.M, gates, variant)
    values = _known(made, parameters(case, pi))
    x0, began = start(case.M, D, variant), 0.0
    if gates == "auto" and not any(D):
        smooth = running(case.M, "fixed", variant)
        slope = smooth.compile(values)(0.0, np.array([x0[name] for name in smooth.names]))
        x0 |= {name: FIRST * float(rate) for name, rate in zip(smooth.names, slope, strict=True) if name[0] == "d"}
        began = FIRST
    reached = StopWhen("T", "F", direction=1, level=case.margin)
    method = "Radau" if case.margin > STIFF else "DOP853"  # rates of the logits grow with F
    return integrate(made, x0, (began, s_end), values, rtol=rtol, atol=1e-3 * rtol, events=(reached,), method=method)


@dataclass(frozen=True, eq=False)
class Steps(CountedSteps):
    """Gradient steps of the symmetric system: step numbers, states, outputs F before each step, whether F >= Gamma."""

    case: Case
    pi: float
    names: tuple[str, ...]
    times: np.ndarray
    states: np.ndarray
    F: np.ndarray
    steps: int
    fitted: bool

    @property
    def final(self) -> dict[str, float]:
        """The last state by name."""
        return dict(zip(self.names, map(float, self.states[-1]), strict=True))


def descend(
    case: Case,
    gates: str = "auto",
    pi: float = 0.25,
    D: tuple[float, float, float] = (0.0, 0.0, 0.0),
    steps: int | None = None,
    record: int = 1,
) -> Steps:
    """Gradient steps of size eta, x + eta F(x): the exact step, since the states are entries of weights."""
    made, values = system(case.M, gates), parameters(case, pi)
    run = made.compile(values)
    first = system(case.M, "fixed").compile(values) if gates == "auto" and not any(D) else run
    x = np.array([start(case.M, D)[name] for name in made.names])
    limit = case.steps if steps is None else steps
    times, states, outputs, number = [], [], [], 0
    while True:
        F = run.observables(0.0, x)["F"]
        done = number >= limit or case.margin <= F
        if number % record == 0 or done:
            times.append(number)
            states.append(x)
            outputs.append(F)
        if done:
            break
        x = x + case.eta * (first if number == 0 else run)(0.0, x)
        if not np.isfinite(x).all():
            raise IntegrationError(
                f"step {number + 1} of the symmetric system is not finite; lower eta = {case.eta:g}",
                time=float(number),
                state=states[-1],
            )
        number += 1
    return Steps(case, pi, made.names, np.array(times), np.array(states), np.array(outputs), number, case.margin <= F)


def scalars(values: Mapping[str, float], case: Case, pi: float) -> dict[str, float]:
    """The paper's scalars at a point, under the names of `observables`."""
    state, data = lift(values, case.M, pi), samples(case)
    made = class_network.forces(state, data, math.inf)
    seen = observables.of_classes(state, made, data)
    return seen | {name: float(values[name]) for name in ("d1", "d2", "dn")}


# ---- living neurons --------------------------------------------------------------------------------------------------


@cache
def alive_fraction(
    M: int, alpha_s: float, alpha_c: float, count: int = 8000, seed: int = 0, s_end: float = 0.0, ds: float = 0.0
) -> float:
    r"""Fraction of neurons with a_i > 0 that survive in the limit of a small start, all value vectors frozen.

    :math:`w \sim N(0, I_M)` moves by :math:`\dot w = \sum_n \tfrac12 y^n\sum_k f^n_k 1[w^\top V^n_k > 0] V^n_k`; alive
    is what is active on label-relevant queries of its own class at the end, i.e. when twice the time changes the
    fraction by less than a tenth of its sampling error. The first time that is tried, `s_end`, and the step `ds` are by
    default 27 and 0.045 over alpha_* - alpha_#, with 0.11 for smaller ones. The symmetric system has pi = this / 2.
    """
    case = Case(M=M, alpha_s=alpha_s, alpha_c=alpha_c, d=M, m_a=M, m_b=M, m=2)
    w = np.random.default_rng(seed).standard_normal((count, M))
    state = State(w, np.eye(M), np.eye(M), np.eye(M), np.ones(count))
    data = samples(case)
    slow = min(4.0, 0.45 / (alpha_s - alpha_c))
    s_end, ds = s_end or 60 * slow, ds or 0.1 * slow
    alive, steps, force = [math.inf], math.ceil(s_end / ds), _by_gates(data)
    for doubling in range(DOUBLINGS):
        for _ in range(steps):
            state.w = state.w + ds * force(state) @ state.v
        alive.append(float((class_network.forward(state, data).h[0, 0] > 0).mean()))
        if abs(alive[-1] - alive[-2]) < 0.1 * math.sqrt(alive[-1] * (1 - alive[-1]) / count) + 1e-12:
            return alive[-1]
        steps *= 2 if doubling else 1
    raise IntegrationError(
        f"the fraction of living neurons still changes, from {alive[-2]:.4g} to {alive[-1]:.4g}, "
        f"at s = {s_end * 2 ** (DOUBLINGS - 1):g}"
    )


MOST_GATES = 24  # where there are more, most neurons have a pattern of their own


def _by_gates(data: Counts) -> Callable[[State], np.ndarray]:
    """Forces C of neurons over frozen values and logits: they depend on the gates alone, so a pattern is met once."""
    known, rows = np.empty(0, dtype=int), np.empty((0, 0))  # patterns of gates in ascending order, and their forces

    def force(state: State) -> np.ndarray:
        nonlocal known, rows
        h = class_network.attention(state.S, data.counts).mT @ state.u.T
        gates = h.reshape(-1, len(state.w)) > 0
        if len(gates) > MOST_GATES:
            return class_network.forces(state, data, math.inf).C
        codes = (2.0 ** np.arange(len(gates)) @ gates).astype(int)
        places = np.searchsorted(known, codes)
        if not known.size or (known.take(places, mode="clip") != codes).any():
            met, first = np.unique(codes, return_index=True)
            table = dict(zip(known.tolist(), rows, strict=True))
            table |= zip(met.tolist(), class_network.forces(state, data, math.inf).C[first], strict=True)
            known = np.array(sorted(table))
            rows = np.array([table[code] for code in known.tolist()])
            places = np.searchsorted(known, codes)
        return rows[places]

    return force


def living(case: Case, **options: Any) -> float:
    """pi of a case: half of the fraction of survivors."""
    return alive_fraction(case.M, case.alpha_s, case.alpha_c, **options) / 2


def surface_names(M: int, gates: str) -> dict[str, str]:
    """What the solver calls the surfaces of a flow, as gates ``+s`` .. ``-n``."""
    if gates != "auto":
        return {}
    compiled = running(M, gates).compile({name: 0.5 for name in running(M, gates).parameters})
    surfaces, names = list(running(M, gates).surfaces), Switching(compiled).names
    full = list(dynamics.mirrored(M).surfaces)
    numbers = {number: name for name, number in gate_numbers(M).items()}
    return {names[k]: f"gate {numbers[full.index(node)]}" for k, node in enumerate(surfaces) if node in full}
