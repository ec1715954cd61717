"""Appendix E by bounded moves after T_4^-: keys that turn, sums of products, signs printed in Stage IV.b; no runs."""

from __future__ import annotations

from odesys import (
    Evidence,
    Verdict,
    Witness,
    always_positive,
    certified,
    graph,
    refuted,
    sym,
)

from ..laboratory import Laboratory
from .book import book
from .common_hypotheses import inside_point, taken
from .common_orders import MOVES, given
from .part_d_gradients import constant_moves

# ---- after T_4^- -----------------------------------------------------------------------------------------------------

at_t4 = taken(
    "the state at T_4^- is that of Remark E.28",
    r"|k_{si}^{(T_4^-)}|=T_4^-\eta\sqrt{2/\pi}\sigma_ps(1\pm\tilde O(s^{-1/2}))",
)


def _back(aligned: bool) -> dict[str, graph.Node]:
    """Keys after T = T_4^- with all moves back (lower) or on (upper), over the speed; small errors e of sizes and speeds."""
    T, u, e = sym("T"), sym("u"), sym("e")
    t = T + u
    if aligned:
        return {"upper": t * (1 + 2 * e) - (T * (1 + e) + u * (1 + e))}
    return {"lower": T * (1 - e) - u * (1 + e) - ((2 * T - t) - 2 * e * t)}


@book.claim(
    "E.29",
    "Keys after T_4^-",
    kind="inequality",
    where="Lemma E.29",
    parts=["key noise", "key signal", "signs", "at (1 + theta') T_4^-"],
    hypotheses=[at_t4],
    uses=["E.28", "Eq.8-9", "C.4"],
    expect="fails",
    statement=r"t\ge T_4^-:\ (2T_4^--t)\eta\sqrt{\tfrac2\pi}\sigma_ps(1-\tilde O(s^{-1/2}))\le\mathrm{sgn}(k_{si}^{(T_4^-)})k_{si}^{(t)}\le t\eta\sqrt{\tfrac2\pi}\sigma_ps(1+\tilde O(s^{-1/2})),\ k_{s\mu}\ \text{alike with}\ o(1);\ \text{signs kept to}\ (1+\theta)T_4^-;\ (1-\theta')T_4^-\ldots\le|k_{si}|\le(1+\theta')T_4^-\ldots",
    reading="for all t, as printed: an error of 2 T_4^- - t, where it is one of t; used up to (1 + theta) T_4^-, where it holds",
)
def keys_after(lab: Laboratory) -> dict[str, Verdict]:
    """The fastest way back and on."""
    moves = constant_moves(lab)
    bounds = always_positive({**_back(True), **_back(False)}, ("T", "u", "e"))
    th, z = 1 / (1 + sym("y")), sym("z")  # theta = 1/(1+y) < 1, errors e <= (1 - theta)/4 / (1 + z)
    e = (1 - th) / 4 / (1 + z)
    signs = always_positive({"sign": (1 - th) - 2 * e * (1 + th)}, ("y",), ("z",))
    both = (moves & bounds).proving(MOVES, "sizes at T_4^- and speeds have relative errors e; a key moves back at most")
    T, c, err, u = sym("T"), sym("theta"), sym("e"), sym("u")
    # a key that moves back from (1 + theta_c) T on, at t = 2 T + 2 theta_c T / e + u, against (2 T - t)(1 - e)
    t = 2 * T + 2 * c * T / err + u
    below = always_positive({"bound - key": (2 * T - t) * (1 - err) - (2 * (1 + c) * T - t)}, ("T", "theta", "e", "u"))
    sentence = (
        "a key that moves back from (1 + theta_c) T_4^- on (Lemma 4.6), with |xi_i|_1 = (2/pi)^1/2 sigma_p s, is below the printed "
        "bound with the error e at every t > 2 T_4^- (1 + theta_c / e)"
    )
    printed = (
        refuted(Witness(sentence, inside_point()), Evidence.CERTIFICATE)
        if (moves & below).as_stated == "holds"
        else moves & below
    )
    late = printed.correcting(
        r"(2T_4^--t)\eta\sqrt{\tfrac2\pi}\sigma_ps-\tilde O(s^{-1/2})t\eta\sigma_ps\le\ldots,\ \text{which is the printed bound for}\ t\le(1+\theta)T_4^-",
        both,
        "the errors of T_4^- and of t - T_4^- do not cancel in their difference",
    ).blaming("misprint", "error-of-a-difference")
    kept = given((moves & signs).proving(MOVES), "Remark E.28")
    late = given(late, "Lemma 4.6", "Remark E.28")
    # at t = (1 + theta') T: T (1 - e) - theta' T (1 + e) is (1 - theta') T (1 - e (1 + theta')/(1 - theta'))
    share = always_positive(
        {
            "below": T * (1 - err) - th * T * (1 + err) - (1 - th) * T * (1 - 2 * err * (1 + th) / (1 - th)),
            "above": (1 + th) * T * (1 + 2 * err) - (T * (1 + err) + th * T * (1 + err)),
        },
        ("T", "y", "e"),
    )
    return {
        "key noise": late,
        "key signal": late,
        "signs": kept,
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
    reading="with D(t) supposed, as printed; the small term is of t, as the bound may vanish",
)
def keys_reflected(lab: Laboratory) -> Verdict:
    """At worst on to (1 + theta_c) T_4^-, then back at every step."""
    T, th, u, e = sym("T"), sym("theta"), sym("u"), sym("e")
    t = (1 + th) * T + u
    key = T * (1 + e) + th * T * (1 + e) - u * (1 - e)
    bound = always_positive({"bound": (2 * (1 + th) * T - t) + 2 * e * t - key}, ("T", "theta", "u", "e"))
    return given((constant_moves(lab) & bound).proving(MOVES), "Remark E.28")


