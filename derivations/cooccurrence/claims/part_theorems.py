"""Section 3: the theorems on phase 2 and on near minimum loss, whole, along networks and on the limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.stats import norm

from odesys import FAILS, Measurement, Verdict, identity, measure, sym

from ..laboratory import Laboratory
from ..special.trajectories import values_along
from .book import book
from .common_hypotheses import PHASES, TIED
from .common_limit import as_regression, hitting_time, leading_rates, level_three, states, tied_points, whole_six
from .common_runs import T1, late, likely, ordered, phase_two
from .part_f2_classes import LONGEST, TRAPPED, hitting
from .part_f4_attention import one_sample, theta_without_tilde

MONOTONE = {
    "A_21, A_12 increase": (("KQ", 1, 0, 1), ("KQ", 0, 1, 1)),
    "A_31, A_32 decrease": (("KQ", 2, 0, -1), ("KQ", 2, 1, -1)),
    "values 12 increase": (("VV", 0, 1, 1),),
    "values 13, 23 decrease": (("VV", 0, 2, -1), ("VV", 1, 2, -1)),
}
OUTPUTS = ("G_1, G_2", "-G_3", "G_1 + G_2 + G_3", "G_1 + G_3, G_2 + G_3")
LEAST = 0.05  # Omega(1): at n = 24, L = 4, the least n that is allowed, -(G_1 + G_3) is 0.07 at T_1
SIGNS_TRIED = "tried: the signs follow from those of G and of its rates (F.13, F.16-signs, exact); those are measured"


def entries(run: Any, name: str) -> np.ndarray:
    """Signed rates of the entries that a monotonicity is about, in phase 2, over their largest size."""
    rows = [late(run, sign * run.rate(leaf)[:, i, j]) for leaf, i, j, sign in MONOTONE[name]]
    return np.array([row / np.abs(row).max() for row in rows])


def combinations(run: Any) -> dict[str, np.ndarray]:
    """The numbers of bullets three and four, each with the sign in which it is at least a constant."""
    G = run.G[run.taus >= T1]
    return {
        "G_1, G_2": G[:, :2].min(axis=1),
        "-G_3": -G[:, 2],
        "G_1 + G_2 + G_3": G[:, :3].sum(axis=1),
        "G_1 + G_3, G_2 + G_3": -(G[:, :2].max(axis=1) + G[:, 2]),
    }


def output_part(lab: Laboratory, name: str) -> Verdict:
    """A combination of G is at least a constant, with high probability and over m, m1, c0, n and L."""
    return likely(
        lab,
        f"{name} is at least {LEAST} in the printed sense",
        lambda r: (combinations(r)[name] > LEAST).all(),
        lambda r: combinations(r)[name],
        phase_two,
        along=("m1", "c0", "n", "L"),
        why=TRAPPED,
    ) & ordered(lab, f"1 over {name}", lambda r: 1 / combinations(r)[name], along=("m",), part=phase_two, why=TRAPPED)


def theorem_parts(lab: Laboratory) -> dict[str, Verdict]:
    """Seven monotonicities and four bounds, with high probability and over all parameters, and times up to poly(m)."""
    parts = {}
    for name in MONOTONE:
        parts[name] = likely(
            lab,
            f"{name} at every recorded time",
            lambda r, name=name: (entries(r, name) > 0).all(),  # type: ignore[misc]
            lambda r, name=name: entries(r, name),  # type: ignore[misc]
            phase_two,
            along=("m", "m1", "c0", "n", "L"),
            why=SIGNS_TRIED,
        )
    return parts | {name: output_part(lab, name) for name in OUTPUTS} | {"T_2 = poly(m)": until_poly(lab)}


def until_poly(lab: Laboratory) -> Verdict:
    """All signs and bounds at level 3 from T_1 to tau = m^2, that is t = m, with n >= L^2 log m."""
    points = tied_points(lab)

    def worst(p: Any) -> float:
        found = []
        for x in states(lab, p, np.geomspace(T1, float(p["m"]) ** 2, 60).tolist()):
            rates = leading_rates(x, p)
            found += [rates["A_21"], -rates["A_31"], rates["V_12"], -rates["V_13"], x["G_1"], -x["G_3"]]
            found += [2 * x["G_1"] + x["G_3"], -(x["G_1"] + x["G_3"])]
        return min(found)

    seen = measure("the least of rates over the loss and of the combinations of G", points, worst)
    because = "the printed signs, with the constant of the bullets on G"
    return seen.between(LEAST, np.inf, because) & as_regression(lab, points[0], 1e9)


@book.claim(
    "Thm.3.2",
    "Phase 2",
    kind="order",
    where="Theorem 3.2",
    parts=(*MONOTONE, *OUTPUTS, "T_2 = poly(m)"),
    hypotheses=PHASES,
    main=True,
    uses=["F.13", "4.7", "F.7", "F.6", "F.20", "Beyond.level3"],
    statement=r"\forall t\in(T_1,T_2),\ T_2=\mathrm{poly}(m):\ \mu_2^\top W_K^\top W_Q\mu_1,\ \mu_1^\top W_K^\top W_Q\mu_2\ \text{increase},\ \mu_3^\top W_K^\top W_Q\mu_1,\ \mu_3^\top W_K^\top W_Q\mu_2\ \text{decrease};\ \mu_1^\top W_V^\top W_V\mu_2\ \text{increases},\ \mu_1^\top W_V^\top W_V\mu_3,\ \mu_2^\top W_V^\top W_V\mu_3\ \text{decrease};\ G(\mu_1),G(\mu_2)\ge\Omega(1),\ -G(\mu_3)\le\Omega(1);\ G(\mu_1)+G(\mu_2)+G(\mu_3)\ge\Omega(1),\ G(\mu_1)+G(\mu_3),\ G(\mu_2)+G(\mu_3)\le-\Omega(1)",
    reading="Networks to tau = 10^3; to t = m for m to infinity at n >= L^2 log m. -G(mu3) <= Omega(1) is true; >=, which is meant, is checked.",
)
def theorem_phase_two(lab: Laboratory) -> dict[str, Verdict]:
    """All bullets."""
    return theorem_parts(lab)


@book.claim(
    "Thm.3.2/3",
    "The bullet on the common word",
    kind="order",
    where="Theorem 3.2, third bullet",
    parts=("-G_3",),
    hypotheses=PHASES,
    same_as="Thm.3.2",
    uses=["F.7"],
    statement=r"-G^{(t)}(\mu_3)\le\Omega(1)\quad(t\in(T_1,T_2))",
    reading="Read as >=: as printed it bounds nothing, since a quantity that grows is Omega(1) too.",
)
def common_word_sign(lab: Laboratory) -> Verdict:
    """The lower bound that is meant."""
    return output_part(lab, "-G_3")


# ---- Theorem 3.3 -----------------------------------------------------------------------------------------------------


@book.claim(
    "Eq.3",
    "The learnt part of the attention matrices",
    kind="definition",
    where="Equation (3)",
    hypotheses=(),
    insensitive="a definition of C by an orthonormal basis",
    statement=r"W_K^{(T^\star)\top}W_Q^{(T^\star)}=W_K^{(0)\top}W_Q^{(0)}+\sum_{i_1,i_2\in[d]}C_{i_1,i_2}\mu_{i_1}\mu_{i_2}^\top",
    reading="C is the change of the scores between words, since the words are an orthonormal basis.",
)
def learnt_part(lab: Laboratory) -> Verdict:
    """mu_a'(sum C mu mu')mu_b = C_ab for two words of an orthonormal basis."""
    C, rest = sym("C"), sym("rest")
    return identity({"entry": C * 1 * 1 + rest * 0 - C})


def worst_test_loss(x: Mapping[str, float], point: Mapping[str, Any]) -> float:
    """Loss of a sample whose irrelevant words are the worst training words, averaged over the classes."""
    worst = max(abs(x[f"G_r{k}"]) for k in (1, 2, 4))
    u = {1: 2 * x["G_1"] + x["G_3"], 2: -(x["G_1"] + x["G_3"]), 4: -x["G_3"]}
    free = {1: 3, 2: 2, 4: 1}
    share = {1: 1 / 2, 2: 1 / 3, 4: 1 / 6}
    return float(sum(w * np.logaddexp(0, -(u[c] - (point["L"] - free[c]) * worst)) for c, w in share.items()))


def test_decay(lab: Laboratory) -> Verdict:
    """The generalization loss at T*, where the training loss is 1/m^2, falls faster than 1/m."""
    points = tied_points(lab)

    def loss(p: Any) -> float:
        (x,) = states(lab, p, [hitting_time(lab, p, float(p["m"]) ** -2, LONGEST)])
        return worst_test_loss(x, p)

    seen = measure("the test loss at T*, with the worst training words,", points, loss)
    return seen.order("m", -1, "O") & as_regression(lab, points[0], 1e9)


def irrelevant_at_hitting(lab: Laboratory) -> Verdict:
    """Scores with an irrelevant key or query at T*, at leading order, over the first term of their order and log(m)^2."""
    rates = lab.score_rates(12, 4)
    partners = [name for name in rates if "r" in name]  # an irrelevant key, query or both
    total = one_sample(lab)

    def largest(p: Any) -> float:
        end = hitting_time(lab, p, float(p["m"]) ** -2, LONGEST)
        taus = np.geomspace(1e-2, end, 600)
        run = level_three(lab, p["n"], p["L"], LONGEST)
        sizes = []
        for name in partners:
            rate = 12 / p["n"] * values_along(run, rates[name], taus)
            sizes.append(abs(float(np.trapezoid(rate * taus, np.log(taus)))))
        return max(sizes) * p["n"] * p["L"] / np.log(float(p["m"])) ** 2

    seen = measure("the largest C with an irrelevant word over its order", tied_points(lab, one_n=True), largest)
    return seen.order("m", 0, "O") & total


@book.claim(
    "Thm.3.3",
    "Near minimum loss",
    kind="order",
    where="Theorem 3.3",
    parts=("training loss", "generalization loss", "C_12, C_21, -C_31, -C_32", "irrelevant words"),
    hypotheses=(*PHASES, TIED),
    main=True,
    uses=["F.8", "F.16", "F.20", "F.6", "Thm.3.3-proof", "Beyond.level3"],
    expect="fails",
    statement=r"\exists T^\star=\Theta(\mathrm{poly}(m)):\ \hat{\mathcal L}^{(T^\star)}\le\tfrac1{\mathrm{poly}(m)},\ \mathcal L^{(T^\star)}\le\tfrac1{\mathrm{poly}(m)};\ C_{1,2},C_{2,1},-C_{3,1},-C_{3,2}=\Theta\big(\tfrac{\sigma_0^2m}{\sqrt mL\sigma_1^2mm_1}+\tfrac{\sigma_0^2\sqrt m}{\sqrt m\sigma_1^2mm_1}\big),\ C_{i_1,i_2}\le\widetilde O\big(\tfrac{\sigma_0^2m}{n\sqrt mL\sigma_1^2mm_1}+\tfrac{\sigma_0^2\sqrt m}{\sqrt m\sigma_1^2mm_1}\big)\ \text{if one of}\ i_1,i_2\in[d]\setminus[3]",
    reading="Training loss 1/m^2 at T*, test loss below 1/m, for m to infinity at n >= L^2 log m; scores at leading order; the Theta of C lacks a tilde.",
)
def theorem_loss(lab: Laboratory) -> dict[str, Verdict]:
    """Hitting time, decay of the test loss, size of the learnt scores, and the others."""
    return {
        "training loss": hitting(lab),
        "generalization loss": test_decay(lab),
        "C_12, C_21, -C_31, -C_32": theta_without_tilde(lab),
        "irrelevant words": irrelevant_at_hitting(lab),
    }


@book.claim(
    "Thm.3.3/order",
    "Size of the learnt scores",
    kind="order",
    where="Theorem 3.3, second bullet",
    parts=("C_12, C_21, -C_31, -C_32",),
    hypotheses=(*PHASES, TIED),
    same_as="Thm.3.3",
    uses=["F.8"],
    expect="fails",
    statement=r"C_{1,2},C_{2,1},-C_{3,1},-C_{3,2}=\Theta\big(\tfrac{\sigma_0^2m}{\sqrt mL\sigma_1^2mm_1}+\tfrac{\sigma_0^2\sqrt m}{\sqrt m\sigma_1^2mm_1}\big)",
    reading="At tau = m^2, that is t = m, at leading order: Theta lacks the tilde of the proof of F.16.",
)
def score_size(lab: Laboratory) -> Verdict:
    """The square of the logarithm."""
    return theta_without_tilde(lab)


@book.claim(
    "Beyond.test_loss",
    "The test loss decays like a power of m",
    kind="order",
    origin="ours",
    hypotheses=(*PHASES, TIED),
    uses=["F.20"],
    repairs=["Thm.3.3-proof"],
    statement=r"\hat{\mathcal L}^{(T^\star)}=\tfrac1{m^2}\ \Rightarrow\ \mathcal L^{(T^\star)}\le O(\tfrac1m)",
    reading="For m to infinity; fresh samples that may have the worst words of the training set; words that were not seen add their start values only.",
)
def test_loss(lab: Laboratory) -> Verdict:
    """The decay of the worst test loss."""
    return test_decay(lab)


ALL_TRIED = "not a proof: Slepian's bound would give the largest of d Gaussians; the mean of the L - 3 largest is by its limit for many words"


@book.claim(
    "Thm.3.3-proof",
    "From one sample to all samples",
    kind="order",
    origin="proof",
    where="Proof of Theorem 3.3, last two sentences",
    parts=("a fixed X", "all X"),
    hypotheses=(*PHASES, TIED),
    uses=["D.7", "F.1"],
    expect="fails",
    insensitive="a statement about start values, which do not depend on the equations",
    statement=r"\text{given a fixed new sample}\ X\sim\mathcal D:\ |F^{(T^\star)}(X)-F^{(T^\star)}(X^\star_I)|\le O(1);\ \text{this holds for all}\ X\sim\mathcal D",
    reading="Words outside the training set keep G(0), Gaussian with variance c_0^2/L; for all X means the L - 3 largest of them.",
)
def worst_case(lab: Laboratory) -> dict[str, Verdict]:
    """Standard deviation of the irrelevant part of one sample, and the mean of the L - 3 largest of d Gaussians."""

    def at(length: float) -> dict[str, Any]:
        L = round(length)
        n = whole_six(1.1 * L**2 * np.log(1e30) + 6)
        c0 = 0.0099 / (2 * np.sqrt(2 * np.log(2 * L * n / 0.1)))
        return {"n": n, "L": L, "m": 10**30, "m1": 16, "c0": float(f"{c0:.4g}"), "d": 2 * n * L}

    points = [at(p["L"]) for p in lab.draw.along("L", 8, 30_000, 9)]

    def largest(p: Any) -> float:
        count, share = p["L"] - 3, (p["L"] - 3) / p["d"]
        mean = float(norm.pdf(norm.isf(share)) / share)  # of the largest of d Gaussians, as d grows
        return count * mean * p["c0"] / p["L"] ** 0.5

    worst = measure("the largest irrelevant part over all X", points, largest)
    typical = Measurement(
        "the standard deviation of the irrelevant part over X",
        points,
        [p["c0"] * ((p["L"] - 3) / p["L"]) ** 0.5 for p in points],
    ).order("L", 0, "O")
    first, last = float(worst.values[0, 0]), float(worst.values[-1, 0])
    sentence = (
        f"at m = 10^30, n = 1.1 L^2 log m (all hypotheses hold) the largest irrelevant part over all X is {first:.3g} at "
        f"L = {points[0]['L']} and {last:.3g} at L = {points[-1]['L']}: it grows like the root of L"
    )
    fixed = r"|F(X)-F(X^\star_I)|\le O(1)\ \text{for each}\ X\ \text{with probability}\ 1-\delta,\ \text{hence for all but a small part of them}"
    why = "what holds for each X with probability 1 - delta over the start holds for most X, and the loss needs no more"
    found = worst.order("L", 0, "O").adding(why_measured=ALL_TRIED)
    if found.as_stated == FAILS:
        found = found.witnessed(sentence, points[-1])
    gone = found.correcting(fixed, typical, why).blaming("proof", "all-samples")
    exact = "the variance of a sum of L - 3 independent values over the start; it is exact"
    return {"a fixed X": typical.adding(why_measured=exact), "all X": gone}
