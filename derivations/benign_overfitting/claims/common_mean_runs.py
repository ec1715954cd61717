"""What claims about the mean field share: its cases, recorded runs, and the equations at uniform and saturated attention."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
import sympy as sp

from odesys import ZERO, IntegrationError, Node, Verdict, computed_once, equal, graph, sym, to_sympy

from ..laboratory import Laboratory
from ..protocol import attention, columns_of
from ..setting import Case

MOBILITY = 400.0  # kappa max(m) / w2
SCORES = [f"S_{a}{b}" for a in "s2w" for b in "s2w"]


def wide(
    n_snr2: float, mobility: float = MOBILITY, N: int = 40, mu: float | None = None, w2: float = 1.0, M: int = 3
) -> Case:
    """C_p = 4; the noise has squared length 1 unless the signal's length is given."""
    noise = 1.0 if mu is None else N * mu**2 / n_snr2
    case = Case(N, M, 10_000, 5000, sqrt(n_snr2 * noise / N), noise, 4.0, w2)
    return replace(case, kappa=mobility * w2 / case.largest)


BENIGN, HARMFUL = wide(4000.0), wide(0.5)


@computed_once
def columns(lab: Laboratory, case: Case, eps: float, points: int = 1000) -> dict[str, np.ndarray]:
    """A mean-field run recorded at times dense near the start."""
    run = lab.mean_run(case, eps)
    times = np.concatenate([[0.0], np.geomspace(1e-8 * run.end_time, run.end_time, points)])
    return columns_of(run, times)


@computed_once
def columns_at(lab: Laboratory, case: Case, eps: float, times: tuple[float, ...]) -> dict[str, np.ndarray]:
    """A mean-field run to the training loss eps, at given times; refuses if it ends before."""
    run = lab.mean_run(case, eps)
    if run.end_time < max(times):
        raise IntegrationError(f"the training loss is {eps:g} before the time {max(times):g}", time=float(run.end_time))
    return columns_of(run, np.array(times))


@computed_once
def fitted(lab: Laboratory, case: Case, eps: float) -> dict[str, float]:
    """Time and observables when the training loss reaches eps."""
    run = lab.mean_run(case, eps)
    return {
        "t": float(run.end_time),
        **{name: float(run.final[name]) for name in ("loss", "test_loss", "test_margin", "v_s", "v_2")},
    }


def time_constant(lab: Laboratory, case: Case, eps: float, winner: str) -> float:
    """eps tau_3 mu^2 w2 (winner s) or eps tau_3 sigma~_p^2 d w2 / N (winner 2)."""
    unit = case.m_s if winner == "s" else case.m_2 / case.N
    return eps * unit * case.w2 * fitted(lab, case, eps)["t"]


def window(run: dict[str, np.ndarray], value: str, low: float, high: float) -> np.ndarray:
    """Records at which `value` is between low and high; refuses a run that does not pass through."""
    keep = np.flatnonzero((run[value] > low) & (run[value] < high))
    if keep.size < 5:
        raise IntegrationError(f"{value} does not grow from {low:g} to {high:g} in this run", time=float(run["t"][-1]))
    return keep


def gap(run: dict[str, np.ndarray], row: str, winner: str, loser: str) -> np.ndarray:
    """S_{row winner} - S_{row loser}: Lambda for a signal that wins, Psi for the first noise token."""
    return np.asarray(run[f"S_{row}{winner}"] - run[f"S_{row}{loser}"])


def slopes(run: dict[str, np.ndarray], values: np.ndarray, keep: np.ndarray) -> tuple[float, float]:
    """Least and largest local slope of `values` over log tau."""
    found = np.diff(values[keep]) / np.diff(np.log(run["t"][keep]))
    return float(found.min()), float(found.max())


def saturated_from(run: dict[str, np.ndarray], key: str, level: float) -> np.ndarray:
    """Records from the first one where every row has attention at least `level` on `key` (M = 3)."""
    least = np.min([attention(run, 3, row, key) for row in "s2w"], axis=0)
    places = np.flatnonzero(least >= level)
    if places.size < 5:
        raise IntegrationError("attention does not saturate in this run", time=float(run["t"][-1]))
    return np.arange(places[0], len(least))


# ---- the equations at uniform and at saturated attention -------------------------------------------------------------


def start_rates(lab: Laboratory, M: int = 3) -> dict[str, Node]:
    """Rates of the values at S = 0, v = 0."""
    mean = lab.mean_field(M)
    names = [n for n in mean.names if n[0] == "v"]
    still = {sym(n): ZERO for n in mean.names}
    return dict(zip(names, graph.substitute(mean.rhs(*names), still), strict=True))


def saturated(lab: Laboratory, winner: str) -> Node:
    """Rate of the winning value with all attention on it, M = 3."""
    gone = {graph.exp(sym(f"S_{a}{b}")): ZERO for a in "s2w" for b in "s2w" if b != winner}
    return graph.substitute(lab.mean_field().rhs(f"v_{winner}"), gone)[0]


def late_rate(winner: str) -> Node:
    """c of v' = c sigma(-v) with all attention on the winner: mu^2 w2 / 2 for the signal, sigma~_p^2 d w2 / N for the noise."""
    return sym("m_s") * sym("w2") / 2 if winner == "s" else sym("m_2") * sym("w2") / sym("N")


def late_law(lab: Laboratory, winner: str) -> Verdict:
    """v' = c sigma(-v), and d(v + e^v)/dtau = c, with all attention on the winner."""
    rate, v, c = saturated(lab, winner), sym(f"v_{winner}"), late_rate(winner)
    drive = graph.call("sigmoid", -v)
    return equal({"rate": (rate, c * drive), "integral": ((1 + graph.exp(v)) * rate, c)})


def growth(lab: Laboratory, row: str, winner: str) -> sp.Expr:
    """Coefficient of v_winner in d e^Lambda / dtau when attention is nearly saturated: losing scores and values 0, -l' = 1/2."""
    name, v = f"S_{row}{winner}", sym(f"v_{winner}")
    flat = {sym(f"v_{a}"): ZERO for a in "s2w" if a != winner}
    flat |= {sym(n): ZERO for n in SCORES if n != name}
    slope = graph.gradient(lab.mean_field().rhs(name)[0], [v])[0]
    slope = graph.substitute([graph.substitute([slope], flat)[0]], {v: ZERO})[0]
    x = sp.Symbol("x", positive=True)
    found = to_sympy(slope * graph.exp(sym(name))).subs(sp.exp(sp.Symbol(name, real=True)), x)
    return sp.limit(sp.together(found), x, sp.oo)
