"""Stages 2 and 3 of both regimes along runs of the mean field (Lemmas 5.3 and 5.4, propositions F-I, J-M, N-Q)."""

from __future__ import annotations

from dataclasses import replace
from math import log, sqrt
from typing import Any

import numpy as np

from odesys import Verdict, fit_power_law, measured, rounded

from ..laboratory import Laboratory
from ..setting import Case
from .book import book
from .common_mean_runs import columns, gap, saturated_from, slopes, wide, window

FAST, STRONG = 1e13, 1e8  # mobilities
LOW, HIGH = 0.004, 0.032
FEW, MANY = 40, 640


def _prefactor(run: dict[str, np.ndarray], case: Case, keep: np.ndarray, row: str, winner: str) -> np.ndarray:
    """e^Lambda (or e^Psi) against the first noise token (or the signal), over the closed form of Beyond.MF.stage2."""
    tau, loser = run["t"][keep], "2" if winner == "s" else "s"
    m = {"s": case.m_s, "2": case.m_2}
    front = (m["s"] ** 2 / (4 if row == "s" else 2 * case.N)) if winner == "s" else m["2"] ** 2 / case.N**2
    closed = (case.M - 1) / (4 * case.M) * front * m[row] * case.kappa * case.w2 * tau**2
    return np.asarray(np.exp(gap(run, row, winner, loser)[keep] - np.log(closed)))


@book.claim(
    "5.3",
    "Stage 2: values linear, attention gaps quadratic",
    kind="order",
    uses=["5.2", "D.6", "Eq.31-37", "Beyond.MF.stage2"],
    statement=r"V_+\ge\eta C\mu^2\|w_O\|^2(t-T_1),\ V_+\ge3M|V_{n,i}|,\ \Lambda_{n,\pm,j}\ge\log\big(e^{\Lambda^{(T_1)}}+\tfrac{\eta^2C\mu^4\|w_O\|^2d_h^{1/2}}{N\mathcal L^2}(t-T_1)^2\big),\ \Lambda_{n,i,\pm,j}\ge\cdots",
    reading="mean field, M = 3, C_p = 4, N = 40, N SNR^2 = 4000, kappa mu^2 = 1e13 (d_h must be enormous), while 0.004 < v_s < 0.032: v_s / (mu^2 w2 tau) is between 1/8 and 1/4, (kappa mu^2)^(-1/2) / r <= v_2 <= v_s / (3M) (what it learns before attention moves is not lost), local slopes of the "
    "gaps over log tau are within 0.1 of 2, and e^Lambda over the closed form is between 0.95 and 1.1 (signal row) and between 1.4 and 1.9 (noise row, whose other scores also fall)",
)
def stage_two_growth(lab: Laboratory) -> Verdict:
    """Slopes and prefactors at huge mobility."""
    case = wide(4000.0, FAST)
    run = columns(lab, case, 0.6)
    keep = window(run, "v_s", LOW, HIGH)
    speed = run["v_s"][keep] / (case.m_s * case.w2 * run["t"][keep])
    found = {row: slopes(run, gap(run, row, "s", "2"), keep) for row in "s2"}
    ratios = {row: _prefactor(run, case, keep, row, "s") for row in "s2"}
    share = 9 * run["v_2"][keep] / run["v_s"][keep]
    learnt = float(run["v_2"][keep].min()) * case.balance * sqrt(FAST)
    seen = {
        "slopes": found,
        "prefactors": {r: (float(x.min()), float(x.max())) for r, x in ratios.items()},
        "speed": (float(speed.min()), float(speed.max())),
        "3M v_2 / v_s": (float(share.min()), float(share.max())),
        "v_2 r (kappa mu^2)^(1/2)": learnt,
    }
    ok = (
        learnt >= 1
        and share.max() <= 1
        and speed.min() >= 1 / 8
        and speed.max() <= 1 / 4
        and all(abs(x - 2) < 0.1 for pair in found.values() for x in pair)
    )
    ok = ok and all(
        low < ratios[row].min() and ratios[row].max() < high for row, low, high in (("s", 0.95, 1.1), ("2", 1.4, 1.9))
    )
    shown = {name: str(rounded(x)) for name, x in seen.items()}
    return measured(bool(ok), **shown).with_constants(C_of_V=rounded(float(speed.min())))


