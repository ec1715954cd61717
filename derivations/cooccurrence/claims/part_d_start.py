"""Appendix D: the start values concentrate. Every claim is sampled at stated widths; failure frequencies are exact intervals."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import comb

import flint
import numpy as np

from odesys import (
    Verdict,
    as_ball,
    combine_verdicts,
    enumerate_all,
    fit_power_law,
    frequency_at_most,
    graph,
    identity,
    measured,
)

from .. import setting
from ..laboratory import Laboratory
from .book import SIGNS, START, TOY, book, toy_neurons

DELTA = 0.1


def radius(m: int, u: float) -> float:
    """Delta(u) = sqrt(4 u / m) + 4 u / m."""
    return float(np.sqrt(4 * u / m) + 4 * u / m)


def gaussians(rng: np.random.Generator, rows: int, columns: int, scale: float) -> np.ndarray:
    return scale * rng.standard_normal((rows, columns))


def _outside(gram: np.ndarray, scale: float, off: float, diagonal: float) -> bool:
    """Some entry of a Gram matrix is further from scale * identity than allowed."""
    rest = gram - np.diag(np.diag(gram))
    return bool(np.abs(rest).max() > scale * off or np.abs(np.diag(gram) / scale - 1).max() > diagonal)


@book.claim(
    "D.1",
    "Keys and queries at the start",
    kind="probability",
    uses=["H.2"],
    insensitive=START,
    statement=r"|A_{ab}(0)|,|\kappa_{ab}(0)|,|\rho_{ab}(0)|\le\sigma_0^2m\,\Delta(\log\tfrac{2d}\delta),\ \kappa_{aa},\rho_{aa}=\sigma_0^2m(1\pm\Delta(\log\tfrac{2d}\delta))",
    reading="delta = 1/10, m = 128, d = 60, 400 starts, seed 1: the exact 99.9 percent interval of the joint failure probability lies below delta",
)
def keys_queries(lab: Laboratory) -> Verdict:
    """Gram matrices of Gaussian keys and queries."""
    rng, m, d, trials = np.random.default_rng(1), 128, 60, 400
    bound, failures = radius(m, np.log(2 * d / DELTA)), 0
    for _ in range(trials):
        K, Q = gaussians(rng, m, d, 1.0), gaussians(rng, m, d, 1.0)
        bad = np.abs(K.T @ Q).max() > m * bound or any(_outside(X.T @ X, m, bound, bound) for X in (K, Q))
        failures += int(bad)
    return frequency_at_most(failures, trials, DELTA, m=m, d=d, seed=1)


@book.claim(
    "D.2",
    "Attention is nearly uniform at the start",
    kind="order",
    uses=["D.1", "G.2"],
    insensitive=START,
    statement=r"p^{(i)}_{l,k}(0)=\tfrac1L\pm\widetilde O(\tfrac1{Lm})",
    reading="sigma_0^2 = 1/(L m), (n, L) = (12, 5), m in 64, 256, 1024, 8 starts each (seeds 0-7): max |p - 1/L| falls with an exponent in m whose 95 "
    "percent interval contains -1, and is below (1/(L m)) sqrt(2 log(2 n L^2)) in every start",
)
def uniform_attention(lab: Laboratory) -> Verdict:
    """Largest deviation of the softmax weights of all samples."""
    rows, largest = [], 0.0
    tokens = _tokens(12, 5)
    for m in (64, 256, 1024):
        for seed in range(8):
            p = _attention(np.random.default_rng([seed, m]), tokens, 35, m, 1 / np.sqrt(5 * m))
            gap = float(np.abs(p - 0.2).max())
            rows.append((m, gap))
            largest = max(largest, float(gap * 5 * m / np.sqrt(2 * np.log(2 * 12 * 25))))
    law = fit_power_law([m for m, _ in rows], [v for _, v in rows])
    fine = law.low <= -1 <= law.high and largest < 1
    return measured(
        fine, {"exponent": law.value, "largest": largest}, exponent=[law.low, law.value, law.high]
    ).with_constants(largest_over_bound=largest)


@cache
def _tokens(n: int, L: int) -> np.ndarray:
    (group,) = setting.data(n, L).encode(setting.words(setting.words_needed(n, L)))
    return group.words


def _attention(rng: np.random.Generator, tokens: np.ndarray, d: int, m: int, sigma0: float) -> np.ndarray:
    scores = gaussians(rng, m, d, sigma0).T @ gaussians(rng, m, d, sigma0) / np.sqrt(m)
    weights = np.exp(scores[tokens[:, None, :], tokens[:, :, None]])
    return weights / weights.sum(axis=-1, keepdims=True)


@book.claim(
    "D.3",
    "Values and neurons at the start",
    kind="probability",
    uses=["H.2"],
    insensitive=START,
    statement=r"|\Gamma_{ab}|\le\sigma_0^2m\Delta(\log\tfrac{2d}\delta),\ |\langle w_j,w_k\rangle|\le\sigma_1^2m\Delta(\log\tfrac{2m_1^2}\delta),\ |w_j^\top W_V\mu|\le\sigma_0\sigma_1m\Delta(\log\tfrac{2m_1d}\delta),\ \dots",
    reading="delta = 1/10, m = 128, d = 60, m1 = 16, 400 starts, seed 2: all five bounds together",
)
def values_neurons(lab: Laboratory) -> Verdict:
    """Gram matrices of values and neurons, and their products."""
    rng, m, d, m1, trials = np.random.default_rng(2), 128, 60, 16, 400
    log = np.log
    failures = 0
    for _ in range(trials):
        V, W = gaussians(rng, m, d, 1.0), gaussians(rng, m, m1, 1.0)
        bad = _outside(V.T @ V, m, radius(m, log(2 * d / DELTA)), radius(m, log(2 * d / DELTA)))
        bad |= _outside(W.T @ W, m, radius(m, log(2 * m1**2 / DELTA)), radius(m, log(2 * m1 / DELTA)))
        bad |= bool(np.abs(W.T @ V).max() > m * radius(m, log(2 * m1 * d / DELTA)))
        failures += int(bad)
    return frequency_at_most(failures, trials, DELTA, m=m, d=d, m1=m1, seed=2)


@cache
def _mixed(n: int, m: int, m1: int, L: int, trials: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Over starts: |V p|^2 L / (sigma_0^2 m), max |w'Vp| / (sigma_0 sigma_1 sqrt(m/L)), max |F| / (sigma_0 sigma_1 sqrt(L m m1))."""
    rng, tokens, d = np.random.default_rng(seed), _tokens(n, L), setting.words_needed(n, L)
    sigma0 = 1 / np.sqrt(L * m)
    norms, products, outputs = [], [], []
    for _ in range(trials):
        p = _attention(rng, tokens, d, m, sigma0)
        V, W, a = gaussians(rng, m, d, 1.0), gaussians(rng, m1, m, 1.0), rng.choice([-1.0, 1.0], size=m1)
        mixed = np.einsum("xnh,nlh->nlx", V[:, tokens], p)  # V p_l of every sample and position
        norms.append((mixed**2).sum(axis=-1) * L / m)
        values = mixed @ W.T
        products.append(np.abs(values).max() * np.sqrt(L / m))
        outputs.append(np.abs((values @ a).sum(axis=1)).max() / np.sqrt(L * m * m1))
    return np.array(norms), np.array(products), np.array(outputs)


