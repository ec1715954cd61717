r"""Appendix E, stage III by bounded moves: settled pairs go on to T_3^+, and their votes decide the signals; no runs.

Weights of a vote have to be within a share of 1/n of each other (E.11-weights). They are: what differs from sample to
sample are norms, by :math:`s^{-1/2}`, and starts, which at t are of the order :math:`T_2'/t` of the noise.
"""

from __future__ import annotations

from fractions import Fraction

import flint

from odesys import Node, Verdict, always_positive, graph, identity, sym

from ..laboratory import Laboratory
from .book import at_most, ball, book
from .common_hypotheses import CONDITION, large_noise
from .common_orders import (
    BETA_MU,
    BETA_XI,
    ETA,
    HALF,
    M_K,
    MOVES,
    NORMS,
    STEP,
    T_2,
    T_2_PRIME,
    T_3,
    VALUES,
    N,
    S,
    settled,
    vanishing,
)
from .part_d_recursion import derived_shares
from .part_e_bounds import signals_bounded
from .part_e_settling import TINY, as_settled, fine_steps, root_half_low, two_events, untied, upper_for_ever
from .part_e_sums import sums_from_t2

POWER = (
    "a_i/b_i is at most exp(|z_21|), as b_i >= exp(-|z_21|)/4 and a_i <= 1/4; up to T_3^+ |z_21| is at most 8 C_2^2 log(12 m_k/delta) "
    "kappa^2 (as in Beyond.log-scale), and kappa tends to 0: so a_i/b_i is at most n^(1/2), delta a power of 1/n"
)


def outweighed() -> Verdict:
    """n^(1/2) |signal| over noise from T_2 on, at worst: starts over T_2 eta sigma_p s, and speeds."""
    X = 1 / (1 + sym("x"))  # exp(-|z|)
    least = always_positive({"4 b - X": 4 * X / (1 + X) ** 2 - X + sym("y")}, ("y",), ("x",))
    starts = vanishing("n^(1/2) beta_mu over T_2 eta sigma_p s", N**HALF * BETA_MU / (T_2 * STEP))
    speeds = vanishing("n^(1/2) |mu| / (sigma_p s)", N**HALF * ETA / STEP)
    return (least & starts & speeds).proving(POWER)


def going_on(lab: Laboratory) -> Verdict:
    """From T_2 to T_3^+ noise outweighs the signals in A and B, so each step is one outwards; sizes above t/2, as in Lemma E.2."""
    T, u, x = sym("T"), sym("u"), sym("x")  # units with eta sigma_p s = 1, t = 50 T_2' + u at least
    t = 50 * T + u
    noise = (t - 3 * T) * (root_half_low + x)
    above = always_positive({"size": noise - t / 2, "sign": noise - TINY * (T + t)}, ("T",), ("u", "x"))
    found = as_settled(lab) & above & outweighed() & upper_for_ever(lab)
    return settled(
        found,
        "a settled pair moves outwards as long as |k_i| > |k_mu| and b_i |q_i| > a_i |q_mu|; both are so at T_2, and noise grows by "
        "eta |xi_i|_1 in each step, n^(1/2) |signal| by at most n^(1/2) eta |mu|",
    )


@book.claim(
    "E.9",
    "Noise goes on growing in Stage III",
    kind="inequality",
    where="Lemma E.9",
    source="damaged",
    parts=["signs and moves", "sizes"],
    hypotheses=[*CONDITION, fine_steps, two_events],
    uses=["E.4", "Eq.10-12", "C.4", "App.E.1-times"],
    statement=r"t\in[T_2,T_3^+]:\ q=_{\rm sgn}k,\ \text{both grow by}\ \eta\|\xi_i\|_1,\ \tfrac12t\eta\sigma_ps\le|q_{si}|,|k_{si}|\le2t\eta\sigma_ps",
    reading="the first display is lost in the text at hand and read off its proof; for every constant C_2 in T_3^+, without Lemma E.14",
)
def noise_goes_on(lab: Laboratory) -> dict[str, Verdict]:
    """Both by the same bound."""
    found = going_on(lab)
    return {"signs and moves": found, "sizes": found}


@book.claim(
    "E.10",
    "Sums go on growing",
    kind="inequality",
    where="Remark E.10, with Eq. (22)",
    parts=["sums"],
    hypotheses=[*CONDITION, fine_steps, two_events],
    uses=["E.9", "E.5"],
    statement=r"\sum_i\langle w_{Q,s}^{(t)},y_i\xi_i\rangle,\ \sum_i\langle w_{K,s}^{(t)},y_i\xi_i\rangle\ \text{keep their dynamics on}\ [T_2,T_3^+]",
    reading="both sums of every neuron move by eta times the vote of T_2 in each step",
)
def sums_go_on(lab: Laboratory) -> Verdict:
    """Every pair moves by eta |xi_i|_1 with its sign of T_2, so both sums move by eta times the vote."""
    return going_on(lab).proving("moves of Lemma E.9, added up over samples")


