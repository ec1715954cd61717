"""Appendix E, the terms of phase 1: definitions E.1 and E.2, and how neurons and values move up to T_1."""

from __future__ import annotations

from typing import Any

import numpy as np

from odesys import Verdict, graph, identity

from ..laboratory import Laboratory
from ..special.ensembles import attention_change
from ..special.trajectories import Course
from .book import book, toy_neurons
from .common_hypotheses import DELTA, PHASES
from .common_runs import always, logarithm, ordered, phase_one, two_routes

PRINTED = "the printed constant"
LOGS = "log(2nLd m m_1/delta) for what the tilde hides"


def neuron_change(run: Any) -> np.ndarray:
    """|w_j'W_V mu - start|, (times, neurons, words)."""
    return np.abs(run.changes["WV"])


def reach(run: Any) -> float:
    """R: the largest change of w_j'W_V mu over mu1, mu2, mu3 up to the end of the run."""
    return float(neuron_change(run)[:, :, :3].max())


def words_share(run: Course) -> np.ndarray:
    """|{i : mu in X_i}| / n for every word."""
    return np.bincount(run.tokens.ravel(), minlength=run.G.shape[1]) / run.n


def force(run: Any) -> np.ndarray:
    """xi = (1/n) sum g y c, (times, words)."""
    return np.asarray(run.forces[0])


# ---- definitions -------------------------------------------------------------------------------------------------


@book.claim(
    "E.1",
    "Radius of keys and queries",
    kind="definition",
    where="Definition E.1",
    hypotheses=PHASES,
    uses=["C.4"],
    statement=r"R_K=\max_{i,j}|\mu_i^\top W_K^{(t)\top}W_K^{(t)}\mu_j-\mu_i^\top W_K^{(0)\top}W_K^{(0)}\mu_j|,\quad R_Q\ \text{likewise}",
    reading="Both are read off the derived flow and off the same network trained in weight space.",
)
def radii(lab: Laboratory) -> Verdict:
    """Both radii by two routes."""
    return two_routes(lab, lambda run: [run.moved("KK"), run.moved("QQ")], phase_one)


def phase_one_items(run: Any) -> dict[str, np.ndarray]:
    """Each item of Definition E.2 over its bare order, along the times of the run."""
    s, change, R = run.scale, neuron_change(run), max(reach(run), 1e-300)
    return {
        "mu1, mu2, mu3": change[:, :, :3].max(axis=(1, 2)) * s.m1,
        "other words": change[:, :, 3:].max(axis=(1, 2)) / (R * (1 / run.n + s.m**-0.5)),
        "scores": run.moved("KQ") * float(s.m) ** 1.5,
        "keys": run.moved("KK") / (s.sigma0**2 * np.sqrt(s.m)),
        "queries": run.moved("QQ") / (s.sigma0**2 * np.sqrt(s.m)),
    }


ITEMS = ("mu1, mu2, mu3", "other words", "scores", "queries", "keys")


def phase_one_parts(lab: Laboratory) -> dict[str, Verdict]:
    """Each item is of its order along all three paths."""
    return {
        name: ordered(
            lab,
            f"item {name}",
            lambda run, name=name: phase_one_items(run)[name].max(),  # type: ignore[misc]
            tilde=name in ("keys", "queries"),
        )
        for name in ITEMS
    }


@book.claim(
    "E.2",
    "Phase 1",
    kind="definition",
    where="Definition E.2",
    hypotheses=PHASES,
    uses=["E.1"],
    statement=r"T_1=\min\{t',\tfrac{C_{T_1}}{\sigma_1^2mm_1}\}:\ \max_{\mu\le3}|\Delta w_j^\top W_V\mu|\le R<O(\tfrac1{m_1}),\ \max_{\mu>3}|\Delta w_j^\top W_V\mu|\le O(\tfrac Rn+\tfrac R{\sqrt m}),\ |\Delta A|\le R_S\le O(\tfrac1{m\sqrt m}),\ R_K,R_Q\le\widetilde O(\sigma_0^2\sqrt m)",
    reading="C_T1 = 40; j runs over the m_1 neurons; that all items hold up to then is Theorem E.26.",
)
def phase_one_holds(lab: Laboratory) -> Verdict:
    """The first item, which sets the scale of the phase."""
    return phase_one_parts(lab)["mu1, mu2, mu3"]