@book.claim(
    "D.4",
    "Mixed values at the start",
    kind="probability",
    uses=["D.2"],
    insensitive=START,
    statement=r"\|W_VX^{(i)}p_l\|^2=\tfrac{\sigma_0^2m}L\big(1\pm\Delta(\log\tfrac{2nL}\delta)\big)\ \forall i,l",
    reading="delta = 1/10, (n, L) = (24, 5), m = 256, 200 starts, seed 3, attention of the same start",
)
def mixed_values(lab: Laboratory) -> Verdict:
    """Squared norms of V p over all samples and positions."""
    norms, _, _ = _mixed(24, 256, 64, 5, 200, 3)
    bad = np.abs(norms - 1).max(axis=(1, 2)) > radius(256, np.log(2 * 24 * 5 / DELTA))
    return frequency_at_most(int(bad.sum()), len(bad), DELTA, m=256, n=24, seed=3)


@book.claim(
    "D.5",
    "Neurons on mixed values",
    kind="probability",
    uses=["D.4"],
    expect="fails",
    insensitive=START,
    statement=r"|w_j^\top V^{(i)}p_l|\le\sigma_1\sigma_0\sqrt{\tfrac mL\log\tfrac{m_1nL}\delta}\ \forall j,i,l",
    reading="delta = 1/10, (n, L) = (24, 5), m = 256, m1 = 64, 200 starts, seed 3: the failure probability must be at most delta; corrected with "
    "sqrt(2 log(2 m1 n L / delta)) times 1.1, since a Gaussian passes sigma sqrt(2 log N) once in about N draws",
)
def neurons_mixed(lab: Laboratory) -> Verdict:
    """Failure frequency of the printed bound, and of the one with the two."""
    _, products, _ = _mixed(24, 256, 64, 5, 200, 3)
    count = 64 * 24 * 5
    printed = frequency_at_most(
        int((products > np.sqrt(np.log(count / DELTA))).sum()), len(products), DELTA, m=256, m1=64, seed=3
    )
    right = frequency_at_most(
        int((products > 1.1 * np.sqrt(2 * np.log(2 * count / DELTA))).sum()), len(products), DELTA
    )
    frequency = float((products > np.sqrt(np.log(count / DELTA))).mean())
    return printed.correcting(
        r"|w_j^\top V^{(i)}p_l|\le1.1\,\sigma_1\sigma_0\sqrt{\tfrac{2m}L\log\tfrac{2m_1nL}\delta}",
        right,
        "the tail of a Gaussian is exp(-t^2/2): the two was lost",
    ).with_constants(failure_frequency=frequency)


