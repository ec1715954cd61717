"""Appendix E by bounded moves after T_4^-: keys that turn, signs printed in Stage IV.b, sizes at the query flip; no runs."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from itertools import product
from operator import and_

from odesys import (
    Verdict,
    Witness,
    always_positive,
    decided,
    refuted,
    sym,
    undecided,
)

from ..laboratory import Laboratory
from .book import book, signed, weights_of_pair
from .common_hypotheses import CONDITION, after_stage_one, inside_point, large_noise, longer_noise, taken
from .common_orders import COQ, MOVES, OVER_STEPS, given
from .part_d_gradients import constant_moves
from .part_e_induction import INDUCTION, outwards
from .part_e_logic import unaligned_query
from .part_e_settling import fine_steps, two_events, untied
from .part_e_voting import signals_linear

# ---- after T_4^- -----------------------------------------------------------------------------------------------------

at_t4 = taken(
    "the state at T_4^- is that of Remark E.28",
    r"|k_{si}^{(T_4^-)}|=T_4^-\eta\sqrt{2/\pi}\sigma_ps(1\pm\tilde O(s^{-1/2}))",
)


small_errors = taken(
    "errors of Remark E.28 are small over log(sigma_p s), as Lemma E.20 uses them",
    r"m_kT_4^2\eta^2\sigma_p^2s^2\,\tilde O(s^{-1/2})=o(1)",
)


def _turns_late(lab: Laboratory) -> Verdict:
    """An unaligned key moves outwards up to (1 + tau) T, T = T_4^-, tau = 1/(8 L), L = (2/pi) m_k T^2 eta^2 sigma_p^2 s^2.

    It does while b |q_i| > a |q_mu|. At T (30) has a factor 2 of room. Up to (1 + tau) T every product of a query and its
    key is at most its size if all move outwards, so the logit grows by at most x, and b falls by no more than e^-x >= 1 - x.
    """
    a, b = weights_of_pair()
    names = ("w1", "c", "B")
    still = [
        signed(
            lab,
            {"v_1": sym("v_mu") + sym("w1"), "q1_mu": f * sym("c"), "q1_1": -f * (a * sym("c") + sym("B")) / b},
            {"k1_1": -f},
            names,
        )
        for f in (1, -1)
    ]
    L = 1 + sym("l")
    tau, e = 1 / (8 * L), 1 / (80 * L * (1 + sym("z")))  # errors of sizes and speeds of noise
    o = Fraction(1, 50) / (1 + sym("y"))  # of signals, of a near 1/4 (Lemma E.14), of the key signals in the logit
    grown = L * ((1 + tau) ** 2 * (1 + e) ** 2 - (1 - e) ** 2) + o
    query, signal = (1 + tau) * (1 - e) / (1 + e), (1 + tau + o) / (1 - o)  # at t over at T
    room = 2 * (1 - grown) * query - signal / (1 - o)
    return reduce(and_, still) & always_positive(
        {"b |q_i| - a |q_mu|, over a |q_mu| at T_4^-": room}, (), ("l", "y", "z")
    )


def _noise_keys(lab: Laboratory) -> Verdict:
    """Key noise over the speed, T = T_4^-: below by its latest turn up to 3 T and by moves alone after that."""
    T, u, L, e = sym("T"), sym("u"), 1 + sym("l"), sym("e")
    turn, near = 1 + 1 / (8 * L), 1 / (80 * L * (1 + sym("z")))
    t = 3 * T / (1 + u)
    below = turn * T * (1 - near) - (t - turn * T) * (1 + near)  # where it has turned; before it is above T (1 - e)
    bounds = {
        "up to 3 T_4^-": below - (2 * T - t),
        "from 3 T_4^- on": T * (1 - e) - (2 * T + u) * (1 + e) - (2 * T - (3 * T + u)) * (1 + 4 * e),
        "above": (T + u) * (1 + 2 * e) - (T * (1 + e) + u * (1 + e)),
    }
    return always_positive(bounds, ("T", "e"), ("u", "l", "z")) & _turns_late(lab)


def _signal_keys() -> Verdict:
    """Key signals over the speed: at worst back up to (1 + theta_c) T, T = T_4^-, then outwards."""
    T, u, y = sym("T"), sym("u"), sym("y")
    theta = 1 / (1 + y)
    o = (1 - theta) / 4 / (1 + sym("z"))  # of sizes at T, and 2 o/(1 - theta) in the bound
    back, after = theta * T / (1 + u), T * (1 - o) - theta * T + u
    bound = 1 - 2 * o / (1 - theta)
    return always_positive(
        {
            "while it may move back": T * (1 - o) - back - (T - back) * bound,
            "from (1 + theta_c) T_4^- on, up to 2 T_4^-": after - ((1 - theta) * T - u) * bound,
            "positive, from 2 T_4^- on": after,
            "above": (T + u) * (1 + 2 * o) - (T * (1 + o) + u),
        },
        ("T", "y"),
        ("u", "z"),
    )


@book.claim(
    "E.29",
    "Keys after T_4^-",
    kind="inequality",
    where="Lemma E.29",
    parts=["key noise", "key signal", "signs", "at (1 + theta') T_4^-"],
    hypotheses=[at_t4, after_stage_one, small_errors],
    uses=["E.28", "Eq.8-9", "C.4"],
    statement=r"t\ge T_4^-:\ (2T_4^--t)\eta\sqrt{\tfrac2\pi}\sigma_ps(1-\tilde O(s^{-1/2}))\le\mathrm{sgn}(k_{si}^{(T_4^-)})k_{si}^{(t)}\le t\eta\sqrt{\tfrac2\pi}\sigma_ps(1+\tilde O(s^{-1/2})),\ k_{s\mu}\ \text{alike with}\ o(1);\ \text{signs kept to}\ (1+\theta)T_4^-;\ (1-\theta')T_4^-\ldots\le|k_{si}|\le(1+\theta')T_4^-\ldots",
    reading="for all t; O~ has either sign, as its proof prints; where 2 T_4^- - t is near 0, keys are above as they turn after T_4^-",
)
def keys_after(lab: Laboratory) -> dict[str, Verdict]:
    """The fastest way back and on."""
    moves = constant_moves(lab)
    th, z = 1 / (1 + sym("y")), sym("z")  # theta = 1/(1+y) < 1, errors e <= (1 - theta)/4 / (1 + z)
    e = (1 - th) / 4 / (1 + z)
    signs = always_positive({"sign": (1 - th) - 2 * e * (1 + th)}, ("y",), ("z",))
    T, err = sym("T"), sym("e")
    # at t = (1 + theta') T: T (1 - e) - theta' T (1 + e) is (1 - theta') T (1 - e (1 + theta')/(1 - theta'))
    share = always_positive(
        {
            "below": T * (1 - err) - th * T * (1 + err) - (1 - th) * T * (1 - 2 * err * (1 + th) / (1 - th)),
            "above": (1 + th) * T * (1 + 2 * err) - (T * (1 + err) + th * T * (1 + err)),
        },
        ("T", "y", "e"),
    )
    noise = (moves & _noise_keys(lab)).arguing(OVER_STEPS)
    late = "(30) has a factor 2 of room at T_4^-, so keys turn after (1 + 1/(8 L)) T_4^-, L = (2/pi) m_k (T_4^- eta sigma_p s)^2"
    signal = (moves & _signal_keys()).arguing(OVER_STEPS)
    back = "a key signal moves back at most up to (1 + theta_c) T_4^-, and outwards from there on"
    return {
        "key noise": given(noise.proving(MOVES, late), "Remark E.28", "Lemma E.20", "Eq. (27) and (28)").assuming(
            "Lemma E.14, corrected: a is near 1/4", "Claims E.31 and E.32: aligned keys do not turn"
        ),
        "key signal": given(signal.proving(MOVES, back), "Remark E.28", "F(t) of Appendix E.7.3 and Remark E.40"),
        "signs": given((moves & signs).proving(MOVES), "Remark E.28"),
        "at (1 + theta') T_4^-": given((moves & share).proving(MOVES), "Remark E.28"),
    }


@book.claim(
    "E.39",
    "Unaligned keys after the flip",
    kind="inequality",
    where="Lemma E.39",
    parts=["bound"],
    hypotheses=[
        at_t4,
        taken("D(t) holds", r"\mathcal D(t),\ t=(1+\theta_c)T_4^-,\dots,\tilde t"),
    ],
    uses=["E.28", "Eq.8-9", "C.4"],
    statement=r"t\ge(1+\theta_c)T_4^-,\ i\notin E_s:\ \mathrm{sgn}(k_{si}^{(T_4^-)})k_{si}^{(t)}\le(2(1+\theta_c)T_4^--t)\eta\sqrt{2/\pi}\sigma_ps(1+\tilde O(s^{-1/2}))",
    reading="with D(t) supposed; O~ has either sign, and where the bound vanishes it is a term of t",
)
def keys_reflected(lab: Laboratory) -> Verdict:
    """At worst on to (1 + theta_c) T_4^-, then back at every step."""
    T, th, u, e = sym("T"), sym("theta"), sym("u"), sym("e")
    t = (1 + th) * T + u
    key = T * (1 + e) + th * T * (1 + e) - u * (1 - e)
    bound = always_positive({"bound": (2 * (1 + th) * T - t) + 2 * e * t - key}, ("T", "theta", "u", "e"))
    flip, time, h = sym("F"), sym("t"), sym("h")
    told = {"bound": (("F", "t", "h", "e"), (2 * flip - time) * h + 2 * e * time * h)}
    found = (constant_moves(lab) & bound).by_theorems(COQ / "keys_reflected.v", told)
    return given(found.proving(MOVES), "Remark E.28")


# ---- signs in Stage IV.b -----------------------------------------------------------------------------------------------

split_vote = taken("the votes of a neuron are not all equal", r"\exists s:\ \emptyset\ne E_s\ne[n]")


def _one_sign(known: Verdict, refutes: str) -> Verdict:
    """Where every pair is `known` to have one sign from T_2 to T_4^- (IV.a-DEF), what is printed fails; else it is not known."""
    if known.as_stated != "holds":
        return undecided("pairs do not keep one sign up to T_4^-")
    return refuted(Witness(refutes, inside_point()), known.evidence).proving(*INDUCTION)


@book.claim(
    "E.33-proof",
    "The chain in the proof of Claim E.33",
    kind="inequality",
    hypotheses=[*CONDITION, fine_steps, two_events, longer_noise, large_noise, untied, split_vote],
    parts=["chain"],
    where="Proof of Claim E.33, display",
    origin="proof",
    uses=["IV.a-DEF", "E.11", "E.12", "IV.b-signs"],
    expect="fails",
    statement=r"\langle\Delta w_{Q,s},y_i\xi_i\rangle=_{\rm sgn}-k_{s\mu}+k_{si}>k_{si}>0\quad(i\notin E_s)",
    reading="for a positive vote; the last step is the last equality of D(t) as printed, where q_si < 0; at T_4^- q_si and k_si have one sign",
)
def unaligned_chain(lab: Laboratory) -> Verdict:
    """For a positive vote an unaligned query is negative from T_3 on, and so is its key; and the chain that sizes give."""
    sentence = (
        "at T_4^-, for a positive vote and i not in E_s, q_si is negative (by the definition of E_s, as q_s,mu is positive at T_3 by Eq. (24)) "
        "and k_si has its sign "
        "(F(t) of Stage IV.a), and the chain ends with k_si > 0"
    )
    k, mu = sym("k"), sym("mu")  # k_si = -(mu + k), k_s,mu = -mu
    negative = always_positive({"-(-k_s,mu + k_si)": -(mu - (mu + k))}, ("k", "mu"))
    return (
        _one_sign(outwards(lab) & signals_linear(lab)["(24)"], sentence)
        .correcting(
            r"-k_{s\mu}+k_{si}<0\ \text{as}\ |k_{si}|>|k_{s\mu}|\ \text{(Lemma E.29)}",
            negative.proving("k_si = -(|k_s,mu| + k) with k > 0, by the sizes of Lemma E.29"),
            "both keys are negative for an unaligned pair, so sizes decide",
        )
        .blaming("proof", "signs-of-keys")
    )


def opposite_queries(lab: Laboratory, other: int = -1) -> Verdict:
    """F(t) at i in E_s and j not: k_mu (-q_i) and k_mu (-q_j) have opposite signs at T_4^-, whatever the sign of k_mu is.

    E_s has the queries with the sign f of q_mu at T_3, so q_i = f q and q_j = `other` f r there; the derived moves from T_3 on
    have these signs, where |k| > |k_mu| and a key has the sign of its query.
    """
    parts, q, r, u, t, K = [], *(sym(name) for name in ("q", "r", "u", "t", "K"))
    for f, g in product((1, -1), repeat=2):
        moves = []
        for c, size in ((1, q), (other, r)):
            state = {
                "v_1": sym("v_mu") + sym("w1"),
                "q1_1": c * f * size,
                "k1_mu": g * sym("d"),
                "k1_1": c * f * (sym("d") + sym("B")),
            }
            moves.append(signed(lab, state, {"q1_1": c * f}, ("w1", "d", "B", "q", "r")))
        printed = [
            -g * K * c * f * (size + moved) for c, size, moved in ((1, q, u), (other, r, t))
        ]  # after moves of these lengths in all
        parts += [*moves, always_positive({"-product": -printed[0] * printed[1]}, ("K", "q", "r"), ("u", "t"))]
    return reduce(and_, parts)


@book.claim(
    "IV.b-signs",
    "Signs printed in D(t) and F(t) of Stage IV.b",
    kind="identity",
    where="Appendix E.7.2, second equalities of D(t) and F(t)",
    parts=["D(t)", "F(t)"],
    origin="proof",
    hypotheses=[*CONDITION, fine_steps, two_events, longer_noise, split_vote],
    uses=["IV.a-DEF"],
    expect="fails",
    statement=r"\mathcal D(t):\ k_{si}=_{\rm sgn}k_{si}^{(T_4^-)}=_{\rm sgn}-q_{si}\ (i\notin E_s);\quad\mathcal F(t):\ k_{s\mu}=_{\rm sgn}k_{s\mu}^{(T_4^-)}=_{\rm sgn}-q_{si}",
    reading="at T_4^-, where every pair has one sign; F(t) has a free index i, read as every i: for i in E_s alone it is right",
)
def printed_signs(lab: Laboratory) -> dict[str, Verdict]:
    """At T_4^- a key has the sign of its query, and queries of a neuron have both signs."""
    known = outwards(lab)
    D = _one_sign(
        known,
        "at T_4^-, for i not in E_s, q_si and k_si have one sign (F(t) of Stage IV.a), and D(t) says opposite ones",
    )
    F = _one_sign(
        known & opposite_queries(lab),
        "at T_4^-, for i in E_s and i' not in E_s, q_si and q_si' have opposite signs, and F(t) says that k_s,mu has the sign of "
        "-q_si and of -q_si'",
    )
    return {
        "D(t)": D.correcting(
            r"k_{si}=_{\rm sgn}q_{si}\ (i\notin E_s)",
            known,
            "pairs have had one sign since Stage II, and keys keep it here",
        ).blaming("proof", "signs-of-keys"),
        "F(t)": F.correcting(
            r"k_{s\mu}=_{\rm sgn}-q_{si}\ (i\in E_s),\ \text{or}\ -q_{s\mu}",
            given(known, "the sign of the key signal at T_4^-, Lemma E.24"),
            "one letter: with mu for y_i xi_i in the last bracket the line is right",
        ).blaming("misprint", "signs-of-keys"),
    }


# ---- sizes at the query flip -------------------------------------------------------------------------------------------


@book.claim(
    "Eq.49",
    "Sizes at (2 + 3 theta_c) T_4^-",
    kind="inequality",
    hypotheses=[
        *CONDITION,
        fine_steps,
        at_t4,
        after_stage_one,
        taken("theta_c <= 1/4", r"\theta_c\le\tfrac14"),
        taken("D(t) holds", r"\mathcal D(t),\ t=(1+\theta_c)T_4^-,\dots,(2+3\theta_c)T_4^-"),
    ],
    parts=["(49)"],
    where="Appendix E.7.3, Eq. (49)",
    origin="proof",
    uses=["E.28", "E.29", "E.33", "E.39", "Eq.8-9"],
    expect="fails",
    statement=r"|q_{si}|+|k_{si}|\le(2+6\theta_c)T_4^-\|\xi_i\|_1^2\eta^2(1\pm o(1))\ \text{at}\ (2+3\theta_c)T_4^-",
    reading="unaligned pairs; the right side has eta |xi_i|_1 once too often, and the query alone is larger where eta |xi_i|_1 <= 1/4",
)
def sizes_at_query_flip(lab: Laboratory) -> Verdict:
    """The query grows up to 19/10 T_4^- (Claim E.33) and moves back at most; and the sum of the two bounds that are named."""
    T, e = sym("T"), Fraction(1, 100) / (1 + sym("z"))  # relative errors of sizes and speeds
    theta, h = Fraction(1, 4) / (1 + sym("y")), Fraction(1, 4) / (1 + sym("x"))  # h = eta |xi_i|_1
    t = (2 + 3 * theta) * T
    query = Fraction(19, 10) * T * (1 - e) - (t - Fraction(19, 10) * T) * (1 + e)  # over h
    printed = (2 + 6 * theta) * T * h * (1 + e)
    larger = always_positive({"|q_si| - right side, over h": query - printed}, ("T",), ("x", "y", "z"))
    moves = constant_moves(lab) & unaligned_query(lab)
    point = inside_point()
    step = point["eta"] * point["sigma_p"] * point["s"]
    found = moves & larger & decided(step <= 1 / 4, {"eta sigma_p s": step})
    if found.as_stated != "holds":
        return undecided("unaligned queries do not go on as in Claim E.33, or a step is above 1/4")
    sentence = (
        f"at m_k = {point['m_k']:.4g} (Condition 3.1 holds) eta |xi_i|_1 is at most {step:.2g}; at (2 + 3 theta_c) T_4^- an unaligned query is at "
        f"least T_4^- eta |xi_i|_1, and (49) says at most {3.5 * step:.2g} times that"
    )
    # |k| is at most 3 theta_c T + e t: it moves back from T (1 - e), and D(t) has it below 0 (Lemma E.39)
    total = t * (1 + e) + 3 * theta * T + 2 * e * t
    both = always_positive({"bounds": (2 + 6 * theta) * T * (1 + 4 * e) - total}, ("T",), ("y", "z"))
    verdict = refuted(Witness(sentence, point), found.evidence).proving(
        MOVES,
        "unaligned queries grow up to (1 + theta) T_4^-, theta = 9/10, by Claim E.33, and move back at most from there",
    )
    return (
        given(verdict, "Remark E.28")
        .correcting(
            r"\le(2+6\theta_c)T_4^-\|\xi_i\|_1\eta(1\pm o(1))",
            given((moves & both).proving(MOVES), "Remark E.28"),
            "one step moves an inner product by eta |xi_i|_1, not by its square",
        )
        .blaming("misprint", "square-of-step")
    )