@book.claim(
    "Eq.38-N",
    "The factor 1/N in the growth of the signal's gap",
    kind="order",
    uses=["5.3", "Beyond.MF.stage2"],
    statement=r"\Lambda_{n,\pm,j}^{(t)}\approx\log\big(\tfrac{\eta^2C\mu^4\|w_O\|^2d_h^{1/2}}{N\mathcal L^2}(t-T_1)^2\big)",
    expect="fails",
    reading="(38) and (223) keep one sample of the sum over S_+; as a lower bound that is allowed, as the growth law it is not: mean field, mu, noise and kappa held, at kappa mu^2 = 1e13 and one time, from N = 40 to 640: the "
    "exponent of N in e^Lambda of the signal row is 0 within 0.05 (printed -1); in the noise row it is -1 within 0.1, so there 1/N is real",
)
def number_of_samples(lab: Laboratory) -> Verdict:
    """Exponents of N in both gaps at the same time."""
    base = wide(4000.0, FAST)
    found: dict[str, list[float]] = {"s": [], "2": []}
    for N in (FEW, MANY):
        run = columns(lab, replace(base, N=N), 0.6)
        keep = window(run, "v_s", LOW, HIGH)
        for row, values in found.items():
            values.append(
                float(
                    np.exp(np.interp(0.016 * 4 / (base.m_s * base.w2), run["t"][keep], gap(run, row, "s", "2")[keep]))
                )
            )
    powers = {row: fit_power_law((FEW, MANY), values).value for row, values in found.items()}
    printed = measured(abs(powers["s"] + 1) < 0.1, {"exponent of N": rounded(powers["s"])}, exponents=rounded(powers))
    fixed = measured(abs(powers["s"]) < 0.05 and abs(powers["2"] + 1) < 0.1, rounded(powers))
    return printed.correcting(
        r"\Lambda_{n,\pm,j}\approx\log(C\eta^2\mu^4\|w_O\|^2d_h^{1/2}\mathcal L^{-2}(t-T_1)^2),\ \Lambda_{n,i,\pm,j}\text{ with }1/N",
        fixed,
        "all samples of a class share q_+ and k_+, so their forces on the signal's own score add up",
    )


@book.claim(
    "Prop.J-M",
    "Stage 2 of the harmful regime (claims 9-12)",
    kind="order",
    uses=["E.3", "Eq.31-37", "Beyond.MF.stage2"],
    statement=r"y_nV_{n,2}\ge\eta C_3\sigma_p^2d\|w_O\|^2(t-T_1)/N,\ \Psi\ge\log(e^{\Psi^{(T_1)}}+\cdots(t-T_1)^2),\ |\Psi|\le\log d_h^{1/2},\ \text{increments of }k_{n,2}\text{ at least twice the others}",
    reading="mean field, N SNR^2 = 1/2, kappa m_2 = 1e13, while 0.004 < v_2 < 0.032: slopes of Psi_s, Psi_2 within 0.1 of 2, e^Psi over the closed form between 0.7 and 1, v_2 N / (m_2 w2 tau) between 1/4 and 1/2, v_2 dominates "
    "by 3M; other keys do not gain in noise rows, so the factor 2 is automatic there, and in the signal row the first noise key gains more than twice what the weak one gains",
)
def stage_two_harmful(lab: Laboratory) -> Verdict:
    """Slopes and prefactors at huge mobility, and signs of the losing increments."""
    case = wide(0.5, FAST)
    run = columns(lab, case, 0.6)
    keep = window(run, "v_2", LOW, HIGH)
    found = {row: slopes(run, gap(run, row, "2", "s"), keep) for row in "s2"}
    ratios = {row: _prefactor(run, case, keep, row, "2") for row in "s2"}
    speed = run["v_2"][keep] * case.N / (case.m_2 * case.w2 * run["t"][keep])
    dominates = bool((run["v_2"][keep] >= 9 * np.maximum(run["v_s"], run["v_w"])[keep]).all())
    falls = max(float(np.diff(run[f"S_{row}{key}"][keep]).max()) for row in "2w" for key in "sw")
    twice = float((np.diff(run["S_s2"][keep]) - 2 * np.diff(run["S_sw"][keep])).min())
    ok = (
        dominates
        and speed.min() >= 0.25
        and speed.max() <= 0.5
        and falls <= 1e-9
        and twice >= 0
        and all(abs(x - 2) < 0.1 for pair in found.values() for x in pair)
    )
    ok = ok and all(x.min() > 0.7 and x.max() < 1 for x in ratios.values())
    seen = {
        "slopes": str(rounded(found)),
        "prefactors": str({r: rounded([x.min(), x.max()]) for r, x in ratios.items()}),
        "speed": rounded([speed.min(), speed.max()]),
        "largest gain of a losing key": rounded(falls),
    }
    return measured(bool(ok), **seen).with_constants(C_3=rounded(float(speed.min()) * 16))