@book.claim(
    "D.6",
    "Signs of the output layer",
    kind="probability",
    insensitive=START,
    statement=r"\big||S_{\pm1}|-\tfrac{m_1}2\big|\le m_1\sqrt{\tfrac{2\log(4/\delta)}{m_1}}\ \text{with probability}\ 1-\delta",
    reading="S_(+-1) are the j with a_j = +-1 (not defined in the paper): exact binomial tails against delta for m1 = 1..150 and delta in 1/2, 1/10, 1/100",
)
def signs(lab: Laboratory) -> Verdict:
    """Exact sums of binomial coefficients; the logarithm by balls."""

    def small(case: tuple[int, Fraction]) -> bool:
        m1, delta = case
        with flint.ctx.workprec(128):
            square = 2 * m1 * (as_ball(4 / delta)).log()
            weight = sum(comb(m1, k) for k in range(m1 + 1) if not as_ball(Fraction(2 * k - m1, 2)) ** 2 < square)
        return Fraction(weight, 2**m1) <= delta

    cases = [(m1, delta) for m1 in range(1, 151) for delta in (Fraction(1, 2), Fraction(1, 10), Fraction(1, 100))]
    return enumerate_all(cases, small, "pairs (m1, delta)")


@book.claim(
    "D.7",
    "Sub-network at the start",
    kind="probability",
    uses=["D.3"],
    insensitive=START,
    statement=r"|G(\mu_i)(0)|\le\widetilde O(\sigma_0\sigma_1\sqrt{mm_1})\ \forall i\in[d]",
    reading="with a_j in the sum of its proof, where it is missing: delta = 1/10, m = 256, m1 = 32, d = 60, 400 starts, seed 4: below 1.2 sqrt(2 log(2d/delta)) "
    "times sigma_0 sigma_1 sqrt(m m1); the standard deviation is within 5 percent of that scale",
)
def sub_network_start(lab: Laboratory) -> Verdict:
    """G = a'W W_V over all words."""
    rng, m, m1, d, trials = np.random.default_rng(4), 256, 32, 60, 400
    values = np.array(
        [
            rng.choice([-1.0, 1.0], size=m1) @ gaussians(rng, m1, m, 1.0) @ gaussians(rng, m, d, 1.0) / np.sqrt(m * m1)
            for _ in range(trials)
        ]
    )
    bad = np.abs(values).max(axis=1) > 1.2 * np.sqrt(2 * np.log(2 * d / DELTA))
    spread = float(values.std())
    return combine_verdicts(
        {
            "bound": frequency_at_most(int(bad.sum()), trials, DELTA, seed=4),
            "scale": measured(abs(spread - 1) < 0.05, {"standard deviation": spread}, standard_deviation=spread),
        }
    )


