"""Appendix E, stage IV.a by induction: from the settled pairs of T_3 by Claims E.16 to E.19 to T_4^-; no runs."""

from __future__ import annotations

from math import log, sqrt

import flint

from odesys import Verdict, Witness, always_positive, decided, equal, refuted, sym

from ..laboratory import Laboratory
from .book import at_most, ball, book, for_every_size
from .common_hypotheses import CONDITION, inside_point, large_noise, longer_noise
from .common_orders import HALF, MOVES, NORMS, ONE, T_2, T_2_PRIME, T_3, N, S, settled, vanishing
from .part_e_logic import stage_four_a
from .part_e_settling import fine_steps, root_half_low, two_events, untied
from .part_e_sums import sums_from_t2
from .part_e_voting import going_on

INDUCTION = (
    "at T_3 every pair has one sign, moves outwards and |k_i| > |k_mu| (Lemma E.9); T_4^- is the last time up to which (29) and (30) hold",
    "so Claim E.16 gives E(t), E.17 gives D(t) and E.19 gives F(t + 1), step by step up to T_4^-",
)


def outwards(lab: Laboratory) -> Verdict:
    """The start of the induction, and its steps."""
    steps = stage_four_a(lab)
    found = going_on(lab) & steps["E.16"] & steps["E.17"] & steps["E.19"]
    return settled(found, *INDUCTION)


@book.claim(
    "IV.a-DEF",
    "Noise goes on growing in Stage IV.a",
    kind="inequality",
    where="Appendix E.7.1, D(t), E(t) and F(t)",
    origin="proof",
    parts=["D(t), E(t)", "F(t)"],
    hypotheses=[*CONDITION, fine_steps, two_events, longer_noise],
    uses=["E.16-19", "E.9"],
    statement=r"\mathcal D,\mathcal E,\mathcal F(t):\ \text{query and key noise grow by}\ \eta\|\xi_i\|_1\ \text{with one sign},\ t\in[T_3,T_4^-]",
    reading="all pairs, every step from T_3 to T_4^-, which is defined by (29) and (30)",
)
def noise_outwards(lab: Laboratory) -> dict[str, Verdict]:
    """Both by the induction."""
    found = outwards(lab)
    return {"D(t), E(t)": found, "F(t)": found}


@book.claim(
    "IV.a-A",
    "Noise is linear in Stage IV.a",
    kind="order",
    where="Appendix E.7.1, A(t)",
    origin="proof",
    parts=["A(t)"],
    hypotheses=[*CONDITION, fine_steps, two_events, longer_noise],
    uses=["IV.a-DEF", "E.2", "C.4", "C.8"],
    repairs=["IV.a-A-proof"],
    statement=r"\mathcal A(t):\ |q_{si}|,|k_{si}|=t\eta\sqrt{2/\pi}\,\sigma_ps(1\pm\tilde O(s^{-1/2}))\quad t\in[T_3,T_4^-]",
    reading="all pairs; what does not grow with t is at most 5 T_2' eta sigma_p s, and T_2'/T_3 is of the order s^(-1/2) up to logarithms",
)
def noise_linear(lab: Laboratory) -> Verdict:
    """(t - 3 T_2') l <= |q|, |k| <= t l + beta_xi, in units with eta sigma_p s = 1: within 5 T_2'/t of t l, l = |xi_i|_1 >= 7/10."""
    T, u, x = sym("T"), sym("u"), sym("x")
    t, l = 3 * T + u, root_half_low + x
    share = 5 * T / t
    near = always_positive(
        {"above": t * l * (1 + share) - (t * l + T), "below": (t - 3 * T) * l - t * l * (1 - share)}, ("T", "u"), ("x",)
    )
    same = decided(T_2_PRIME / T_3 == ONE / S**HALF, {"T_2'/T_3": str(T_2_PRIME / T_3)})
    small = vanishing("T_2'/T_3, s^(-1/2) as are the errors of norms", T_2_PRIME / T_3)
    return settled(
        outwards(lab) & near & small & same,
        "a settled pair has moved outwards since 3 T_2' (Lemmas E.2, E.9 and the induction)",
        "T_2'/T_3 = sqrt2 beta_xi |mu| / (3 beta_mu sigma_p s) is s^(-1/2) up to logarithms: beta_mu >= sigma_0 |mu|/2 by Lemma C.8",
        MOVES,
        NORMS,
    )