@book.claim(
    "E.3",
    "Change of the softmax",
    kind="order",
    where="Proposition E.3",
    parts=("R_P",),
    hypotheses=PHASES,
    uses=["E.2", "G.2"],
    statement=r"R_P=\max_{i,\mu,\nu}|p^{(t,i)}_{q\leftarrow\mu,k\leftarrow\nu}-p^{(0,i)}_{q\leftarrow\mu,k\leftarrow\nu}|=O\big(\tfrac1{\sqrt mL}+\tfrac Lm\big)",
    reading="Up to T_1; the change of p to first order in that of the scores, which is of order 1/m^2.",
)
def softmax_change(lab: Laboratory) -> Verdict:
    """The ratio to the printed order."""

    def ratio(run: Any) -> float:
        order = 1 / (np.sqrt(run.scale.m) * run.L) + run.L / run.scale.m
        return float(np.abs(attention_change(run)).max() / order)

    return ordered(lab, "R_P to its order", ratio)


# ---- along phase 1 -----------------------------------------------------------------------------------------------


@book.claim(
    "E.7",
    "Neurons on mixed values move little",
    kind="order",
    where="Lemma E.7",
    parts=("bound",),
    hypotheses=PHASES,
    uses=["E.2", "E.3"],
    statement=r"|w_j^{(t)}W_V^{(t)}X^{(i)}p_l^{(t,i)}-w_j^{(0)}W_V^{(0)}X^{(i)}p_l^{(0,i)}|\le\widetilde O(LR_P\sigma_0\sigma_1\sqrt m)+\tfrac{4R}L",
    reading="R is the largest change over mu1, mu2, mu3 of the same run; the first term is left out, and the 4 is the printed one.",
)
def mixed_change(lab: Laboratory) -> Verdict:
    """Changes of w_j'V p_l over all samples and positions, over R/L."""

    def ratio(run: Any) -> float:
        change = np.einsum("kjnh,knlh->kjnl", run.changes["WV"][:, :, run.tokens], run.attention)
        start = np.einsum("jnh,knlh->kjnl", run.tables["WV"][0][:, run.tokens], attention_change(run))
        return float(np.abs(change + start).max() * run.L / reach(run))

    return always(lab, "change over R/L", ratio, 0, 4, PRINTED, phase_one, ("m", "m1", "c0"))


@book.claim(
    "E.9",
    "Value Gram matrix in phase 1",
    kind="order",
    where="Lemma E.9",
    parts=("rate", "change", "products", "norms"),
    hypotheses=PHASES,
    uses=["C.3", "E.7", "E.8"],
    statement=r"|\partial_t\langle v(\mu),v(\nu)\rangle|\le\tfrac{|\{i\ni\mu\}|+|\{i\ni\nu\}|}nO(1),\ |\Delta\langle v(\mu),v(\nu)\rangle|\le t\,\tfrac{|\{i\ni\mu\}|+|\{i\ni\nu\}|}nO(1),\ |\langle v(\mu),v(\nu)\rangle|\le\widetilde O(\sigma_0^2\sqrt m)\ (\mu\ne\nu),\ \|v(\mu)\|^2=\Theta(\sigma_0^2m)",
    reading=f"Up to T_1, with {LOGS}.",
)
def value_change(lab: Laboratory) -> dict[str, Verdict]:
    """Rates and changes against the shares of samples, entries against their start scale."""

    def shares(run: Any) -> np.ndarray:
        share = words_share(run)
        return np.asarray(share[:, None] + share[None, :])

    def rate(run: Any) -> float:
        return float((np.abs(run.rate("VV")) * run.scale.B / shares(run)).max())

    def change(run: Any) -> float:
        times = run.taus[1:, None, None] / run.scale.B
        return float((np.abs(run.changes["VV"])[1:] / (times * shares(run))).max())

    def off(run: Any) -> float:
        rest = np.abs(run.tables["VV"] * (1 - np.eye(run.G.shape[1]))).max()
        return float(rest / (run.scale.sigma0**2 * np.sqrt(run.scale.m)) / logarithm(run))

    def norms(run: Any) -> np.ndarray:
        return np.diagonal(run.tables["VV"], axis1=1, axis2=2).max(axis=1) / run.scale.k0

    return {
        "rate": ordered(lab, "the rate to its order", rate),
        "change": ordered(lab, "the change to its order", change),
        "products": ordered(lab, "|<v, v'>| to its order", off, tilde=True),
        "norms": ordered(lab, "|v|^2 / (sigma_0^2 m)", norms, "Theta"),
    }


@book.claim(
    "E.10",
    "Second small term in phase 1",
    kind="order",
    where="Corollary E.10",
    parts=("bound",),
    hypotheses=PHASES,
    uses=["E.9", "D.3"],
    statement=r"\Big|\tfrac1n\sum_ig_iy_i\sum_{l_1}a_j\sum_{l_2:v_{l_2}\ne v(\mu_1)}\langle p_{l_1,l_2}v_{l_2},v(\mu_1)\rangle\Big|\le L\cdot\widetilde O(\sigma_0^2\sqrt m)",
    reading=f"For every word, up to T_1, with {LOGS}.",
)
def second_term(lab: Laboratory) -> Verdict:
    """Off-diagonal part of Gamma xi."""

    def ratio(run: Any) -> float:
        table = run.tables["VV"] * (1 - np.eye(run.G.shape[1]))
        size = np.abs(np.einsum("kab,kb->ka", table, force(run))).max()
        return float(size / (run.L * run.scale.sigma0**2 * np.sqrt(run.scale.m)) / logarithm(run))

    return ordered(lab, "the term to its order", ratio, tilde=True)


