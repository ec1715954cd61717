"""Closed forms of the mean-field flow, proved on the derived equations: stage laws with exact prefactors."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from itertools import product
from operator import and_

import sympy as sp

from odesys import ZERO, Node, Verdict, decided, equal, from_sympy, graph, identity, num, sym, to_sympy

from ..laboratory import Laboratory
from .book import COQ, book
from .common_mean_runs import SCORES, attention_on, growth, late_law, saturated, start_rates

SIZES = (2, 3, 4)  # tokens of a sample


@book.claim(
    "Beyond.MF.stage1",
    "Stage 1 in closed form",
    kind="identity",
    uses=["B.2"],
    origin="ours",
    hypotheses=(),
    statement=r"v_s=\tfrac{\mu^2\|w_O\|^2}{4M}\tau,\ v_2=\tfrac{\tilde\sigma_p^2d\|w_O\|^2}{2NM}\tau,\ v_w=v_2/C_p^2,\ v_s/v_2=r",
    reading="derived rates at S = 0, v = 0, N a symbol, M = 2, 3, 4",
)
def stage_one(lab: Laboratory) -> Verdict:
    """Rates at uniform attention and zero values."""
    found: dict[str, tuple[Node, Node]] = {}
    for M in SIZES:
        rates = start_rates(lab, M)
        found[f"{M} s"] = (rates["v_s"], sym("m_s") * sym("w2") / (4 * M))
        found[f"{M} 2"] = (rates["v_2"], sym("m_2") * sym("w2") / (2 * M * sym("N")))
        if M > 2:
            found[f"{M} w"] = (rates["v_w"], sym("m_w") * sym("w2") / (2 * M * sym("N")))
    return equal(found)


@book.claim(
    "Beyond.MF.lazy",
    "Uniform attention is one logistic drive",
    kind="identity",
    uses=["B.2"],
    origin="ours",
    hypotheses=(),
    statement=r"\dot f=a\,\sigma(-f),\ f+e^f=1+a\tau,\ a=\tfrac{\|w_O\|^2}{NM^2}(\tfrac N2m_s+m_2+(M-2)m_w),\ v_s:v_2:v_w=r:1:C_p^{-2}",
    reading="derived equations at S = 0, M = 3, N a symbol: all values move by multiples of sigma(-f), f the derived output",
)
def lazy_attention(lab: Laboratory) -> Verdict:
    """Values driven by one logistic factor."""
    mean = lab.mean_field()
    flat = {sym(n): ZERO for n in SCORES}
    f, *rates = graph.substitute([mean.outputs["f"], *mean.rhs("v_s", "v_2", "v_w")], flat)
    drive = graph.call("sigmoid", -f)
    N, w2 = sym("N"), sym("w2")
    printed = [sym("m_s") * w2 / 6, sym("m_2") * w2 / (3 * N), sym("m_w") * w2 / (3 * N)]
    total = w2 / (9 * N) * (N / 2 * sym("m_s") + sym("m_2") + sym("m_w"))
    slopes = graph.gradient(f, [sym(f"v_{a}") for a in "s2w"])
    change = graph.add(s * r for s, r in zip(slopes, rates, strict=True))
    return equal(
        {f"v_{a}": (rate, p * drive) for a, rate, p in zip("s2w", rates, printed, strict=True)}
        | {"f": (change, total * drive), "integral": ((1 + graph.exp(f)) * change, total)}
    )


def _time_limit(lab: Laboratory, winner: str, M: int) -> sp.Expr:
    """Limit of eps tau as eps -> 0 for the derived v' = c sigma(-v): (v + e^v)' = c and e^v = 1 / (e^eps - 1)."""
    eps = sp.Symbol("eps", positive=True)
    v = -sp.log(sp.exp(eps) - 1)
    c = sp.cancel(
        to_sympy(graph.substitute([saturated(lab, winner, M)], {sym(f"v_{winner}"): ZERO})[0]) * 2
    )  # sigma(0) = 1/2
    return sp.limit(eps * (v + sp.exp(v)), eps, 0) / c


def _clock() -> dict[str, tuple[tuple[str, ...], Node]]:
    """The loss of a class, and what grows at a constant rate in the late law, as functions of the winning value."""
    v = sym("v")
    return {"loss": (("v",), graph.call("log", 1 + graph.exp(-v))), "clock": (("v",), v + graph.exp(v))}


@book.claim(
    "Beyond.MF.stage3",
    "Stage 3 in closed form",
    kind="identity",
    uses=["B.2"],
    origin="ours",
    hypotheses=(),
    statement=r"\dot v_s=\tfrac{\mu^2\|w_O\|^2}2\sigma(-v_s),\ \dot v_2=\tfrac{\tilde\sigma_p^2d\|w_O\|^2}N\sigma(-v_2),\quad \epsilon\,\eta T_3\to\tfrac2{\mu^2\|w_O\|^2},\ \tfrac{N}{\tilde\sigma_p^2d\|w_O\|^2}",
    reading="derived equations with all attention on the winner, M = 2, 3, 4, N a symbol; loss = log(1 + e^-v)",
)
def stage_three(lab: Laboratory) -> Verdict:
    """Rates at saturated attention, and the limits of eps T3."""
    m_s, m_2, N, w2 = (sp.Symbol(n, real=True) for n in ("m_s", "m_2", "N", "w2"))
    limits = {("benign", M): sp.cancel(_time_limit(lab, "s", M) * m_s * w2) for M in SIZES}
    limits |= {("harmful", M): sp.cancel(_time_limit(lab, "2", M) * m_2 * w2 / N) for M in SIZES}
    shown = {f"{regime}, M = {M}": str(value) for (regime, M), value in limits.items()}
    right = all(value == (2 if regime == "benign" else 1) for (regime, _), value in limits.items())
    times = decided(right, {"limits": shown}, limits=shown)
    wanted = {"benign": 2, "harmful": 1}
    times = times.stating({f"{r}, M = {M}: eps T_3": (value, "=", wanted[r]) for (r, M), value in limits.items()})
    laws = reduce(and_, [late_law(lab, winner, M) for winner in "s2" for M in SIZES])
    return (laws & times).by_theorems(COQ / "fitting_time.v", _clock())


@book.claim(
    "Beyond.unbalanced",
    "Classes of different size",
    kind="identity",
    uses=["B.2"],
    origin="ours",
    hypotheses=(),
    statement=r"\text{a class with the share}\ p\ \text{of the samples}:\ \text{the balanced equations with}\ p\ \text{for}\ \tfrac12,\quad \dot v_s=p\mu^2\|w_O\|^2\sigma(-v_s),\quad \epsilon\,\eta T_3\to\tfrac2{\mu^2\|w_O\|^2}\ \text{for every}\ p",
    reading="derived from a training set of one label, N and p symbols, M = 3; the two classes do not see each other",
)
def unequal_classes(lab: Laboratory) -> Verdict:
    """At p = 1/2 the balanced system; the late law, and the sum of the losses of both classes."""
    mean, p, c = lab.mean_field(), sym("p"), sym("c")
    rates = {kind: lab.class_rates(3, kind) for kind in "vS"}
    nodes = {name: node for table in rates.values() for name, node in table.items()}
    halves = graph.substitute(list(nodes.values()), {p: num(Fraction(1, 2))})
    balanced = equal(dict(zip(nodes, zip(halves, mean.rhs(*nodes), strict=True), strict=True)))
    gone = {winner: attention_on(winner) for winner in "s2"}
    late = {winner: graph.substitute([nodes[f"v_{winner}"]], gone[winner])[0] for winner in "s2"}
    slope = {winner: graph.call("sigmoid", -sym(f"v_{winner}")) for winner in "s2"}
    laws = equal(
        {
            "signal": (late["s"], p * sym("m_s") * sym("w2") * slope["s"]),
            "noise": (late["2"], sym("m_2") * sym("w2") / sym("N") * slope["2"]),
        }
    )
    total = identity({"loss": p / (p * c) + (1 - p) / ((1 - p) * c) - 2 / c}, ("p", "c"))
    return (
        (balanced & laws & total)
        .by_theorems(COQ / "fitting_time.v", _clock())
        .proving(
            "e^v grows like p c tau, c = mu^2 |w_O|^2, and the loss of a class is near e^(-v): its share p times 1/(p c tau), for both 2/(c tau)",
            N="every",
        )
    )


@book.claim(
    "Beyond.MF.stage2",
    "Stage 2 in closed form",
    kind="identity",
    uses=["B.3"],
    origin="ours",
    hypotheses=(),
    statement=r"e^{\Lambda_s}\simeq\tfrac{M-1}{16M}\kappa\mu^6\|w_O\|^2\tau^2,\ e^{\Lambda_2}\simeq\tfrac{M-1}{8NM}\kappa m_2\mu^4\|w_O\|^2\tau^2,\ e^{\Psi_2}\simeq\tfrac{M-1}{4N^2M}\kappa m_2^3\|w_O\|^2\tau^2",
    reading="as e^Lambda grows, losing scores and values 0, -l' = 1/2, values linear in tau; M = 2, 3, 4, N a symbol",
)
def stage_two(lab: Laboratory) -> Verdict:
    """Prefactors from the derived equations of scores and values."""
    m_s, m_2, kappa, N, w2, t = (sp.Symbol(n, real=True) for n in ("m_s", "m_2", "kappa", "N", "w2", "tau"))
    cases = {
        "Lambda_s": ("s", "s", kappa * m_s**3 * w2 * t**2 / 16),
        "Lambda_2": ("2", "s", kappa * m_2 * m_s**2 * w2 * t**2 / (8 * N)),
        "Psi_2": ("2", "2", kappa * m_2**3 * w2 * t**2 / (4 * N**2)),
        "Psi_s": ("s", "2", kappa * m_s * m_2**2 * w2 * t**2 / (4 * N**2)),
    }
    found: dict[str, tuple[Node, Node]] = {}
    for M, (name, (row, winner, printed)) in product(SIZES, cases.items()):
        law, value = from_sympy(sp.Rational(M - 1, M) * printed), saturated(lab, winner, M) * sym("tau")
        slope = from_sympy(growth(lab, row, winner, M)) * value
        found[f"slope of {name}, M = {M}"] = graph.gradient(law, [sym("tau")])[0], slope
        found[f"{name} at 0, M = {M}"] = graph.substitute([law], {sym("tau"): ZERO})[0], ZERO
    start = {sym("v_s"): ZERO, sym("v_2"): ZERO}
    return equal(found, positive=("N", "kappa", "m_s", "m_2", "w2", "tau"), given=start)
