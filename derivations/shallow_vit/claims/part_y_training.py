"""Beyond the paper, by derivation: trained logits in place of keys and queries, the logistic loss, several heads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.interpolate import CubicSpline

from odesys import (
    ONE,
    ZERO,
    EquationError,
    Evidence,
    Measurement,
    Node,
    SymmetryError,
    System,
    Verdict,
    entry_pairs,
    equal,
    graph,
    identity,
    refuted,
    say_witness,
    sym,
)

from .. import dynamics
from ..laboratory import Laboratory
from ..special import symmetric_runs
from .book import LABELS, Tables, before_margin, claim, point, put, tables
from .common_gradients import POSITIVE, force, gradient_k, gradient_o, gradient_q, gradient_v
from .common_motion import first_order
from .common_runs import MAIN
from .common_seeds import SEEDS, SMALL
from .part_x_beyond import attention_at
from .part_x_variants import elsewhere, for_every_number, no_system

MARGINS = (1.0, 3.0)


@cache
def flow_to(margin: float, variant: str) -> tuple[float, dict[str, float], Any]:
    """The paper's own symmetric flow to F = margin: its time, attention and logits, and F as a function of time."""
    case = replace(MAIN, margin=margin)
    pi = symmetric_runs.living(case)
    run = symmetric_runs.flow(case, "auto", pi, variant=variant)
    values = {name: float(run.final[name]) for name in dynamics.mirrored(case.M, variant).names}
    times, outputs = np.unique(np.asarray(run.times), return_index=True)
    return run.end_time, symmetric_runs.scalars(values, case, pi), CubicSpline(times, run.observable("F")[outputs])


# ---- one matrix in place of W_K' W_Q ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MergedTables(Tables):
    """The paper's tables with the logits themselves as weights, in K; Q is not used."""

    def logit(self, j: int, k: int) -> Node:
        """x_j' W_S x_k."""
        found: Node = self.K[j, k]
        return found


def merged_tables(lab: Laboratory) -> MergedTables:
    """The tables over the states of the toy."""
    made = lab.toy(variant="merged").layout.symbols
    return MergedTables(made["O"], made["V"], made["S"], made["S"])


def column_sums(system: System) -> dict[str, Node]:
    """Rates of the sums of logits over keys, for a discriminative and for a nuisance query, M a parameter."""
    rate = system.equations
    M = sym("M")
    return {
        "query 1": rate["s11"] + rate["s21"] + (M - 2) * rate["sk1"],
        "query k": 2 * rate["s1k"] + rate["skk"] + (M - 3) * rate["skx"],
    }


@claim(
    "Beyond.merged",
    "Trained logits in place of keys and queries",
    kind="identity",
    uses=["X3", "Beyond.every-M"],
    level="full",
    origin="ours",
    hypotheses=(),
    statement=r"W_S\text{ for }W_K^\top W_Q:\quad\dot S_{jk}=G_{jk},\quad\textstyle\sum_jS_{jk}\text{ conserved},\quad\text{15 variables for every }M\ge4;\qquad\kappa=\rho=I:\ \tfrac d{ds}\kappa^\top\rho=2G",
    reading="one matrix of logits in place of keys and queries: column sums are conserved, 15 equations for every M",
)
def merged_attention(lab: Laboratory) -> Verdict:
    """Rates, sums over keys, the factor 2 at the start, and the symmetric system for every M.

    The flow derived for one score matrix W_S: its rates are the coefficients of (125) and those of neurons and
    values the gradients (83), (189) (while no margin is reached); for every query the rates of all keys sum to
    zero; where keys and queries are the identity their logits move exactly twice as fast as trained logits at the
    same place. The symmetric system has 15 states, is one
    system in M (found at M = 6, 7, 8, 9, equal to the derived one at M = 4, 5, 12), and both sums over keys are
    conserved for every M.
    """
    t = merged_tables(lab)
    rates = {leaf: before_margin(lab.rates(leaf, variant="merged")) for leaf in ("O", "V", "S")}
    right = np.array([[force(t, j, k, False) for k in range(3)] for j in range(3)], dtype=object)
    rows = (
        entry_pairs(rates["S"], right, "S")
        | entry_pairs(rates["O"], gradient_o(t, False), "W_O")
        | entry_pairs(rates["V"], gradient_v(t, False), "W_V")
    )
    sums = {f"query {k + 1}": (graph.add(rates["S"][:2, k]), -rates["S"][2, k]) for k in range(3)}
    exact = equal(rows, positive=POSITIVE) & equal(sums, positive=POSITIVE)
    try:
        system = for_every_number(lab, "merged")
    except (SymmetryError, EquationError) as error:
        return no_system(error)
    if system.dimension != 15:
        return refuted({"states": system.dimension}, Evidence.PROOF)
    same = elsewhere(lab, system, "merged")
    return (exact & twice_at_identity(lab, t, rates["S"]) & equal(same) & identity(column_sums(system))).with_constants(
        states=15, factor_at_start=2
    )