@book.claim(
    "D.7-proof",
    "The sum over neurons",
    kind="identity",
    uses=["D.7", "Eq.1"],
    expect="fails",
    statement=r"G(\mu)=\sum_{j=1}^{m_1}w_j^\top W_V\mu\sim N(0,\sigma_1^2\sigma_0^2mm_1)",
    reading="G(mu) is what a token mu adds to the derived output where attention is uniform (all scores zero), signs +, -: the printed sum must be equal to it for every word; with a_j it is, and its law "
    "is the printed one either way, as a_j^2 = 1",
)
def sum_over_neurons(lab: Laboratory) -> Verdict:
    """Outputs at zero scores against sums with and without the signs."""
    flow, _ = toy_neurons(lab)
    neurons = flow.layout.symbols["WV"]
    zero = {node: graph.ZERO for node in flow.layout.symbols["KQ"].ravel()}
    plain, signed = {}, {}
    for k, sample in enumerate(TOY.samples):
        output = sample.label * graph.substitute([flow.system.observables[f"margin_{k + 1}"]], zero)[0]
        tokens = [flow.model.words.parse(token)[0] for token in sample.tokens]
        plain[f"sample {k + 1}"] = output - graph.add([neurons[j, x] for x in tokens for j in range(2)])
        signed[f"sample {k + 1}"] = output - graph.add([a * neurons[j, x] for x in tokens for j, a in enumerate(SIGNS)])
    return identity(plain).correcting(r"G(\mu)=\sum_ja_jw_j^\top W_V\mu", identity(signed), "the signs a_j are missing")


@book.claim(
    "D.8",
    "Outputs at the start",
    kind="probability",
    uses=["D.5"],
    insensitive=START,
    statement=r"|F(X^{(i)})(0)|\le2\sigma_0\sigma_1\sqrt{2Lm_1m\log(2Ln/\delta)}\le0.01",
    reading="delta = 1/10, (n, L) = (24, 5), m = 256, m1 = 64, 200 starts, seed 3; the second inequality is a condition on c0 = sigma_0 sqrt(L m) with "
    "sigma_1 = 1/sqrt(m1), whose largest value is reported",
)
def outputs_start(lab: Laboratory) -> Verdict:
    """Failure frequency of the statement (its proof carries one more logarithm), and the condition on c0."""
    _, _, outputs = _mixed(24, 256, 64, 5, 200, 3)
    log = np.log(2 * 5 * 24 / DELTA)
    largest = 0.01 / (2 * np.sqrt(2 * log))
    return frequency_at_most(int((outputs > 2 * np.sqrt(2 * log)).sum()), len(outputs), DELTA, seed=3).with_constants(
        largest_c0_for_one_percent=float(largest)
    )