def _law(run: dict[str, np.ndarray], after: np.ndarray, unit: float, winner: str) -> tuple[float, float]:
    """Least and largest rate of v + e^v over its value with all attention on the winner (Beyond.MF.stage3)."""
    v = run[f"v_{winner}"][after]
    rate = np.diff(v + np.exp(v)) / np.diff(run["t"][after]) / unit
    return float(rate.min()), float(rate.max())


@book.claim(
    "5.4",
    "Stage 3: logarithmic growth of V",
    kind="inequality",
    uses=["5.3", "Beyond.MF.stage3"],
    statement=r"V_+^{(t)}\ge\log\big(e^{V_+^{(T_2)}}+\eta C\mu^2\|w_O\|^2(t-T_2)\big)",
    reading="mean field, N SNR^2 = 4000, kappa mu^2 = 1e8, from the time T_2 where every row has attention 0.9 on the signal to training loss 1e-3: the largest C is at least 1/8 (1 - 0.1), "
    "and at most 1/2, its value with all attention on the signal; v + e^v grows at mu^2 w2 / 2 within 10 percent; and v_s at T_2 is within a factor 1.5 of (9 N M w2 / ((M - 1) kappa m_w))^(1/2), "
    "where the closed form of Beyond.MF.stage2 for a weak row reaches attention 0.9",
)
def stage_three_growth(lab: Laboratory) -> Verdict:
    """Largest constant along a run, both bounds of the rate, and the value at which the stage begins."""
    case = wide(4000.0, STRONG)
    run = columns(lab, case, 1e-3)
    after = saturated_from(run, "s", 0.9)
    v, t = run["v_s"][after], run["t"][after]
    best = float(((np.exp(v[1:]) - np.exp(v[0])) / (case.m_s * case.w2 * (t[1:] - t[0]))).min())
    law = _law(run, after, case.m_s * case.w2 / 2, "s")
    begins = float(v[0] / np.sqrt(9 * case.N * case.M * case.w2 / ((case.M - 1) * case.kappa * case.m_w)))
    seen = {"largest C": best, "rate over its limit": list(law), "v_s at T_2 over the closed form": begins}
    ok = 0.9 / 8 <= best <= 0.5 and law[0] > 0.9 and law[1] < 1.1 and 1 / 1.5 < begins < 1.5
    return measured(ok, **rounded(seen)).with_constants(C=rounded(best))


@book.claim(
    "Eq.73-76",
    "Output and loss derivative in stage 3",
    kind="inequality",
    uses=["5.4"],
    statement=r"\tfrac12V_+\le f\le V_+,\quad \tfrac1{2e^{V_+}}\le-\ell'\le e^{-V_+/2}",
    reading="at every recorded time of the run of 5.4 after T_2 (attention 0.9), with f >= 0.9 V_+ there",
)
def output_stage_three(lab: Laboratory) -> Verdict:
    """Both chains along a run."""
    run = columns(lab, wide(4000.0, STRONG), 1e-3)
    after = saturated_from(run, "s", 0.9)
    v, f = run["v_s"][after], run["f"][after]
    slope = 1 / (1 + np.exp(f))
    parts = {
        "f / V": float((f / v).min()),
        "V / f": float((v / f).min()),
        "lower": float((slope * 2 * np.exp(v)).min()),
        "upper": float((np.exp(-v / 2) / slope).min()),
    }
    ok = parts["f / V"] >= 0.9 and min(parts["V / f"], parts["lower"], parts["upper"]) >= 1
    return measured(ok, rounded(parts), least_ratios=rounded(parts))