def twice_at_identity(lab: Laboratory, t: MergedTables, merged: np.ndarray) -> Verdict:
    """Rates of kappa' rho at kappa = rho = 1 against twice those of trained logits at S = 1."""
    own = tables(lab.toy())
    unit: dict[Node, Node] = {}
    for table in (own.K, own.Q, t.K):
        unit |= {x: ONE if i == j else ZERO for (i, j), x in np.ndenumerate(table)}
    both = put(before_margin(lab.rates("K")).T, unit) + put(before_margin(lab.rates("Q")), unit)
    return equal(entry_pairs(both, 2 * put(merged, unit), "kappa' rho"), positive=POSITIVE)


@claim(
    "Beyond.merged-runs",
    "Trained logits sharpen attention less",
    kind="order",
    uses=["Beyond.merged", "Beyond.margin"],
    level="full",
    origin="ours",
    hypotheses=(),
    statement=r"\text{at the same margin }\Gamma:\ \text{attention}(W_S)<\text{attention}(W_K^\top W_Q),\quad T(W_S)>T(W_K^\top W_Q)",
    reading="networks and flows at Gamma = 1 and 3 with trained logits against keys and queries, means of 20 starts",
)
def merged_sharpens_less(lab: Laboratory) -> Verdict:
    """Attention is lower and T larger at every margin, in networks and flows; networks are near the flows."""
    seeds = lab.draw.seeds(SEEDS)
    names = ("rel_s", "rel_n", "rel")
    points = [point(SMALL, margin=margin) for margin in MARGINS]
    less, later, off = [], [], []
    for margin in MARGINS:
        mean = {kind: attention_at(lab, margin, kind) for kind in ("", "merged")}
        ends = {kind: flow_to(margin, kind) for kind in mean}
        less.append(
            [mean[""][k] - mean["merged"][k] for k in names] + [ends[""][1][k] - ends["merged"][1][k] for k in names]
        )
        later.append([mean["merged"]["eta_T"] / mean[""]["eta_T"], ends["merged"][0] / ends[""][0]])
        off.append([mean[kind][k] - ends[kind][1][k] for kind in mean for k in names])
    limit = 1 / np.sqrt(SMALL.m)
    found = (
        Measurement("attention lost by trained logits", points, less).between(1e-9, 1, "the direction")
        & Measurement("T of trained logits over T", points, later).between(1 + 1e-9, 10, "the direction")
        & Measurement("attention minus that of the flow", points, off).between(
            -limit, limit, "the scatter at this width"
        )
    )
    return found.averaging(seeds)


# ---- logistic loss ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LogisticTables(Tables):
    """The paper's tables with a symbol for the slope of each sample in place of its indicator."""

    def active(self, n: int) -> Node:
        """sigma(-y F) of sample n, as a symbol."""
        return sym(f"slope {n + 1}")


@claim(
    "Beyond.logistic",
    "The logistic loss takes the path of the hinge without a margin",
    kind="identity",
    uses=["Eq.83-hinge", "Beyond.every-M"],
    level="full",
    origin="ours",
    hypotheses=(),
    statement=r"\ell=\log(1+e^{-yF}):\ \mathbb 1[y^nF^n<\Gamma]\mapsto\sigma(-y^nF^n);\qquad\text{two symmetric samples: }\dot x_{\log}=\sigma(-F)\,\dot x_{\text{hinge},\Gamma=\infty}\quad\text{for every }M",
    reading="the logistic flow has the orbit of the hinge flow before its margin, for every M",
)
def logistic_loss(lab: Laboratory) -> Verdict:
    """Sample by sample on the toy, and the factor in front of the symmetric field.

    All rates of the flow derived with the logistic loss are the gradients (83), (125), (161) with 1/|S^n|, (189)
    with sigma(-y F) in place of the indicator of each sample (keys and queries on the first axis, the others being
    alike). On the 21 variables, for every M, the field is
    that of the hinge before its margin times sigma(-F): the same orbit, where no margin stops, in the time s_log =
    int (1 + e^F) ds.
    """
    flow = lab.toy(variant="logistic")
    made, outputs = tables(flow), flow.system.observables
    t = LogisticTables(made.O, made.V, made.K, made.Q)
    slopes = {graph.call("sigmoid", -outputs[f"margin_{n + 1}"]): t.active(n) for n in range(len(LABELS))}
    rows = {f"y F of sample {n + 1}": (outputs[f"margin_{n + 1}"], LABELS[n] * t.output(n)) for n in range(len(LABELS))}
    for leaf, printed in (("O", gradient_o), ("V", gradient_v), ("K", gradient_k), ("Q", gradient_q)):
        chosen = slice(0, 1) if leaf in "KQ" else slice(None)
        rows |= entry_pairs(put(lab.rates(leaf, variant="logistic")[chosen], slopes), printed(t, True)[chosen], leaf)
    try:
        hinge_system, smooth_system = for_every_number(lab), for_every_number(lab, "logistic")
    except (SymmetryError, EquationError) as error:
        return no_system(error)
    slope = graph.call("sigmoid", -smooth_system.observables["F"])
    before = before_margin(list(hinge_system.nodes))
    rows |= {
        f"{name} for every M": (x, slope * y)
        for name, x, y in zip(smooth_system.names, smooth_system.nodes, before, strict=True)
    }
    return equal(rows, positive=(*POSITIVE, "M"))


