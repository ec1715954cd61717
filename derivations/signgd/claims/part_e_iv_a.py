"""Appendix E, stage IV.a, along the path: linear noise, decay of the noise-signal softmax, bounds of T_4^-."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import log, pi, sqrt

import flint
import numpy as np

from odesys import Evidence, Verdict, Witness, always_positive, between, everywhere, refuted, sym, undecided, untested

from ..laboratory import Laboratory
from ..special.watched_runs import Record
from .book import NUMBERS, at_most, ball, book
from .common_checks import later, never, quiet_pairs, window
from .common_hypotheses import CONDITION, inside_point
from .common_orders import given
from .common_path import CHECKS, UNTIED, along, on_path
from .common_reasons import TOLERANCES, TRIED
from .part_e_iii import tilde
from .part_e_softmax import WIDTHS, half_with_logarithm


def _linear(record: Record) -> Verdict:
    part = window(record, record.T3, record.T4_minus)
    law = record.run.times[part] * record.case.Lambda * record.case.mu
    return between("deviation", (record.sizes[:, part] / law - 1) / tilde(record), -1, 1)


def _monotone(record: Record) -> Verdict:
    return quiet_pairs(record, record.T3, record.T4_minus)


def _same_signs(record: Record) -> Verdict:
    part = window(record, record.T3, record.T4_minus)
    return everywhere("one sign", record.run.q[part] * record.run.k[part] > 0)


def _equal(record: Record) -> Verdict:
    s21 = record.seen.s21[window(record, record.T3, min(record.T4_minus, record.T4))]
    return between("largest over smallest, minus 1", s21.max(axis=1) / s21.min(axis=1) - 1, 0, 0.05)


def _law_33(record: Record) -> Verdict:
    part, case = window(record, record.T3, min(record.T4_minus, record.T4)), record.case
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # of broken systems
        law = 1 / (1 + np.exp(2 / pi * case.m_k * (record.run.times[part, None] * case.strength) ** 2))
        ratio = record.seen.s21[part] / law
    return between("over (33), minus 1", ratio - 1, -0.05, 0.05)


on_path(
    "E.20",
    "All samples have the same noise-signal softmax",
    {"ratio": _equal, "(33)": _law_33},
    supposing=[UNTIED],
    where="Lemma E.20, and Eq. (33) of its proof",
    kind="order",
    uses=["Eq.32", "E.20-order"],
    statement=r"T_3\le t\le t^*=\min\{T_4^-,T_4\}:\ s_{i,21}/s_{k,21}=1\pm o(1),\quad s_{i,21}=\frac{1\pm o(1)}{1+\exp(\frac2\pi m_kt^2\eta^2\sigma_p^2s^2)}\ (33)",
    reading="o(1) as 1/20 for all samples and times, C_3 = 2",
    repairs=["E.20-order"],
)


def _above_34(record: Record) -> Verdict:
    return between("T4- over (34)", [record.T4_minus / record.formal.lower_T4_minus], 1, np.inf)


on_path(
    "E.21",
    "Lower bound of T_4^-",
    {"(34)": _above_34},
    supposing=[UNTIED],
    where="Lemma E.21, Eq. (34)",
    uses=["E.20", "Eq.37"],
    statement=r"T_4^-\ge\sqrt{\tfrac{0.99\pi}2\log\tfrac{\sigma_ps}{3\sqrt2n\|\mu\|}}\;\eta^{-1}m_k^{-1/2}\sigma_p^{-1}s^{-1}\ (34)",
    reading="T_4^- from its definition, at steps of 2 percent; the bound says nothing where sigma_p s <= 3 sqrt2 n |mu|",
)
on_path(
    "E.22",
    "Noise-signal softmax is small after T_4^-",
    {"bound": lambda record: between("s21", record.seen.s21[later(record, record.T4_minus)], 0, 0.1)},
    supposing=[UNTIED],
    where="Remark E.22, last sentence",
    uses=["E.21"],
    statement=r"s_{i,21}^{(t)}\le0.1\ \text{for}\ t\ge T_4^-",
    reading="all samples, all times from T_4^- to the end of the run",
)


@book.claim(
    "E.22-constant",
    "A constant above 1 in (34)",
    kind="inequality",
    where="Remark E.22, second sentence",
    parts=["bound"],
    origin="text",
    hypotheses=CONDITION,
    uses=["E.20", "E.21"],
    expect="untested",
    insensitive=NUMBERS,
    statement=r"T_4^-\ge\sqrt{\tfrac{c\pi}2\log\tfrac{\sigma_ps}{3\sqrt2n\|\mu\|}}\;\eta^{-1}m_k^{-1/2}\sigma_p^{-1}s^{-1}\ \text{does not hold for}\ c>1",
    reading="for which votes is not printed: by (29) and (33) the smallest vote of a neuron decides, and it may be 1 or a power of n",
)
def constant_above_one(lab: Laboratory) -> Verdict:
    """What it would be for two sizes of the smallest vote."""
    return untested(
        "the remark does not say for which votes: where the smallest vote is 1, (29) and (33) give T_4^- below the bound for large "
        "sigma_p s and c > 1; where all are of the order n^(1/2) / m_k, T_4^- is larger, and some c > 1 would do"
    )


def _vote_sums(record: Record) -> Verdict:
    part = window(record, record.T3, record.T4_minus)
    sums = record.run.q[part].sum(axis=2) * record.vote(record.T2)
    return between("sum", sums / (record.run.times[part, None] * record.case.strength), 0.99 / sqrt(2), np.inf)


on_path(
    "Beyond.stage-four-a",
    "Induction of Stage IV.a as runs have it",
    {"A(t)": _linear, "D(t), E(t)": _monotone, "F(t)": _same_signs, "(37)": _vote_sums},
    supposing=[UNTIED],
    where="",
    origin="ours",
    uses=["IV.a-A", "IV.a-DEF", "Eq.37"],
    statement=r"\mathcal A,\mathcal D,\mathcal E,\mathcal F(t)\ \text{of Appendix E.7.1 and Eq. (37)},\ t\in[T_3,T_4^-]",
    reading="all pairs and neurons, every step of the integrator; deviations at most s^(-1/2) log d, o(1) of (37) as 1/100",
)


def _signals_monotone(record: Record, name: str) -> Verdict:
    start = np.sign(getattr(record.run.at(record.T3), name))
    verdict = everywhere("with its sign", record.directions(name, record.T3) == start)
    for kind in (name, f"{name} zero"):
        verdict = verdict & never("turn or zero", record.events[kind], record.T3, record.T4_minus)
    return verdict


on_path(
    "E.23-24",
    "Signals are monotone in Stage IV.a",
    {
        "E.23": lambda record: _signals_monotone(record, "q_mu"),
        "E.24": lambda record: _signals_monotone(record, "k_mu"),
    },
    supposing=[UNTIED],
    where="Lemmas E.23 and E.24",
    uses=["Eq.11-13", "E.11-weights", "E.20", "Eq.37"],
    statement=r"t\in[T_3,t^*]:\ q_{s\mu}^{(t+1)}=q_{s\mu}^{(t)}+\mathrm{sgn}(q_{s\mu}^{(t)})\eta\|\mu\|,\ k_{s\mu}\ \text{alike}",
    reading="all neurons, every step of the integrator on [T_3, T_4^-]",
)
on_path(
    "E.25",
    "Upper bound of T_4^-",
    {"(38)": lambda record: between("T4- over (38)", [record.T4_minus / record.formal.upper_T4_minus], 0, 1)},
    supposing=[UNTIED],
    where="Lemma E.25, Eq. (38)",
    uses=["E.20", "E.23-24", "E.25-proof"],
    statement=r"T_4^-\le\sqrt{\tfrac{1.01\pi}2\log\tfrac{\sigma_ps}{\|\mu\|}}\;\eta^{-1}m_k^{-1/2}\sigma_p^{-1}s^{-1}\ (38)",
    reading="T_4^- from its definition, at steps of 2 percent",
)


@book.claim(
    "E.25-proof",
    "Where the proof of (38) ends",
    kind="inequality",
    origin="proof",
    where="Proof of Lemma E.25, the contradiction",
    parts=["contradiction"],
    hypotheses=[],
    insensitive=NUMBERS,
    statement=r"\sqrt{1.01\log(\sigma_ps/\|\mu\|)}\le\sqrt{\log(\tfrac{4\sqrt2\sigma_ps}{\sqrt\pi\|\mu\|})}\ \text{is a contradiction}",
    reading="for sigma_p s sufficiently large, which is sigma_p s > e^117 |mu|; at e^116 it is none yet",
)
def end_of_proof(lab: Laboratory) -> Verdict:
    """The gap on both sides of the threshold."""
    extra = (4 * flint.arb(2).sqrt() / flint.arb.pi().sqrt()).log()
    above, below = (ball(Fraction(1, 100)) * ball(k) - extra for k in (117, 116))
    return (at_most(ball(0), above, at="e^117") & at_most(below, ball(0), at="e^116")).with_constants(
        sufficiently_large="sigma_p s > e^117 |mu|"
    )


def _bound_of_every_vote(record: Record) -> Verdict:
    case = record.case
    bound = sqrt(pi / 2 * log(1.6 * case.strength / case.mu)) / (sqrt(case.m_k) * case.strength)
    return between("T4- over the bound", [record.T4_minus / bound], 0, 1)


on_path(
    "Beyond.T4-minus",
    "A bound of T_4^- for every vote",
    {"bound": _bound_of_every_vote},
    supposing=[UNTIED],
    where="",
    origin="ours",
    uses=["E.25"],
    statement=r"T_4^-\le\sqrt{\tfrac\pi2\log\tfrac{1.6\,\sigma_ps}{\|\mu\|}}\;\eta^{-1}m_k^{-1/2}\sigma_p^{-1}s^{-1}",
    reading="a bound without the 1.01 of (38), which a unanimous vote attains",
)


def _signals_at_t4(record: Record, name: str, sign: int) -> Verdict:
    place, vote = record.run.index(record.T4_minus), record.vote(record.T2)
    t = record.run.times[place] * record.case.mu
    ratio = sign * getattr(record.run, name)[place] * vote / t
    return between("signal over its law, minus 1", ratio - 1, -0.05, 0.05)


on_path(
    "E.26",
    "Signals at T_4^-",
    {
        "t* = T_4^-": lambda record: between("T4-/T4", [record.T4_minus / record.T4], 0, 1),
        "(40)": lambda record: _signals_at_t4(record, "q_mu", 1),
        "(41)": lambda record: _signals_at_t4(record, "k_mu", -1),
    },
    supposing=[UNTIED],
    where="Remark E.26",
    kind="order",
    uses=["E.23-24", "E.25"],
    statement=r"t^*=T_4^-;\ q_{s\mu}^{(T_4^-)}=\varsigma_sT_4^-\eta\|\mu\|(1\pm o(1)),\ k_{s\mu}^{(T_4^-)}=-\varsigma_sT_4^-\eta\|\mu\|(1\pm o(1))",
    reading="o(1) as 1/20 for all neurons, C_3 = 2; it is (beta_mu + 2 T_2)/T_4^-; a display before it prints t for t + 1 on a left side",
)


def _order_of_t4() -> Verdict:
    """Squares of (34) and (38) over the order: at least 1, at most 2 log(sigma_p s); log n = 2 + x, pi/2 from 3/2 to 8/5."""
    x, L = sym("x"), sym("L")
    first = Fraction(99, 100) * Fraction(3, 2) * (Fraction(9, 4) * (2 + x) - Fraction(3, 2))
    logs = always_positive(
        {
            "(34) squared, minus 1": first - 1,
            "2 log minus (38) squared": 2 * L - Fraction(101, 100) * Fraction(8, 5) * L,
        },
        ("L",),
        ("x",),
    )
    half = flint.arb.pi() / 2
    numbers = at_most(ball(Fraction(3, 2)), half) & at_most(half, ball(Fraction(8, 5)))
    small = at_most((3 * flint.arb(2).sqrt()).log(), ball(Fraction(3, 2)))
    found = (logs & numbers & small).proving(
        "sigma_p s / n >= d^(1/4) >= n^(9/4), so (34) is at least 1 and (38) at most (2 log(sigma_p s/|mu|))^(1/2), over the order"
    )
    return given(found, "Eq. (34) of Lemma E.21", "Eq. (38) of Lemma E.25")


def _value_at_t4(record: Record) -> Verdict:
    last = record.seen.s21[record.run.index(record.T4_minus)]
    exponent = between("exponent", np.log(last) / log(record.case.n / record.case.strength), 0.5, 2)
    return exponent & between("s21", last, 0, 0.01)


def _near_half(record: Record) -> Verdict:
    part = window(record, record.T3, record.T4_minus)
    return between("s11 - 1/2", record.seen.s11[part] - 0.5, -0.01, 0.01)


DECAY = {"(1) at T_4^-": _value_at_t4, "(2)": _near_half}
CHECKS.update({f"4.5: {part}": check for part, check in DECAY.items()})


@book.claim(
    "4.5",
    "Exponential decay of the noise-signal softmax",
    kind="order",
    main=True,
    where="Lemma 4.5",
    parts=["T_4^-", "(1) decay", "(1) at T_4^-", "(2)"],
    hypotheses=[*CONDITION, UNTIED.hypothesis],
    uses=["E.20", "E.21", "E.25", "E.14"],
    expect="fails",
    statement=r"T_4^-=\tilde\Theta(\eta^{-1}m_k^{-1/2}\sigma_p^{-1}s^{-1});\ s_{i,21}=\exp(-O(m_kt^2\eta^2\sigma_p^2s^2))\ \text{on}\ [T_3,T_4^-],\ s_{i,21}^{(T_4^-)}=\exp(O(\log\tfrac{n\|\mu\|}{\sigma_ps}))=o(1);\ s_{i,11}=\tfrac12\pm o(1)",
    reading="T_4^- by (34) and (38); the exponent at T_4^- within a factor 2 at three sizes; at T_3 the display says 1, where Lemma 4.4 (3) has 1/2",
)
def decay(lab: Laboratory) -> dict[str, Verdict]:
    """Algebra for T_4^-, runs for two parts; at T_3 the exponent tends to 0 and s_21 to 1/2."""

    def seen(name: str, what: str) -> Verdict:
        return along(lab, name, f"'{what}' was seen", None, TRIED["part_e_iv_a"], [UNTIED], TOLERANCES["4.5"])

    # at T_3 the exponent is 9 m_k (beta_mu sigma_p s / |mu|)^2 <= 18 log(12 max(m_k, m_v)/delta) kappa^2, delta = n^(-1/3)
    half, points = half_with_logarithm(lab), [inside_point(m_k) for m_k in WIDTHS]
    first = log(points[0]["n"])
    points = [{**p, "sigma_0": p["sigma_0"] * first / log(p["n"])} for p in points]  # kappa = 0.05 log n_0 / log n
    exponents = [
        18
        * (log(12 * max(p["m_k"], p["m_v"])) + log(p["n"]) / 3)
        * p["m_k"]
        * (p["sigma_0"] * p["sigma_p"] * p["s"]) ** 2
        for p in points
    ]
    if half.as_stated != "holds" or not all(late < early for early, late in pairwise(exponents)):
        printed = undecided(f"exponents at T_3: {exponents}")
    else:
        sentence = (
            f"along n = m_k^4, d = n^9, sigma_0 sigma_p s m_k^(1/2) = 0.05 log 240^4/log n, at t = T_3 the exponent m_k t^2 eta^2 sigma_p^2 s^2 "
            f"is at most {exponents[0]:.3g} at m_k = 240, {exponents[-1]:.3g} at m_k = 10^8, and tends to 0, so the right side to 1; "
            "s_21 tends to 1/2"
        )
        printed = refuted(Witness(sentence, points[-1]), Evidence.CERTIFICATE)
    wrong = printed.correcting(
        r"s_{i,21}^{(t)}=\frac{1\pm o(1)}{1+\exp(\frac2\pi m_kt^2\eta^2\sigma_p^2s^2)}\ \text{(33)}",
        seen("E.20: (33)", "(33)"),
        "near T_3 the softmax is 1/2; from there on it decays as (33) says, which is what is used",
    ).blaming("misprint", "half-at-the-start")
    return {
        "T_4^-": _order_of_t4(),
        "(1) decay": wrong,
        "(1) at T_4^-": seen("4.5: (1) at T_4^-", "(1) at T_4^-"),
        "(2)": seen("4.5: (2)", "(2)"),
    }