@book.claim(
    "IV.a-A-proof",
    "T_2 over T_3 in the proof of A(T_3)",
    kind="order",
    where="Proof of A(T_3), last step",
    origin="proof",
    parts=["last step"],
    hypotheses=CONDITION,
    uses=["C.7", "C.8"],
    expect="fails",
    insensitive="a quotient of times that the paper defines",
    statement=r"T_2/T_3=\tilde O(s^{-1/2})",
    reading="T_2 has a factor n, which is no logarithm; A(T_3) itself is right, by pairs that settle before 3 T_2'",
)
def end_of_first_step(lab: Laboratory) -> Verdict:
    """T_2/T_3 = 50 sqrt2 n beta_xi |mu| / (3 beta_mu sigma_p s), by the least beta_xi (C.8) and the largest beta_mu (C.7)."""
    least = at_most(ball(4), 50 * flint.arb(2).sqrt() / 4 / (3 * flint.arb(2).sqrt()), what="50 sqrt2 / 4 over 3 sqrt2")
    point = inside_point()
    logarithm = log(12 * max(point["m_k"], point["m_v"])) + log(point["n"]) / 3
    sentence = (
        f"at n = {point['n']:.4g} (all of Condition 3.1 holds) T_2/T_3 over s^-1/2 is at least 4 n over the root of a logarithm, "
        f"{4 * point['n'] / sqrt(logarithm):.2g}, and n is d^(1/9), no power of log d, which is {log(point['d']):.4g}"
    )
    printed = refuted(Witness(sentence, point), least.evidence) if least.as_stated == "holds" else least
    fixed = vanishing("T_2/T_3", T_2 / T_3) & decided(T_2 / T_3 == N / S**HALF, {"T_2/T_3": str(T_2 / T_3)})
    return printed.correcting(
        r"T_2/T_3=\tilde\Theta(ns^{-1/2})=o(1);\ \text{with}\ T_2'\ \text{in place of}\ T_2\ \text{the step is right}",
        fixed,
        "the factor n of T_2 is no logarithm",
    ).blaming("proof", "factor-n")


@book.claim(
    "Eq.37",
    "Sum of query noise in Stage IV.a",
    kind="order",
    where="Proof of Lemma E.21, Eq. (37)",
    origin="proof",
    parts=["(37)"],
    hypotheses=[*CONDITION, fine_steps, two_events, longer_noise, large_noise, untied],
    uses=["E.5", "Eq.23", "E.10", "IV.a-DEF"],
    statement=r"\varsigma_s\sum_iq_{si}^{(t)}\ge\tfrac1{\sqrt2}t\eta\sigma_ps(1\pm o(1)),\ t\in(T_3,T_4^-+1]",
    reading="all neurons; no vote is tied; o(1) is T_2/t, at most n s^(-1/2) up to logarithms",
)
def sums_in_stage_four(lab: Laboratory) -> Verdict:
    """At T_2 the sum is at least 2 n beta_mu (Eq. (23)), then it grows by the vote, at least eta sigma_p s / sqrt2 (Eq. (22))."""
    T2, u, beta = sym("T_2"), sym("u"), sym("beta")  # in units with eta sigma_p s / sqrt2 = 1, t = T_2 + u
    t = T2 + u
    least = always_positive({"sum - t (1 - T_2/t)": beta + (t - T2) - t * (1 - T2 / t)}, ("T_2", "u", "beta"))
    ratio = vanishing("T_2/T_3", T_2 / T_3)
    return settled(
        outwards(lab) & sums_from_t2(lab) & least & ratio,
        "at T_2 the sum is not below 0 with the vote, by Eq. (23); every pair moves with its sign of T_2, so each sum moves by eta times its vote of T_2",
    )


@book.claim(
    "Eq.32",
    "Sum of products in Stage IV.a",
    kind="order",
    where="Proof of Lemma E.20, Eq. (32)",
    parts=["(32)"],
    origin="proof",
    hypotheses=[*CONDITION, fine_steps, two_events, longer_noise],
    uses=["IV.a-A", "IV.a-DEF"],
    statement=r"t\in[T_3,T_4^-],\ \text{all}\ i:\ \sum_sq_{si}k_{si}=\tfrac2\pi m_kt^2\eta^2\sigma_p^2s^2(1\pm\tilde O(s^{-1/2}))\ (32)",
    reading="by A(t) and F(t), as its proof has it: a product of two numbers of one sign within e of 1 is within 3 e of 1",
)
def sum_of_products(lab: Laboratory) -> Verdict:
    """A(t) and F(t), (1 + e)^2 - 1 <= 3 e and 1 - (1 - e)^2 <= 3 e, and the derived logit is the sum."""
    made = lab.sample(1)
    (logit,) = made.on_section([made.logit(1, 1)])
    total = for_every_size(equal({"logit": (logit, sym("q1_1") * sym("k1_1") + sym("Z22"))}))
    e = 1 / (1 + sym("x"))
    squares = always_positive({"above": 3 * e - (2 * e + e * e), "below": 3 * e - (2 * e - e * e)}, ("x",))
    return (noise_linear(lab) & total & squares).proving(
        "every product is (1 +- e)^2 times the square of t eta (2/pi)^(1/2) sigma_p s, by A(t) and F(t)"
    )
