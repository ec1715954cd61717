"""Appendix E, the terms of phase 1: definitions E.1 and E.2, and how neurons and values move up to T_1.

The lemmas are certified in boxes of parameters by the bootstrap of `special/phase_one_bounds.py`, on the events of
Appendix D; that the derived system has the equations it starts from is checked each time.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import flint

from odesys import HOLDS, Verdict, as_ball, graph, identity

from ..laboratory import Laboratory
from ..special.phase_one_bounds import DELTA, HALF, T1, Bounds, Cell, Start, everywhere, mean_slope, score_gain
from .book import book, toy_neurons
from .common_hypotheses import MANY_NEURONS, PHASES
from .common_runs import phase_one, two_routes
from .common_start import certainly
from .part_b_c_system import level_zero

LOGS = "log(2nLd m m_1/delta) for what the tilde hides"
EVENTS = "on the events of D.1, D.3-D.5 (corrected), D.7, D.8, E.5"
CONSTANT = 100  # what O and Theta may hide here: T_1 = 40 and |G| <= 21 up to then are constants of the statements


def certain(lab: Laboratory, check: Callable[[Cell, Bounds], Any], **constants: Any) -> Verdict:
    """A bound that follows from the bootstrap in every box, for a system with the equations of Appendix C."""
    form = level_zero(lab)
    if form.as_stated != HOLDS:  # the bounds are those of other equations
        return form
    return everywhere(check).with_constants(**constants)


def at_most(lab: Laboratory, ratio: Callable[[Cell, Bounds], flint.arb], constant: int = CONSTANT) -> Verdict:
    """A ratio to a printed order is at most a constant in every box."""
    return certain(lab, lambda c, x: ratio(c, x) <= constant, C=constant)


def even(x: Bounds) -> flint.arb:
    """e^{2s}: softmax weights are at most this over L."""
    return (2 * x["score"]).exp()


def score_speed(c: Cell, x: Bounds) -> flint.arb:
    """|d score/dt| over (1/sqrt(m)) (share of mu + share of nu) (1/L + 1/sqrt(m))."""
    inner = c.power(c0=2, L=-2) * x["K_diag"] + c.power(c0=2, L=-1, m=-HALF) * x["K_off"]
    return 2 * x["G"] * even(x) * inner / (c.power(L=-1) + c.power(m=-HALF))


def others(c: Cell, x: Bounds, factor: flint.arb, root: flint.arb) -> flint.arb:
    """Change of w_j'W_V mu on an irrelevant word over R, with `factor` for 1/n and `root` for 1/sqrt(m)."""
    share = c.power(m1=1, m=-1, c0=2, L=-1)
    lead = (x["square"] + x["cross"] * c.power(m1=HALF, m=-HALF) + share * x["V_diag"]) * even(x)
    return T1 * (lead * factor + c.power(m1=1, m=-1, c0=2) * mean_slope() * x["V_off"] * root) / x["wv_change"]


# ---- definitions -------------------------------------------------------------------------------------------------


@book.claim(
    "E.1",
    "Radius of keys and queries",
    kind="definition",
    where="Definition E.1",
    source="damaged",
    hypotheses=PHASES,
    uses=["C.4"],
    statement=r"R_K=\max_{i,j}|\mu_i^\top W_K^{(t)\top}W_K^{(t)}\mu_j-\mu_i^\top W_K^{(0)\top}W_K^{(0)}\mu_j|,\quad R_Q\ \text{likewise}",
    reading="Both are read off the derived flow and off the same network trained in weight space.",
)
def radii(lab: Laboratory) -> Verdict:
    """Both radii by two routes."""
    return two_routes(lab, lambda run: [run.moved("KK"), run.moved("QQ")], phase_one)


ITEMS: dict[str, Callable[[Cell, Bounds], flint.arb]] = {
    "mu1, mu2, mu3": lambda c, x: x["wv_change"],
    "other words": lambda c, x: others(c, x, flint.arb(1), flint.arb(1)),  # over R (1/n + 1/sqrt(m))
    "scores": lambda c, x: score_gain(c, x) * c.power(c0=2, L=-1, m=1),
    "queries": lambda c, x: 4 * T1 * x["A"] * x["G"] * even(x) * c.power(m=-3 * HALF) / c.tilde,
    "keys": lambda c, x: 4 * T1 * x["A"] * x["G"] * even(x) * c.power(m=-3 * HALF) / c.tilde,
}


