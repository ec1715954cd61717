"""Appendix E, the terms of phase 1: definitions E.1 and E.2, and how neurons and values move up to tau = 20."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from odesys import Verdict, agrees, combine_verdicts, fit_power_law, graph, identity, measured, rounded

from .. import setting
from ..laboratory import Laboratory
from ..special.phases import PhaseOne, phase_one
from ..special.standard_runs import other_sweep, sweep_pairs
from ..special.trained_network import trained
from ..special.trajectories import Course, course
from .book import book, toy_neurons
from .common_readings import OTHERS, SWEEP, below, sweep_exponent, twice, twice_others
from .part_d_start import DELTA, radius

# ---- definitions -------------------------------------------------------------------------------------------------


@book.claim(
    "E.1",
    "Radius of keys and queries",
    kind="definition",
    uses=["C.4"],
    statement=r"R_K=\max|\Delta\mu^\top W_K^\top W_K\nu|,\ R_Q=\max|\Delta\mu^\top W_Q^\top W_Q\nu|",
    reading="a network of width 24 (n = 12, L = 5, c0 = 1, seed 3) trained in weight space to tau = 20: its R_K, R_Q equal those of the derived flow to 1e-7 relative",
)
def radii(lab: Laboratory) -> Verdict:
    """Weights moved by the gradients of appendix B against the Gram flow of the laboratory."""
    scale, taus = setting.condition_one(5, 24, 8), (0.0, 20.0)
    runs = course(lab, 12, 5, scale, 3, taus), trained(12, 5, scale, 3, taus)
    rows = {leaf: [float(run.moved(leaf)[-1]) for run in runs] for leaf in ("KK", "QQ")}
    same = agrees({leaf: row[0] for leaf, row in rows.items()}, {leaf: row[1] for leaf, row in rows.items()}, 1e-7)
    return same.adding(radii=rounded(rows, 4))


PLAIN = PhaseOne(1.0, 1.0, 1.0, 1.0)  # ratios to the bare orders


def phase_one_limits() -> dict[str, float]:
    """Constants of Definition E.2 for each item, set on other networks; keys and queries have the printed constant 1."""
    items = {
        name: twice_others(lambda run, name=name: phase_one(run, PLAIN).ratios[name], other_sweep())  # type: ignore[misc]
        for name in ("neurons", "irrelevant", "scores")
    }
    return {**items, "keys": 1.0, "queries": 1.0}


def phase_one_items(lab: Laboratory, pick: Callable[[np.ndarray], float]) -> Verdict:
    """Every item of Definition E.2, picked from its times in each run, against its constant."""
    found, same = twice(
        sweep_pairs(lab), lambda run: {name: pick(r) for name, r in phase_one(run, PLAIN).ratios.items()}
    )
    limits = phase_one_limits()
    used = {name: max(row[name] for row in found) / limit for name, limit in limits.items()}
    holds = measured(max(used.values()) <= 1, rounded(used), used_over_allowed=rounded(used, 3))
    return combine_verdicts({"items": holds, "as trained": same}).with_constants(**rounded(limits, 4))


@book.claim(
    "E.2",
    "Phase 1",
    kind="definition",
    uses=["E.1"],
    statement=r"[0,T_1]:\ |\Delta w_j^\top W_V\mu_{1,2,3}|\le O(\tfrac1{m_1}),\ |\Delta w_j^\top W_V\mu|\le O(\tfrac1{m_1}(\tfrac1n+\tfrac1{\sqrt m})),\ |\Delta A|\le O(m^{-3/2}),\ R_K,R_Q\le\widetilde O(\sigma_0^2\sqrt m)",
    reading=f"the predicate holds at tau = 0, 5, 20 in every run; constants of the first three items: {OTHERS}, of the last: 1; printed for j in [m], meant [m1]; {SWEEP}",
)
def phase_one_holds(lab: Laboratory) -> Verdict:
    """Largest ratio of each item over all runs and times."""
    return phase_one_items(lab, lambda ratio: float(ratio.max()))


@book.claim(
    "E.3",
    "Change of the softmax",
    kind="order",
    uses=["E.2", "G.2"],
    statement=r"R_P=O\big(\tfrac1{\sqrt mL}+\tfrac Lm\big)",
    reading=f"max |p - p(0)| is below this with constant 1 in every run (the share used is reported), and its exponent in m has a 95 percent interval that contains -2; {SWEEP}",
)
def softmax_change(lab: Laboratory) -> Verdict:
    """The bound has enormous slack; the true order is 1/(L m^2)."""

    def change(run: Course) -> float:
        return float(np.abs(run.attention - run.attention[0]).max())

    bound = below(lab, lambda run: change(run) / (1 / (np.sqrt(run.scale.m) * run.L) + run.L / run.scale.m), 1.0)
    law = sweep_exponent(lab, change, -2.0)
    return replace(
        combine_verdicts({"bound": bound, "exponent": law}),
        sharpened="O(1/(L m^2)): the proof's own R_S = O(m^(-3/2)) and the 1/sqrt(m) inside the softmax",
    )


# ---- along phase 1 -----------------------------------------------------------------------------------------------


@book.claim(
    "E.7",
    "Neurons on mixed values move little",
    kind="order",
    uses=["E.2", "E.3"],
    statement=r"|\Delta(w_j^\top W_VX^{(i)}p_l)|\le\widetilde O(LR_P\sigma_0\sigma_1\sqrt m)+\tfrac{4R}L",
    reading=f"with R the largest change of w_j'W_V mu over mu1, mu2, mu3 of the same run, the first term left out: the ratio to R/L is below the printed 4; {SWEEP}",
)
def mixed_change(lab: Laboratory) -> Verdict:
    """Changes of w_j'V p_l over all samples and positions."""

    def ratio(run: Course) -> float:
        values = np.einsum("kjnh,knlh->kjnl", run.tables["WV"][:, :, run.tokens], run.attention)
        R = np.abs(run.tables["WV"][-1] - run.tables["WV"][0])[:, :3].max()
        return float(np.abs(values[-1] - values[0]).max() * run.L / R)

    return below(lab, ratio, 4.0)


