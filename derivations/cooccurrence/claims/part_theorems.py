"""Section 3: the theorems on phase 2 and on near minimum loss, whole, along networks and on the limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.stats import norm

from odesys import Measurement, Verdict, identity, measure, sym

from ..laboratory import Laboratory
from ..special.trajectories import values_along
from .book import book
from .common_hypotheses import CONDITION_1, PHASES, SMALL
from .common_limit import as_regression, hitting_time, level_three, states, tied_points, whole_six
from .common_runs import T1, late, likely, ordered, phase_two
from .part_f2_classes import LONGEST, TIED, hitting
from .part_f4_attention import one_sample, theta_without_tilde

MONOTONE = {
    "A_21, A_12 increase": (("KQ", 1, 0, 1), ("KQ", 0, 1, 1)),
    "A_31, A_32 decrease": (("KQ", 2, 0, -1), ("KQ", 2, 1, -1)),
    "values 12 increase": (("VV", 0, 1, 1),),
    "values 13, 23 decrease": (("VV", 0, 2, -1), ("VV", 1, 2, -1)),
}
OUTPUTS = ("G_1, G_2", "-G_3", "G_1 + G_2 + G_3", "G_1 + G_3, G_2 + G_3")


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


def theorem_parts(lab: Laboratory) -> dict[str, Verdict]:
    """Seven monotonicities and four bounds, with high probability and over m."""
    parts = {}
    for name in MONOTONE:
        parts[name] = likely(
            lab,
            f"{name} at every recorded time",
            lambda r, name=name: (entries(r, name) > 0).all(),  # type: ignore[misc]
            lambda r, name=name: entries(r, name),  # type: ignore[misc]
            phase_two,
        )
    for name in OUTPUTS:
        parts[name] = likely(
            lab,
            f"{name} is at least 0.1 in the printed sense",
            lambda r, name=name: (combinations(r)[name] > 0.1).all(),  # type: ignore[misc]
            lambda r, name=name: combinations(r)[name],  # type: ignore[misc]
            phase_two,
        ) & ordered(
            lab,
            f"1 over {name}",
            lambda r, name=name: 1 / combinations(r)[name],  # type: ignore[misc]
            along=("m",),
            part=phase_two,
        )
    return parts


@book.claim(
    "Thm.3.2",
    "Phase 2",
    kind="order",
    where="Theorem 3.2",
    parts=(*MONOTONE, *OUTPUTS),
    hypotheses=PHASES,
    main=True,
    uses=["F.13", "F.16", "F.7", "F.6", "F.20"],
    statement=r"\forall t\in(T_1,T_2),\ T_2=\mathrm{poly}(m):\ \mu_2^\top W_K^\top W_Q\mu_1,\ \mu_1^\top W_K^\top W_Q\mu_2\ \text{increase},\ \mu_3^\top W_K^\top W_Q\mu_1,\ \mu_3^\top W_K^\top W_Q\mu_2\ \text{decrease};\ \mu_1^\top W_V^\top W_V\mu_2\ \text{increases},\ \mu_1^\top W_V^\top W_V\mu_3,\ \mu_2^\top W_V^\top W_V\mu_3\ \text{decrease};\ G(\mu_1),G(\mu_2)\ge\Omega(1),\ -G(\mu_3)\le\Omega(1);\ G(\mu_1)+G(\mu_2)+G(\mu_3)\ge\Omega(1),\ G(\mu_1)+G(\mu_3),\ G(\mu_2)+G(\mu_3)\le-\Omega(1)",
    reading="Up to tau = 10^3, constant 0.1; -G(mu3) <= Omega(1) is also true as -G(mu3) >= Omega(1), which is meant and is what is checked.",
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
    return theorem_parts(lab)["-G_3"]


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
    """The generalization loss at T*, where the training loss is 1/m, falls faster than m^(-1/2)."""
    points = tied_points(lab)

    def loss(p: Any) -> float:
        (x,) = states(lab, p, [hitting_time(lab, p, 1 / p["m"], LONGEST)])
        return worst_test_loss(x, p)

    seen = measure("the test loss at T*, with the worst training words,", points, loss)
    return seen.order("m", -0.5, "O") & as_regression(lab, points[0], 1e9)


def irrelevant_at_hitting(lab: Laboratory) -> Verdict:
    """Scores with an irrelevant key or query at T*, at leading order, over the first term of their order and log(m)^2."""
    rates = lab.score_rates(12, 4)
    partners = [name for name in rates if "r" in name]  # an irrelevant key, query or both
    total = one_sample(lab)

    def largest(p: Any) -> float:
        end = hitting_time(lab, p, 1 / p["m"], LONGEST)
        taus = np.geomspace(1e-2, end, 300)
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
    uses=["F.8", "F.16", "F.20", "F.6", "Thm.3.3-proof"],
    expect="fails",
    statement=r"\exists T^\star=\Theta(\mathrm{poly}(m)):\ \hat{\mathcal L}^{(T^\star)}\le\tfrac1{\mathrm{poly}(m)},\ \mathcal L^{(T^\star)}\le\tfrac1{\mathrm{poly}(m)};\ C_{1,2},C_{2,1},-C_{3,1},-C_{3,2}=\Theta\big(\tfrac{\sigma_0^2m}{\sqrt mL\sigma_1^2mm_1}+\tfrac{\sigma_0^2\sqrt m}{\sqrt m\sigma_1^2mm_1}\big),\ C_{i_1,i_2}\le\widetilde O\big(\tfrac{\sigma_0^2m}{n\sqrt mL\sigma_1^2mm_1}+\tfrac{\sigma_0^2\sqrt m}{\sqrt m\sigma_1^2mm_1}\big)\ \text{if one of}\ i_1,i_2\in[d]\setminus[3]",
    reading="Training loss 1/m at T*, test loss below m^(-1/2), at level 3 with n >= L^2 log m; scores at leading order; the Theta of C lacks a tilde.",
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
    hypotheses=PHASES,
    same_as="Thm.3.3",
    uses=["F.8"],
    expect="fails",
    statement=r"C_{1,2},C_{2,1},-C_{3,1},-C_{3,2}=\Theta\big(\tfrac{\sigma_0^2m}{\sqrt mL\sigma_1^2mm_1}+\tfrac{\sigma_0^2\sqrt m}{\sqrt m\sigma_1^2mm_1}\big)",
    reading="At times poly(m), for n to infinity: Theta lacks the tilde of the proof of F.16.",
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
    statement=r"\hat{\mathcal L}^{(T^\star)}=\tfrac1m\ \Rightarrow\ \mathcal L^{(T^\star)}\le O(m^{-1/2})",
    reading="Level 3, fresh samples that may have the worst words of the training set; words that were not seen add their start values only.",
)
def test_loss(lab: Laboratory) -> Verdict:
    """The decay of the worst test loss."""
    return test_decay(lab)


@book.claim(
    "Thm.3.3-proof",
    "Outputs on all samples are close",
    kind="order",
    origin="proof",
    where="Proof of Theorem 3.3, second sentence",
    parts=("all X",),
    hypotheses=(*CONDITION_1, SMALL),
    uses=["D.7"],
    expect="fails",
    insensitive="a statement about start values, which do not depend on the equations",
    statement=r"|F^{(T^\star)}(X)-F^{(T^\star)}(X^\star_I)|\le O(1)\ \text{for all}\ X\sim\mathcal D,\ \text{since random tokens add}\ O(1)\ \text{in the training set}",
    reading="Words outside the training set keep G(0), Gaussian with variance c_0^2/L; for all X means the L - 3 largest of them.",
)
def worst_case(lab: Laboratory) -> Verdict:
    """Expected sum of the L - 3 largest of d Gaussians over L, with c_0 as large as D.8 allows; the typical sum does not grow."""

    def at(length: float) -> dict[str, Any]:
        L = round(length)
        n = whole_six(1.5 * L**2 + 6)
        c0 = 0.0099 / (2 * np.sqrt(2 * np.log(2 * L * n / 0.1)))
        return {"n": n, "L": L, "m": 10**14, "m1": 16, "c0": float(f"{c0:.6g}"), "d": 2 * n * L}

    points = [at(p["L"]) for p in lab.draw.along("L", 8, 30_000, 9)]

    def largest(p: Any) -> float:
        count, share = p["L"] - 3, (p["L"] - 3) / p["d"]
        mean = float(norm.pdf(norm.isf(share)) / share)  # of the largest of d Gaussians, as d grows
        return count * mean * p["c0"] / p["L"] ** 0.5

    worst = measure("the largest irrelevant part over all X", points, largest)
    tried = "the mean of the largest of d Gaussians by its limit for many words; its error at finite d was not bounded"
    typical = Measurement(
        "the standard deviation of the irrelevant part over X",
        points,
        [p["c0"] * ((p["L"] - 3) / p["L"]) ** 0.5 for p in points],
    )
    fixed = r"|F(X)-F(X^\star_I)|\le O(1)\ \text{with high probability over}\ X"
    why = "a property of the training set does not bound all samples, and the loss only needs most of them"
    found = worst.order("L", 0, "O").adding(why_measured=tried)
    return found.correcting(fixed, typical.order("L", 0, "O"), why).blaming("proof", "all-samples")