def phase_one_parts(lab: Laboratory) -> dict[str, Verdict]:
    """Each item is at most a constant times its order, with R = C/m_1 where C is the bound of the first."""
    return {name: at_most(lab, ratio) for name, ratio in ITEMS.items()}


@book.claim(
    "E.2",
    "Phase 1",
    kind="definition",
    where="Definition E.2",
    source="damaged",
    hypotheses=PHASES,
    uses=["E.1"],
    statement=r"T_1=\min\{t',\tfrac{C_{T_1}}{\sigma_1^2mm_1}\}:\ \max_{\mu\le3}|\Delta w_j^\top W_V\mu|\le R<O(\tfrac1{m_1}),\ \max_{\mu>3}|\Delta w_j^\top W_V\mu|\le O(\tfrac Rn+\tfrac R{\sqrt m}),\ |\Delta A|\le R_S\le O(\tfrac1{m\sqrt m}),\ R_K,R_Q\le\widetilde O(\sigma_0^2\sqrt m)",
    reading="C_T1 = 40; j runs over the m_1 neurons; that all items hold up to then is Theorem E.26.",
)
def phase_one_holds(lab: Laboratory) -> Verdict:
    """The first item, which sets the scale of the phase."""
    return phase_one_parts(lab)["mu1, mu2, mu3"]


def softmax_gain(c: Cell, x: Bounds) -> flint.arb:
    """L R_P: p(ds - sum p ds) along the way, with the change of the scores over sqrt(m)."""
    return 2 * even(x) * score_gain(c, x) * c.power(c0=2, L=-1, m=-1)


@book.claim(
    "E.3",
    "Change of the softmax",
    kind="order",
    where="Proposition E.3",
    source="damaged",
    parts=("R_P",),
    hypotheses=PHASES,
    uses=["E.2", "G.2"],
    statement=r"R_P=\max_{i,\mu,\nu}|p^{(t,i)}_{q\leftarrow\mu,k\leftarrow\nu}-p^{(0,i)}_{q\leftarrow\mu,k\leftarrow\nu}|=O\big(\tfrac1{\sqrt mL}+\tfrac Lm\big)",
    reading=f"Up to T_1, {EVENTS}; what is certified is smaller by m^(3/2).",
)
def softmax_change(lab: Laboratory) -> Verdict:
    """The ratio to the printed order."""
    return at_most(lab, lambda c, x: softmax_gain(c, x) / (c.power(m=-HALF) + c.power(L=2, m=-1)))


# ---- along phase 1 -----------------------------------------------------------------------------------------------


def mixed_gain(c: Cell, x: Bounds) -> flint.arb:
    """Change of w_j'V p_l by that of w_j'W_V mu, over R/L: three special words and L - 1 others at most."""
    return even(x) * (3 + others(c, x, c.power(L=1, n=-1), c.power(L=1, m=-HALF)))


def start_part(c: Cell, x: Bounds) -> bool:
    """The start values |w_j'W_V mu| are at most sigma_0 sigma_1 sqrt(m) times the logarithm: what L R_P is multiplied by."""
    return bool(Start(c).spread(c.words + c.log(1, m1=1)) <= c.tilde)


@book.claim(
    "E.7",
    "Neurons on mixed values move little",
    kind="order",
    where="Lemma E.7",
    source="damaged",
    parts=("bound",),
    hypotheses=PHASES,
    uses=["E.2", "E.3"],
    statement=r"|w_j^{(t)}W_V^{(t)}X^{(i)}p_l^{(t,i)}-w_j^{(0)}W_V^{(0)}X^{(i)}p_l^{(0,i)}|\le\widetilde O(LR_P\sigma_0\sigma_1\sqrt m)+\tfrac{4R}L",
    reading=f"R = 21/m_1 is the bound of Definition E.2; the 4 is the printed one, and {LOGS}.",
)
def mixed_change(lab: Laboratory) -> Verdict:
    """The change of w_j'W_V mu times p is at most 4R/L, the start times the change of p is the other term."""
    return certain(lab, lambda c, x: mixed_gain(c, x) <= 4 and start_part(c, x), C=4)


