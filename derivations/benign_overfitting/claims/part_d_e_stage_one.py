"""Appendices D.1, E.1, F.3 and F.4: stage 1, where attention is uniform, its exit, and bounds on the coefficients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import sympy as sp

from odesys import (
    ONE,
    Node,
    Verdict,
    decided,
    enumerate_all,
    equal,
    from_sympy,
    graph,
    identity,
    measured,
    num,
    rounded,
    sym,
    to_sympy,
)

from ..laboratory import Laboratory
from ..special.descents import Record
from . import common_formulas
from .book import NUMBERS, TOY, book, read_off, tables
from .common_formulas import C2, ETA, H_, M_, MU2, N_, NOISE, W2
from .common_mean_runs import BENIGN, HARMFUL, columns_at, start_rates


@book.claim(
    "D.1",
    "Loss derivative near 1/2",
    kind="inequality",
    uses=["Def.5.1"],
    statement=r"\max|V|=o(1)\Rightarrow-\ell'_n=\tfrac12\pm o(1)",
    reading="explicitly |-l' - 1/2| <= max|V| / 4: the derived output is a convex combination of the V_j (its derivatives are sums of softmax weights over M, "
    "and sum to 1), and 1/4 - s (1 - s) = (s - 1/2)^2 bounds the slope of the logistic function; M = 3, " + TOY,
)
def loss_derivative(lab: Laboratory) -> Verdict:
    """The output is a mean of values, the logistic function has slope at most 1/4."""
    flow = lab.flow(3)
    t = tables(flow, 3)
    found: dict[str, tuple[Node, Node]] = {}
    for n in range(2):
        output = t.y[n] * flow.outputs[f"margin_{n + 1}"]
        slopes = graph.gradient(output, [t.V[j] for j in t.places[n]])
        for j, slope in enumerate(slopes):
            found[f"{n} {j}"] = (slope, graph.add(row[j] for row in t.attention(n)) / 3)
        found[f"{n} sum"] = (graph.add(slopes), ONE)
    s = sym("s")
    found["slope"] = (num(1) / 4 - s * (1 - s), (s - num(1) / 2) ** 2)
    return equal(found).with_constants(bound="|-l' - 1/2| <= max|V| / 4")


@book.claim(
    "D.2",
    "Attention near 1/M",
    kind="inequality",
    uses=["Sec.5.2-jacobian"],
    insensitive=NUMBERS,
    statement=r"\text{all scores }o(1)\Rightarrow\varphi=\tfrac1M\pm o(1)",
    reading="explicitly |s| <= a gives phi in [1/(1 + (M-1) e^{2a}), 1/(1 + (M-1) e^{-2a})]: phi grows with its own score and falls with the others "
    "(Sec.5.2-jacobian), so the corners of the box are extreme, and there phi has these values; M = 2 .. 6",
)
def attention_near_uniform(lab: Laboratory) -> Verdict:
    """Values at the corners."""
    a, found = sym("a"), {}
    for M in range(2, 7):
        for name, sign in (("high", 1), ("low", -1)):
            own, rest = graph.exp(sign * a), graph.exp(-sign * a)
            found[f"{M} {name}"] = (own / (own + (M - 1) * rest), 1 / (1 + (M - 1) * graph.exp(-2 * sign * a)))
    return equal(found)


def _changes(run: Record) -> tuple[np.ndarray, np.ndarray]:
    """Largest |change of gamma| and of |rho| per step between records, over the paper's bounds of (17)."""
    steps = np.diff(run.steps)[:, None]
    change = np.abs(np.diff(run["V"], axis=0)) / steps / run.case.w2 / run.eta
    return change[:, :2] / (0.75 * run.case.m_s), change[:, 2:] / (2 * run.case.m_2 / run.case.N)


