"""Remark after Lemma B.3 and Appendix F.12: terms of lower order in the change of a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from math import sqrt

import numpy as np
import sympy as sp

from odesys import Node, Verdict, Witness, decided, equal, graph, num, say_number, sym, with_high_probability

from ..laboratory import Laboratory
from ..special.conditions import Inside
from ..special.wide_flow import Snapshot
from .book import NUMBERS, book, on_toy, tables
from .common_drawn import DRAWN, Stages, stages, stages_of
from .common_hypotheses import (
    CLASSES,
    CONDITION_4_1,
    EITHER,
    ENOUGH,
    GOOD,
    IN_BENIGN,
    UNLIKELY,
    WIDE,
    base,
    exact_point,
    given,
)
from .common_mean_runs import together
from .common_reasons import reasoned
from .part_f_coefficients import coefficient_bounds

FAMILIES = ("<q_+, k_+>", "<q_n,i, k_+>", "<q_+, k_n,j>", "<q_n,i, k_n,j>")


def _left_out(s: Snapshot) -> dict[str, np.ndarray]:
    """What alpha |k|^2 + beta |q|^2 of the own pair leaves out of the rate of a score, relative to it; all samples."""
    K, Q = (np.diagonal(x, axis1=1, axis2=2) for x in (s.K, s.Q))
    kept = s.alpha * K[:, None, :] + np.swapaxes(s.beta, 1, 2) * Q[:, :, None]
    where = s.batch.places
    seed = np.arange(len(where))[:, None, None, None]
    pair = (seed, where[:, :, :, None], where[:, :, None, :])
    share = np.abs(s.rates["S"][pair] / kept[pair] - 1)  # (s, N, row, key)
    parts = (share[:, :, :1, :1], share[:, :, 1:, :1], share[:, :, :1, 1:], share[:, :, 1:, 1:])
    return {name: part.reshape(len(part), -1).max(axis=1) for name, part in zip(FAMILIES, parts, strict=True)}


def left_out_at_most(run: Stages) -> float:
    """2 N max{SNR, 1/SNR} (L/d_h)^(1/2): products of different vectors over squared lengths (C.3), N of them, of different length."""
    quotient = max(run.case.snr, 1 / run.case.snr)
    return 2 * run.case.N * quotient * sqrt(run.inside.widths[2] / run.case.d_h)


@lru_cache(maxsize=16)
def _within_bound(place: Inside, seeds: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Of each family and seed, whether what is left out stays below the bound from T_1 on."""
    run = stages(place, seeds) if place.M == GOOD.M else stages_of(place, seeds)  # others read the book's point too
    most = left_out_at_most(run)
    shares = [_left_out(s) for s in (*run.second, *run.third)]
    return {name: np.all([share[name] <= most for share in shares], axis=0) for name in FAMILIES}


def _kept(place: Inside, name: str, seeds: Sequence[int]) -> list[bool]:
    return list(_within_bound(place, tuple(seeds))[name])


@book.claim(
    "F.12",
    "Lower-order terms",
    kind="probability",
    uses=["B.3", "D.4"],
    insensitive=DRAWN,
    origin="proof",
    where="Remark after Lemma B.3 with (16), for t >= T_1; Appendix F.12, (298)",
    parts=FAMILIES,
    hypotheses=(*CONDITION_4_1, WIDE, CLASSES, EITHER),
    statement=r"\langle q_+^{(t+1)},k_+^{(t+1)}\rangle-\langle q_+^{(t)},k_+^{(t)}\rangle=\alpha_{+,+}\|k_+\|_2^2+\beta_{+,+}\|q_+\|_2^2+\{\text{lower order term}\},\quad\text{and}\ \langle q_{n,i},k_+\rangle,\langle q_+,k_{n,j}\rangle,\langle q_{n,i},k_{n,j}\rangle\ \text{in a similar way}",
    reading="From T_1 on, both regimes, along iterates, M = 3 and 4: at most 2N max{SNR, 1/SNR} (log(6N^2M^2/delta)/d_h)^(1/2) of the rest; C(t) alone would not do (Beyond.states).",
)
def lower_order(lab: Laboratory) -> dict[str, Verdict]:
    """Along trajectories from T_1 on, against the size that C.3 gives it; before, V has random signs, and the rest passes near zero."""
    what = "what is left out stays below the bound"
    found: dict[str, list[Verdict]] = {name: [] for name in FAMILIES}
    for benign in (True, False):
        own = base(lab.draw, benign)
        more = replace(own, M=4, N=16, n_snr2=3 * own.n_snr2 if benign else own.n_snr2)  # 80 M^2 C_p^2 is 2000 M^3
        for place in (own, more):
            for name in FAMILIES:
                trial = partial(_kept, place, name)
                found[name].append(with_high_probability(what, place.point, trial, lab.draw))
    return reasoned("F.12", {name: together(seen) for name, seen in found.items()})