@book.claim(
    "E.7-proof",
    "The change is below the start",
    kind="inequality",
    origin="proof",
    where="Section E.2, the sentence after Lemma E.7",
    parts=("inequality",),
    hypotheses=(*PHASES, MANY_NEURONS),
    uses=["E.3", "E.7"],
    insensitive="a statement about the parameters, whatever is trained",
    statement=r"\widetilde O(LR_P\sigma_0\sigma_1\sqrt m)+\tfrac{4R}L<\sigma_0\sigma_1\sqrt{m/L}",
    reading="R = 21/m_1, R_P 100 times the order of E.3, the logarithm for the tilde: it asks m_1 > (84/c_0)^2, a polylogarithm; nothing uses it.",
)
def change_below_start(lab: Laboratory) -> Verdict:
    """Both terms over the right side, at the smallest m_1 that is allowed and above it."""
    cases = [
        {"n": n, "L": L, "m": m, "m1": factor * 7200 * int(1 / c0**2), "c0": c0}
        for (n, L), m, factor, c0 in product(
            ((30, 4), (60, 5), (3000, 40)), (10**30, 10**32), (1, 10, 100), (Fraction(1, 2000), Fraction(1, 20000))
        )
    ]

    def below(c: Any) -> bool:
        n, L, m, m1 = (flint.arb(c[name]) for name in ("n", "L", "m", "m1"))
        tilde = (2 * n**2 * L**2 * m * m1 * 20).log()
        first = CONSTANT * tilde * (m ** (-flint.arb(1) / 2) + L**2 / m) * L.sqrt()
        return bool(first + 84 / (as_ball(c["c0"]) * m1.sqrt()) < 1)

    return certainly(cases, below, "points inside Condition 1").proving(
        "both terms over sigma_0 sigma_1 sqrt(m/L)", m="listed"
    )


@book.claim(
    "E.9",
    "Value Gram matrix in phase 1",
    kind="order",
    where="Lemma E.9",
    source="damaged",
    parts=("rate", "change", "products", "norms"),
    hypotheses=PHASES,
    uses=["C.3", "E.7", "E.8"],
    statement=r"|\partial_t\langle v(\mu),v(\nu)\rangle|\le\tfrac{|\{i\ni\mu\}|+|\{i\ni\nu\}|}nO(1),\ |\Delta\langle v(\mu),v(\nu)\rangle|\le t\,\tfrac{|\{i\ni\mu\}|+|\{i\ni\nu\}|}nO(1),\ |\langle v(\mu),v(\nu)\rangle|\le\widetilde O(\sigma_0^2\sqrt m)\ (\mu\ne\nu),\ \|v(\mu)\|^2=\Theta(\sigma_0^2m)",
    reading=f"Up to T_1, {EVENTS}, with {LOGS}.",
)
def value_change(lab: Laboratory) -> dict[str, Verdict]:
    """|G| max(g c) for the rate, its integral, and start plus change."""
    speed = at_most(lab, lambda c, x: x["G"] * even(x))

    def norms(c: Cell, x: Bounds) -> bool:
        gain = c.radius(c.words) + 2 * T1 * x["G"] * even(x) * c.power(m=-1, c0=-2, L=1)
        return bool(gain <= flint.arb(1) / 10)

    return {
        "rate": speed,
        "change": speed,
        "products": at_most(lab, lambda c, x: x["V_off"] / c.tilde),
        "norms": certain(lab, norms, low=0.9, high=1.1),
    }


@book.claim(
    "E.10",
    "Second small term in phase 1",
    kind="order",
    where="Corollary E.10",
    source="damaged",
    parts=("bound",),
    hypotheses=PHASES,
    uses=["E.9", "D.3"],
    statement=r"\Big|\tfrac1n\sum_ig_iy_i\sum_{l_1}a_j\sum_{l_2:v_{l_2}\ne v(\mu_1)}\langle p_{l_1,l_2}v_{l_2},v(\mu_1)\rangle\Big|\le L\cdot\widetilde O(\sigma_0^2\sqrt m)",
    reading=f"For every word, up to T_1, {EVENTS}, with {LOGS}.",
)
def second_term(lab: Laboratory) -> Verdict:
    """The forces of all words sum to gamma L at most."""
    return at_most(lab, lambda c, x: mean_slope() * x["V_off"] / c.tilde)


def cross_ratio(c: Cell, x: Bounds) -> flint.arb:
    """The term of E.11 over share sigma_1^2 sqrt(m m1) and the logarithm."""
    return even(x) * x["cross"] / c.tilde