def _value_bounds(lab: Laboratory, name: str) -> Verdict:
    gamma, rho = _changes(lab.descent(name))
    worst = float(max(gamma.max(), rho.max()))
    rates = start_rates(lab)
    m_s, m_2, w2 = sym("m_s"), sym("m_2"), sym("w2")
    exact = equal({"v_s": (rates["v_s"], m_s * w2 / 12), "v_2": (rates["v_2"], m_2 * w2 / (6 * sym("N")))})
    first = {
        "gamma": float(gamma[0].max() * 0.75 * 12),
        "rho": float(rho[0].max() * 2 * 6),
    }  # over the exact rates, M = 3
    ok = worst <= 1 and all(abs(x - 1) < 0.05 for x in first.values())
    return exact & measured(
        ok,
        {"largest ratio to the bound": rounded(worst), "first step over the exact rate": rounded(first)},
        largest_ratio=rounded(worst),
        first_over_exact=rounded(first),
    )


ONE_RUN = "along the run by the recursion (N = 6, M = 3, d = 200,000, d_h = 100,000)"


@book.claim(
    "D.3",
    "V stays small in stage 1",
    kind="inequality",
    uses=["B.2", "C.1", "C.2", "C.4"],
    statement=r"|V|=O(d_h^{-1/4})\ \text{for}\ t\le T_0;\quad |\Delta\gamma_{V,\pm}|\le\tfrac34\eta\|\mu\|^2,\ |\Delta\rho|\le2\eta\tilde\sigma_p^2d/N",
    reading="the two bounds on the changes, at every step of the benign run "
    + ONE_RUN
    + "; their sums over T_0 = O(1/(eta d_h^{1/4} mu^2 |w_O|^2)) are O(d_h^{-1/4}) in this "
    "regime; the exact rates at the start, mu^2/(4M) and sigma~_p^2 d/(2NM), are seen in the first steps within 5 percent",
)
def values_small(lab: Laboratory) -> Verdict:
    """Changes of V against both bounds."""
    return _value_bounds(lab, "benign")


@book.claim(
    "E.1",
    "V stays small in stage 1 (harmful)",
    kind="inequality",
    uses=["B.2", "C.1", "C.2", "C.4"],
    statement=r"|V|=O(d_h^{-1/4})\ \text{for}\ t\le T_0=O(N/(\eta d_h^{1/4}\sigma_p^2d\|w_O\|^2))",
    reading="the two bounds of D.3 on the changes, at every step of the harmful run " + ONE_RUN,
)
def values_small_harmful(lab: Laboratory) -> Verdict:
    """Changes of V against both bounds."""
    return _value_bounds(lab, "harmful")


LOGS = (100.0, 1000.0, 10_000.0)


def _small_at(lab: Laboratory, benign: bool) -> tuple[bool, dict[str, float]]:
    """The winning value at T_0 with constant 1, times L, for several L; in units of C_p^2 for the noise."""
    case, name = (BENIGN, "v_s") if benign else (HARMFUL, "v_2")
    unit = 1 / (case.m_s * case.w2) if benign else case.N / (case.noise * case.w2)
    size = 1.0 if benign else case.C_p**2
    uniform = 1 / (4 * case.M) if benign else 1 / (2 * case.M)
    found = dict(
        zip(LOGS, columns_at(lab, case, 0.3, tuple(unit / L for L in LOGS))[name] * np.array(LOGS) / size, strict=True)
    )
    ok = all(abs(x / uniform - 1) < 0.02 for x in found.values())
    return ok, {f"L = {L:g}": float(x) for L, x in found.items()}


