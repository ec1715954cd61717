r"""Conditions and bounds with every constant explicit; here because the paper claims numbers of samples and steps.

.. math::
    (8)\ \alpha_* \ge \frac{\alpha_\#}{e^{-(\delta+\tau)}(1-\sigma-\tau)},\quad
    (10)\ T = c\,\eta^{-3/5}\alpha_*^{-1},\quad
    (11)\ N \ge \frac{c}{(\alpha_* - c'(1-\zeta) - c''(\sigma+\tau))^2},\quad
    (13)\ N \ge \frac{c}{(\alpha_*(\alpha_*-\sigma-\tau))^2}.

The constants c' = 2 alpha_* and c'' = alpha_* are what the step before (11) gives: with p the attention on
label-relevant tokens, :math:`0 \le 1 - p(p-e) \le 2(1-p) + e`. They are what a bound *can* say; c is not fixed by the
paper and is 1 here unless given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from odesys import Hypothesis, ParameterError

from ..setting import Case

POWER = -3 / 5  # of eta in (10), as printed


def required_ratio(sigma: float, delta: float, tau: float) -> float:
    """The least alpha_* / alpha_# of (8); infinite where sigma + tau >= 1."""
    return math.exp(delta + tau) / (1 - sigma - tau) if sigma + tau < 1 else math.inf


def _ratio_8(p: Mapping[str, Any]) -> float:
    ratio = p["alpha_s"] / p["alpha_c"] if p["alpha_c"] > 0 else math.inf
    return ratio / required_ratio(p["sigma"], p["delta"], p["tau"]) if p["sigma"] + p["tau"] < 1 else 0.0


CONDITIONS = (  # of Theorem 1, with constants 1
    Hypothesis.from_ratio(
        "6",
        "sigma <= 1/M",
        r"\sigma\le1/M",
        lambda p: math.inf if p["sigma"] == 0 else 1 / (p["M"] * p["sigma"]),
    ),
    Hypothesis.from_ratio(
        "6",
        "delta < 1/2",
        r"\delta<1/2",
        lambda p: math.inf if p["delta"] == 0 else 0.5 / p["delta"],
        strict=True,
    ),
    Hypothesis.from_ratio(
        "6",
        "tau <= min(sigma, delta)",
        r"\tau\le\min(\sigma,\delta)",
        lambda p: math.inf if p["tau"] == 0 else min(p["sigma"], p["delta"]) / p["tau"],
    ),
    Hypothesis.from_ratio("6", "M < m_a and M < m_b", r"M<m_a,m_b", lambda p: (min(p["m_a"], p["m_b"]) - 1) / p["M"]),
    Hypothesis.from_ratio(
        "7",
        "m >= M^2 log N",
        r"m\gtrsim M^2\log N",
        lambda p: p["m"] / (p["M"] ** 2 * math.log(p["N"])),
        asymptotic=True,
    ),
    Hypothesis.from_ratio(
        "8",
        "alpha_* >= alpha_# / (exp(-(delta + tau)) (1 - sigma - tau))",
        r"\alpha_*\ge\frac{\alpha_\#}{e^{-(\delta+\tau)}(1-\sigma-\tau)}",
        _ratio_8,
    ),
)


def condition_point(case: Case, tau: float = 0.0) -> dict[str, float]:
    """The numbers that the conditions of Theorem 1 speak of."""
    names = ("M", "alpha_s", "alpha_c", "N", "m_a", "m_b", "m", "sigma", "delta")
    return {**{name: float(getattr(case, name)) for name in names}, "tau": tau}


def iterations(case: Case, constant: float = 1.0) -> float:
    """T of (10) as printed."""
    return constant * case.eta**POWER / case.alpha_s


def iterations_70(case: Case, p: float, tau: float = 0.0) -> float:
    """T of (70) with a_1 = alpha_* (alpha_* p - sigma - tau) p written out, p the attention on relevant tokens."""
    a_1 = case.alpha_s * (case.alpha_s * p - case.sigma - tau) * p
    if a_1 <= 0:
        raise ParameterError(
            f"(70) has no T here: alpha_* p = {case.alpha_s * p:g} is not above sigma + tau = {case.sigma + tau:g}"
        )
    return case.eta**POWER / a_1


def zeta(eta: float) -> float:
    """The attention level that Theorem 1 asks for."""
    return 1 - eta**10


def samples(case: Case, tau: float = 0.0, attention: float | None = None, constant: float = 1.0) -> float:
    """N of (11) with c' = 2 alpha_*, c'' = alpha_*; `attention` in place of zeta; infinite where the bound is empty."""
    level = zeta(case.eta) if attention is None else attention
    gap = case.alpha_s - 2 * case.alpha_s * (1 - level) - case.alpha_s * (case.sigma + tau)
    return constant / gap**2 if gap > 0 else math.inf


def samples_frozen(case: Case, tau: float = 0.0, constant: float = 1.0) -> float:
    """N of (13), without training of keys and queries; infinite where the bound is empty."""
    gap = case.alpha_s * (case.alpha_s - case.sigma - tau)
    return constant / gap**2 if gap > 0 else math.inf


def attention_ceiling(alpha_s: float, alpha_c: float) -> float:
    """The largest attention on label-relevant tokens of a query with equal logits for both discriminative patterns."""
    return alpha_s / (alpha_s + alpha_c)


def token_ceiling(case: Case) -> float:
    """The same for the whole numbers of tokens that a sample of the case has."""
    return attention_ceiling(round(case.alpha_s * case.L), round(case.alpha_c * case.L))


def start_attention(alpha: float, error: float = 0.0) -> float:
    """p_n(0): attention of a label-relevant query on its own pattern at the start, with the logit 1 - error."""
    return alpha * math.exp(1 - error) / (alpha * math.exp(1 - error) + 1 - alpha)