@book.claim(
    "E.11",
    "First small term in phase 1",
    kind="order",
    where="Lemma E.11",
    source="damaged",
    parts=("bound",),
    hypotheses=PHASES,
    uses=["E.5", "E.12", "E.11-proof"],
    statement=r"\Big|\tfrac1n\sum_{i\ni\mu_1}g_iy_i\sum_l\sum_{k\ne j}a_k\langle w_j,w_k\rangle p_{q\leftarrow l,k\leftarrow\mu_1}\Big|\le\tfrac{|\{i\ni\mu_1\}|}n\widetilde O(\sigma_1^2\sqrt{mm_1})",
    reading=f"For every neuron and word, up to T_1, {EVENTS}, with {LOGS}.",
)
def first_term(lab: Laboratory) -> Verdict:
    """Cross correlations times the share of samples."""
    return at_most(lab, cross_ratio)


@book.claim(
    "E.11-proof",
    "What the last display carries along",
    kind="order",
    origin="proof",
    where="Proof of Lemma E.11, last two displays",
    parts=("p", "display"),
    hypotheses=PHASES,
    uses=["E.3", "E.5", "E.12"],
    statement=r"p_{q\leftarrow l,k\leftarrow\mu_1}\le\tfrac1L+\tfrac1{L^2}+R_P,\quad\tfrac\alpha n\sum_{i\ni\mu_1}g_iy_i\sum_l\sum_{k\ne j}a_k\dot\sigma_{i,l,k}\langle w_j,w_k\rangle p_{q\leftarrow l,k\leftarrow\mu_1}\le\alpha\tfrac{|\{i\ni\mu_1\}|}n\widetilde O(\sigma_1^2\sqrt{mm_1}L)",
    reading="alpha and sigma-dot are 1, as outputs are linear in every neuron; the display is then looser than its lemma by L.",
)
def last_display(lab: Laboratory) -> dict[str, Verdict]:
    """Second derivatives by neurons, the printed bound on p, and the lemma's order."""
    flow, _ = toy_neurons(lab)
    neurons = list(flow.layout.symbols["WV"].ravel())
    slopes = graph.gradient(flow.system.observables["margin_1"], neurons)
    linear = identity(
        {str(k): second for k, second in enumerate(graph.gradient(graph.add(slopes), neurons))}, positive=("m",)
    )
    display = at_most(lab, lambda c, x: cross_ratio(c, x) * c.power(L=-1))
    return {
        "p": certain(lab, lambda c, x: even(x) <= 1 + c.power(L=-1)),
        "display": display if linear.as_stated == HOLDS else linear,
    }


def below_printed(c: Cell, x: Bounds) -> bool:
    """gamma |w_j'V p_l| at the start is below the printed root, and gamma times its change below that of E.7."""
    r = c.radius(c.log(2 / DELTA, n=1, L=1))
    logs = 2 * (1 + r) * (1 + flint.arb(2).log() / c.log(1 / DELTA, m1=1, n=1, L=1))
    return bool(mean_slope() * logs.sqrt() <= 1 and mixed_gain(c, x) <= 4 and start_part(c, x))


def mixed_size(c: Cell, x: Bounds) -> flint.arb:
    """L |w_j'V p_l| up to T_1: D.5 with its two at the start, and the change of E.7."""
    r = c.radius(c.log(2 / DELTA, n=1, L=1))
    first = c.power(c0=1, m1=-HALF) * (2 * (1 + r) * c.log(2 / DELTA, m1=1, n=1, L=1)).sqrt()
    moved = softmax_gain(c, x) * c.power(L=HALF, c0=1, m1=-HALF) * c.tilde
    return first + moved + 4 * x["wv_change"] * c.power(m1=-1)


@book.claim(
    "E.12",
    "Correlations of neurons in phase 1",
    kind="order",
    where="Proposition E.12",
    source="damaged",
    parts=("rate", "change"),
    hypotheses=PHASES,
    uses=["C.2", "E.7", "D.5"],
    repairs=["D.5"],
    statement=r"|\partial_t\langle w_{j_1},w_{j_2}\rangle|\le2L\Big(\sigma_1\sigma_0\sqrt{\tfrac mL\log\tfrac{m_1nL}\delta}+\widetilde O(LR_P\sigma_0\sigma_1\sqrt m)+\tfrac{4R}L\Big),\quad|\Delta\langle w_{j_1},w_{j_2}\rangle|\le t\cdot(\text{the same})",
    reading="All printed constants, delta = 0.1; the two that D.5 lacks is made up for by the mean of g, at most 0.51.",
)
def correlation_change(lab: Laboratory) -> dict[str, Verdict]:
    """The rate is a mean of g times sums over L positions of w_j'V p_l."""
    both = certain(lab, below_printed, gamma=0.51)
    return {"rate": both, "change": both}