def cross(run: Any) -> np.ndarray:
    """sum over k != j of a_k <w_j, w_k>, (times, neurons)."""
    table = run.tables["WW"] * (1 - np.eye(len(run.signs)))
    return np.einsum("kij,j->ki", table, run.signs)


def cross_ratio(run: Any) -> float:
    """The term of E.11 over share sigma_1^2 sqrt(m m1), for all neurons and words."""
    size = np.abs(cross(run)).max(axis=1)[:, None] * np.abs(force(run)) / words_share(run)
    return float(size.max() / (run.scale.sigma1**2 * np.sqrt(run.scale.m * run.scale.m1)) / logarithm(run))


@book.claim(
    "E.11",
    "First small term in phase 1",
    kind="order",
    where="Lemma E.11",
    parts=("bound",),
    hypotheses=PHASES,
    uses=["E.5", "E.12"],
    statement=r"\Big|\tfrac1n\sum_{i\ni\mu_1}g_iy_i\sum_l\sum_{k\ne j}a_k\langle w_j,w_k\rangle p_{q\leftarrow l,k\leftarrow\mu_1}\Big|\le\tfrac{|\{i\ni\mu_1\}|}n\widetilde O(\sigma_1^2\sqrt{mm_1})",
    reading=f"For every neuron and word, up to T_1, with {LOGS}.",
)
def first_term(lab: Laboratory) -> Verdict:
    """Cross correlations times xi."""
    return ordered(lab, "the term to its order", cross_ratio, tilde=True)