@claim(
    "Beyond.logistic-runs",
    "Attention under the logistic loss",
    kind="order",
    uses=["Beyond.logistic", "Beyond.margin"],
    level="full",
    origin="ours",
    hypotheses=(),
    statement=r"\text{at output }F:\ \text{attention under the logistic loss}=\text{attention at the end of the hinge with }\Gamma=F,\qquad s_{\log}(F)=\int_0^{s(F)}(1+e^{F})\,ds",
    reading="networks followed until all margins are 1, mean of 20 starts; flows to F = 1 and 3",
)
def logistic_runs(lab: Laboratory) -> Verdict:
    """The time change along the derived flows, and attention of networks against the hinge flow."""
    clocks, gaps = [], []
    for margin in MARGINS:
        end, theory, output = flow_to(margin, "")
        smooth_end, smooth, _ = flow_to(margin, "logistic")
        first = float(output.x[0])
        clock = float(quad(lambda s, F=output: 1 + np.exp(F(s)), first, end, limit=200)[0]) + first
        clocks.append(clock / smooth_end)
        gaps.append(max(abs(smooth[k] - theory[k]) for k in ("rel_s", "rel_n", "rel")))
    seeds = lab.draw.seeds(SEEDS)
    off = [
        [attention_at(lab, margin, "logistic")[k] - flow_to(margin, "")[1][k] for k in ("rel_s", "rel_n", "rel")]
        for margin in MARGINS[:1]
    ]
    points = [point(SMALL, margin=margin) for margin in MARGINS]
    limit = 1 / np.sqrt(SMALL.m)
    found = (
        Measurement("the integral over the time", points, clocks).between(0.999, 1.001, "interpolation of the output")
        & Measurement("attention of the two flows, apart", points, gaps).between(0, 1e-6, "the solver")
        & Measurement("attention minus that of the hinge", points[:1], off).between(
            -limit, limit, "the scatter at this width"
        )
    )
    return found.averaging(seeds)


# ---- conserved matrices ----------------------------------------------------------------------------------------------


@claim(
    "Beyond.noisy",
    "Conserved matrices of noisy tokens and positions",
    kind="identity",
    uses=["X4"],
    origin="ours",
    hypotheses=(),
    statement=r"X\text{ any tokens, }a_{(l)}\text{ any: }\tfrac d{ds}(W_O^\top W_O-W_VW_V^\top)=0,\quad\tfrac d{ds}(W_KW_K^\top-W_QW_Q^\top)=0",
    reading="three tokens with any Gram matrix, output weights of two positions: Lie derivatives, entry by entry",
)
def conserved_by_noisy_tokens(lab: Laboratory) -> Verdict:
    """Products of states and rates, in the span of the tokens.

    Three tokens with any Gram matrix G (noise of any size; no two need to share a pattern), two samples of two of
    them, output weights a_1 .. a_4 of two neurons at two positions, m_a = m_b = 2: Lie derivatives along the
    derived flow of the images V = W_V X, with W_V W_V' = V G^-1 V' up to what no token sees, entry by entry.
    """
    flow = lab.toy(variant="noisy")
    inverse = _inverse(flow.pin_gram("E"))
    x = flow.layout.symbols
    d = {leaf: lab.rates(leaf, variant="noisy") for leaf in x}
    change = {leaf: d[leaf] @ inverse @ x[leaf].T for leaf in "VKQ"} | {"O": d["O"].T @ x["O"]}
    both = {leaf: table + table.T for leaf, table in change.items()}
    rows = {
        f"{a} {b} {i}": node
        for a, b in (("O", "V"), ("K", "Q"))
        for i, node in np.ndenumerate(both[a] - both[b])
        if i[0] <= i[1]
    }
    return identity(rows)


