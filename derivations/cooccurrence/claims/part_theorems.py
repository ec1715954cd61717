"""Section 3: the theorems on phase 2 and on near minimum loss, whole, along networks and on the limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.stats import norm

from odesys import FAILS, Measurement, Verdict, equal, graph, measure, num, sym, with_high_probability

from ..laboratory import Laboratory
from ..special.attention_sums import reach
from .book import book
from .common_hypotheses import FEW_WORDS, PHASES, TIED
from .common_late import (
    as_derived,
    at_hitting,
    at_time,
    derived_scores,
    hitting_time,
    integral,
    late_networks,
    longer,
    tied_points,
)
from .common_limit import level_three, whole_six
from .common_runs import ALL, SEEDS, SIGN, T1, L, late, likely, ordered, path, phase_two
from .part_f2_classes import TRAPPED
from .part_f4_scores import one_sample, theta_without_tilde
from .part_f6_loss import hitting

MONOTONE = {
    "A_21, A_12 increase": (("KQ", 1, 0, 1), ("KQ", 0, 1, 1)),
    "A_31, A_32 decrease": (("KQ", 2, 0, -1), ("KQ", 2, 1, -1)),
    "values 12 increase": (("VV", 0, 1, 1),),
    "values 13, 23 decrease": (("VV", 0, 2, -1), ("VV", 1, 2, -1)),
}
OUTPUTS = ("G_1, G_2", "-G_3", "G_1 + G_2 + G_3", "G_1 + G_3, G_2 + G_3")
OUTPUTS_TRIED = "tried: G_1, G_2, -G_3 and both sums grow once R is in (1, 2) (F.6), from their values at T_1 (E.27); both are measured"
HALF_AT_LEAST = "half of what the limit m to infinity from zero has at T_1 at the least n allowed, 24 at L = 4"
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


def least(lab: Laboratory) -> dict[str, float]:
    """The constants of Omega(1): half of what the limit m to infinity from zero has at T_1 at the least n allowed, 24 at L = 4."""
    x = dict(zip(*(level_three(lab, 24, L, T1).names, level_three(lab, 24, L, T1).at(T1)), strict=True))
    G, C = float(x["G_1"]), float(x["G_3"])
    return {name: value / 2 for name, value in zip(OUTPUTS, (G, -C, 2 * G + C, -(G + C)), strict=True)}


def output_part(lab: Laboratory, name: str) -> Verdict:
    """A combination of G is at least a constant, with high probability and over m, m1, c0, n and L."""
    bound = least(lab)[name]

    def inverse(run: Any) -> np.ndarray:
        return 1 / combinations(run)[name]

    return (
        likely(
            lab,
            f"{'-G_1 - G_3, -G_2 - G_3' if name == OUTPUTS[3] else name} is at least {bound:.3g}",
            lambda r: (combinations(r)[name] > bound).all(),
            lambda r: combinations(r)[name],
            phase_two,
            ({"low": float(f"{bound:.4g}")}, HALF_AT_LEAST),
            along=ALL,
            why=OUTPUTS_TRIED,
        )
        & ordered(
            lab,
            f"1 over {name}",
            inverse,
            along=ALL,
            part=phase_two,
            why=OUTPUTS_TRIED,
            routes=lambda r: combinations(r)[name],
        )
    ).with_constants(**{f"Omega(1) of {name}": float(f"{bound:.3g}")})


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
            SIGN,
            along=ALL,
            why=SIGNS_TRIED,
        )
    return parts | {name: output_part(lab, name) for name in OUTPUTS} | {"T_2 = poly(m)": until_poly(lab)}


def all_signs(run: Any, m: Any, bounds: Mapping[str, float]) -> bool:
    """Every monotonicity and bound of the theorem at all recorded times from T_1 to tau = m^2."""
    keep = run.taus[run.taus >= T1] <= float(m) ** 2
    signs = [(entries(run, name)[:, keep] > 0).all() for name in MONOTONE]
    return bool(all(signs) and all((row[keep] > bounds[name]).all() for name, row in combinations(run).items()))


def until_poly(lab: Laboratory) -> Verdict:
    """All signs and bounds from T_1 to tau = m^2, that is t = m, from random starts; at n >= L^2 log m and at the least n."""
    point, bounds = tied_points(lab)[-1], least(lab)

    def trial(seeds: tuple[int, ...]) -> list[bool]:
        groups = [seeds[k : k + SEEDS] for k in range(0, len(seeds), SEEDS)]
        return [all_signs(run, point["m"], bounds) for group in groups for run in late_networks(lab, point, group)]

    limits = {name: float(f"{bound:.4g}") for name, bound in bounds.items()}
    what = "all signs and bounds hold up to tau = m^2"
    verdict = with_high_probability(what, point, trial, lab.draw).within(limits, HALF_AT_LEAST)
    points = [{**p, "m": 10**16, "c0": 1e-3} for p in path(lab, "L")[:3]]
    points.append({**points[0], "c0": 1.28e-3})  # the edge of |F(0)| <= 0.01 at the least n
    seen = measure(
        "the share of networks with all signs and bounds up to tau = m^2",
        points,
        lambda p: float(np.mean([all_signs(run, p["m"], bounds) for run in late_networks(lab, p)])),
    )
    rare = seen.between(0.95, 1, "at most one of twenty networks is an exception")
    return (verdict & rare & as_derived(lab, point) & derived_scores(lab)).adding(why_measured=TRAPPED)


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
    reading="Networks to tau = 10^3; infinite width from random starts to t = m, also at n = 3/2 L^2. -G(mu3) <= Omega(1), a misprint, is true; >= is checked.",
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
    C = [[sym(f"C_{i}{j}") for j in range(3)] for i in range(3)]
    x, y = ([sym(f"{name}_{i}") for i in range(3)] for name in "xy")  # x' mu_i and mu_j' y for two words
    entry = graph.add(C[i][j] * x[i] * y[j] for i in range(3) for j in range(3))
    found = []
    for a, b in ((0, 0), (0, 1)):
        words = {x[i]: num(int(i == a)) for i in range(3)} | {y[j]: num(int(j == b)) for j in range(3)}
        found.append(equal({f"entry {a + 1}, {b + 1}": (entry, C[a][b])}, given=words))
    return found[0] & found[1]


def unseen_part(point: Mapping[str, Any]) -> float:
    """What L words outside the training set add at most to one X, but with probability 1/m^4 over the start: c_0 z."""
    return float(point["c0"]) * float(np.sqrt(2 * np.log(2 * float(point["m"]) ** 4)) * 1.01)


def rare_part(point: Mapping[str, Any], top: np.ndarray) -> np.ndarray:
    """Loss on the share 1/m^2 of X that exceed this: log 2 + L max |G| + sqrt(L) c_0 times the largest of d <= m (D.7)."""
    m, length = float(point["m"]), point["L"]
    words = float(point["c0"]) * np.sqrt(2 * length * np.log(2 * m**3))
    return np.asarray((np.log(2) + length * top + words) / m**2)


def worst_test_loss(run: Any, point: Mapping[str, Any]) -> np.ndarray:
    """Loss of a sample whose irrelevant words are the worst training words or unseen, averaged over the classes, (k,)."""
    worst, G = np.abs(run.G[:, 3:]).max(axis=1), run.special
    u = {1: G.sum(axis=1), 2: -G[:, 0] - G[:, 2], 3: -G[:, 1] - G[:, 2], 4: -G[:, 2]}
    free, share = {1: 3, 2: 2, 3: 2, 4: 1}, {1: 1 / 2, 2: 1 / 6, 3: 1 / 6, 4: 1 / 6}
    more, top = unseen_part(point), np.abs(run.G).max(axis=1)
    kept = sum(w * np.logaddexp(0, -(u[c] - (point["L"] - free[c]) * worst - more)) for c, w in share.items())
    return np.asarray(kept + rare_part(point, top))


def test_decay(lab: Laboratory) -> Verdict:
    """The generalization loss at T*, where the training loss is 1/m^2, falls faster than 1/m."""

    def loss(run: Any, p: Any) -> float:
        rows = late(run, np.log(worst_test_loss(run, p)))
        return float(np.exp(at_time(run, rows, hitting_time(run, p["m"]))))

    def scaled(run: Any, p: Any) -> float:
        return loss(run, p) * float(p["m"])

    what = "the test loss at T*, with the worst words,"
    seen, long = at_hitting(lab, what, loss), longer(lab, f"m times {what}", scaled)
    tried = "tried: the decay follows from -(G_1 + G_3) and G_1 + G_2 + G_3 growing like log(t), which F.6 gives; F.6 is measured"
    found = seen.order("m", -1, "O") & long.between(0, 1, "constant 1 in O(1/m)") & as_derived(lab, seen.points[0])
    return found.adding(why_measured=tried)


def irrelevant_scores(run: Any, tau: float) -> float:
    """Largest change of a score with an irrelevant key, query or both, each term over its own: a sample, or a row of D."""
    pull, mean, own = run.pull * run.n, run.outputs / run.L, run.G[:, 3:]
    keys = [own, *(np.where(run.has[:, c] > 0, run.special[:, c : c + 1], 0.0) for c in range(3))]
    masks = [1.0, *(run.has[:, c] for c in range(3))]
    sizes = [
        np.abs(integral(run, 2 * pull * (key - mean) * mask, tau)).max() for key, mask in zip(keys, masks, strict=True)
    ]
    row = 2 * reach(run) * run.g.mean(axis=1)  # times products of the start, which the tilde of the second term hides
    return float(max(*sizes, np.abs(integral(run, row, tau))))


def irrelevant_at_hitting(lab: Laboratory) -> Verdict:
    """Scores with an irrelevant key or query at T*, at leading order, over their order and log(tau)^2.

    m_1 and c_0 are factors of both terms: at infinite width G does not know m_1, and c_0 by its start only.
    """

    def largest(run: Any, p: Any) -> float:
        end = hitting_time(run, p["m"])
        return irrelevant_scores(run, end) / np.log(end) ** 2

    what = "the largest C with an irrelevant word over its order and log^2"
    seen, long = at_hitting(lab, what, largest), longer(lab, what, largest)
    because = "2 int tau g |G - F/L| dlog(tau), where tau g tends to at most 30 and |G - F/L| / log(tau) to at most 3 + 1/L (Beyond.svm); a twentieth more"
    found = seen.between(0, 1.05 * 30 * (3 + 1 / L), because) & long.between(0, 1.05 * 30 * (3 + 1 / L), because)
    found = found & one_sample(lab) & derived_scores(lab)
    return found.adding(why_measured=SIGNS_TRIED)


@book.claim(
    "Thm.3.3",
    "Near minimum loss",
    kind="order",
    where="Theorem 3.3",
    parts=("training loss", "generalization loss", "C_12, C_21, -C_31, -C_32", "irrelevant words"),
    hypotheses=(*PHASES, TIED, FEW_WORDS),
    main=True,
    uses=["F.8", "F.16", "F.20", "F.6", "Thm.3.3-proof", "Beyond.level3"],
    expect="fails",
    statement=r"\exists T^\star=\Theta(\mathrm{poly}(m)):\ \hat{\mathcal L}^{(T^\star)}\le\tfrac1{\mathrm{poly}(m)},\ \mathcal L^{(T^\star)}\le\tfrac1{\mathrm{poly}(m)};\ C_{1,2},C_{2,1},-C_{3,1},-C_{3,2}=\Theta\big(\tfrac{\sigma_0^2m}{\sqrt mL\sigma_1^2mm_1}+\tfrac{\sigma_0^2\sqrt m}{\sqrt m\sigma_1^2mm_1}\big),\ C_{i_1,i_2}\le\widetilde O\big(\tfrac{\sigma_0^2m}{n\sqrt mL\sigma_1^2mm_1}+\tfrac{\sigma_0^2\sqrt m}{\sqrt m\sigma_1^2mm_1}\big)\ \text{if one of}\ i_1,i_2\in[d]\setminus[3]",
    reading="Loss 1/m^2 at T*, test loss below 1/m: infinite width, n = 630, L = 4 (32 from zero), leading order; m_1, c_0 are factors; Theta lacks a tilde.",
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
    hypotheses=(*PHASES, TIED, FEW_WORDS),
    same_as="Thm.3.3",
    uses=["F.8"],
    expect="fails",
    statement=r"C_{1,2},C_{2,1},-C_{3,1},-C_{3,2}=\Theta\big(\tfrac{\sigma_0^2m}{\sqrt mL\sigma_1^2mm_1}+\tfrac{\sigma_0^2\sqrt m}{\sqrt m\sigma_1^2mm_1}\big)",
    reading="At tau = m^2, n = 630, L = 4 (to L = 32 from zero), at leading order: Theta lacks the tilde of the proof of F.16.",
)
def score_size(lab: Laboratory) -> Verdict:
    """The square of the logarithm."""
    return theta_without_tilde(lab)


@book.claim(
    "Beyond.test_loss",
    "The test loss decays like a power of m",
    kind="order",
    origin="ours",
    hypotheses=(*PHASES, TIED, FEW_WORDS),
    uses=["F.20"],
    repairs=["Thm.3.3-proof"],
    statement=r"\hat{\mathcal L}^{(T^\star)}=\tfrac1{m^2}\ \Rightarrow\ \mathcal L^{(T^\star)}\le O(\tfrac1m)",
    reading="Worst training words, unseen ones with their start, for all X but a share 1/m^2 of bounded loss; n = 630, L = 4 (to L = 32 from zero).",
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
    hypotheses=(*PHASES, TIED, FEW_WORDS),
    uses=["D.7", "F.1", "F.15"],
    expect="fails",
    insensitive="a statement about start values, which do not depend on the equations",
    statement=r"\text{given a fixed new sample}\ X\sim\mathcal D:\ |F^{(T^\star)}(X)-F^{(T^\star)}(X^\star_I)|\le O(1);\ \text{this holds for all}\ X\sim\mathcal D",
    reading="Words outside the training set keep G(0), Gaussian with variance c_0^2/L; those inside are F.15; for all X means the L - 3 largest of them.",
)
def worst_case(lab: Laboratory) -> dict[str, Verdict]:
    """A quantile of the irrelevant part of one sample, and the mean of the L - 3 largest of d Gaussians."""

    def at(length: float) -> dict[str, Any]:
        L = round(length)
        n = whole_six(1.1 * L**2 * np.log(1e30) + 6)
        c0 = 0.0099 / (2 * np.sqrt(2 * np.log(2 * L * n / 0.1)))
        return {"n": n, "L": L, "m": 10**30, "m1": 16, "c0": float(f"{c0:.4g}"), "d": 2 * n * L}

    points = [at(p["L"]) for p in lab.draw.along("L", 8, 1e6, 9)]

    def largest(p: Any) -> float:
        count, share = p["L"] - 3, (p["L"] - 3) / p["d"]
        mean = float(norm.pdf(norm.isf(share)) / share)  # of the largest of d Gaussians, as d grows
        return count * mean * p["c0"] / p["L"] ** 0.5

    worst = measure("the largest irrelevant part over all X", points, largest)
    typical = Measurement(
        "the irrelevant part of one X that is exceeded with probability m^-4",
        points,
        [unseen_part(p) * ((p["L"] - 3) / p["L"]) ** 0.5 for p in points],
    ).between(0, 1, "constant 1 in O(1)")
    share = Measurement(
        "the loss on the exceptional share of X, times that share,",
        points,
        [float(rare_part(p, np.array(7 * np.log(float(p["m"]))))) * float(p["m"]) for p in points],
    ).between(0, 1, "below 1/m, with |G| <= 7 log m of F.20")
    first, last = float(worst.values[0, 0]), float(worst.values[-1, 0])
    sentence = (
        f"at m = 10^30, n = 1.1 L^2 log m (all hypotheses hold) the largest irrelevant part over all X is {first:.3g} at "
        f"L = {points[0]['L']} and {last:.3g} at L = {points[-1]['L']}: it grows like the root of L"
    )
    fixed = r"|F(X)-F(X^\star_I)|\le O(1)\ \text{for each}\ X\ \text{with probability}\ 1-m^{-4},\ \text{hence for all but a share}\ m^{-2},\ \text{on which the loss is}\ O(\log m+\sqrt{L\log(dm)})"
    why = "delta = m^-4 is allowed; by Fubini and Markov the share is at most m^-2 with probability 1 - m^-2 (Beyond.test_loss adds both)"
    found = worst.order("L", 0, "O").adding(why_measured=ALL_TRIED)
    if found.as_stated == FAILS:
        found = found.witnessed(sentence, points[-1])
    gone = found.correcting(fixed, typical & share, why).blaming("proof", "all-samples")
    exact = "the deviation of a sum of L - 3 independent values over the start is exact, its tail that of a Gaussian; words of the training set are F.15, which is measured"
    return {"a fixed X": typical.adding(why_measured=exact), "all X": gone}
