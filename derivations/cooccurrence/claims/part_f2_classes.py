"""Appendix F, the classes in phase 2: Definition F.1, balance of the class sums, and sub-networks."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from odesys import Verdict

from ..laboratory import Laboratory
from ..special.phase_one_bounds import Bounds, Cell, mean_slope
from ..special.phases import PhaseTwo
from ..special.phases import phase_two as predicate
from ..special.sample_sums import Sums, mirror
from .book import book
from .common_hypotheses import PHASES
from .common_late import (
    as_derived,
    at_time,
    in_time,
    irrelevant_part,
    over_networks,
    small_items,
    tied_points,
    time_points,
)
from .common_runs import ALL, SIGN, T1, always, late, likely, ordered, phase_two
from .part_c2_sub_network import beta_rate
from .part_e2_terms import EVENTS, at_most, certain, even
from .part_e3_half_way import HALF_OF_TRAP, SANDWICH
from .part_e4_classes import softmax_speed
from .part_e5_theorem import beta_bounds

MATRICES = ("m", "m1", "c0")  # paths of networks with path matrices
LOGARITHM = (
    "tried: with loss <= C/t and |G| <= C log t the row sums of special/phase_one_bounds.py bound every rate; both premises are "
    "F.8 and F.7, which are measured"
)


# ---- Definition F.1 ----------------------------------------------------------------------------------------------


def items(run: Any) -> np.ndarray:
    """Largest used over allowed of the items of Definition F.1 at each time of phase 2; (a)-(e) by bounds at infinite width."""
    if isinstance(run, Sums):
        small = np.array([max(small_items(run, run.scale, tau).values()) for tau in late(run, run.taus)])
        return np.max([*(late(run, used) for used in sum_items(run, 3.0)), small], axis=0)
    found = predicate(run, PhaseTwo(irrelevant=10.0))
    return np.max([late(run, ratio) for ratio in found.ratios.values()], axis=0)


def sum_items(run: Sums, signals: float, m: float = 0.0) -> list[np.ndarray]:
    """Items (f)-(j) of Definition F.1, used over allowed at all times; |G| may be `signals` times log m."""
    S = run.S
    low, high = np.minimum(S[2], S[3]), np.maximum(S[2], S[3])
    return [
        S[4] / low,
        high / S[1],
        S[1] / (S[2] + S[3] + S[4]),
        high / low / 2,
        0.1 / np.maximum(run.margins.min(axis=1), 1e-300),
        np.abs(run.special).max(axis=1) / (signals * np.log(m or float(run.scale.m))),
        irrelevant_part(run) / 10,
    ]


@book.claim(
    "F.1",
    "Phase 2",
    kind="definition",
    where="Definition F.1",
    source="damaged",
    hypotheses=PHASES,
    uses=["E.27"],
    statement=r"t\in[T_1,T_2]:\ \Delta\kappa,\Delta\rho=\widetilde O(\sigma_0^2\sqrt m);\ |\Delta p|<O(\tfrac1{L^2});\ \beta\le O(\sigma_1^2mm_1);\ \tfrac{\max_\mu|\sum_ja_j\dot w_j^\top W_V\mu|}\beta\le o(\tfrac1L)\tfrac1n\sum g_i;\ \tfrac{\max_i|\sum G\dot p|}\beta\le o(1)\tfrac1n\sum g_i;\ S_4\le\min(S_2,S_3)\le\max(S_2,S_3)\le S_1\le S_2+S_3+S_4,\ \tfrac12\le\tfrac{S_2}{S_3}\le2;\ y_iF_i>C;\ |G(\mu_k)|\le O(\log m);\ \sum_{l_1}\sum_{\mathcal R}G\,p\le O(1);\ T_2\le O(\mathrm{poly}(m))",
    reading="Constants 1, 1, 2, 1/10, 1/10, order and balance as printed, 1/10, 3, 10, up to tau = 10^3.",
)
def phase_two_holds(lab: Laboratory) -> Verdict:
    """The predicate at all times of phase 2."""
    what = "all items of Definition F.1 hold up to tau = 10^3"
    return likely(
        lab,
        what,
        lambda r: items(r).max() <= 1,
        items,
        phase_two,
        ({"high": 1}, "the constants of the reading: used over allowed"),
        ALL,
    )


@book.claim(
    "F.3",
    "Phase 2 begins",
    kind="existence",
    where="Lemma F.3",
    parts=("all items at T_1",),
    hypotheses=PHASES,
    uses=["F.1", "E.25", "E.12", "E.5", "E.10", "E.24", "E.21", "E.27"],
    statement=r"\text{Phase 2 in Definition F.1 is well defined}",
    reading="At T_1 each condition of F.1 is below 0.9 of what is allowed (10 for the irrelevant part); along n, L at infinite width, (a)-(e) powers of 1/m.",
)
def phase_two_begins(lab: Laboratory) -> Verdict:
    """The predicate at T_1."""
    what = "all items of Definition F.1 are below 0.9 at T_1"
    tried = "tried: items (a)-(e) have the certificates of E.25, E.24, E.27, E.10; order, balance and margins are those of E.27"
    return likely(
        lab,
        what,
        lambda r: items(r)[0] < 0.9,
        items,
        phase_two,
        ({"high": 0.9}, "a tenth below what is allowed, so that phase 2 lasts longer than T_1"),
        ALL,
        tried,
    )


@book.claim(
    "F.3-proof",
    "The small terms at T_1",
    kind="order",
    origin="proof",
    where="Proof of Lemma F.3, the displays of the gradient of W and of the softmax",
    source="damaged",
    parts=("gradient of W", "over beta", "softmax", "softmax over beta"),
    hypotheses=PHASES,
    uses=["E.10", "D.3", "E.24", "E.27"],
    statement=r"\max_\mu\Big|\sum_ja_j\partial_tw_j^{(T_1)}W_V^{(T_1)}\mu\Big|=O(\sigma_0^2mm_1),\ \text{over}\ \textstyle\sum\langle a_{j_1}w_{j_1},a_{j_2}w_{j_2}\rangle:\ \widetilde O(\tfrac{m_1}{Lm});\quad\max_i\Big|\sum_{l_1,l_2}G(X^{(i)}_{l_2})\partial_tp_{l_1,l_2}\Big|=\widetilde O(\tfrac1{\sqrt m}),\ \text{over the same}:\ \widetilde O(\tfrac1{m^{3/2}})",
    reading=f"Up to T_1, {EVENTS}, constant 100; sigma_0^2/sigma_1^2 is c_0^2 m_1/(Lm), and beta at least 9/10.",
)
def small_terms_late(lab: Laboratory) -> dict[str, Verdict]:
    """m_1 Gamma xi, and L^2 |G| times the rate of p, by the bootstrap."""

    def values(c: Cell, x: Bounds) -> flint.arb:
        return mean_slope() * (x["V_diag"] * even(x) + x["V_off"] * c.power(L=1, m=-Fraction(1, 2)))

    def softmax(c: Cell, x: Bounds) -> flint.arb:
        rate = softmax_speed(c, x, False) * (c.power(L=-1) + c.power(m=-Fraction(1, 2)))
        return x["G"] * rate * c.power(L=1, m=-Fraction(1, 2))

    first, second = at_most(lab, values), at_most(lab, softmax)
    size = certain(lab, beta_bounds)
    return {"gradient of W": first, "over beta": first & size, "softmax": second, "softmax over beta": second & size}


POSITIVE = (
    "tried: by (5) it grows while all margins are positive, which is item (h) of F.1; at T_1 beta is certified (E.27)"
)


def beta_gain(run: Any) -> np.ndarray:
    """beta - beta(T_1) in units m1/beta(0), from T_1 on; at infinite width it is that of the squares of G."""
    if isinstance(run, Sums):
        gain = run.squares
    else:
        gain = np.einsum("i,kij,j->k", run.signs, run.changes["WW"], run.signs) * run.scale.B / run.scale.m1
    return late(run, gain) - late(run, gain)[0]


def spread(run: Any) -> np.ndarray:
    """log of the largest g_i / g_j of two samples of a class, over 2 max |F(0)| of the network."""
    ratio = np.max([run.g[:, p].max(axis=1) / run.g[:, p].min(axis=1) for p in run.classes.values()], axis=0)
    return late(run, np.log(ratio) / (2 * np.abs(run.outputs[0]).max()))


@book.claim(
    "F.2",
    "Gradients inside a class",
    kind="order",
    where="Corollary F.2",
    parts=("ratio",),
    hypotheses=PHASES,
    uses=["F.1"],
    statement=r"i,j\in I_c:\ \max g_i^{(t)}/g_j^{(t)}\le O(1)\quad(t\in[T_1,T_2])",
    reading="Networks to tau = 10^3, infinite width to m^2 at n = 630, L = 4: log(g_i/g_j) <= 2 max|F(0)| <= 0.02, proved for m to infinity.",
)
def inside_class(lab: Laboratory) -> Verdict:
    """log of the largest ratio of two samples of a class against what the start allows."""
    because = "for m to infinity |F_i - F_j| never grows in a class, so that g_i/g_j is at most exp(2 max|F(0)|); a percent for m^(-1/2)"
    tried = (
        "tried: for m to infinity it is proved, with e^0.02 for the constant: H_i - H_j and its rate have opposite signs; at finite "
        "m attention and beta add a force that was not bounded after T_1"
    )
    seen = over_networks(
        lab, "log(g_i/g_j) over 2 max|F(0)|", time_points(lab), lambda r, p: at_time(r, spread(r), p["tau"])
    )
    return always(lab, "log(g_i/g_j) over 2 max|F(0)|", spread, 0, 1.01, because, along=ALL, why=tried) & seen.between(
        0, 1.01, because
    )


@book.claim(
    "F.4",
    "Summed correlations grow",
    kind="inequality",
    where="Lemma F.4",
    parts=("identity", "positive", "size"),
    hypotheses=PHASES,
    uses=["Eq.5", "F.1", "C.2", "E.27"],
    statement=r"\partial_t\sum_{j_1,j_2}\langle a_{j_1}w_{j_1},a_{j_2}w_{j_2}\rangle=\tfrac{2m_1}n\sum_ig_iy_iF_i>0,\quad\sum_{j_1,j_2}\langle a_{j_1}w_{j_1},a_{j_2}w_{j_2}\rangle=\Omega(\sigma_1^2mm_1)",
    reading="Right side of (5) up to tau = 10^3; margins to m^2 at n = 630, L = 4, infinite width; beta(0), hence the size, knows neither n nor L.",
)
def beta_grows(lab: Laboratory) -> dict[str, Verdict]:
    """Eq. (5), and beta along networks."""

    def rate(run: Any) -> np.ndarray:
        return late(run, (run.g * run.margins).mean(axis=1))  # the right side of (5) over 2 m_1

    def least(run: Any, p: Any) -> float:
        return float(run.margins[(run.taus >= T1) & (run.taus <= float(p["m"]) ** 2)].min())

    fine = over_networks(
        lab, "the least margin at all times from T_1 to m^2, nearly three a decade", tied_points(lab)[:1], least
    )

    def size(run: Any) -> np.ndarray:
        return run.scale.B / late(run, run.beta)

    because = "beta starts within a tenth of its mean (E.27, certified at T_1) and grows, by a power of 1/m of it (F.9)"
    return {
        "identity": beta_rate(lab),
        "positive": likely(
            lab,
            "the right side of (5) is positive at every recorded time",
            lambda r: (rate(r) > 0).all(),
            rate,
            phase_two,
            SIGN,
            ALL,
            POSITIVE,
        )
        & fine.between(
            0.1, np.inf, "C of item (h) of F.1; where all margins are positive, so is the right side of (5)"
        ),
        "size": ordered(lab, "sigma_1^2 m m_1 over beta", size, along=MATRICES, part=phase_two, why=POSITIVE)
        & always(lab, "sigma_1^2 m m_1 over beta", size, 1 / 2, 10 / 9, because, along=MATRICES, why=POSITIVE),
    }


def imbalance(run: Any) -> np.ndarray:
    """|log(S_2/S_3)| in phase 2 over 2B(0): the quotient of Lemma F.5 is at most e^(2B(0)) - 1 where this is at most 1."""
    return late(run, np.abs(np.log(run.S[2] / run.S[3]))) / (2 * mirror(run)[0])


def printed_imbalance(run: Any) -> np.ndarray:
    """|S_2 - S_3| over the smaller of both, in phase 2."""
    return late(run, np.abs(run.S[2] - run.S[3]) / np.minimum(run.S[2], run.S[3]))


PRINTED, SCALED = "|S_2 - S_3|/min(S_2, S_3)", "|log(S_2/S_3)| over 2B(0)"
SMALL_C = 0.021
SMALL_BECAUSE = "C = e^(2B(0)) - 1, where B(0) is a difference of starts and at most 0.01, the bound of D.8, with probability 1 - delta; a percent for m^(-1/2)"


def balance(lab: Laboratory) -> Verdict:
    """The quotient is a small constant, whatever the parameters."""
    because = f"paired outputs differ by at most |G_1 - G_2| + |H_i - H_j| <= 2B: {NEVER_GROWS}"
    tried = "tried: for m to infinity it is proved, for all t, n and L, with C = e^(2B(0)) - 1; at finite m attention and beta add a force that was not bounded after T_1"
    found = always(lab, PRINTED, printed_imbalance, 0, SMALL_C, SMALL_BECAUSE, along=ALL, why=tried)
    for what, read, top, why in (
        (PRINTED, printed_imbalance, SMALL_C, SMALL_BECAUSE),
        (SCALED, imbalance, 1.01, because),
    ):
        seen = over_networks(lab, what, time_points(lab), lambda r, p, read=read: at_time(r, read(r), p["tau"]))  # type: ignore[misc]
        found = found & seen.between(0, top, why)
    return found & always(lab, SCALED, imbalance, 0, 1.01, because, along=ALL, why=tried)


@book.claim(
    "F.5",
    "One-target classes balance",
    kind="order",
    where="Lemma F.5",
    source="damaged",
    parts=("balance",),
    hypotheses=PHASES,
    uses=["Eq.12", "F.5-proof", "F.5-bound", "F.1"],
    statement=r"\exists C\ll1:\ \frac{|\sum_{I_2}g_i-\sum_{I_3}g_i|}{\min(\sum_{I_2}g_i,\sum_{I_3}g_i)}\le C\quad(t\in[T_1,T_2])",
    reading="C = exp(2B(0))-1 <= 0.021, B of F.7, proved for m to infinity; networks to tau = 10^3, infinite width to m^2 at n = 630, L = 4.",
)
def one_target_balance(lab: Laboratory) -> Verdict:
    """The quotient along networks."""
    return balance(lab)


@book.claim(
    "4.4",
    "One-target classes balance (short)",
    kind="order",
    where="Lemma 4.4",
    source="damaged",
    parts=("balance",),
    hypotheses=PHASES,
    same_as="F.5",
    uses=["F.5"],
    statement=r"\exists C\ll1:\ \frac{|\sum_{I_2}g_i-\sum_{I_3}g_i|}{\min(\sum_{I_2}g_i,\sum_{I_3}g_i)}\le C\quad(t\in[T_1,T_2])",
    reading="As F.5.",
)
def one_target_balance_again(lab: Laboratory) -> Verdict:
    """The same statement."""
    return balance(lab)


TRAPPED = (
    "tried: for n to infinity R is trapped in [1.2, 1.54] for ever (certified); at finite n the trapping set has the irrelevant "
    "words as further variables, and they grow"
)


def quotients(lab: Laboratory, names: tuple[str, ...]) -> dict[str, Verdict]:
    """The bounded quotients of Lemma F.6 in m and in time, and the sandwich."""
    differences: dict[str, Callable[[Any], np.ndarray]] = {
        "common word": lambda r: r.S[2] + r.S[3] + r.S[4] - r.S[1],
        "mu1": lambda r: r.S[1] - r.S[2],
        "mu2": lambda r: r.S[1] - r.S[3],
    }
    parts = {}
    for name in names:
        if name in differences:

            def quotient(run: Any, part: Callable[[Any], np.ndarray] = differences[name]) -> np.ndarray:
                return late(run, sum(run.S.values()) / part(run))

            def turned(run: Any, part: Callable[[Any], np.ndarray] = differences[name]) -> np.ndarray:
                return late(run, part(run) / sum(run.S.values()))

            what = "sum g over the difference"
            parts[name] = ordered(lab, what, quotient, along=ALL, part=phase_two, why=TRAPPED, routes=turned) & in_time(
                lab, what, quotient
            )

    if "rates" in names:
        parts["rates"] = equal_targets(lab, "dG_1/dG_2", lambda r: r.G_rate, RATES_NEAR, TRAPPED)
    if "sandwich" in names:
        parts["sandwich"] = late_sandwich(lab)
    return parts


NEVER_GROWS = "for m to infinity B = max(|G_1 - G_2|, max|H_i - H_j|) over pairs of I_2 and I_3 never grows, since the rate of the largest has the opposite sign; a percent for m^(-1/2)"
RATES_NEAR = "follows from F.5 and the sandwich: for S_3 <= S_2, dG_1/dG_2 is 1 + (S_3 - S_2)/(S_1 - S_3) with |S_3 - S_2| <= 0.021 S_3 and S_2 <= 3 (S_1 - S_3) as R <= 2, else the inverse; 1/2 and 2 are far away"
VALUES_NEAR = "|G_1 - G_2| is at most B(0) (the next number), 0.01 under the bound of D.8, and G_2 is at least 1/2 at T_1 (E.27) and grows"


def equal_targets(lab: Laboratory, what: str, values: Callable[[Any], np.ndarray], because: str, why: str) -> Verdict:
    """A ratio that is 1 by symmetry but for the start stays between 1/2 and 2, along networks and at infinite width."""

    def ratio(run: Any) -> np.ndarray:
        return late(run, values(run)[:, 0] / values(run)[:, 1])

    found = always(lab, what, ratio, 0.5, 2, because, along=ALL, why=why)
    points = time_points(lab)
    seen = over_networks(lab, what, points, lambda r, p: at_time(r, ratio(r), p["tau"]))
    return found & seen.between(0.5, 2, because) & as_derived(lab, points[0])


def mirror_gap(run: Any) -> np.ndarray:
    """B, which bounds |G_1 - G_2|, in phase 2 over its start."""
    return late(run, mirror(run) / mirror(run)[0])


def late_sandwich(lab: Laboratory) -> Verdict:
    """1 + C <= R <= 2(1 - C) along networks with high probability, and at infinite width up to tau = m^2."""

    def R(run: Any) -> np.ndarray:
        return late(run, run.R())

    low, high = 1 + SANDWICH, 2 * (1 - SANDWICH)
    what = "(1 + C) max(dG1, dG2) <= -dG3 <= (1 - C)(dG1 + dG2) up to tau = 10^3"

    def inside(run: Any) -> bool:
        G = run.G_rate[run.taus >= T1]
        return bool(
            (low * G[:, :2].max(axis=1) <= -G[:, 2]).all() and (-G[:, 2] <= high / 2 * G[:, :2].sum(axis=1)).all()
        )

    seen = over_networks(lab, "R", time_points(lab), lambda run, p: at_time(run, R(run), p["tau"]))
    found = likely(lab, what, inside, R, phase_two, ({"C": SANDWICH}, HALF_OF_TRAP), ALL, TRAPPED)
    return found & seen.between(low, high, f"C = 0.1, as in E.19: {HALF_OF_TRAP}")


@book.claim(
    "F.6",
    "Automatic balancing",
    kind="order",
    where="Lemma F.6",
    parts=("common word", "mu1", "mu2", "rates", "sandwich"),
    hypotheses=PHASES,
    uses=[
        "Eq.13",
        "Eq.14",
        "Eq.15",
        "Eq.16",
        "F.6-proof/c",
        "F.6-root",
        "F.6-root/b",
        "F.5",
        "E.19",
        "F.1",
        "Beyond.level3",
    ],
    statement=r"\tfrac{\sum_{[n]}g_i}{S_2+S_3+S_4-S_1},\ \tfrac{\sum_{[n]}g_i}{S_1-S_2},\ \tfrac{\sum_{[n]}g_i}{S_1-S_3}=O(1),\ \tfrac{\dot G(\mu_1)}{\dot G(\mu_2)}=\Theta(1),\ (1+C)\max(\dot G(\mu_1),\dot G(\mu_2))\le-\dot G(\mu_3)\le(1-C)(\dot G(\mu_1)+\dot G(\mu_2))",
    reading="C = 0.1; networks to tau = 10^3, infinite width to m^2 at n = 630, L = 4; E.19 supplies R(T_1) < 2, [1, 3] is not enough.",
)
def balancing(lab: Laboratory) -> dict[str, Verdict]:
    """All five parts."""
    return quotients(lab, ("common word", "mu1", "mu2", "rates", "sandwich"))


@book.claim(
    "4.5",
    "Automatic balancing (short)",
    kind="order",
    where="Lemma 4.5",
    parts=("common word", "mu1", "sandwich"),
    hypotheses=PHASES,
    same_as="F.6",
    uses=["F.6"],
    statement=r"\tfrac{\sum_{[n]}g_i}{S_2+S_3+S_4-S_1},\ \tfrac{\sum_{[n]}g_i}{S_1-S_2}=O(1),\ (1+C)\max(\dot G(\mu_1),\dot G(\mu_2))\le-\dot G(\mu_3)\le(1-C)(\dot G(\mu_1)+\dot G(\mu_2))",
    reading="Three parts of F.6.",
)
def balancing_again(lab: Laboratory) -> dict[str, Verdict]:
    """The parts printed in the main text."""
    return quotients(lab, ("common word", "mu1", "sandwich"))


INTEGRATED = "tried: the sandwich of F.6 integrates to bounds of G_1/-G_3 from the values at T_1 (E.27), and |G_1 - G_2| <= B(0) is proved for m to infinity; F.6 and E.27 are measured"


@book.claim(
    "F.7",
    "Sub-networks are comparable",
    kind="order",
    where="Corollary F.7",
    parts=("G_1/G_2", "G_1/-G_3", "G_2/-G_3"),
    hypotheses=PHASES,
    uses=["F.6", "E.27", "Beyond.level3"],
    statement=r"\tfrac{G(\mu_1)}{G(\mu_2)},\ \tfrac{G(\mu_1)}{-G(\mu_3)},\ \tfrac{G(\mu_2)}{-G(\mu_3)}=\Theta(1)\quad(t\in[T_1,T_2])",
    reading="B = max(|G_1-G_2|,|H_i-H_j|), H_i over irrelevant words, never grows; networks to tau = 10^3, infinite width to m^2 at n = 630, L = 4; limit 2/3.",
)
def comparable(lab: Laboratory) -> dict[str, Verdict]:
    """Ratios along networks, and at infinite width up to tau = m^2; G_1 = G_2 but for the start."""
    what = "B = max(|G_1 - G_2|, max|H_i - H_j|) over its start"
    same = always(lab, what, mirror_gap, 0, 1.01, NEVER_GROWS, along=ALL, why=INTEGRATED)
    seen = over_networks(lab, what, time_points(lab), lambda r, p: at_time(r, mirror_gap(r), p["tau"]))
    near = equal_targets(lab, "G_1/G_2", lambda r: r.G, VALUES_NEAR, INTEGRATED)
    parts = {"G_1/G_2": near & same & seen.between(0, 1.01, NEVER_GROWS)}
    for name, i in (("G_1/-G_3", 0), ("G_2/-G_3", 1)):

        def ratio(run: Any, i: int = i) -> np.ndarray:
            return late(run, -run.G[:, i] / run.G[:, 2])

        parts[name] = ordered(lab, name, ratio, "Theta", ALL, phase_two, why=INTEGRATED) & in_time(
            lab, name, ratio, "Theta"
        )
    return parts