@book.claim(
    "D.6",
    "V stays small in stage 2",
    kind="order",
    uses=["D.3"],
    statement=r"|V|=o(1)\ \text{for}\ t\le T_0=O(1/(\eta\|\mu\|^2\|w_O\|^2\mathcal L))",
    reading="by D.3 |gamma_V| |w_O|^2 <= 3/4 eta mu^2 |w_O|^2 t, which is 3/(4 L) at T_0 with constant 1, so it tends to 0 with 1/L; in the mean field (M = 3, N = 40, N SNR^2 = 4000, mobility 400) V_+ at T_0 times L, for L = 100, 1000, "
    "10,000, is within 2 percent of 1/(4M): at this mobility attention is still uniform (all attention on the signal would give 1/4)",
)
def values_small_two(lab: Laboratory) -> Verdict:
    """The sum of the bounds, and the value at T_0."""
    log = sp.Symbol("L", positive=True)
    total = sp.Rational(3, 4) * ETA * MU2 * W2 / (ETA * MU2 * W2 * log)
    ok, found = _small_at(lab, True)
    return equal({"sum": (from_sympy(sp.cancel(total * log)), from_sympy(sp.Rational(3, 4)))}) & measured(
        ok, rounded(found), V_times_L=rounded(found)
    )


@book.claim(
    "E.4",
    "V stays small in stage 2 (harmful)",
    kind="order",
    uses=["E.1"],
    statement=r"|V|=o(1)\ \text{for}\ t\le T_0=O(N/(\eta\sigma_p^2d\|w_O\|^2\mathcal L))",
    reading="as D.6: |rho| |w_O|^2 <= 2 eta sigma~_p^2 d |w_O|^2 t / N is 2 C_p^2 / L at T_0 with constant 1; in the mean field (N SNR^2 = 1/2) y V_{n,2} at T_0 times L / C_p^2, for L = 100, 1000, 10,000, is within 2 percent of 1/(2M), "
    "uniform attention",
)
def values_small_two_harmful(lab: Laboratory) -> Verdict:
    """The sum of the bounds, and the value at T_0."""
    log = sp.Symbol("L", positive=True)
    total = 2 * ETA * C2 * NOISE * W2 / N_ * N_ / (ETA * NOISE * W2 * log)
    ok, found = _small_at(lab, False)
    return equal({"sum": (from_sympy(sp.cancel(total * log)), from_sympy(2 * C2))}) & measured(
        ok, rounded(found), V_times_L=rounded(found)
    )


def exact_rates(lab: Laboratory) -> dict[str, sp.Expr]:
    """Rates of the values at the start of the mean field, M = 3, in the paper's symbols."""
    names = {"m_s": MU2, "m_2": C2 * NOISE, "m_w": NOISE, "w2": W2, "N": N_}
    found = {n: to_sympy(node) for n, node in start_rates(lab).items()}
    return {n: e.subs({s: names[str(s)] for s in e.free_symbols}) for n, e in found.items()}


def _obeyed(slack: Mapping[str, sp.Expr], exact: Mapping[str, sp.Expr], rates: Mapping[str, sp.Expr]) -> Verdict:
    """All slacks are positive, and the rates are those of uniform attention."""
    wrong = {name: str(x) for name, x in slack.items() if not x.is_positive}
    wrong |= {f"rate {name}": str(rates[name]) for name, x in exact.items() if sp.cancel(rates[name] - x) != 0}
    return decided(not wrong, wrong, slack={name: str(x) for name, x in slack.items()})


UNIFORM = {
    "v_s": MU2 * W2 / 12,
    "v_2": C2 * NOISE * W2 / (6 * N_),
    "v_w": NOISE * W2 / (6 * N_),
}  # 1/(4M), 1/(2NM); M = 3