def _inverse(table: np.ndarray) -> np.ndarray:
    """The inverse of a symmetric 3 x 3 matrix of expressions, by cofactors."""
    minor = np.empty((3, 3), dtype=object)
    for i, j in np.ndindex(3, 3):
        (a, b), (c, e) = ([k for k in range(3) if k != n] for n in (i, j))
        minor[i, j] = (-1) ** (i + j) * (table[a, c] * table[b, e] - table[a, e] * table[b, c])
    found: np.ndarray = minor.T / graph.add(table[0] * minor[0])
    return found


def _balance(x: np.ndarray, dx: np.ndarray, y: np.ndarray, dy: np.ndarray) -> np.ndarray:
    """x dx' + dx x' - y dy' - dy y': the rate of x x' - y y'."""
    found: np.ndarray = x @ dx.T + dx @ x.T - y @ dy.T - dy @ y.T
    return found


@claim(
    "Beyond.heads",
    "Conserved matrices of several heads",
    kind="identity",
    uses=["X4", "G.3"],
    origin="ours",
    hypotheses=(),
    statement=r"\tfrac d{ds}(W_{O_h}^\top W_{O_h}-W_{V_h}W_{V_h}^\top)=0,\quad\tfrac d{ds}(W_{K_h}W_{K_h}^\top-W_{Q_h}W_{Q_h}^\top)=0\quad\text{for each head}",
    reading="two heads in one layer, every entry of the toy; between the heads only with equal keys and queries",
)
def conserved_by_heads(lab: Laboratory) -> Verdict:
    """Blocks of each head, and the block between the heads.

    Two heads in one layer of two neurons with weights a and -a as in (240), m_a = m_b = 2, M = 3 patterns, one
    sample of each class with any counts: Lie derivatives along minus the gradient of the loss written out, entry by
    entry; the block between the heads, W_{O_1}'W_{O_2} - W_{V_1}W_{V_2}', has zero derivative where both heads have
    the same keys and queries, and not elsewhere (a point is in the details).
    """
    w, rate = {}, {}
    for leaf in ("O", "V", "K", "Q"):
        w[leaf], rate[leaf] = lab.two_heads(leaf)
    own: dict[str, Node] = {}
    for h in range(2):
        blocks = {
            "O V": _balance(w["O"][h].T, rate["O"][h].T, w["V"][h], rate["V"][h]),
            "K Q": _balance(w["K"][h], rate["K"][h], w["Q"][h], rate["Q"][h]),
        }
        own |= {
            f"head {h + 1}, {name} {i}": node
            for name, table in blocks.items()
            for i, node in np.ndenumerate(table)
            if i[0] <= i[1]
        }
    between = (
        rate["O"][0].T @ w["O"][1]
        + w["O"][0].T @ rate["O"][1]
        - rate["V"][0] @ w["V"][1].T
        - w["V"][0] @ rate["V"][1].T
    )
    alike = {x: y for leaf in "KQ" for x, y in zip(w[leaf][1].ravel(), w[leaf][0].ravel(), strict=True)}
    same = {f"between {i}": node for i, node in np.ndenumerate(put(between, alike))}
    verdict = identity({**own, **same}, positive=POSITIVE)
    moves = identity({"between (0, 0)": between[0, 0]}, positive=POSITIVE)
    if moves.as_stated != "fails":
        return refuted({"the block between the heads": "is conserved, too"}, Evidence.PROOF)
    return verdict.adding(between_heads=say_witness(moves.witness))


@claim(
    "Beyond.heads-drift",
    "Drift with several heads",
    kind="order",
    uses=["Beyond.heads", "Beyond.drift"],
    origin="ours",
    hypotheses=(),
    statement=r"\text{step size }\eta:\ \|\Delta(W_{O_h}^\top W_{O_h}-W_{V_h}W_{V_h}^\top)\|,\ \|\Delta(W_{K_h}W_{K_h}^\top-W_{Q_h}W_{Q_h}^\top)\|=O(\eta)\ \text{at fixed }\eta T,\ \text{and }\Theta(\eta)\text{ for small }\eta T\text{ from some starts}",
    reading="as for one head: steps miss what the flow conserves by eta squared, with factors that are bounded, and not zero, head by head",
)
def drift_of_heads(lab: Laboratory) -> Verdict:
    """The Lie derivatives of Beyond.heads, and the factors of one head: those of another head only enter its gates."""
    rate = {leaf: lab.two_heads(leaf)[1][0] for leaf in ("O", "V", "K", "Q")}
    missed = {
        "O V": (rate["O"].T @ rate["O"] - rate["V"] @ rate["V"].T)[0, 0],
        "K Q": (rate["K"] @ rate["K"].T - rate["Q"] @ rate["Q"].T)[0, 0],
    }
    return first_order(lab, conserved_by_heads(lab), missed)