@book.claim(
    "Prop.F-I",
    "Stage 3 induction (claims 5-8)",
    kind="order",
    uses=["5.4", "Eq.73-76"],
    statement=r"V_+\ge3M|V_{n,i}|,\ |V_{n,i}|=o(1),\ V_+\le2\log\big(e^{V_+^{(T_2)}/2}+\tfrac{3C_{18}}8\eta\mu^2\|w_O\|^2(t-T_2)\big);\ \text{norms keep order; scores monotone; scores}\le\log(\epsilon^{-1}d_h^{1/2})",
    reading="the run of 5.4 from T_2 to eps = 1e-3: dominance, (kappa mu^2)^(-1/2) / r <= v_2 <= 0.02, the printed upper bound with C_18 = 1, v_s <= 2 log(1/eps), v + e^v growing at mu^2 w2 / 2 within 10 percent, signal scores rise and noise scores do "
    "not, scores <= log(kappa mu^2 / eps); norms are frozen here (Prop.B-E has them along a run by the recursion)",
)
def stage_three_induction(lab: Laboratory) -> Verdict:
    """All parts along a run."""
    case, eps = wide(4000.0, STRONG), 1e-3
    run = columns(lab, case, eps)
    after = saturated_from(run, "s", 0.9)
    last = {n: v[after] for n, v in run.items()}
    rises = min(float(np.diff(last[f"S_{a}s"]).min()) for a in "s2w")
    falls = max(float(np.diff(last[f"S_{a}{b}"]).max()) for a in "s2w" for b in "2w")
    top = max(float(last[f"S_{a}s"].max()) for a in "s2w")
    upper = 2 * np.log(np.exp(last["v_s"][0] / 2) + 3 / 8 * case.m_s * case.w2 * (last["t"] - last["t"][0]))
    law = _law(run, after, case.m_s * case.w2 / 2, "s")
    seen: dict[str, Any] = {
        "dominance": float((last["v_s"] / np.maximum(9 * last["v_2"], 1e-300)).min()),
        "v_2 r (kappa mu^2)^(1/2)": float(last["v_2"].min()) * case.balance * sqrt(STRONG),
        "v_2": float(last["v_2"].max()),
        "v_s / log(1/eps)": float(last["v_s"].max() / log(1 / eps)),
        "v_s / printed bound": float((last["v_s"][1:] / upper[1:]).max()),
        "rate": list(law),
        "least rise": rises,
        "largest fall": falls,
        "score / bound": top / log(case.kappa * case.m_s / eps),
    }
    ok = (
        seen["dominance"] >= 1
        and seen["v_2 r (kappa mu^2)^(1/2)"] >= 1
        and seen["v_2"] <= 0.02
        and seen["v_s / log(1/eps)"] <= 2
        and rises >= -1e-9
        and falls <= 1e-9
        and seen["score / bound"] <= 1
    )
    return measured(ok and seen["v_s / printed bound"] <= 1 and law[0] > 0.9 and law[1] < 1.1, **rounded(seen))


@book.claim(
    "Prop.N-Q",
    "Stage 3 of the harmful regime (claims 13-16)",
    kind="order",
    uses=["Prop.J-M", "E.5"],
    statement=r"\log(e^{V^{(T_2)}}+\eta C_{17}\sigma_p^2d\|w_O\|^2(t-T_2)/N)\le y_nV_{n,2}\le2\log O(1/\epsilon),\ |V_\pm|,|V_{n,i}|=o(1),\ \text{scores}\le2\log(\epsilon^{-1}d_h^{1/2})",
    reading="mean field, N SNR^2 = 1/2, kappa m_2 = 1e8, from attention 0.9 on the first noise token to eps = 1e-3: largest C_17 (in units of sigma~_p^2 d) between 1/8 and 1, v + e^v growing at sigma~_p^2 d w2 / N within 10 percent, "
    "v_s and v_w positive and at most 0.1, v_2 <= 2 log(1/eps), scores <= 2 log(kappa m_2 / eps)",
)
def stage_three_harmful(lab: Laboratory) -> Verdict:
    """All parts along a run."""
    case, eps = wide(0.5, STRONG), 1e-3
    run = columns(lab, case, eps)
    after = saturated_from(run, "2", 0.9)
    v, t = run["v_2"][after], run["t"][after]
    best = float(((np.exp(v[1:]) - np.exp(v[0])) * case.N / (case.m_2 * case.w2 * (t[1:] - t[0]))).min())
    small = np.concatenate([run["v_s"][after], run["v_w"][after]])
    top = max(float(run[f"S_{a}2"][after].max()) for a in "s2w") / log(case.kappa * case.m_2 / eps)
    law = _law(run, after, case.m_2 * case.w2 / case.N, "2")
    seen: dict[str, Any] = {
        "C_17": best,
        "rate": list(law),
        "small values": [float(small.min()), float(small.max())],
        "v_2 / log(1/eps)": float(v.max() / log(1 / eps)),
        "score / bound": top,
    }
    ok = (
        1 / 8 <= best <= 1
        and law[0] > 0.9
        and law[1] < 1.1
        and small.min() > 0
        and small.max() <= 0.1
        and seen["v_2 / log(1/eps)"] <= 2
        and top <= 2
    )
    return measured(ok, **rounded(seen)).with_constants(C_17=rounded(best))