@book.claim(
    "D.5",
    "Exit of stage 1",
    kind="inequality",
    uses=["D.1", "D.2", "D.3", "B.2"],
    statement=r"V_+^{(T_1)}\ge3M|V_{n,i}^{(T_1)}|,\ V_-^{(T_1)}\le-3M|V_{n,i}^{(T_1)}|,\quad T_1=\tfrac{10M(3M+1)N}{\eta d_h^{1/4}(N\mu^2-60M^2C_p^2\sigma_p^2d)\|w_O\|^2}",
    reading="the proof's bounds V_+ >= -h + T_1 eta mu^2 w2/(10M) and |V_{n,i}| <= h + 2 T_1 eta C_p^2 sigma_p^2 d w2/N, h = d_h^{-1/4}, give difference identically 0 "
    "at T_1; the derived rates at the start obey both for M = 3 (1/(4M) >= 1/(10M), 1/(2NM) <= 2/N); the benign run exits with the signal",
)
def exit_of_stage_one(lab: Laboratory) -> Verdict:
    """The tight comparison, the derived rates, and a run."""
    time = common_formulas.exit_benign()
    lower = -H_ + time * ETA * MU2 / (10 * M_) * W2
    upper = H_ + time * 2 * ETA * C2 * NOISE / N_ * W2
    tight = identity(
        {"difference": from_sympy(sp.together(lower - 3 * M_ * upper))},
        positive=("M", "N", "eta", "w2", "mu2", "noise", "C2", "h"),
    )
    rates = exact_rates(lab)
    slack = {
        "signal": sp.cancel(rates["v_s"] / (MU2 * W2) - sp.Rational(1, 30)),
        "noise": sp.cancel((2 / N_ - rates["v_2"] / (C2 * NOISE * W2)) * N_),
    }
    run = lab.descent("benign")
    place = run.exit(0)
    ratio = float((run.values[place, :, 0] / run.values[place, :, 1]).mean() / run.case.balance)
    seen = {"T1": int(run.steps[place]), "v_s / v_2 over r": rounded(ratio)}
    return (
        tight
        & _obeyed(slack, UNIFORM, rates)
        & measured(run.values[place, :, 0].min() > 0 and abs(ratio - 1) < 0.2, **seen)
    )


@book.claim(
    "5.2",
    "V's beginning of learning signals",
    kind="inequality",
    uses=["D.5"],
    same_as="D.5",
    statement=r"V_+^{(T_1)}\ge3M|V_{n,i}^{(T_1)}|",
    reading="as D.5",
)
def beginning_of_signals(lab: Laboratory) -> Verdict:
    """The same statement."""
    return exit_of_stage_one(lab)


@book.claim(
    "E.3",
    "Exit of stage 1 (harmful)",
    kind="inequality",
    uses=["D.1", "D.2", "E.1", "B.2"],
    statement=r"y_nV_{n,2}^{(T_1)}\ge3M\max\{|V_\pm|,|V_{n,i}|_{i\ge3}\},\quad T_1=\tfrac{4M(3M+1)N}{\eta d_h^{1/4}(C_p^2-24M)\sigma_p^2d\|w_O\|^2}",
    reading="the proof's bounds V_{n,2} >= -h + T_1 eta C_p^2 sigma_p^2 d w2/(4NM) and |others| <= h + 2 T_1 eta sigma_p^2 d w2/(NM) give difference identically 0 at T_1 "
    "(C_p^2 > 24 M); for N SNR^2 <= 4 the signal obeys the bound of the others; derived rates at the start obey both, M = 3; the harmful run exits with the first noise token",
)
def exit_harmful(lab: Laboratory) -> Verdict:
    """The tight comparison, the derived rates, and a run."""
    time = common_formulas.exit_harmful()
    lower = -H_ + time * ETA * C2 * NOISE / (4 * N_ * M_) * W2
    upper = H_ + time * 2 * ETA * NOISE / (N_ * M_) * W2
    tight = identity(
        {"difference": from_sympy(sp.together(lower - 3 * M_ * upper))},
        positive=("M", "N", "eta", "w2", "noise", "C2", "h"),
    )
    rates = exact_rates(lab)
    unit = N_ / (NOISE * W2)
    slack = {
        "first noise token": sp.cancel(rates["v_2"] * unit / C2 - sp.Rational(1, 12)),
        "weak noise": sp.cancel(sp.Rational(2, 3) - rates["v_w"] * unit),
        "signal": sp.cancel(sp.Rational(2, 3) - rates["v_s"].subs(MU2, 4 * NOISE / N_) * unit),
    }
    run = lab.descent("harmful")
    place = run.exit(1)
    ratio = float((run.values[place, :, 0] / run.values[place, :, 1]).mean() / run.case.balance)
    seen = {"T1": int(run.steps[place]), "v_s / v_2 over r": rounded(ratio)}
    return (
        tight
        & _obeyed(slack, UNIFORM, rates)
        & measured(run.values[place, :, 1].min() > 0 and abs(ratio - 1) < 0.2, **seen)
    )