@book.claim(
    "IV.b-signs",
    "Signs printed in D(t) and F(t) of Stage IV.b",
    kind="identity",
    where="Appendix E.7.2, second equalities of D(t) and F(t)",
    parts=["D(t)", "F(t)"],
    origin="proof",
    hypotheses=[],
    uses=["E.28"],
    expect="fails",
    insensitive="it compares signs that the paper prints with each other",
    statement=r"\mathcal D(t):\ k_{si}=_{\rm sgn}k_{si}^{(T_4^-)}=_{\rm sgn}-q_{si}\ (i\notin E_s);\quad\mathcal F(t):\ k_{s\mu}=_{\rm sgn}k_{s\mu}^{(T_4^-)}=_{\rm sgn}-q_{si}",
    reading="at T_4^-, against the six displays of Remark E.28; F(t) has a free index i",
)
def printed_signs(lab: Laboratory) -> dict[str, Verdict]:
    """The signs of Remark E.28 for a positive vote: q_i, k_i by alignment, q_mu, k_mu."""
    table = {"aligned": (1, 1), "unaligned": (-1, -1)}  # signs of q_i and k_i
    q_mu, k_mu = 1, -1
    q, k = table["unaligned"]
    printed = k == -q, all(k_mu == -row[0] for row in table.values())
    right = (
        certified(enumerated="both kinds of pairs") if k == q == -q_mu and k_mu == -q_mu else refuted({"signs": table})
    )
    sentences = (
        "for a positive vote and i not in E_s Remark E.28 has q_si and k_si negative at T_4^-, and D(t) says k_si has the sign "
        "of -q_si",
        "for a positive vote and i not in E_s Remark E.28 has q_si and k_s,mu negative at T_4^-, and F(t) says k_s,mu has the "
        "sign of -q_si",
    )
    form = r"\mathcal D:\ k_{si}=_{\rm sgn}q_{si}=_{\rm sgn}-q_{s\mu}\ (i\notin E_s);\quad\mathcal F:\ k_{s\mu}=_{\rm sgn}-q_{s\mu}"
    return {
        name: (certified() if good else refuted(Witness(said, {}), right.evidence))
        .correcting(form, right, "one letter: with mu for y_i xi_i in the last bracket both lines are right")
        .blaming("misprint", "signs-of-keys")
        for name, good, said in zip(("D(t)", "F(t)"), printed, sentences, strict=True)
    }
