"""Appendix E, one pair of query and key noise: the order of its times, and pairs that start with one sign."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from odesys import (
    Evidence,
    Verdict,
    Witness,
    always_positive,
    certified,
    num,
    refuted,
    sym,
    untested,
)

from ..laboratory import Laboratory
from .book import book, signed, weights_of_pair
from .common_hypotheses import CONDITION, inside_point, taken
from .common_path import CHECKS, along
from .part_d_recursion import pair_moves
from .part_e_i_ii import same_sign_sizes

# ---- pairs with opposite signs ------------------------------------------------------------------------------------------


@book.claim(
    "E.1",
    "Order of the three times of a pair",
    kind="inequality",
    where="Lemma E.1",
    parts=["positive", "order"],
    hypotheses=[
        taken("|q_i|, |k_i| >= 2 beta_mu, by Lemma C.10", r"|q_{si}^{(0)}|,|k_{si}^{(0)}|\ge2\beta_\mu"),
        taken(
            "attention within 1/10 of 1/2, by Lemma C.13",
            r"s_{i,11}^{(0)},s_{i,21}^{(0)}=\tfrac12+o(1),\ \text{so}\ a_i\le2b_i,\ b_i|q_{si}|>a_i|q_{s\mu}|",
        ),
    ],
    uses=["C.10", "C.13", "Eq.10-12"],
    statement=r"0<T^1_{2,s,i}\le T^3_{2,s,i},\quad0<T^2_{2,s,i}\le T^3_{2,s,i}\quad\text{for pairs with opposite signs}",
    reading="with |q_i|, |k_i| >= 2 beta_mu (Lemma C.10) and attention near 1/2 at t = 0 (Lemma C.13), for both signs of v_i - v_mu",
)
def three_times(lab: Laboratory) -> dict[str, Verdict]:
    """At t = 0 signs differ, and so do the first moves; T^3 asks for what T^1 and T^2 ask for, and more."""
    total: Verdict | None = None
    a, b = weights_of_pair()
    for w, e, f in product((1, -1), repeat=3):
        state = {
            "v_1": sym("v_mu") + w * sym("w1"),
            "q1_mu": f * sym("c"),
            "k1_mu": f * sym("d"),
            "q1_1": e * (a / b * sym("c") + sym("q")),
            "k1_1": -e * (2 * sym("d") + sym("k")),
        }
        found = signed(lab, state, {"q1_1": -w * e, "k1_1": w * e}, ("w1", "c", "d", "q"), ("k",))
        total = found if total is None else total & found
    assert total is not None
    total = total & near_half()
    order = certified(enumerated="three equations: T^3 is the first time of (16), (17) and (18) together")
    return {"positive": total, "order": order}


def near_half() -> Verdict:
    """Softmax outputs within 1/10 of 1/2 have a_i < 2 b_i, so that |q_i| >= 2 |q_mu| gives b_i |q_i| > a_i |q_mu|."""
    x, y = (num(Fraction(1, 10)) / (1 + sym(name)) for name in "xy")  # distances from 1/2: a_i = 1/4 - x^2
    return always_positive({"2 b_i - a_i": 2 * (Fraction(1, 4) - y**2) - (Fraction(1, 4) - x**2)}, (), ("x", "y"))


# ---- pairs with one sign -----------------------------------------------------------------------------------------------

CHECKS["E.3: sizes"] = same_sign_sizes


@book.claim(
    "E.3",
    "Pairs with one sign",
    kind="inequality",
    where="Lemma E.3",
    source="damaged",
    parts=["signs and moves", "sizes"],
    hypotheses=CONDITION,
    uses=["Eq.10-12", "C.10"],
    expect="fails",
    statement=r"t\in[0,T_2^+]:\ q=_{\rm sgn}k,\ \Delta q,\Delta k=\mathrm{sgn}\cdot\eta\|\xi_i\|_1;\quad t\ge T_2':\ \tfrac12t\eta\sigma_ps\le|q_{si}|,|k_{si}|\le2t\eta\sigma_ps",
    reading="if the lost display says what its proof says: from t = 0 on, where half of the samples have v_i < v_mu; later uses begin after T_1",
)
def one_sign(lab: Laboratory) -> dict[str, Verdict]:
    """The first move of a pair with |k_i| >= 2 |k_mu|, |q_i| >= 2 |q_mu| (Lemma C.10), for both signs of v_i - v_mu."""

    a, b = weights_of_pair()

    def moves(w: int) -> Verdict:
        total: Verdict | None = None
        for e, f in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            state = {
                "v_1": sym("v_mu") + w * sym("w1"),
                "q1_mu": f * sym("c"),
                "k1_mu": f * sym("d"),
                "q1_1": e * (a / b * sym("c") + sym("q")),
                "k1_1": e * (2 * sym("d") + sym("k")),
            }
            found = signed(lab, state, {"q1_1": w * e, "k1_1": w * e}, ("w1", "c", "d", "q"), ("k",))
            total = found if total is None else total & found
        assert total is not None
        return total

    forward, backward = moves(1) & near_half(), moves(-1) & near_half()
    if backward.as_stated == "holds":
        sentence = (
            "at t = 0 with softmax outputs within 1/10 of 1/2, q_si = k_si = 1, |q_s,mu|, |k_s,mu| <= 1/2 and v_i < v_mu both moves are "
            "negative; v_i^(0) < v_mu^(0) has probability 1/2 for each sample"
        )
        printed = (
            refuted(Witness(sentence, inside_point()), Evidence.CERTIFICATE)
            .correcting(
                r"\text{the same while}\ \langle v^{(t)},y_i\xi_i-\mu\rangle>0,\ \text{so from}\ T_1\ \text{on for pairs that kept their sign}",
                forward,
                "where v_i - v_mu is negative every move of the pair is reversed",
            )
            .blaming("proof", "reversed-start")
        )
    else:
        printed = backward
    return {"signs and moves": printed, "sizes": along(lab, "E.3: sizes", "'sizes' was seen")}


# ---- both groups in the overview ---------------------------------------------------------------------------------------


@book.claim(
    "App.E.1-cases",
    "Two groups of query and key noise",
    kind="inequality",
    where="Appendix E.1, query and key noise before T_2, cases 1 and 2",
    origin="proof",
    source="damaged",
    parts=["1.", "2."],
    hypotheses=[
        *CONDITION,
        taken(
            "noise outweighs signals, by Lemmas C.10 and C.13",
            r"s_{i,21}s_{i,22}|q_{si}|>s_{i,11}s_{i,12}|q_{s\mu}|,\ |k_{si}|>|k_{s\mu}|",
        ),
    ],
    uses=["Eq.10-12", "C.10", "C.13", "E.2"],
    expect="untested",
    statement=r"1.\ q_{si}^{(0)}=_{\rm sgn}k_{si}^{(0)}\Rightarrow\text{both grow in size};\quad2.\ q_{si}^{(0)}\ [=_{\rm sgn}]\ k_{si}^{(0)}\Rightarrow\text{both first shrink in size, rebound quickly and reduce to case 1}",
    reading="the text at hand has one condition for both cases, and no time from which the first holds: before T_1 half of the samples have v_i < v_mu, see E.3",
)
def two_groups(lab: Laboratory) -> dict[str, Verdict]:
    """Moves of pairs with one sign, and of pairs with opposite signs, where v_i > v_mu."""
    same = pair_moves(lab, 1, 1) & pair_moves(lab, -1, -1)
    other = pair_moves(lab, 1, -1) & pair_moves(lab, -1, 1)
    if (same & other).as_stated != "holds":
        return {"1.": same, "2.": other}
    first = untested(
        "from t = 0 on it fails as Lemma E.3 does; that it begins where v_i > v_mu is not printed",
        where_v_i_is_larger=f"{same.as_stated}, one move of a pair with one sign",
    )
    second = untested(
        "its condition is that of the first case in the text at hand; that pairs of opposite signs rebound by 3 T_2' is Lemma E.2",
        with_opposite_signs=f"where v_i > v_mu both shrink: {other.as_stated}, one move",
    )
    return {"1.": first, "2.": second}
