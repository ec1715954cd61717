"""Orders in d_h and N along the mean field inside Condition 4.1: noise attention, sums of coefficients, change of the keys.

With frozen norms dS_ab = 2 kappa m_a m_b H_ab, so the sum of |alpha_ab| = eta m_a |H_ab| over steps is the way of S_ab
over 2 kappa m_b, and that of the beta of the same pair its way over 2 kappa m_a.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, sqrt

import numpy as np

from odesys import Verdict

from ..laboratory import Laboratory
from ..protocol import attention
from ..special.conditions import Inside
from .book import book
from .common_drawn import unit_time
from .common_hypotheses import IN_BENIGN
from .common_mean_runs import columns, columns_at, fitted, of_order, over_families, together
from .common_reasons import reasoned

EARLY, LATE = 10.0, 9.0  # logs of d_h for stages 2 and 3: scores end at 36.7, where 1 - attention is lost in rounding


def in_widths_and_samples(lab: Laboratory, what: str, value: Callable[[Inside], float], logs: float) -> Verdict:
    """A ratio stays bounded over three decades of d_h, and one or two of N, |mu| and epsilon."""
    families = {"wider": (1.0, 1e3, 4), "N": (16, 640, 4), "n_snr2": (8e4, 8e6, 5), "eps": (1e-3, 2e-2, 4)}
    return over_families(lab, what, True, families, value, of_order("O"), logs=logs)


@book.claim(
    "Eq.62-71",
    "Noise attention at the start of stage 3",
    kind="order",
    uses=["Eq.62-T2"],
    origin="proof",
    where="D.3.1, (64), (65), (68)-(71), (108)-(111)",
    parts=("signal rows", "noise rows"),
    hypotheses=IN_BENIGN,
    statement=r"\mathrm{softmax}(\langle q_\pm,k_{n,j}\rangle)=O\Big(\frac{N(\log(6N^2M^2/\delta))^3}{d_h^{1/2}}\Big),\quad \mathrm{softmax}(\langle q_{n,i},k_{n,j}\rangle)=O\Big(\frac{N\cdot\mathrm{SNR}^2(\log(6N^2M^2/\delta))^3}{d_h^{1/2}}\Big)",
    reading="At T_2 = 1/(eta mu^2 |w_O|^2), in the mean field; all noise keys together; noise rows are those of the weak tokens.",
)
def noise_attention(lab: Laboratory) -> dict[str, Verdict]:
    """Attention over its order."""

    def ratio(row: str, size: Callable[[Inside], float]) -> Callable[[Inside], float]:
        def value(item: Inside) -> float:
            case, (d_h, _, L) = item.case, item.widths
            run = columns_at(lab, case, 0.3, (unit_time(case, True),))
            noise = sum(float(attention(run, 3, row, key)[0]) for key in "2w")
            return noise * sqrt(d_h) / (size(item) * L**3)

        return value

    return reasoned(
        "Eq.62-71",
        {
            "signal rows": in_widths_and_samples(
                lab, "attention over its order", ratio("s", lambda item: item.N), EARLY
            ),
            "noise rows": in_widths_and_samples(
                lab, "attention over its order", ratio("w", lambda item: item.n_snr2), EARLY
            ),
        },
    )


#: the sum of beta of a row and a key is that of alpha times the quotient of their squared lengths: between two noise tokens
#: it is C_p^2, 1 or C_p^(-2), which (10) makes constants: C_p^2 times the largest alpha bounds them, so that (58) and (104)
#: are read off alpha; that the largest of several sums has an order is what their displays say
#: printed sums: part, then pairs of a row and a key with whether the sum is of alpha, and the order over d_h^(-1/4)
STAGE_TWO = {
    "(55)": ((("ss", True), ("s2", False), ("sw", False)), lambda item: sqrt(item.N)),
    "(56)": ((("s2", True), ("sw", True)), lambda item: 1 / sqrt(item.N)),
    "(57)": ((("2s", False), ("ws", False)), lambda item: item.snr / sqrt(item.N)),
    "(58)": (
        (("2s", True), ("ws", True), *((pair, True) for pair in ("22", "2w", "w2", "ww"))),
        lambda item: 1.0,
    ),
}
STAGE_THREE = {
    "(102)": ((("2s", False), ("ws", False)), lambda item: item.snr**2),
    "(103)": ((("ss", True), ("s2", False), ("sw", False)), lambda item: item.N),
    "(104)": (
        (
            ("s2", True),
            ("sw", True),
            ("2s", True),
            ("ws", True),
            *((pair, True) for pair in ("22", "2w", "w2", "ww")),
        ),
        lambda item: 1.0,
    ),
}


def _sum(run: dict[str, np.ndarray], item: Inside, pair: str, of_alpha: bool, begin: float, end: float) -> float:
    """Sum of |alpha| of a row and a key, or of |beta| of the key and the row, between two times."""
    case = item.case
    m = {"s": case.m_s, "2": case.m_2, "w": case.m_w}
    first, last = np.interp([begin, end], run["t"], run[f"S_{pair}"])
    way = abs(float(last - first))  # scores are monotone (propositions D and H), and single steps have rounding
    return way / (2 * case.kappa * m[pair[1] if of_alpha else pair[0]])


def _largest(lab: Laboratory, item: Inside, pairs: tuple[tuple[str, bool], ...], late: bool) -> float:
    run, two = columns(lab, item.case, item.eps), unit_time(item.case, True) / item.widths[2]
    begin, end = (two, float(run["t"][-1])) if late else (0.0, two)
    return max(_sum(run, item, pair, of_alpha, begin, end) for pair, of_alpha in pairs)


@book.claim(
    "Beyond.MF.sums",
    "Sums of coefficients over stage 2 in the mean field",
    kind="order",
    uses=["Eq.55-59"],
    origin="ours",
    hypotheses=IN_BENIGN,
    statement=r"\sum_{s=T_1}^t|\alpha_{\pm,\pm}|,|\beta_{\pm,\pm}|,|\beta_{n,i,\pm}|=O(N^{1/2}d_h^{-1/4}),\ \sum|\alpha_{n,\pm,i}|=O(N^{-1/2}d_h^{-1/4}),\ \sum|\beta_{n,\pm,i}|=O(\mathrm{SNR}\,N^{-1/2}d_h^{-1/4}),\ \sum|\alpha_{n,i,\pm}|,|\alpha_{n,i,n,j}|,|\beta_{n,j,n,i}|=O(d_h^{-1/4})",
    reading="Up to the T_2 of stage 2; Eq.55-59 has the proof, from propositions that are measured along trajectories.",
)
def sums_in_mean_field(lab: Laboratory) -> Verdict:
    """The largest sum of each display over its order."""
    return together(
        in_widths_and_samples(
            lab,
            f"the sum {part} over its order",
            lambda item, p=pairs, z=size: _largest(lab, item, p, False) * item.widths[0] ** 0.25 / z(item),  # type: ignore[misc]
            EARLY,
        )
        for part, (pairs, size) in STAGE_TWO.items()
    )


@book.claim(
    "Eq.102-105",
    "Sums of coefficients over stage 3",
    kind="order",
    uses=["Eq.31-37", "Eq.62-71"],
    origin="proof",
    where="D.3.3, (102)-(104); of (292)-(296) only (293) is legible",
    parts=tuple(STAGE_THREE),
    hypotheses=IN_BENIGN,
    statement=r"\sum_{s=T_2}^t|\beta_{n,\pm,i}|=O\Big(\frac{\mathrm{SNR}^2\mathcal L^3\log O(1/\epsilon)}{\epsilon d_h^{1/2}}\Big),\ \sum|\alpha_{\pm,\pm}|,|\beta_{\pm,\pm}|,|\beta_{n,i,\pm}|=O\Big(\frac{N\mathcal L^3\log O(1/\epsilon)}{\epsilon d_h^{1/2}}\Big),\ \text{others of own samples}=O\Big(\frac{\mathcal L^3\log O(1/\epsilon)}{\epsilon d_h^{1/2}}\Big),\quad\mathcal L=\log(6N^2M^2/\delta)",
    reading="From the T_2 of stage 2 to the training loss epsilon, in the mean field; (105) follows from (104) and Lemma C.4.",
)
def sums_stage_three(lab: Laboratory) -> dict[str, Verdict]:
    """The largest sum of each display over its order."""

    def over(item: Inside, pairs: tuple[tuple[str, bool], ...], size: Callable[[Inside], float]) -> float:
        d_h, _, L = item.widths
        return _largest(lab, item, pairs, True) * item.eps * sqrt(d_h) / (size(item) * L**3 * log(1 / item.eps))

    found = {}
    for part, (pairs, size) in STAGE_THREE.items():
        ratio = lambda item, p=pairs, z=size: over(item, p, z)  # noqa: E731
        found[part] = in_widths_and_samples(lab, "the sum over its order", ratio, LATE)
    return reasoned("Eq.102-105", found)


def key_change(scores: dict[str, float], item: Inside) -> float:
    """|Delta W_K|_F^2 over sigma_h^2 d_h: sum over pairs of tokens of S_ab^2 / (4 kappa^2 m_a m_b), with frozen norms.

    S_ab = 2 kappa m_a sum of beta_ba, and Delta k_b = sum_a (sum of beta_ba) q_a with |q_a|^2 = kappa m_a.
    """
    case = item.case
    m = {"s": case.m_s, "2": case.m_2, "w": case.m_w}
    count = {"s": 1, "2": 1, "w": case.M - 2}
    pairs = {a + b: 2 if a == b == "s" else case.N * count[a] * count[b] for a in m for b in m}
    return sum(n * scores[f"S_{ab}"] ** 2 / (4 * case.kappa**2 * m[ab[0]] * m[ab[1]]) for ab, n in pairs.items())


@book.claim(
    "Beyond.MF.keys",
    "Change of the key matrix in the mean field",
    kind="order",
    uses=["Eq.116-130"],
    origin="ours",
    hypotheses=IN_BENIGN,
    statement=r"\|W_K^{(T_3)}-W_K^{(0)}\|_F=O(\sigma_hd_h^{1/2})",
    reading="At the training loss epsilon, in the mean field.",
)
def change_of_keys(lab: Laboratory) -> Verdict:
    """The squared ratio over widths, samples, |mu| and epsilon."""
    return in_widths_and_samples(
        lab,
        "|Delta W_K|^2 over sigma_h^2 d_h",
        lambda item: key_change(fitted(lab, item.case, item.eps), item),
        LATE,
    )
