"""What claims about the mean field share: its cases, recorded runs, and the equations at uniform and saturated attention."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from operator import and_
from typing import Any

import numpy as np
import sympy as sp

from odesys import (
    ZERO,
    IntegrationError,
    Measurement,
    Node,
    Trajectory,
    Verdict,
    computed_once,
    equal,
    graph,
    sym,
    to_sympy,
)

from ..laboratory import Laboratory
from ..protocol import columns_of
from ..setting import Case
from ..special.conditions import Inside
from .common_hypotheses import along, points

SCORES = [f"S_{a}{b}" for a in "s2w" for b in "s2w"]


def run_to(lab: Laboratory, case: Case, eps: float) -> Trajectory:
    """A mean-field run to the training loss eps.

    Explicit steps: inside Condition 4.1 forces are differences of nearly equal values times 10^13, whose rounding an
    implicit method takes for stiffness. Where it stops an explicit method of high order too, one of lower order goes on.
    """
    try:
        return lab.mean_run(case, eps, method="DOP853", rtol=1e-6)
    except IntegrationError:
        return lab.mean_run(case, eps, method="RK45", rtol=1e-6)


@computed_once
def columns(lab: Laboratory, case: Case, eps: float, records: int = 1000) -> dict[str, np.ndarray]:
    """A mean-field run recorded at times dense near the start."""
    run = run_to(lab, case, eps)
    times = np.concatenate([[0.0], np.geomspace(1e-10 * run.end_time, run.end_time, records)])
    return columns_of(run, times)


@computed_once
def columns_at(lab: Laboratory, case: Case, eps: float, times: tuple[float, ...]) -> dict[str, np.ndarray]:
    """A mean-field run to the training loss eps, at given times; refuses if it ends before."""
    run = run_to(lab, case, eps)
    if run.end_time < max(times):
        raise IntegrationError(f"the training loss is {eps:g} before the time {max(times):g}", time=float(run.end_time))
    return columns_of(run, np.array(times))


@computed_once
def fitted(lab: Laboratory, case: Case, eps: float) -> dict[str, float]:
    """Time and observables when the training loss reaches eps."""
    run = run_to(lab, case, eps)
    return {
        "t": float(run.end_time),
        **{name: float(value) for name, value in run.final.items()},
    }


def time_constant(lab: Laboratory, inside: Inside) -> float:
    """eps tau_3 |w_O|^2 times mu^2, or times sigma_p^2 d / N in the harmful regime, in the digits that a run has right.

    A tolerance of 1e-6 per step leaves a relative error up to 1e-4, which drifts with the stiffness of a run: without
    scatter it would pass for a small exponent.
    """
    case = inside.case
    unit = case.m_s if inside.n_snr2 > 4 else case.noise / case.N
    return float(f"{inside.eps * unit * case.w2 * fitted(lab, case, inside.eps)['t']:.4g}")


def sweep(lab: Laboratory, what: str, family: Sequence[Inside], value: Callable[[Inside], float]) -> Measurement:
    """A number of a mean-field run at each point of a family inside Condition 4.1."""
    return Measurement(what, points(family), [value(item) for item in family])


def together(verdicts: Iterable[Verdict]) -> Verdict:
    """All of them."""
    return reduce(and_, verdicts)


def over_families(
    lab: Laboratory,
    what: str,
    benign: bool,
    families: Mapping[str, tuple[float, float, int]],
    value: Callable[[Inside], float],
    judge: Callable[[str, Measurement], Verdict],
    **held: Any,
) -> Verdict:
    """A number of mean-field runs along each free parameter (low, high, how many), the others held, judged family by family."""
    return together(
        judge(name, sweep(lab, what, along(lab.draw, benign, name, *ends, **held), value))
        for name, ends in families.items()
    )


#: what the point shows of a free parameter of `Inside`
SHOWN = {"wider": "d_h", "n_snr2": "mu", "noise": "sigma_p"}


def of_order(kind: str, small: Sequence[str] = ("eps",), **claimed: float) -> Callable[[str, Measurement], Verdict]:
    """Judge an order in the parameter of a family: constant, unless an exponent is claimed; `small` ones go to zero."""

    def judge(name: str, seen: Measurement) -> Verdict:
        towards = "zero" if name in small else "infinity"
        return seen.order(SHOWN.get(name, name), claimed.get(name, 0), kind, towards)

    return judge


# ---- the equations at uniform and at saturated attention -------------------------------------------------------------


def start_rates(lab: Laboratory, M: int = 3) -> dict[str, Node]:
    """Rates of the values at S = 0, v = 0."""
    mean = lab.mean_field(M)
    names = [n for n in mean.names if n[0] == "v"]
    still = {sym(n): ZERO for n in mean.names}
    return dict(zip(names, graph.substitute(mean.rhs(*names), still), strict=True))


def attention_on(winner: str) -> dict[Node, Node]:
    """All attention on the winner: the exponentials of the other scores are zero."""
    return {graph.exp(sym(f"S_{a}{b}")): ZERO for a in "s2w" for b in "s2w" if b != winner}


def saturated(lab: Laboratory, winner: str, M: int = 3) -> Node:
    """Rate of the winning value with all attention on it."""
    return graph.substitute(lab.mean_field(M).rhs(f"v_{winner}"), attention_on(winner))[0]


def late_rate(winner: str) -> Node:
    """c of v' = c sigma(-v) with all attention on the winner: mu^2 w2 / 2 for the signal, sigma~_p^2 d w2 / N for the noise."""
    return sym("m_s") * sym("w2") / 2 if winner == "s" else sym("m_2") * sym("w2") / sym("N")


def late_law(lab: Laboratory, winner: str, M: int = 3) -> Verdict:
    """v' = c sigma(-v), and d(v + e^v)/dtau = c, with all attention on the winner."""
    rate, v, c = saturated(lab, winner, M), sym(f"v_{winner}"), late_rate(winner)
    drive = graph.call("sigmoid", -v)
    return equal({"rate": (rate, c * drive), "integral": ((1 + graph.exp(v)) * rate, c)})


def growth(lab: Laboratory, row: str, winner: str, M: int = 3) -> sp.Expr:
    """Coefficient of v_winner in d e^Lambda / dtau when attention is nearly saturated: losing scores and values 0, -l' = 1/2."""
    name, v = f"S_{row}{winner}", sym(f"v_{winner}")
    flat = {sym(f"v_{a}"): ZERO for a in "s2w" if a != winner}
    flat |= {sym(n): ZERO for n in SCORES if n != name}
    slope = graph.gradient(lab.mean_field(M).rhs(name)[0], [v])[0]
    slope = graph.substitute([graph.substitute([slope], flat)[0]], {v: ZERO})[0]
    x = sp.Symbol("x", positive=True)
    found = to_sympy(slope * graph.exp(sym(name))).subs(sp.exp(sp.Symbol(name, real=True)), x)
    return sp.limit(sp.together(found), x, sp.oo)