@book.claim(
    "F.3",
    "Coefficient bounds of stage 1",
    kind="inequality",
    uses=["Def.B.3", "Sec.5.2-signs"],
    statement=r"|\alpha_{\pm,\pm}|,|\beta_{\pm,\pm}|=O(\eta\mu^2d_h^{-1/4}),\ |\alpha_{n,\pm,l}|,|\beta_{n,\pm,l}|=O(\eta\mu^2d_h^{-1/4}/N),\ \text{rest }O(\eta\sigma_p^2dd_h^{-1/4}/N)",
    reading="explicitly |phi_j (v_j - f)| <= max|v| / 2 (as phi_j sum_k phi_k (v_j - v_k), 4 p (1 - p) <= 1), so |alpha_{+,+}| <= (N_+/N) eta mu^2 max|V| / (2M) and, for own "
    "tokens, |alpha_{n,+,j}| <= eta mu^2 max|V| / (2NM), noise rows with (1 + N sqrt(log/d)) sigma~_p^2 d; at every record of both runs",
)
def coefficient_bounds(lab: Laboratory) -> Verdict:
    """The form of the force, and ratios along runs."""
    flow = lab.flow(3)
    t = tables(flow, 3)
    a = read_off(flow, True)
    phi, own = t.attention(0)[0], t.places[0]
    front = sym("m_s") * t.slope(0) / 6
    forms = {
        f"{j}": (a[0, own[j]], front * phi[j] * graph.add(phi[k] * (t.V[own[j]] - t.V[own[k]]) for k in range(3)))
        for j in range(3)
    }
    p = sym("p")
    verdict = equal(forms | {"square": (1 - 4 * p * (1 - p), (1 - 2 * p) ** 2)})
    worst: dict[str, float] = {}
    for name in ("benign", "harmful"):
        run = lab.descent(name)
        case, biggest = run.case, np.abs(run["V"]).max(axis=1)
        unit = run.eta * biggest / (2 * case.M)
        cross = case.m_2 * (1.5 + case.N * np.sqrt(np.log(40 * case.N**2 * case.M**2) / case.d))
        for letter in ("alpha", "beta"):
            table = np.abs(run[letter])
            worst[f"{name} {letter} ++"] = float((table[:, 0, 0] / (unit * case.m_s / 2 + 1e-300)).max())
            worst[f"{name} {letter} n+"] = float(
                (table[:, :2, 2:].max(axis=(1, 2)) / (unit * case.m_s / case.N + 1e-300)).max()
            )
            worst[f"{name} {letter} noise"] = float(
                (table[:, 2:].max(axis=(1, 2)) / (unit * cross / case.N + 1e-300)).max()
            )
    return verdict & measured(max(worst.values()) <= 1 + 1e-9, {"ratios": rounded(worst)}, ratios=rounded(worst))