def words_share(run: Course) -> np.ndarray:
    """|{i : mu in X_i}| / n for every word."""
    return np.bincount(run.tokens.ravel(), minlength=run.G.shape[1]) / run.n


@book.claim(
    "E.9",
    "Value Gram matrix in phase 1",
    kind="order",
    uses=["C.3"],
    statement=r"|\dot\Gamma_{\mu\nu}|\le\tfrac{|\{i\ni\mu\}|+|\{i\ni\nu\}|}nO(1),\quad|\Gamma_{\mu\nu}|\le\widetilde O(\sigma_0^2\sqrt m),\ \|v(\mu)\|^2=\Theta(\sigma_0^2m)",
    reading=f"first: constant max |G| of the same run, as |xi| <= share of samples; second: the start bound of D.3 with delta = 1/10, which is what the tilde stands for, plus the integrated "
    f"first bound (without that change, and with sqrt(2 log(2 d^2)) + 1 in place of D.3, an entry is 0.1 percent too large); third: [1/2, 2]; |Delta Gamma| has the exponent -1; {SWEEP}",
)
def value_change(lab: Laboratory) -> Verdict:
    """Rates against the shares of samples, entries against their start scale."""

    def rate(run: Course) -> float:
        share = words_share(run)
        return float(
            (np.abs(run.rate("VV")) * run.scale.B / (share[:, None] + share[None, :])).max() / np.abs(run.G).max()
        )

    def off(run: Course) -> float:
        table, share = run.tables["VV"], words_share(run)
        rest = np.abs(table * (1 - np.eye(table.shape[1])))
        moved = run.taus[:, None, None] / run.scale.B * (share[:, None] + share[None, :]) * np.abs(run.G).max()
        start = run.scale.k0 * radius(run.scale.m, np.log(2 * run.G.shape[1] / DELTA))
        return float((rest / (start + moved)).max())

    def norm(run: Course) -> float:
        diagonal = np.diagonal(run.tables["VV"], axis1=1, axis2=2) / run.scale.k0
        return float(max(diagonal.max() / 2, 0.5 / diagonal.min()))

    return combine_verdicts(
        {
            "rate": below(lab, rate, 1.0, "rate"),
            "entries": below(lab, off, 1.0, "entries"),
            "norms": below(lab, norm, 1.0, "norms"),
            "exponent": sweep_exponent(lab, lambda run: float(run.moved("VV")[-1]), -1.0),
        }
    )


def _xi(run: Course) -> np.ndarray:
    """xi along a level-0 course, from the samples: (1/n) sum g y c."""
    xi = np.zeros(run.G.shape)
    c = run.attention.sum(axis=2)
    for k in range(len(run.taus)):
        np.add.at(xi[k], run.tokens, (run.g[k] * run.labels)[:, None] * c[k] / run.n)
    return xi


