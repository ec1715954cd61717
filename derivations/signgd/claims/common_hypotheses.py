"""Symbols with their natural domains, and the hypotheses that several claims share.

Unnamed constants of Condition 3.1 are read as 1, those of the lemmas in appendix C as what their checks need.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, sqrt
from typing import Any

from odesys import Hypothesis, Symbol

from ..special.conditions import CONDITION_3_1, POWER, SMALL, condition_point, satisfying

SYMBOLS = [
    Symbol("n", "n", "training samples", "whole"),
    Symbol("m_k", "m_k", "neurons of queries and keys", "whole"),
    Symbol("m_v", "m_v", "neurons of the values, for each class", "whole"),
    Symbol("s", "s", "sparsity: coordinates of a noise patch", "whole"),
    Symbol("d", "d", "dimension of the patches", "whole"),
    Symbol("sigma_p", r"\sigma_p", "standard deviation of noise coordinates", "positive"),
    Symbol("sigma_0", r"\sigma_0", "standard deviation of the weights at the start", "positive"),
    Symbol("mu", r"\|\mu\|", "length of the signal", "positive"),
    Symbol("eta", r"\eta", "step size", "positive"),
    Symbol("delta", r"\delta", "allowed probability of failure", "unit"),
    Symbol("epsilon", r"\epsilon", "wanted training loss", "positive"),
    Symbol("Lambda", r"\Lambda", "sigma_p s over the length of the signal", "positive"),
    Symbol("v_mu", r"v_\mu", "<v, mu>", "real"),
    Symbol("v_1", "v_1", "<v, y_1 xi_1>", "real"),
    Symbol("v_2", "v_2", "<v, y_2 xi_2>", "real"),
    Symbol("c", "c", "a level of a Gaussian, in standard deviations", "nonnegative"),
]

#: not printed, and supposed all over the paper: its tilde hides log m_v, as in T_2 and T_3, which have beta_xi and beta_mu
power_of_n = Hypothesis.from_ratio(
    "",
    f"m_v <= n^{POWER}",
    r"m_v=O(\mathrm{poly}(n)),\ \text{so that}\ \tilde\Theta\ \text{hides}\ \log m_v",
    lambda p: float(p["n"]) ** POWER / p["m_v"],
)
CONDITION = [*CONDITION_3_1, power_of_n]


def inside_point(m_k: int = 60, power: int = POWER, **changed: float) -> dict[str, float]:
    """A point that satisfies Condition 3.1 with constants 1, and d = n^power; sigma_0 follows what is changed."""
    point = {**condition_point(*satisfying(m_k, power)), **changed}
    if "sigma_0" not in changed:
        point["sigma_0"] = SMALL / (2 * point["sigma_p"] * point["s"] * sqrt(point["m_k"]))
    return point


def at_least(name: str, tex: str, left: Callable[[Any], Any], right: Callable[[Any], Any]) -> Hypothesis:
    """left >= right at a point."""
    return Hypothesis.from_ratio("", name, tex, lambda p: left(p) / right(p))


def taken(name: str, tex: str) -> Hypothesis:
    """A premise about a state or an event that no parameter decides, as of an induction: its name says that it is taken."""
    return Hypothesis(f"taken, not checked: {name}", tex, lambda p: 1)


disjoint = taken(
    "disjoint supports, by Lemma C.1", r"\mathrm{supp}(\xi_i)\cap\mathrm{supp}(\xi_{i'})=\emptyset,\ i\ne i'"
)
after_stage_one = taken("w_i > 0, from Stage I on", r"\langle v,y_i\xi_i\rangle>\langle v,\mu\rangle")

#: by Lemma C.7 beta_mu is at most 2 log^(1/2) sigma_0 |mu|, and by Lemma C.8 beta_xi at least sigma_0 sigma_p s^(1/2) / 4
large_noise = at_least(
    "beta_xi >= 2 beta_mu, by Lemmas C.7 and C.8",
    r"\beta_\xi\ge2\beta_\mu",
    lambda p: p["sigma_p"] * sqrt(p["s"]),
    lambda p: 16 * sqrt(log(12 * max(p["m_k"], p["m_v"]) * p["n"])) * p.get("mu", 1),
)
longer_noise = at_least(
    "|xi_i|_1 > |mu|, by Lemma C.4",
    r"\|\xi_i\|_1>\|\mu\|",
    lambda p: p["sigma_p"] * p["s"],
    lambda p: sqrt(2) * p.get("mu", 1),
)
many_coordinates = at_least(
    "s >= 85 log(4 n / delta)",
    r"s=\Omega(\log(4n/\delta))",
    lambda p: p["s"],
    lambda p: 85 * log(4 * p["n"] / p["delta"]),
)


def wide(letter: str) -> list[Hypothesis]:
    """What Lemmas C.6 to C.8 suppose of s and of the number of neurons m_v or m_k."""
    return [
        at_least(
            f"s >= 85 log(8 {letter} n / delta)",
            rf"s=\Omega(\log({letter}n/\delta))",
            lambda p: p["s"],
            lambda p: 85 * log(8 * p[letter] * p["n"] / p["delta"]),
        ),
        at_least(
            f"{letter} >= 3 log(1 / delta)",
            rf"{letter}=\Omega(\log(1/\delta))",
            lambda p: p[letter],
            lambda p: 3 * log(1 / p["delta"]),
        ),
    ]
