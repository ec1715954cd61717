"""Appendix E, the first gradients: rates at the start, exactly at infinite width and measured on networks."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np

from odesys import Verdict, agrees, combine_verdicts, frequency_at_most, graph, identity, measured, rounded, sym

from .. import setting
from ..laboratory import Laboratory
from ..setting import Scales
from ..special.trained_network import trained
from ..special.trajectories import first_rates, random_signs
from .book import START, book
from .part_d_start import DELTA, gaussians, radius, sub_network_start

FIRST = setting.condition_one(5, 1024, 32, 0.1)
SAME = "the rates equal those of the network's own weights to 1e-9"


@cache
def _trained_rates(scale: Scales, seed: int) -> np.ndarray:
    """The same rates from the weights."""
    return trained(12, 5, scale, seed, (0.0,), True).rate("WV")[0] * scale.B


def _first_rates(lab: Laboratory) -> tuple[dict[int, np.ndarray], Verdict]:
    """a_j d(w_j'W_V mu)/dt at the start in units of (sigma_0^2 + sigma_1^2) m, by neuron and word, m = 1024, m1 = 32, c0 = 0.1."""
    rows, same = {}, {}
    for seed in (0, 1, 2):
        rates = first_rates(lab, 12, 5, FIRST, seed)
        same[str(seed)] = agrees(rates, _trained_rates(FIRST, seed), 1e-9)
        rows[seed] = random_signs(FIRST, seed)[:, None] * rates / ((FIRST.sigma0**2 + FIRST.sigma1**2) * FIRST.m)
    return rows, combine_verdicts(same)


@book.claim(
    "4.1",
    "Target words learn at once",
    kind="order",
    uses=["C.1"],
    statement=r"\partial_ta_jw_j^\top W_V\mu=\Theta((\sigma_0^2+\sigma_1^2)m)\ \text{at}\ t=0,\ \mu\in\{\mu_1,\mu_2\}",
    reading="at the infinite-width start the summed rate is exactly (1 + eps2)/6 (proof, n = 12); networks of m = 1024, m1 = 32, c0 = 0.1, seeds 0-2, "
    f"(n, L) = (12, 5): the mean over neurons is within 0.05 of 1/6, and every neuron lies between 0 and 1; {SAME}",
)
def signal_updates(lab: Laboratory) -> Verdict:
    """Exact at infinite width, measured neuron by neuron."""
    exact = identity({"G_s": lab.unit_rates(12, 5)["G_s"] - (1 + sym("eps2")) / 6})
    rows, same = _first_rates(lab)
    means = [float(r[:, :2].mean()) for r in rows.values()]
    ends = [min(float(r[:, :2].min()) for r in rows.values()), max(float(r[:, :2].max()) for r in rows.values())]
    fine = all(abs(m - 1 / 6) < 0.05 for m in means) and ends[0] > 0 and ends[1] < 1
    return combine_verdicts(
        {
            "infinite width": exact,
            "as trained": same,
            "networks": measured(fine, {"means": means, "ends": ends}, means=rounded(means), ends=rounded(ends)),
        }
    )


@book.claim(
    "E.4",
    "Target words learn at once (formal)",
    kind="order",
    same_as="4.1",
    uses=["4.1"],
    statement=r"\partial_ta_jw_j^\top W_V\mu=\Theta((\sigma_0^2+\sigma_1^2)m)\ \text{at}\ t=0",
    reading="as 4.1",
)
def signal_updates_again(lab: Laboratory) -> Verdict:
    """The same statement."""
    return signal_updates(lab)


@book.claim(
    "E.4-proof",
    "The constant of the first gradient",
    kind="identity",
    uses=["4.1"],
    expect="fails",
    statement=r"\tfrac1n\big(\sum_{I_1}g_i-\sum_{I_2}g_i\big)=\tfrac13\ \text{at}\ F=0",
    reading="the rate of G(mu1) at the infinite-width start without the eps2 term, exactly, n = 12",
)
def first_constant(lab: Laboratory) -> Verdict:
    """The derived value at g = 1/2."""
    value = graph.substitute([lab.unit_rates(12, 5)["G_s"]], {sym("eps2"): graph.ZERO})[0]
    third, sixth = (identity({"rate": value - Fraction(1, k)}) for k in (3, 6))
    return third.correcting(r"=\tfrac16", sixth, "the factor g(0) = 1/2 was dropped")


@book.claim(
    "E.5",
    "The small terms at the start",
    kind="probability",
    uses=["D.3", "C.1/split"],
    insensitive=START,
    statement=r"\big|\sum_{k\ne j}a_k\langle w_j,w_k\rangle\big|\le\sigma_1^2\sqrt{m_1}m\,\Delta(\log\tfrac{2m_1^2}\delta)\sqrt{\log\tfrac{4m_1}\delta},\quad|\varepsilon_2|\le\sigma_0^2m\sqrt L\,\Delta(\log\tfrac{2nLd}\delta)",
    reading="delta = 1/10, m = 128, m1 = 16, (n, L) = (12, 5), 400 starts, seed 6, g = 1/2 and uniform attention in the second term: both bounds together",
)
def small_terms(lab: Laboratory) -> Verdict:
    """Monte Carlo of both terms over all neurons and words."""
    rng, m, m1, n, L, trials = np.random.default_rng(6), 128, 16, 12, 5, 400
    data = setting.data(n, L)
    d = setting.words_needed(n, L)
    (group,) = data.encode(setting.words(d))
    weight = np.zeros(d)
    for tokens, label in zip(group.words, group.labels, strict=True):
        np.add.at(weight, tokens, label / (2 * n))
    first = np.sqrt(m1) * m * radius(m, np.log(2 * m1**2 / DELTA)) * np.sqrt(np.log(4 * m1 / DELTA))
    second = m * np.sqrt(L) * radius(m, np.log(2 * n * L * d / DELTA))
    failures = 0
    for _ in range(trials):
        W, V, a = gaussians(rng, m1, m, 1.0), gaussians(rng, m, d, 1.0), rng.choice([-1.0, 1.0], size=m1)
        gram, values = W @ W.T, V.T @ V
        cross = (gram - np.diag(np.diag(gram))) @ a
        rest = (values - np.diag(np.diag(values))) @ weight
        failures += int(np.abs(cross).max() > first or np.abs(rest).max() > second)
    return frequency_at_most(failures, trials, DELTA, seed=6)


@book.claim(
    "E.6",
    "Irrelevant words at the start",
    kind="order",
    uses=["C.1"],
    statement=r"\partial_ta_jw_j^\top W_V\mu=O\big(\tfrac1n(\sigma_0^2+\sigma_1^2)m+\sigma_0^2\sqrt{mL}\big),\ \mu\in\mathcal R",
    reading="at the infinite-width start the summed rate is exactly y_i (1 + eps2)/(2n) for n = 12, 18, 24 (proof); networks as in 4.1: below the printed "
    f"order with constant 3 for every neuron and irrelevant word; {SAME}",
)
def irrelevant_updates(lab: Laboratory) -> Verdict:
    """Exact at infinite width for three n, bounded for networks."""
    residuals: dict[str, graph.Node] = {}
    for n in (12, 18, 24):
        rates = lab.unit_rates(n, 5)
        residuals |= {
            f"{name}, n={n}": rates[name] - sign * (1 + sym("eps2")) / (2 * n)
            for name, sign in (("G_r1", 1), ("G_r2", -1), ("G_r4", -1))
        }
    order = 1 / 12 + FIRST.sigma0**2 * np.sqrt(FIRST.m * 5) / ((FIRST.sigma0**2 + FIRST.sigma1**2) * FIRST.m)
    rows, same = _first_rates(lab)
    largest = float(max(float(np.abs(r[:, 3:]).max()) for r in rows.values()) / order)
    return combine_verdicts(
        {
            "infinite width": identity(residuals),
            "as trained": same,
            "networks": measured(largest < 3, {"largest": largest}, largest=largest),
        }
    )


@book.claim(
    "4.2",
    "The common word at the start",
    kind="order",
    uses=["C.1", "E.5"],
    statement=r"|\partial_ta_jw_j^\top W_V\mu_3|=\widetilde O(\sigma_1^2\sqrt{mm_1}+\sigma_0^2\sqrt{mL}+\sigma_1^2m\mathsf F),\ \mathsf F=\max|F_i(0)|",
    reading="exactly zero at the infinite-width start (proof); networks of (n, L) = (12, 5), m1 = 16, m in 256, 1024, c0 in 0.1, 0.3, 1, seeds 0-3: below the printed "
    f"order with constant 1 for every neuron, {SAME}; E.16 prints (sigma_0^2 + sigma_1^2) m F, and F needs absolute values",
)
def common_word(lab: Laboratory) -> Verdict:
    """Zero by cancellation of labels; the rest is the start's randomness."""
    exact = identity({"G_c": lab.unit_rates(12, 5)["G_c"]})
    largest, same = 0.0, {}
    for m in (256, 1024):
        for c0 in (0.1, 0.3, 1.0):
            scale = setting.condition_one(5, m, 16, c0)
            order = scale.sigma1**2 * np.sqrt(m * 16) + scale.sigma0**2 * np.sqrt(m * 5)
            for seed in range(4):
                rates = first_rates(lab, 12, 5, scale, seed)
                same[f"{m}, {c0}, {seed}"] = agrees(rates, _trained_rates(scale, seed), 1e-9)
                outputs = trained(12, 5, scale, seed, (0.0,), True).outputs[0]
                size = order + scale.sigma1**2 * m * float(np.abs(outputs).max())
                largest = max(largest, float(np.abs(rates[:, 2]).max() / size))
    return combine_verdicts(
        {
            "infinite width": exact,
            "as trained": combine_verdicts(same),
            "networks": measured(largest < 1, {"largest": largest}, largest=largest),
        }
    )


@book.claim(
    "E.16",
    "The common word at the start (formal)",
    kind="order",
    same_as="4.2",
    uses=["4.2"],
    statement=r"|\partial_ta_jw_j^\top W_V\mu_3|\le\widetilde O(\sigma_1^2\sqrt{mm_1}+\sigma_0^2\sqrt{mL}+(\sigma_0^2+\sigma_1^2)m\mathsf F)",
    reading="as 4.2: the bound is larger by sigma_0^2 m F",
)
def common_word_again(lab: Laboratory) -> Verdict:
    """Implied by the sharper 4.2."""
    return common_word(lab)


@book.claim(
    "E.8",
    "Sub-network at the start (repeated)",
    kind="probability",
    same_as="D.7",
    uses=["D.7"],
    insensitive=START,
    statement=r"|G(\mu)(0)|\le\widetilde O(\sigma_0\sigma_1\sqrt{mm_1})",
    reading="as D.7",
)
def sub_network_again(lab: Laboratory) -> Verdict:
    """The same statement as D.7."""
    return sub_network_start(lab)


@book.claim(
    "E.22",
    "Keys times sub-network at the start",
    kind="probability",
    uses=["D.1", "D.7"],
    insensitive=START,
    statement=r"\big|\sum_ja_j\|k(\mu)\|^2w_j^\top v(\nu)\big|\le O\Big(\sigma_0^2m\,\sigma_0\sigma_1\sqrt{mm_1\log\tfrac{m_1d}\delta}\sqrt{\log\tfrac{nd}\delta}\Big),\ \text{cross terms}\ \le\widetilde O(\sigma_0^2\sqrt m\,\sigma_0\sigma_1\sqrt{mm_1})",
    reading="delta = 1/10, m = 128, m1 = 16, d = 35, n = 12, 300 starts, seed 8, constants 1 and 2 log(2 d^2 / delta): all pairs of words together",
)
def keys_times_values(lab: Laboratory) -> Verdict:
    """Products of kappa and G."""
    rng, m, m1, d, n, trials = np.random.default_rng(8), 128, 16, 35, 12, 300
    lead = m * np.sqrt(m * m1 * np.log(m1 * d / DELTA) * np.log(n * d / DELTA))
    cross = np.sqrt(m) * np.sqrt(m * m1) * 2 * np.log(2 * d**2 / DELTA)
    failures = 0
    for _ in range(trials):
        K = gaussians(rng, m, d, 1.0)
        G = rng.choice([-1.0, 1.0], size=m1) @ gaussians(rng, m1, m, 1.0) @ gaussians(rng, m, d, 1.0)
        gram = K.T @ K
        off = np.abs(gram - np.diag(np.diag(gram))).max()
        failures += int(np.diag(gram).max() * np.abs(G).max() > lead or off * np.abs(G).max() > cross)
    return frequency_at_most(failures, trials, DELTA, seed=8)