# ---- the vote --------------------------------------------------------------------------------------------------------

NEAR = (
    "w_i is 2 t eta (2/pi)^(1/2) sigma_p s within a share of 4 T_2'/(3 m_v^(1/2) t) by its start, at most 2 2^(1/2) beta_xi m_v^(-1/2), and of s^(-1/2) and |mu|/(sigma_p s) by its speed",
    "|log g_i - log g_j| <= |f_i - f_j|, of which values add a share of v_i, at most kappa (log/m_k)^(1/2) and so less than a tenth, of the same, and attention adds its own "
    "differences",
    "|log a_i - log a_j| and |log b_i - log b_j| are at most differences of logits; sizes of noise differ by shares of T_2'/t and s^(-1/2), so "
    "noise logits by at most a logarithm times kappa^2 s^(-1/2), the others are of the order kappa^2 |mu|/(sigma_p s)",
    "so g_i a_i w_i and g_i b_i w_i are within a share of 3 T_2'/(2 m_v^(1/2) t) + o(1/n) of one number",
)


SHARE = Fraction(3, 2)  # of T_2' m_v^(-1/2)/t: how near weights of a vote are to each other, but for o(1/n)


def near_weights() -> Verdict:
    """Logarithmic slopes of g, a and b are at most 1 in size; what differs between samples, times n, tends to zero."""
    z, f = sym("z"), sym("f")
    b = graph.call("sigmoid", z) * graph.call("sigmoid", -z)
    g = graph.call("sigmoid", -f)
    slopes = identity(
        {
            "slope of log b": graph.gradient(b, [z])[0] - b * (1 - 2 * graph.call("sigmoid", z)),
            "slope of log g": graph.gradient(g, [f])[0] + g * graph.call("sigmoid", f),
        }
    )
    # starts of 2 sqrt2 beta_xi m_v^(-1/2) = 2 T_2' eta sigma_p s m_v^(-1/2) over 2 t (2/pi)^(1/2), and room for the loss
    start = at_most(2 / (2 * (2 / flint.arb.pi()).sqrt()), ball(Fraction(4, 3)), what="share of w_i by its start")
    room = always_positive({"share": SHARE - Fraction(4, 3) * (1 + Fraction(1, 10) / (1 + sym("x")))}, (), ("x",))
    return (
        slopes
        & start
        & room
        & vanishing("n s^(-1/2), norms", N / S**HALF)
        & vanishing("n |mu| / (sigma_p s), speeds of values, signals in logits", N * ETA / STEP)
        & vanishing("n times a noise logit at T_3^+ times T_2'/T_3", N * M_K * (T_3 * STEP) ** 2 * T_2_PRIME / T_3)
    ).proving(*NEAR)


def _gap() -> Node:
    """The least weighted sum over its mean weight, in units with eta sigma_p s = 1: T = T_2', t = 50 n T + u, n = 1 + e, m_v = (3 + y)^2."""
    n, T, u, y = 1 + sym("e"), sym("T"), sym("u"), sym("y")
    t = 50 * n * T + u
    plain = root_half_low * (t - 12 * T) - 24 * n * T  # from sums of at least -24 n T_2' at 12 T_2' (Eq. (21), (22))
    weights = 2 * SHARE * n * T / (3 + y) + 2 * TINY * t  # their share of sum |k_i| <= 2 n t
    return plain - weights - 2 * TINY * (n * T + t)  # signals: n (beta_mu + t |mu|), with n^(1/2) for the key signal


def voting(lab: Laboratory) -> Verdict:
    """Derived arguments of the signals as weighted sums of the noise; the weights are near enough for every vote."""
    shares = derived_shares(lab, ["q1_mu", "k1_mu"])
    least = always_positive({"weighted sum": _gap()}, ("T",), ("e", "u", "y"))
    signals = vanishing("n^(1/2) beta_mu / beta_xi", N**HALF * BETA_MU / BETA_XI) & vanishing(
        "n^(3/2) |mu| / (sigma_p s)", N ** Fraction(3, 2) * ETA / STEP
    )
    found = shares & going_on(lab) & sums_from_t2(lab) & near_weights() & outweighed() & least & signals
    return settled(
        found,
        "a query signal moves with sum_i g_i a_i w_i (k_i - k_mu), a key signal against sum_i g_i w_i (b_i q_i + a_i q_mu)",
        "with weights c (1 +- delta) such a sum is at least c (vote sum - delta sum_i |k_i| - n (1 + delta) |signal|), "
        "and n^(1/2) for a_i/b_i in the second",
        MOVES,
        VALUES,
        NORMS,
    )  # fmt: skip


