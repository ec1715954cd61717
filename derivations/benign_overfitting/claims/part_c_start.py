"""Appendix C: the start of weights and data, with high probability."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import comb, log, sqrt

import flint
import numpy as np

from odesys import Verdict, enumerate_all, frequency_at_most, measured, rounded

from ..laboratory import Laboratory
from ..setting import Case
from ..special import span_network
from .book import NUMBERS, book

DELTA = 0.1
START = Case(N=6, M=3, d=1500, d_h=600, mu=5.0, noise=1.0, C_p=5 * 3**0.5)
SHORT, LONG = 300, 6000


@book.claim(
    "C.1",
    "Balanced classes",
    kind="probability",
    insensitive=NUMBERS,
    statement=r"n\ge8\log(4/\delta)\Rightarrow P(N/4\le N_\pm\le3N/4)\ge1-\delta",
    reading="n is N; for every N up to 300 the exact binomial tail is at most 4 exp(-N/8), the smallest delta allowed (exact integers against "
    "balls); for all N by Hoeffding's inequality, 2 exp(-2 N / 16)",
)
def balanced_classes(lab: Laboratory) -> Verdict:
    """Exact tails against the bound, N by N."""

    def tail_is_small(N: int) -> bool:
        outside = sum(comb(N, k) for k in range(N + 1) if 4 * k < N or 4 * k > 3 * N)
        return bool(flint.arb(outside) / flint.arb(2) ** N <= 2 * (-flint.arb(N) / 8).exp())

    verdict = enumerate_all(range(1, 301), tail_is_small, "values of N")
    return verdict.with_constants(suffices="N >= 8 log(2 / delta), half the printed 4")


def _frequency(case: Case, bad: Callable[[span_network.Draw], bool], trials: int, bound: float = DELTA) -> Verdict:
    failures = sum(bad(span_network.draw(case, (5, k))) for k in range(trials))
    return frequency_at_most(failures, trials, bound, seeds=f"(5, 0) to (5, {trials - 1})", delta=bound)


def _values_too_large(
    factor: Callable[[Case, float], float], deviation: Callable[[Case], float], trials: int
) -> Verdict:
    """How often some |V(0)| exceeds d_h^(-1/4), for sigma_V = deviation / factor(log)."""
    rng, case = np.random.default_rng(3), replace(START, d_h=100)
    sigma_v = deviation(case) * case.d_h**-0.25 / factor(case, log(2 * case.N * case.M / DELTA))
    lengths = np.sqrt([case.m_s] * 2 + [case.m_2, case.m_w] * case.N)
    # given the tokens V(0) is Gaussian; distinct tokens are nearly orthogonal, their lengths are those of the law
    values = sigma_v * lengths * rng.standard_normal((trials, len(lengths)))
    failures = int((np.abs(values).max(axis=1) > case.d_h**-0.25).sum())
    return frequency_at_most(failures, trials, DELTA, seed=3)


@book.claim(
    "C.2",
    "Start of V",
    kind="probability",
    expect="fails",
    insensitive=NUMBERS,
    statement=r"P\big(|V_\pm^{(0)}|,|V_{n,i}^{(0)}|\le d_h^{-1/4}\big)\ge1-\delta",
    reading="with the printed standard deviation sigma_V = |w_O|^-1 min(mu^-1, (sigma_p sqrt d)^-1) d_h^(-1/4) / sqrt(log(2 N M / delta)): the first noise "
    "token is C_p times longer than sigma_p says, and a Gaussian tail needs sqrt(2 log); delta = 1/10",
)
def start_of_values(lab: Laboratory) -> Verdict:
    """Printed scale, and the scale with sigma~_p and sqrt(2 log)."""
    printed = _values_too_large(lambda c, L: sqrt(L), lambda c: min(1 / c.mu, 1 / sqrt(c.noise)), LONG)
    right = _values_too_large(lambda c, L: sqrt(2 * L), lambda c: min(1 / c.mu, 1 / sqrt(c.m_2)), LONG)
    return printed.correcting(
        r"\sigma_V=\|w_O\|^{-1}\min\{\mu^{-1},(\tilde\sigma_p\sqrt d)^{-1}\}d_h^{-1/4}/\sqrt{2\log(2NM/\delta)}",
        right,
        "the strongest noise token decides, and the Gaussian tail is exp(-x^2/2)",
    )


def _outside(made: span_network.Draw, equal_pairs: bool) -> tuple[float, float]:
    """Largest relative deviation of the norms, and largest ratio of inner products to the bound of C.3."""
    case, values = made.case, span_network.gram_values(made)
    length = np.array([case.m_s] * 2 + [case.m_2, case.m_w] * case.N)
    noise_bound = np.array([case.mu] * 2 + [sqrt(case.m_2)] * (2 * case.N))
    bound = (
        2
        * np.outer(noise_bound, noise_bound)
        * case.sigma_h**2
        * sqrt(case.d_h * log(6 * case.N**2 * case.M**2 / DELTA))
    )
    norms = max(np.abs(np.diag(values[x]) / (length * case.kappa) - 1).max() for x in "QK")
    off = [np.abs(values["S"]) / bound]
    for x in "QK":
        ratio = np.abs(values[x]) / bound
        off.append(ratio if equal_pairs else ratio - np.diag(np.diag(ratio)))
    return float(norms), float(max(table.max() for table in off))


@book.claim(
    "C.3",
    "Start of queries and keys",
    kind="probability",
    expect="fails",
    insensitive=NUMBERS,
    statement=r"\|q\|^2,\|k\|^2\in[\tfrac12,\tfrac32]\,(\text{length})^2\sigma_h^2d_h,\quad |\langle q_{n,i},q_{n',j}\rangle|,|\langle k,k\rangle|,|\langle q,k\rangle|\le2b_ab_b\sigma_h^2\sqrt{d_h\mathcal L}\ \text{for all}\ (n,i),(n',j)",
    reading="N = 6, M = 3, d = 1500, d_h = 600, delta = 1/10; the printed range of indices contains (n,i) = (n',j), where the inner product is the "
    "squared norm of the line above",
)
def start_of_queries(lab: Laboratory) -> Verdict:
    """Frequencies with and without equal tokens."""

    def bad(made: span_network.Draw, equal_pairs: bool) -> bool:
        norms, off = _outside(made, equal_pairs)
        return norms > 0.5 or off > 1

    literal = _frequency(START, lambda made: bad(made, True), 60)
    distinct = _frequency(START, lambda made: bad(made, False), SHORT)
    return literal.correcting(
        r"\text{the same for distinct tokens, and for all pairs }\langle q,k\rangle",
        distinct,
        "equal tokens give the norm itself",
    )


@book.claim(
    "C.4",
    "Noise tokens",
    kind="probability",
    insensitive=NUMBERS,
    statement=r"\|\xi_{n,2}\|^2\in[\tfrac12,\tfrac32]\tilde\sigma_p^2d,\ \|\xi_{n,i}\|^2\in[\tfrac12,\tfrac32]\sigma_p^2d,\ |\langle\xi,\xi'\rangle|\le2\tilde\sigma_p^2\sqrt{d\log(4N^2M^2/\delta)}",
    reading="frequency of a violation at N = 6, M = 3, d = 1500, delta = 1/10 is at most delta",
)
def noise_tokens(lab: Laboratory) -> Verdict:
    """Frequency of a violation."""
    case = replace(START, d_h=2)

    def bad(made: span_network.Draw) -> bool:
        lengths = np.diag(made.gram)[2:] / np.array([case.m_2, case.m_w] * case.N)
        noise = made.gram[2:, 2:]
        off = np.abs(noise - np.diag(np.diag(noise))).max() / (
            2 * case.m_2 / case.d * sqrt(case.d * log(4 * case.N**2 * case.M**2 / DELTA))
        )
        return bool(np.abs(lengths - 1).max() > 0.5 or off > 1)

    return _frequency(case, bad, SHORT)


@book.claim(
    "Beyond.start",
    "Law of the start",
    kind="definition",
    origin="ours",
    insensitive=NUMBERS,
    statement=r"E\mathcal Q^{(0)}=E\mathcal K^{(0)}=\sigma_h^2d_hG,\ ES^{(0)}=0",
    reading="means over 200 starts for one training set, within 5 standard errors (N = 2, M = 2)",
)
def law_of_start(lab: Laboratory) -> Verdict:
    """Means of the Gram matrices at the start."""
    case = Case(2, 2, 20, 30, 2.0, 4.0, 1.5)
    made = span_network.draw(case, 1)
    rng, root, total = np.random.default_rng(2), np.linalg.cholesky(made.gram), []
    for _ in range(200):
        q, k = (case.sigma_h * root @ rng.standard_normal((case.P, case.d_h)) for _ in range(2))
        total.append([q @ q.T - case.kappa * made.gram, q @ k.T])
    means, errors = np.mean(total, axis=0), np.std(total, axis=0) / sqrt(200)
    worst = float(np.abs(means / np.maximum(errors, 1e-12)).max())
    return measured(worst < 5, {"standard errors": rounded(worst)}, standard_errors=rounded(worst), seed=2)