@book.claim(
    "Eq.297",
    "Both changes at once are of lower order",
    kind="order",
    uses=["B.3", "F.3", "D.4"],
    origin="proof",
    where="Appendix F.12, paragraph on sufficiently small learning rate, and (297)",
    parts=("(297)",),
    hypotheses=(*IN_BENIGN, ENOUGH, UNLIKELY, given("norms of C(t), G(t) and sizes of E(t), I(t)")),
    statement=r"\langle\Delta q,\Delta k\rangle\ \text{contains}\ \eta^2:\quad \langle q_+^{(t+1)},k_+^{(t+1)}\rangle-\langle q_+^{(t)},k_+^{(t)}\rangle=\langle\Delta q_+,k_+\rangle+\langle q_+,\Delta k_+\rangle+\{\text{lower order term}\}",
    reading="The derived step of scores has degree two in eta; at the largest eta of (6) the last term is small against the middle one; <q_+, k_+> is the example.",
)
def both_changes(lab: Laboratory) -> Verdict:
    """The derived step of the scores, its third derivative by eta, and the terms of degree 0 and 1."""
    flow = lab.step(2)
    t, eta = tables(flow, 2), sym("eta")
    H = t.H()
    linear = (t.G @ H) @ t.K + t.Q @ (t.G @ H.T).T
    step = flow.rhs("KQ").T
    found: dict[str, tuple[Node, Node]] = {}
    for (i, j), node in np.ndenumerate(step):
        slope = graph.gradient(node, [eta])[0]
        first = graph.substitute([slope], {eta: num(0)})[0]
        third = graph.gradient(graph.gradient(slope, [eta])[0], [eta])[0]
        found[f"degree 1 of {i},{j}"] = (first, graph.as_node(linear[i, j]))
        found[f"degree 3 of {i},{j}"] = (third, num(0))
        found[f"degree 0 of {i},{j}"] = (graph.substitute([node], {eta: num(0)})[0], graph.as_node(t.S[i, j]))
    most, root, L, score = sp.symbols("most root L score", positive=True)  # max{mu^2, sigma_p^2 d}, d_h^(1/2)
    step_size, norms = 1 / (most * root), root / (most * L**2)  # the largest eta of (6), the least sigma_h^2 d_h of (8)
    left = sp.cancel(2 * step_size * score / norms - 2 * L**2 * score / root**2)
    size = decided(left == 0, {"difference": str(left)}).proving(
        "alpha beta <q_+, k_+> over alpha |k_+|^2 is at most 2 eta |<q_+, k_+>|/(sigma_h^2 d_h), as |beta| <= eta mu^2 and |k_+|^2 >= mu^2 sigma_h^2 d_h/2",
        "by (6) and (8) that is 2 L^2 log(d_h^(1/2)/eps)/d_h, which goes to zero",
    )
    return size & on_toy(equal(found), 2).proving("the derived step is S + eta (G H K + Q H G) + eta^2 (...)")


@book.claim(
    "F.12-norm",
    "Length of a key",
    kind="order",
    expect="fails",
    uses=["C.3"],
    insensitive=NUMBERS,
    origin="proof",
    where="Appendix F.12, paragraph on sufficiently large d_h",
    parts=("norm",),
    hypotheses=IN_BENIGN,
    statement=r"\|k_+^{(t)}\|_2^2=O(\eta\|\mu\|_2^2)",
    reading="Condition (6) lets the step size go to zero with all else held, and the norm at the start does not know it.",
)
def length_of_a_key(lab: Laboratory) -> Verdict:
    """|k_+|^2 >= mu^2 sigma_h^2 d_h / 2 by C.3, whatever eta is."""
    point = exact_point(True)
    eta, kappa, m = sp.symbols("eta kappa m", positive=True)
    limit = sp.limit(m * kappa / 2 / (eta * m), eta, 0)
    ratio = float(point["sigma_h"] ** 2 * point["d_h"] / (2 * point["eta"]))
    sentence = (
        f"at eta = {say_number(float(point['eta']))} and sigma_h = {say_number(float(point['sigma_h']))} (all hypotheses hold) |k_+|^2 at the start is at least {say_number(ratio)} times eta |mu|^2 by Lemma C.3, "
        "and the ratio grows without bound as eta goes to zero"
    )
    fixed = coefficient_bounds(lab.unrecorded())["signal with itself"]
    C = sp.Symbol("C", positive=True)
    above = {"the bound of C.3 is above C eta mu^2": (m * kappa / 2, ">", C * eta * m)}
    found = decided(limit.is_finite, Witness(sentence, point)).stating(above, at={eta: kappa / (4 * C)})
    wrong = found.correcting(
        r"\alpha_{+,+}=O(\eta\|\mu\|_2^2),\ \|k_+\|_2^2=\Theta(\|\mu\|_2^2\sigma_h^2d_h)",
        fixed,
        "the bound is that of alpha; C.3, proposition C and the same section a few lines before have the norm",
    )
    return wrong.blaming("misprint", "alpha-for-norm")