@book.claim(
    "E.10",
    "Second small term in phase 1",
    kind="order",
    uses=["E.9"],
    statement=r"\big|\tfrac1n\sum_ig_iy_i\sum_l\sum_{h:x_h\ne\mu}p_{lh}\langle v_h,v(\mu)\rangle\big|\le L\,\widetilde O(\sigma_0^2\sqrt m)",
    reading=f"the ratio to L sigma_0^2 sqrt(m) is below 1 for all words; {SWEEP}",
)
def second_term(lab: Laboratory) -> Verdict:
    """Off-diagonal part of Gamma xi."""

    def ratio(run: Course) -> float:
        table = run.tables["VV"] * (1 - np.eye(run.G.shape[1]))
        return float(
            np.abs(np.einsum("kab,kb->ka", table, _xi(run))).max()
            / (run.L * run.scale.sigma0**2 * np.sqrt(run.scale.m))
        )

    return below(lab, ratio, 1.0)


def _cross(run: Course) -> np.ndarray:
    """sum over k != j of a_k <w_j, w_k>, (times, neurons)."""
    assert run.signs is not None
    table = run.tables["WW"] * (1 - np.eye(len(run.signs)))
    return np.einsum("kij,j->ki", table, run.signs)


def _cross_bound(run: Course) -> float:
    """The bound of E.5 on |sum over k != j of a_k <w_j, w_k>| over sigma_1^2 sqrt(m m1), delta = 1/10."""
    m, m1 = run.scale.m, run.scale.m1
    return float(np.sqrt(m) * radius(m, np.log(2 * m1**2 / DELTA)) * np.sqrt(np.log(4 * m1 / DELTA)))


@book.claim(
    "E.11",
    "First small term in phase 1",
    kind="order",
    uses=["E.5", "E.12"],
    statement=r"\big|\tfrac1n\sum_{i\ni\mu}g_iy_i\sum_l\sum_{k\ne j}a_k\langle w_j,w_k\rangle p_{q\leftarrow l,k\leftarrow\mu}\big|\le\tfrac{|\{i\ni\mu\}|}n\widetilde O(\sigma_1^2\sqrt{mm_1})",
    reading=f"the tilde stands for the logarithms of E.5 with delta = 1/10, on which it rests: below that bound with constant 1 for all neurons and words at tau = 0, 5, 20 (ratios to the bare "
    f"order are reported); {SWEEP}",
)
def first_term(lab: Laboratory) -> Verdict:
    """Cross correlations times xi, time by time."""

    def ratio(run: Course) -> np.ndarray:
        size = np.abs(_cross(run)).max(axis=1)[:, None] * np.abs(_xi(run)) / words_share(run)
        return size.max(axis=1) / (run.scale.sigma1**2 * np.sqrt(run.scale.m * run.scale.m1))

    found, same = twice(sweep_pairs(lab), ratio)
    bare = np.max(found, axis=0)
    used = max(float(np.max(row) / _cross_bound(run)) for row, (run, _) in zip(found, sweep_pairs(lab), strict=True))
    return combine_verdicts(
        {"bound": measured(used < 1, {"used": used}, used_over_allowed=rounded(used, 4)), "as trained": same}
    ).with_constants(bare_ratio_at_0_5_20=rounded(bare, 4))


