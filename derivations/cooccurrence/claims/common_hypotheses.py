r"""Symbols of the paper with their natural domains, Condition 1 and Assumption 2.3 as predicates.

Condition 1 hides constants and polylogarithms. Here they are: 1 in :math:`m\ge\widetilde\Omega(m_1)` and
:math:`m\ge\widetilde\Omega(L^2)`, 3/2 in :math:`n\ge\widetilde\Omega(L^2)`; :math:`c_0=\sigma_0\sqrt{Lm}` lies between
:math:`\log^{-4}(mn)` and 1, and :math:`\sigma_1=1/\sqrt{m_1}`. Two numbers are the paper's own: Lemma D.8 wants
:math:`|F(0)|\le0.01`, which bounds c_0; and Lemma E.9 wants :math:`\sigma_0^2\sqrt m=c_0^2/(L\sqrt m)` to exceed
what values gain in phase 1, of order 1/m: that is :math:`m\ge\widetilde\Omega(L^2)` with :math:`c_0^{-4}` under the tilde.
Single neurons need more of m than their sum: the proof of Lemma E.4 asks for m above a large constant times m_1 and its
logarithms, which is `NEURONS`. Of :math:`m_1\ge\widetilde\Omega(1)` and :math:`L\ge\widetilde\Omega(1)` nothing is used but where a
claim says so (`MANY_NEURONS`).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import log, sqrt
from typing import Any

from odesys import Hypothesis, Symbol

DELTA = 0.1  # failure probability where a bound needs one
SYMBOLS = (
    Symbol("n", "n", "training samples", "whole", low=6),
    Symbol("L", "L", "tokens per sample", "whole", low=4),
    Symbol("m", "m", "width of keys, queries and values", "whole"),
    Symbol("m1", "m_1", "neurons of the linear layer", "whole"),
    Symbol("d", "d", "words", "whole", low=4),
    Symbol("c0", "c_0", r"start scale, \sigma_0 = c_0/\sqrt{Lm}", "positive"),
    Symbol("tau", r"\tau", r"slow time, \sigma_1^2 m m_1 t", "nonnegative"),
    Symbol("T1", "T_1", "end of phase 1 in the same time", "positive"),
    Symbol("t", "t", "time; in Lemma H.1 a threshold", "nonnegative"),
    Symbol("delta", r"\delta", "failure probability", "unit"),
    Symbol("F", r"\mathsf F", "largest output at the start", "positive"),
    Symbol("g1", "g_1", "1/(1 + exp(yF)) on the class I_1", "unit"),
    Symbol("g2", "g_2", "the same on I_2", "unit"),
    Symbol("g3", "g_3", "the same on I_3", "unit"),
    Symbol("g4", "g_4", "the same on I_4", "unit"),
    Symbol("S1", "S_1", "sum of g over I_1", "positive"),
    Symbol("S2", "S_2", "sum of g over I_2", "positive"),
    Symbol("S3", "S_3", "sum of g over I_3", "positive"),
    Symbol("S4", "S_4", "sum of g over I_4", "positive"),
    Symbol("yF", "yF", "margin of a sample", "positive"),
    Symbol("M", "M", "bound of the variables in Lemma H.1", "positive"),
    Symbol("V", r"\sum_j\mathbb E[Z_j^2]", "sum of their variances", "nonnegative"),
)


def output_bound(p: Mapping[str, Any]) -> float:
    """2 sigma_0 sigma_1 sqrt(2 L m1 m log(2 L n / delta)) of Lemma D.8 at sigma_1 = 1 / sqrt(m1), delta = 1/10."""
    return 2 * float(p["c0"]) * sqrt(2 * log(2 * float(p["L"]) * float(p["n"]) / DELTA))


def neuron_logs(p: Mapping[str, Any]) -> float:
    """m1 log(2 m1^2/delta) log(4 m1/delta) of the proof of Lemma E.4."""
    m1 = float(p["m1"])
    return m1 * log(2 * m1**2 / DELTA) * log(4 * m1 / DELTA)


WIDE = Hypothesis.from_ratio("Condition 1", "m >= m1", r"m\ge m_1", lambda p: p["m"] / p["m1"])
LONG = Hypothesis.from_ratio("Condition 1", "m >= L^2", r"m\ge L^2", lambda p: p["m"] / p["L"] ** 2)
MANY = Hypothesis.from_ratio("Condition 1", "n >= 3/2 L^2", r"n\ge\tfrac32L^2", lambda p: p["n"] / (1.5 * p["L"] ** 2))
NEURONS = Hypothesis.from_ratio(
    "Condition 1",
    "m >= 2500 m1 log(2 m1^2/delta) log(4 m1/delta)",
    r"m\ge2500\,m_1\log\tfrac{2m_1^2}\delta\log\tfrac{4m_1}\delta,\ \delta=0.1",
    lambda p: float(p["m"]) / (2500 * neuron_logs(p)),
)
MANY_NEURONS = Hypothesis.from_ratio(
    "Condition 1", "m1 >= 7200/c0^2", r"m_1\ge7200/c_0^2", lambda p: p["m1"] * float(p["c0"]) ** 2 / 7200
)
TIED = Hypothesis("n >= L^2 log m", r"n\ge L^2\log m", lambda p: p["n"] / (p["L"] ** 2 * log(float(p["m"]))) - 1)
FEW_WORDS = Hypothesis(
    "at most m words; the paper has d >= nL, and d = nL where no d is said",
    r"d\le m",
    lambda p: float(p["m"]) / float(p.get("d", p["n"] * p["L"])) - 1,
)
START = Hypothesis(
    "start scale up to polylogarithms",
    r"\log^{-4}(mn)\le c_0\le1",
    lambda p: min(float(p["c0"]) * log(float(p["m"]) * float(p["n"])) ** 4 - 1, 1 - float(p["c0"])),
)
SMALL = Hypothesis(
    "small outputs at the start",
    r"2c_0\sqrt{2\log(2Ln/\delta)}\le0.01,\ \delta=0.1",
    lambda p: 0.01 - output_bound(p),
)
VALUES = Hypothesis.from_ratio(
    "Condition 1",
    "m >= 20 L^2 / c0^4",
    r"m\ge20\,L^2/c_0^4",
    lambda p: p["m"] * p["c0"] ** 4 / (20 * p["L"] ** 2),
)
SPLIT = Hypothesis("Assumption 2.3 has whole classes", r"6\mid n", lambda p: 0 if Fraction(p["n"]) % 6 == 0 else -1)

CONDITION_1 = (WIDE, LONG, MANY, START, SPLIT)  # Condition 1 and Assumption 2.3, for statements at t = 0
PHASES = (*CONDITION_1, SMALL, VALUES)  # what the proofs take from Condition 1 for t > 0
MANY_WORDS = (MANY, SPLIT)  # of limits in which m, m1 and c0 do not occur