@book.claim(
    "E.11",
    "The vote decides the signals",
    kind="inequality",
    where="Lemma E.11",
    parts=["both displays"],
    hypotheses=[*CONDITION, fine_steps, two_events, large_noise, untied],
    uses=["E.5", "E.9", "E.10", "Eq.14-15", "Beyond.recursion", "E.11-weights"],
    repairs=["E.11-weights"],
    statement=r"t\in[T_2,T_3^+]:\ \langle\Delta w_{Q,s},\mu\rangle=\mathrm{sgn}\Big(\sum_i\langle w_{Q,s}^{(T_2)},y_i\xi_i\rangle\Big)\eta\|\mu\|,\ \langle\Delta w_{K,s},\mu\rangle=-(\text{same})",
    reading="all neurons, every step; weights within 3 T_2'/(2 m_v^(1/2) t) + o(1/n) of each other, which is enough even for a vote won by one",
)
def vote_decides(lab: Laboratory) -> Verdict:
    """By the sizes of settled pairs."""
    return voting(lab)


@book.claim(
    "4.4(1)",
    "Noise decides the sign of signals by majority",
    kind="inequality",
    main=True,
    where="Lemma 4.4 (1)",
    parts=["both displays"],
    hypotheses=[*CONDITION, fine_steps, two_events, large_noise, untied],
    uses=["E.11", "E.10"],
    same_as="E.11",
    statement=r"t\in[T_2,T_3]:\ \mathrm{sgn}\,\Delta q_{s\mu}=\mathrm{sgn}\sum_ik_{si},\ \mathrm{sgn}\,\Delta k_{s\mu}=-\mathrm{sgn}\sum_iq_{si}",
    reading="all neurons, every step on [T_2, T_3]; both sums keep the sign of the vote there",
)
def majority(lab: Laboratory) -> Verdict:
    """As Lemma E.11; sums have the sign of the vote from T_2 on (Eq. (23), Remark E.10)."""
    return voting(lab)


@book.claim(
    "E.12",
    "Signals are linear in Stage III",
    kind="inequality",
    where="Lemma E.12, Eq. (24) and (25)",
    parts=["(24)", "(25)"],
    hypotheses=[*CONDITION, fine_steps, two_events, large_noise, untied],
    uses=["E.11", "E.13", "Eq.8-9"],
    statement=r"t\in[T_3,T_3^+]:\ \tfrac12t\eta\|\mu\|\le\varsigma_sq_{s\mu}\le\tfrac43t\eta\|\mu\|\ (24),\ -\tfrac43t\eta\|\mu\|\le\varsigma_sk_{s\mu}\le-\tfrac12t\eta\|\mu\|\ (25)",
    reading="with the directions of Lemma E.11, for T_2 <= T_3/12; T_2/T_3 is of the order n s^(-1/2)",
)
def signals_linear(lab: Laboratory) -> dict[str, Verdict]:
    """T_2 steps at worst against the vote, then with it, by the moves of Lemma E.11."""
    T2, x, u, r = sym("T_2"), sym("x"), sym("u"), sym("r")
    T3 = 12 * T2 + x
    t = T3 + u
    lower = always_positive({"lower": -(T3 / 3 - r) - T2 + (t - T2) - t / 2}, ("T_2", "x"), ("u", "r"))
    ratio = vanishing("T_2/T_3", T_2 / T_3)
    both = (voting(lab) & signals_bounded(lab)["queries"] & lower & ratio).proving(
        "to T_2 a signal moves by at most T_2 eta |mu|, from there on with the vote by Lemma E.11"
    )
    return {"(24)": both, "(25)": both}


@book.claim(
    "4.4(2)",
    "Signals at T_3",
    kind="order",
    main=True,
    where="Lemma 4.4 (2)",
    parts=["both displays"],
    hypotheses=[*CONDITION, fine_steps, two_events, large_noise, untied],
    uses=["E.11", "E.12"],
    statement=r"\langle w_{Q,s}^{(T_3)},\mu\rangle=\mathrm{sgn}\Big(\sum_iq_{si}\Big)\Theta(T_3\eta\|\mu\|),\ \langle w_{K,s}^{(T_3)},\mu\rangle=-\mathrm{sgn}(\cdot)\Theta(T_3\eta\|\mu\|)",
    reading="all neurons, with the constants 1/2 and 4/3 of Eq. (24) and (25)",
)
def signals_at_t3(lab: Laboratory) -> Verdict:
    """Lemma E.12 at t = T_3."""
    return signals_linear(lab)["(24)"]
