"""Appendix F, signs of the value Gram matrix and of scores, and the loss against its derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp

from odesys import HOLDS, Hypothesis, Node, Verdict, decided, graph, identity, sym, to_sympy

from ..laboratory import Laboratory
from .book import COQ, NUMBERS, book, on_toy, toy_forces, toy_gram
from .common_hypotheses import PHASES
from .common_runs import ALL, SIGN, late, likely, phase_two

# ---- signs -------------------------------------------------------------------------------------------------------

SIGN_G = {0: 1, 1: 1, 2: -1}


def _signed(node: Node, mapping: dict[Node, Node]) -> int:
    """Sign of an expression whose factors are replaced by signed positive symbols; 0 if it is not manifest."""
    expanded = sp.expand(to_sympy(graph.substitute([node], mapping)[0]))
    coefficients = (
        sp.Poly(expanded, *sorted(expanded.free_symbols, key=str)).coeffs() if expanded.free_symbols else [expanded]
    )
    return 1 if all(c > 0 for c in coefficients) else -1 if all(c < 0 for c in coefficients) else 0


def _value_signs(lab: Laboratory, wanted: dict[tuple[int, int], int]) -> dict[str, Verdict]:
    """The derived rates of the value Gram matrix are G_a xi_b + G_b xi_a; along networks they have these signs."""
    flow = toy_gram(lab)
    rhs, names = lab.equations(flow), flow.matrices["VV"]
    xi, _ = toy_forces(flow)
    G = flow.layout.symbols["aWV"][0]
    parts = {}
    for (i, j), sign in wanted.items():
        form = on_toy(identity({"equation": rhs[names[i, j]] - G[i] * xi[j] - G[j] * xi[i]}, positive=("m", "m1")))
        model = graph.add([sym(f"G{i}") * sym(f"x{j}"), sym(f"G{j}") * sym(f"x{i}")])
        mapping = {sym(f"{letter}{k}"): SIGN_G[k] * sym(f"p{letter}{k}") for letter in "Gx" for k in SIGN_G}
        found = _signed(model, mapping)
        if form.as_stated == HOLDS and found == sign:

            def rate(run: Any, i: int = i, j: int = j, sign: int = sign) -> np.ndarray:
                row = late(run, sign * run.rate("VV")[:, i, j])
                return np.asarray(row / np.abs(row).max())

            what = f"the rate of values {i + 1}{j + 1} has its sign at every recorded time"

            def positive(run: Any, rate: Callable[[Any], np.ndarray] = rate) -> bool:
                return bool((rate(run) > 0).all())

            form = form & likely(lab, what, positive, rate, phase_two, SIGN, ALL, CONDITIONAL)
        else:
            form = form & decided(found == sign, {"sign": found})
        parts[f"{i + 1}{j + 1}"] = form
    return parts


CONDITIONAL = (
    "tried: where G_1, G_2 > 0 > G_3 and their rates have these signs, so have both terms of the rate (exact); these signs are "
    "F.6 and F.7, which are measured"
)


@book.claim(
    "F.13",
    "Signs of the value Gram matrix",
    kind="inequality",
    where="Corollary F.13",
    parts=("12", "11", "22", "13", "23"),
    hypotheses=PHASES,
    uses=["C.3", "F.7", "F.6"],
    statement=r"\partial_t\mu_1^\top W_V^\top W_V\mu_2,\ \partial_t\mu_1^\top W_V^\top W_V\mu_1,\ \partial_t\mu_2^\top W_V^\top W_V\mu_2>0,\ \partial_t\mu_1^\top W_V^\top W_V\mu_3,\ \partial_t\mu_2^\top W_V^\top W_V\mu_3<0\quad(t\in[T_1,T_2])",
    reading="Networks up to tau = 10^3; later Theorem 3.2 (T_2 = poly(m)).",
)
def value_signs(lab: Laboratory) -> dict[str, Verdict]:
    """Five signs."""
    return _value_signs(lab, {(0, 1): 1, (0, 0): 1, (1, 1): 1, (0, 2): -1, (1, 2): -1})


@book.claim(
    "4.6",
    "Value correlations in phase 2",
    kind="inequality",
    where="Corollary 4.6",
    parts=("12", "13"),
    hypotheses=PHASES,
    uses=["F.13"],
    same_as="F.13",
    statement=r"\partial_t\mu_1^\top W_V^\top W_V\mu_2>0,\ \partial_t\mu_1^\top W_V^\top W_V\mu_3<0",
    reading="Two of the signs of F.13.",
)
def value_signs_short(lab: Laboratory) -> dict[str, Verdict]:
    """Two of the signs of F.13."""
    return _value_signs(lab, {(0, 1): 1, (0, 2): -1})


PULLED = Hypothesis("S_1 > S_2", r"S_1>S_2", lambda p: p["S1"] - p["S2"])
RIGHT = Hypothesis("margins are positive", r"y_iF_i>0", lambda p: p["yF"], strict=True)


@book.claim(
    "F.16-signs",
    "Signs of the scores at leading order",
    kind="inequality",
    origin="proof",
    where="Proof of Lemma F.16, the rates for mu1 as query",
    parts=("A_31 falls", "A_21 grows"),
    hypotheses=(PULLED, RIGHT),
    uses=["C.4", "F.6", "F.7"],
    statement=r"\partial_t\mu_2^\top W_K^\top W_Q\mu_1=\tfrac1{\sqrt m}\widetilde\Theta(\hat{\mathcal L}\sigma_0^2m)\tfrac1L+\widetilde O(\tfrac1{\sqrt m}\hat{\mathcal L}\sigma_0^2\sqrt m),\ \partial_t\mu_3^\top W_K^\top W_Q\mu_1=-(\text{same})+\widetilde O(\cdot)",
    reading="The signs of the first terms, at leading order in 1/m and 1/n, derived at n = 12, L = 4; sizes are in F.16.",
)
def score_signs(lab: Laboratory) -> dict[str, Verdict]:
    """The derived leading-order rates in the variables x = F1 + |F2|, z = F1 + 2 |F2|, s_1 = s_2 + p."""
    L = 4
    rates = lab.score_rates(12, L)
    F1, F2, s2, p = (sym(name) for name in ("F1", "F2", "s2", "p"))
    states = {
        sym("G_1"): F1 + F2,
        sym("G_3"): -(F1 + 2 * F2),
        sym("G_r1"): graph.ZERO,
        sym("G_r2"): graph.ZERO,
        sym("G_r4"): graph.ZERO,
    }
    system = lab.kernel(12, L)
    atoms = {
        graph.call("sigmoid", -system.observables["margin_I1"]): 2 * (s2 + p),
        graph.call("sigmoid", -system.observables["margin_I2"]): 6 * s2,
    }
    found = {name: _signed(graph.substitute([rates[name]], atoms)[0], states) for name in ("A_31", "A_12")}
    step = "in F_1, |F_2|, S_2 and S_1 - S_2, all positive, every term of the leading-order rate has this sign"
    return {
        "A_31 falls": decided(found["A_31"] == -1, {"sign": found["A_31"]}).proving(step, n=12, L=4),
        "A_21 grows": decided(found["A_12"] == 1, {"sign": found["A_12"]}).proving(step, n=12, L=4),
    }


@book.claim(
    "F.8-ratio",
    "Loss against loss derivative",
    kind="inequality",
    origin="proof",
    where="Proof of Theorem F.8, last step",
    parts=("slope", "ends"),
    hypotheses=(),
    insensitive=NUMBERS,
    statement=r"\ell(x)=\Theta(-\ell'(x))\quad(x>0)",
    reading="The quotient falls from 2 ln 2 at 0 to 1: its slope is e^u log(1 + e^-u) - 1, at most 0.",
)
def loss_ratio(lab: Laboratory) -> dict[str, Verdict]:
    """The derivative in closed form and the two ends."""
    u = sym("u")
    ratio = graph.call("softplus", -u) / graph.call("sigmoid", -u)
    slope = graph.gradient(ratio, [u])[0]
    target = graph.exp(u) * graph.call("log", 1 + graph.exp(-u)) - 1
    z = sp.Symbol("u", real=True)
    limit = sp.limit(sp.log(1 + sp.exp(-z)) * (1 + sp.exp(z)), z, sp.oo)
    at_zero = sp.expand(sp.log(2) * 2 - (sp.log(1 + sp.exp(-z)) * (1 + sp.exp(z))).subs(z, 0))
    ends = decided((limit, at_zero) == (1, 0), {"limit": str(limit), "at zero": str(at_zero)}, limit=str(limit))
    told = {"ratio": (("u",), ratio), "slope": (("u",), target)}
    return {
        "slope": identity({"slope": slope - target})
        .by_theorems(COQ / "loss_ratio.v", told, alone=True)
        .proving("log(1 + y) <= y at y = e^-u, so that the slope is at most 0"),
        "ends": ends.by_theorems(COQ / "loss_ratio.v", told)
        .proving("value at 0 and limit at infinity")
        .with_constants(low=1, high="2 ln 2"),
    }