@book.claim(
    "F.4",
    "Coefficient bounds of stage 2",
    kind="inequality",
    expect="fails",
    uses=["Def.B.3", "5.2"],
    statement=r"V_+\ge3M|V_{n,i}|,\ \varphi_{\cdot1}\ge\tfrac1M-o(1)\Rightarrow \alpha_{n,+,i}\le-\tfrac{\eta\mu^2}{4NM}(\cdot),\ \beta_{n,j,n,i},\beta_{n',i',+}\le-\tfrac12\tfrac{\eta\|\xi\|^2}{NM}(-\ell')V_+\varphi_{i1}\varphi_{ij}",
    reading="the step V_j - f_l <= -V_+ phi_l1 / 2 behind the two bounds on beta, at uniform attention with V_j = V_+/(3M), other noise values -V_+/(3M): derived "
    "beta of the toy with M = 7 (the smallest M where it fails), exact values; corrected: whenever phi_l1 >= 1/M, at all vertices for M = 2 .. 8; the derived ratio at the point is -(1/3 + 1/M)",
)
def stage_two_bounds(lab: Laboratory) -> Verdict:
    """Exact value of the derived coefficient at the extreme point, and the sharp constant for every M."""
    M = 7
    flow = lab.flow(M, "orthogonal")
    t = tables(flow, M)
    # the key xi_{1,2}: its coefficient in the row xi_{1,3} is beta_{xi2, xi3} / eta = m_2 H_{xi3, xi2}
    node = read_off(flow, False)[2, 3]
    point = {sym(n): num(0) for n in flow.matrices["KQ"].ravel()} | {t.V[0]: num(1), t.V[1]: num(-1)}
    third = sp.Rational(1, 3 * M)
    for k, token in enumerate(t.places[0][1:]):
        point[t.V[token]] = from_sympy(third if k == 0 else -third)
    point |= {t.V[token]: num(0) for token in t.places[1][1:]}
    value = to_sympy(graph.substitute([node], point)[0])
    slope = to_sympy(graph.substitute([t.slope(0)], point)[0])
    ratio = sp.cancel(value / (slope * sp.Symbol("m_2", real=True) / (2 * M) * sp.Rational(1, M) * sp.Rational(1, M)))
    witness = {"M": M, "(V_j - f) / (V_+ phi_1)": str(ratio)}
    verdict = decided(ratio <= -sp.Rational(1, 2), witness)
    uniform = -(sp.Rational(1, 3) + sp.Rational(1, M))
    seen = decided(ratio == uniform, {"derived": str(ratio), "at uniform attention": str(uniform)}, ratio=str(ratio))
    fixed = seen & enumerate_all(
        _vertices(), lambda corner: bool(corner.gap <= 0), "vertices of attention and values, M = 2 .. 8"
    )
    return verdict.correcting(
        r"V_j-f_l\le-(\tfrac13+\tfrac1{3M})V_+\varphi_{l1};\ \text{so }\tfrac14\text{ works for every }M",
        fixed,
        "the dropped terms V_{n,k}, k != j, are of the same order; the sign survives; V_j - f_l is linear in the values and in the attention, so its largest value is at a vertex",
    ).with_constants(at_the_printed_point=str(ratio))


@dataclass(frozen=True)
class Corner:
    """A vertex: number of tokens, the token that shares the attention with the signal, signs of the noise values."""

    M: int
    other: int
    signs: tuple[int, ...]

    @property
    def gap(self) -> Fraction:
        """V_j - f + (1/3 + 1/(3M)) V_+ phi_1 for j the first noise token, V_+ = 1, noise values +-1/(3M)."""
        values = [Fraction(1), *(Fraction(s, 3 * self.M) for s in self.signs)]
        attention = [Fraction(0)] * self.M
        attention[0] = Fraction(1, self.M) if self.other else Fraction(1)
        if self.other:
            attention[self.other] = 1 - attention[0]
        f = sum((p * v for p, v in zip(attention, values, strict=True)), Fraction(0))
        return values[1] - f + (Fraction(1, 3) + Fraction(1, 3 * self.M)) * attention[0]


def _vertices() -> Iterator[Corner]:
    """Attention with phi_1 >= 1/M has the vertices phi_1 = 1 and phi_1 = 1/M with the rest on one token."""
    for M in range(2, 9):
        for other in range(M):
            for signs in product((1, -1), repeat=M - 1):
                yield Corner(M, other, signs)