@book.claim(
    "E.11-proof",
    "What the last display carries along",
    kind="order",
    uses=["E.11", "E.3"],
    statement=r"\dots\dot\sigma_{i,l,j_2}\dots\le\alpha\tfrac{|\{i\ni\mu_1\}|}n\widetilde O(\sigma_1^2\sqrt{mm_1}\,L),\quad p_{q\leftarrow l,k\leftarrow\mu_1}\le\tfrac1L+\tfrac1{L^2}+R_P",
    reading=f"sigma-dot and alpha are left over from a network that is not linear: here outputs are linear in every neuron (proof), so both are 1; the printed bound on p holds with R_P of the same run, so "
    f"L max p, which the display leaves out, is O(1) and the display is looser than its lemma by L: networks of n = 12, m = 1024, 3 starts each, L = 4, 5, 6, 8: the size of the term over "
    f"sigma_1^2 sqrt(m m1) has an exponent in L within 1/4 of 0, not 1; {SWEEP}",
)
def last_display(lab: Laboratory) -> Verdict:
    """Second derivatives by neurons, the printed bound on p, and the exponent in L."""
    flow, _ = toy_neurons(lab)
    neurons = list(flow.layout.symbols["WV"].ravel())
    slopes = graph.gradient(flow.system.observables["margin_1"], neurons)
    linear = identity(
        {str(k): second for k, second in enumerate(graph.gradient(graph.add(slopes), neurons))}, positive=("m",)
    )

    def used(run: Course) -> float:
        change = float(np.abs(run.attention - run.attention[0]).max())
        return float(run.attention.max()) / (1 / run.L + run.L**-2 + change)

    law = fit_power_law((4, 5, 6, 8), [_cross_size(length) for length in (4, 5, 6, 8)])
    parts = combine_verdicts(
        {
            "linear": linear,
            "p": below(lab, used, 1.0, "p"),
            "no L": measured(abs(law.value) < 0.25, {"exponent in L": law.value}),
        }
    )
    return replace(parts, sharpened="without L, as in the lemma: it cancels against max p").adding(
        exponent_in_L=rounded(law.value, 3)
    )


def _cross_size(length: int) -> float:
    """The term of E.11 on mu1, mu2, mu3 at the start over sigma_1^2 sqrt(m m1): mean of three networks of n = 12, m = 1024."""
    scale = setting.condition_one(length, 1024, 16, 0.3)
    runs = [trained(12, length, scale, seed, (0.0,), True) for seed in range(3)]
    sizes = [np.abs(_cross(r)[0]).max() * np.abs(_xi(r)[0, :3]).max() for r in runs]
    return float(np.mean(sizes) / (scale.sigma1**2 * np.sqrt(scale.m * scale.m1)))


def _off_diagonal(run: Course) -> float:
    change = np.abs(run.tables["WW"][-1] - run.tables["WW"][0])
    return float((change - np.diag(np.diag(change))).max())


def _mixed_bound(run: Course) -> float:
    """2 L (sigma_0 sigma_1 sqrt((m/L) log(m1 n L / delta)) + 4 R / L), delta = 1/10, with R of the same run."""
    s = run.scale
    R = np.abs(run.tables["WV"][-1] - run.tables["WV"][0])[:, :3].max()
    return float(
        2 * run.L * (s.sigma0 * s.sigma1 * np.sqrt(s.m / run.L * np.log(s.m1 * run.n * run.L / DELTA)) + 4 * R / run.L)
    )


@book.claim(
    "E.12",
    "Correlations of neurons in phase 1",
    kind="order",
    uses=["C.2", "E.7"],
    statement=r"|\partial_t\langle w_j,w_k\rangle|\le2L\Big(\sigma_0\sigma_1\sqrt{\tfrac mL\log\tfrac{m_1nL}\delta}+\widetilde O(LR_P\sigma_0\sigma_1\sqrt m)+\tfrac{4R}L\Big),\ \text{integrated}",
    reading=f"delta = 1/10, the middle term left out: below the bound at tau = 0, 5, 20, and the change up to tau = 20 (j != k) has an exponent in m whose 95 percent "
    f"interval contains -1; {SWEEP}",
)
def correlation_change(lab: Laboratory) -> Verdict:
    """Rates against the printed bound, and the exponent of the change."""

    def ratio(run: Course) -> float:
        return float(np.abs(run.rate("WW")).max() * run.scale.B / _mixed_bound(run))

    return combine_verdicts({"rate": below(lab, ratio, 1.0), "exponent": sweep_exponent(lab, _off_diagonal, -1.0)})


@book.claim(
    "E.13",
    "Norms of neurons in phase 1",
    kind="order",
    uses=["E.12"],
    statement=r"|\Delta\|w_j\|^2|\le t\cdot(\text{the bound of E.12})",
    reading=f"printed for j in [m], meant [m1]: below t times the bound of E.12 (middle term left out), and the exponent of the largest change up to tau = 20 contains -1; {SWEEP}",
)
def norm_change(lab: Laboratory) -> Verdict:
    """Diagonal of <w_j, w_k>."""

    def change(run: Course) -> float:
        return float(np.abs(np.diagonal(run.tables["WW"][-1] - run.tables["WW"][0])).max())

    return combine_verdicts(
        {
            "bound": below(lab, lambda run: change(run) / (run.taus[-1] / run.scale.B * _mixed_bound(run)), 1.0),
            "exponent": sweep_exponent(lab, change, -1.0),
        }
    )