@book.claim(
    "E.11-proof",
    "What the last display carries along",
    kind="order",
    origin="proof",
    where="Proof of Lemma E.11, last two displays",
    parts=("p", "display"),
    hypotheses=PHASES,
    uses=["E.11", "E.3"],
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

    def used(run: Any) -> float:
        return float(run.attention.max()) / (1 / run.L + run.L**-2)

    return {
        "p": always(lab, "p over 1/L + 1/L^2", used, 0, 1, PRINTED, phase_one),
        "display": linear & ordered(lab, "the term to its order", lambda run: cross_ratio(run) / run.L, tilde=True),
    }


def mixed_bound(run: Any) -> float:
    """2 L (sigma_0 sigma_1 sqrt((m/L) log(m1 n L / delta)) + 4 R / L), delta = 1/10, with R of the same run."""
    s = run.scale
    logs = np.sqrt(s.m / run.L * np.log(s.m1 * run.n * run.L / DELTA))
    return float(2 * run.L * (s.sigma0 * s.sigma1 * logs + 4 * reach(run) / run.L))


@book.claim(
    "E.12",
    "Correlations of neurons in phase 1",
    kind="order",
    where="Proposition E.12",
    parts=("rate", "change"),
    hypotheses=PHASES,
    uses=["C.2", "E.7", "D.5"],
    statement=r"|\partial_t\langle w_{j_1},w_{j_2}\rangle|\le2L\Big(\sigma_1\sigma_0\sqrt{\tfrac mL\log\tfrac{m_1nL}\delta}+\widetilde O(LR_P\sigma_0\sigma_1\sqrt m)+\tfrac{4R}L\Big),\quad|\Delta\langle w_{j_1},w_{j_2}\rangle|\le t\cdot(\text{the same})",
    reading="delta = 0.1; R is that of the same run; the middle term is left out, all other constants are the printed ones.",
)
def correlation_change(lab: Laboratory) -> dict[str, Verdict]:
    """Rates and changes against the printed bound."""

    def rate(run: Any) -> float:
        return float(np.abs(run.rate("WW")).max() * run.scale.B / mixed_bound(run))

    def change(run: Any) -> float:
        return float((run.moved("WW")[1:] / run.taus[1:]).max() * run.scale.B / mixed_bound(run))

    along = ("m", "m1", "c0")
    return {
        "rate": always(lab, "rate over its bound", rate, 0, 1, PRINTED, phase_one, along),
        "change": always(lab, "change over its bound", change, 0, 1, PRINTED, phase_one, along),
    }


@book.claim(
    "E.13",
    "Norms of neurons in phase 1",
    kind="order",
    where="Corollary E.13",
    parts=("change",),
    hypotheses=PHASES,
    uses=["E.12"],
    statement=r"\big|\|w_j^{(t)}\|^2-\|w_j^{(0)}\|^2\big|\le2tL\Big(\sigma_1\sigma_0\sqrt{\tfrac mL\log\tfrac{m_1nL}\delta}+\widetilde O(LR_P\sigma_0\sigma_1\sqrt m)+\tfrac{4R}L\Big)",
    reading="As E.12, for the diagonal; j runs over the m_1 neurons.",
)
def norm_change(lab: Laboratory) -> Verdict:
    """Diagonal of <w_j, w_k>."""

    def change(run: Any) -> float:
        diagonal = np.abs(np.diagonal(run.changes["WW"], axis1=1, axis2=2)).max(axis=1)
        return float((diagonal[1:] / run.taus[1:]).max() * run.scale.B / mixed_bound(run))

    return always(lab, "change over its bound", change, 0, 1, PRINTED, phase_one, ("m", "m1", "c0"))


def neuron_rates(run: Any) -> tuple[np.ndarray, np.ndarray]:
    """a_j d(w_j'W_V mu)/dt, and its leading part (|w_j|^2 + |v(mu)|^2) xi_mu, (times, neurons, words)."""
    rates = run.signs[None, :, None] * run.rate("WV") * run.scale.B
    squares = (
        np.diagonal(run.tables["WW"], axis1=1, axis2=2)[:, :, None]
        + np.diagonal(run.tables["VV"], axis1=1, axis2=2)[:, None, :]
    )
    return rates, squares * force(run)[:, None, :]


@book.claim(
    "E.14",
    "Growth on target words in phase 1",
    kind="order",
    where="Theorem E.14",
    parts=("factor", "epsilon"),
    hypotheses=PHASES,
    uses=["C.1/split", "E.10", "E.11", "E.13", "E.9"],
    statement=r"\partial_ta_jw_j^\top W_V\mu=\tfrac1n\Big(\sum_{i\ni\mu,y_i=1}g_i\sum_lp_{q\leftarrow l,k\leftarrow\mu}-\sum_{i\ni\mu,y_i=-1}g_i\sum_lp_{q\leftarrow l,k\leftarrow\mu}\Big)\Theta((\sigma_0^2+\sigma_1^2)m)+\varepsilon,\ |\varepsilon|\le\widetilde O(L\sigma_0^2\sqrt m+\sigma_1^2\sqrt{mm_1})",
    reading=f"mu1 and mu2, up to T_1; the factor is |w_j|^2 + |v(mu)|^2, and {LOGS}.",
)
def signal_growth(lab: Laboratory) -> dict[str, Verdict]:
    """The factor, and what is left after the leading part."""

    def rest(run: Any) -> float:
        rates, lead = neuron_rates(run)
        s = run.scale
        order = run.L * s.sigma0**2 * np.sqrt(s.m) + s.sigma1**2 * np.sqrt(s.m * s.m1)
        return float(np.abs((rates - lead)[:, :, :2]).max() / order / logarithm(run))

    def factor(run: Any) -> np.ndarray:
        s = run.scale
        squares = (
            np.diagonal(run.tables["WW"], axis1=1, axis2=2)[:, :, None]
            + np.diagonal(run.tables["VV"], axis1=1, axis2=2)[:, None, :2]
        )
        return squares / ((s.sigma0**2 + s.sigma1**2) * s.m)

    return {
        "factor": ordered(lab, "the factor to its order", factor, "Theta"),
        "epsilon": ordered(lab, "epsilon to its order", rest, tilde=True),
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
    reading="For all neurons and irrelevant words up to T_1, without the tilde.",
)
def irrelevant_growth(lab: Laboratory) -> Verdict:
    """Rates of all neurons on irrelevant words."""

    def ratio(run: Any) -> float:
        s = run.scale
        order = (s.sigma0**2 + s.sigma1**2) * s.m / run.n + s.sigma0**2 * run.L * np.sqrt(s.m)
        return float(np.abs(neuron_rates(run)[0][:, :, 3:]).max() / order)

    return ordered(lab, "the rate to its order", ratio)


@book.claim(
    "E.17",
    "The common word in phase 1",
    kind="order",
    where="Lemma E.17",
    parts=("rate",),
    hypotheses=PHASES,
    uses=["E.14"],
    statement=r"\partial_ta_jw_j^{(t)}W_V^{(t)}\mu_3\le\widetilde O(\sigma_1^2m)\quad(t\le T_1)",
    reading="In absolute value, for all neurons, without the tilde; the printed superscripts (0) mean (t).",
)
def common_growth(lab: Laboratory) -> Verdict:
    """Rates of all neurons on mu3."""

    def ratio(run: Any) -> float:
        return float(np.abs(neuron_rates(run)[0][:, :, 2]).max() / (run.scale.sigma1**2 * run.scale.m))

    return ordered(lab, "the rate to its order", ratio)