@book.claim(
    "E.13",
    "Norms of neurons in phase 1",
    kind="order",
    where="Corollary E.13",
    source="damaged",
    parts=("change",),
    hypotheses=PHASES,
    uses=["E.12"],
    statement=r"\big|\|w_j^{(t)}\|^2-\|w_j^{(0)}\|^2\big|\le2tL\Big(\sigma_1\sigma_0\sqrt{\tfrac mL\log\tfrac{m_1nL}\delta}+\widetilde O(LR_P\sigma_0\sigma_1\sqrt m)+\tfrac{4R}L\Big)",
    reading="As E.12, for the diagonal; j runs over the m_1 neurons.",
)
def norm_change(lab: Laboratory) -> Verdict:
    """E.12 with both neurons the same."""
    return certain(lab, below_printed, gamma=0.51)


@book.claim(
    "E.14",
    "Growth on target words in phase 1",
    kind="order",
    where="Theorem E.14",
    parts=("factor", "epsilon"),
    hypotheses=PHASES,
    uses=["C.1/split", "E.10", "E.11", "E.13", "E.9"],
    statement=r"\partial_ta_jw_j^\top W_V\mu=\tfrac1n\Big(\sum_{i\ni\mu,y_i=1}g_i\sum_lp_{q\leftarrow l,k\leftarrow\mu}-\sum_{i\ni\mu,y_i=-1}g_i\sum_lp_{q\leftarrow l,k\leftarrow\mu}\Big)\Theta((\sigma_0^2+\sigma_1^2)m)+\varepsilon,\ |\varepsilon|\le\widetilde O(L\sigma_0^2\sqrt m+\sigma_1^2\sqrt{mm_1})",
    reading=f"Up to T_1, {EVENTS}; the factor is |w_j|^2 + |v(mu)|^2; {LOGS}.",
)
def signal_growth(lab: Laboratory) -> dict[str, Verdict]:
    """Both squared norms near their means, and the bounds of E.10 and E.11."""

    def factor(c: Cell, x: Bounds) -> bool:
        values = c.radius(c.words) + 2 * T1 * x["G"] * even(x) * c.power(m=-1, c0=-2, L=1)
        neurons = c.radius(c.log(2 / DELTA, m1=1)) + 2 * T1 * mean_slope() * x["wv"] * c.power(L=1, m=-2)
        return bool(values <= flint.arb(1) / 10 and neurons <= flint.arb(1) / 10)

    return {
        "factor": certain(lab, factor, low=0.9, high=1.1),
        "epsilon": at_most(lab, lambda c, x: cross_ratio(c, x) + mean_slope() * x["V_off"] / c.tilde),
    }


@book.claim(
    "E.15",
    "Growth on irrelevant words in phase 1",
    kind="order",
    where="Theorem E.15",
    parts=("rate",),
    hypotheses=PHASES,
    uses=["C.1/split", "E.10", "E.11"],
    statement=r"\partial_ta_jw_j^\top W_V\mu=O(\tfrac1n(\sigma_0^2+\sigma_1^2)m)+\widetilde O(\sigma_0^2L\sqrt m),\ \mu\in\mathcal R",
    reading=f"For all neurons and irrelevant words up to T_1, {EVENTS}, with {LOGS}.",
)
def irrelevant_growth(lab: Laboratory) -> Verdict:
    """The share 1/n of squared norms and cross terms, and the bound of E.10."""

    def ratio(c: Cell, x: Bounds) -> flint.arb:
        neurons = x["square"] + x["cross"] * c.power(m1=HALF, m=-HALF)
        return even(x) * (neurons + x["V_diag"]) + mean_slope() * x["V_off"] / c.tilde

    return at_most(lab, ratio)


@book.claim(
    "E.17",
    "The common word in phase 1",
    kind="order",
    where="Lemma E.17",
    parts=("rate",),
    hypotheses=PHASES,
    uses=["E.14"],
    statement=r"\partial_ta_jw_j^{(0)}W_V^{(0)}\mu_3\le\widetilde O(\sigma_1^2m)\quad(t\le T_1)",
    reading="In absolute value, for all neurons, without the tilde, and for all t <= T_1 too, which the superscripts (0) are meant to be.",
)
def common_growth(lab: Laboratory) -> Verdict:
    """All terms of the rate over sigma_1^2 m: the change of E.26's first item without T_1."""
    return at_most(lab, lambda c, x: x["wv_change"] / T1)