def _neuron_rates(run: Course) -> tuple[np.ndarray, np.ndarray]:
    """a_j d(w_j'W_V mu)/dt, and its leading part (|w_j|^2 + |v(mu)|^2) xi_mu, (times, neurons, words)."""
    assert run.signs is not None
    rates = run.signs[None, :, None] * run.rate("WV") * run.scale.B
    squares = (
        np.diagonal(run.tables["WW"], axis1=1, axis2=2)[:, :, None]
        + np.diagonal(run.tables["VV"], axis1=1, axis2=2)[:, None, :]
    )
    return rates, squares * _xi(run)[:, None, :]


@book.claim(
    "E.14",
    "Growth on target words in phase 1",
    kind="order",
    uses=["C.1/split", "E.10", "E.11"],
    statement=r"\partial_ta_jw_j^\top W_V\mu=\tfrac1n\Big(\sum_{i\ni\mu,y=1}g_ic_\mu-\sum_{i\ni\mu,y=-1}g_ic_\mu\Big)\Theta((\sigma_0^2+\sigma_1^2)m)+\varepsilon,\ |\varepsilon|\le\widetilde O(L\sigma_0^2\sqrt m+\sigma_1^2\sqrt{mm_1})",
    reading=f"the factor is |w_j|^2 + |v(mu)|^2, within [1/2, 2] of (sigma_0^2 + sigma_1^2) m; epsilon is below its order, the tilde being the logarithms of E.5 with delta = 1/10, mu1 and mu2; {SWEEP}",
)
def signal_growth(lab: Laboratory) -> Verdict:
    """What is left after the leading part."""

    def rest(run: Course) -> float:
        rates, lead = _neuron_rates(run)
        s = run.scale
        logs = np.sqrt(s.m) * radius(s.m, np.log(2 * run.n * run.L * run.G.shape[1] / DELTA))
        order = run.L * s.sigma0**2 * np.sqrt(s.m) * logs + s.sigma1**2 * np.sqrt(s.m * s.m1) * _cross_bound(run)
        return float(np.abs((rates - lead)[:, :, :2]).max() / order)

    def factor(run: Course) -> float:
        s = run.scale
        squares = (
            np.diagonal(run.tables["WW"], axis1=1, axis2=2)[:, :, None]
            + np.diagonal(run.tables["VV"], axis1=1, axis2=2)[:, None, :2]
        )
        size = squares / ((s.sigma0**2 + s.sigma1**2) * s.m)
        return float(max(size.max() / 2, 0.5 / size.min()))

    return combine_verdicts({"epsilon": below(lab, rest, 1.0, "epsilon"), "factor": below(lab, factor, 1.0, "factor")})


@book.claim(
    "E.15",
    "Growth on irrelevant words in phase 1",
    kind="order",
    uses=["C.1/split", "E.10", "E.11"],
    statement=r"|\partial_ta_jw_j^\top W_V\mu|=O(\tfrac1n(\sigma_0^2+\sigma_1^2)m)+\widetilde O(\sigma_0^2L\sqrt m),\ \mu\in\mathcal R",
    reading=f"below the order with the constant {OTHERS}; {SWEEP}",
)
def irrelevant_growth(lab: Laboratory) -> Verdict:
    """Rates of all neurons on irrelevant words."""

    def ratio(run: Course) -> float:
        s = run.scale
        order = (s.sigma0**2 + s.sigma1**2) * s.m / run.n + s.sigma0**2 * run.L * np.sqrt(s.m)
        return float(np.abs(_neuron_rates(run)[0][:, :, 3:]).max() / order)

    return below(lab, ratio, twice_others(ratio, other_sweep()))


@book.claim(
    "E.17",
    "The common word in phase 1",
    kind="order",
    uses=["E.14"],
    statement=r"|\partial_ta_jw_j^\top W_V\mu_3|\le\widetilde O(\sigma_1^2m)\quad(t\le T_1)",
    reading=f"the printed superscripts (0) mean (t): below sigma_1^2 m with the constant {OTHERS}; {SWEEP}",
)
def common_growth(lab: Laboratory) -> Verdict:
    """Rates of all neurons on mu3."""

    def ratio(run: Course) -> float:
        return float(np.abs(_neuron_rates(run)[0][:, :, 2]).max() / (run.scale.sigma1**2 * run.scale.m))

    return below(lab, ratio, twice_others(ratio, other_sweep()))
