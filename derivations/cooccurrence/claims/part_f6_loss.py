"""Appendix F, the loss in phase 2: how it falls, and when it is near zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from odesys import Verdict

from ..laboratory import Laboratory
from ..special.sample_sums import Sums
from .book import book
from .common_hypotheses import PHASES, TIED
from .common_late import (
    as_derived,
    at_hitting,
    hitting_time,
    in_time,
    longer,
    small_items,
)
from .common_runs import ALL, SIZES, T1, always, late, ordered, phase_two, scale_at
from .part_e3_half_way import SANDWICH
from .part_f2_classes import MATRICES, sum_items

LOSS_TRIED = "tried: d(yF)/dt is beta times the mean of g up to constants by F.6, and the loss is g up to 2 ln 2 (F.8-ratio, proved); F.6 is measured"


@book.claim(
    "F.8",
    "The loss falls like 1/t",
    kind="order",
    where="Theorem F.8",
    parts=("rate",),
    hypotheses=PHASES,
    uses=["F.6", "F.8-ratio", "F.8-display", "F.8-proof/rate", "F.4", "F.1", "Beyond.level3"],
    statement=r"\hat{\mathcal L}(t)=\frac1{\Theta(\sigma_1^2mm_1)(t-T_1)+1/\hat{\mathcal L}(T_1)}\quad(t\in[T_1,T_2])",
    reading="The mean growth of 1/loss since T_1 per unit of tau: networks to tau = 10^3, infinite width to m^2 at n = 630, L = 4.",
)
def loss_falls(lab: Laboratory) -> Verdict:
    """(1/loss - 1/loss(T_1)) / (tau - T_1)."""

    def speed(run: Any) -> np.ndarray:
        loss, taus = late(run, run.loss), late(run, run.taus)
        return (1 / loss[1:] - 1 / loss[0]) / (taus[1:] - taus[0])

    return ordered(
        lab, "the mean growth of 1/loss since T_1", speed, "Theta", ALL, phase_two, why=LOSS_TRIED
    ) & in_time(lab, "the mean growth of 1/loss since T_1", lambda r: np.r_[speed(r)[0], speed(r)], "Theta", 2 * T1)


def margin_rates(run: Any) -> np.ndarray:
    """d(y_i F_i)/dtau over the mean of g, in phase 2, (k, n): attention stands still up to powers of 1/m."""
    if isinstance(run, Sums):
        rates = run.G_rate[:, :3] @ run.has.T + run.alone * (run.L - run.has.sum(axis=1))
    else:
        rates = run.G_rate[:, run.tokens].sum(axis=2)
    labels = np.sign(run.margins[-1] * run.outputs[-1])
    return late(run, rates * labels / run.g.mean(axis=1)[:, None])


@book.claim(
    "F.8-proof/rate",
    "All margins grow alike",
    kind="order",
    origin="proof",
    where="Proof of Theorem F.8, the display after Lemma F.6 is cited",
    parts=("above", "below"),
    hypotheses=PHASES,
    uses=["F.6", "F.1", "Beyond.level3"],
    statement=r"\partial_ty_iF_i^{(t)}=\sum_{j_1,j_2}\langle a_{j_1}w_{j_1},a_{j_2}w_{j_2}\rangle\,\Theta\Big(\tfrac1n\sum_{i\in[n]}g_i\Big)\quad\forall i\in[n]",
    reading="The fastest and the slowest sample: networks to tau = 10^3, infinite width to m^2 at n = 630, L = 4.",
)
def margins_grow(lab: Laboratory) -> dict[str, Verdict]:
    """The largest rate over the mean of g, and the inverse of the smallest."""

    tried = (
        "tried: for n to infinity the rates are (1 + r - R), R - 1, R - r and R times S_1 - S_2 (F.6-proof/rates, proved); that R is "
        "inside (1, 2) is F.6, measured"
    )

    def fastest(run: Any) -> np.ndarray:
        return np.asarray(margin_rates(run).max(axis=1))

    def slowest(run: Any) -> np.ndarray:
        return np.asarray(1 / margin_rates(run).min(axis=1))

    def above_bound(run: Any) -> np.ndarray:
        least = run.S[1] - np.maximum(run.S[2], run.S[3])
        return np.asarray(margin_rates(run).min(axis=1) - SANDWICH * late(run, least / sum(run.S.values())))

    text = {"above": "the fastest margin over beta and the mean of g", "below": "the inverse of the slowest margin"}
    because = "the sandwich of F.6 makes every rate at least C dG(mu1), C = 0.1; sum g over S_1 - S_2 is bounded along n and L by F.6"
    return {
        "above": ordered(lab, text["above"], fastest, along=ALL, part=phase_two, why=tried)
        & in_time(lab, text["above"], fastest),
        "below": ordered(lab, text["below"], slowest, along=MATRICES, part=phase_two, why=tried, routes=margin_rates)
        & always(lab, "slowest margin less its bound", above_bound, 0, np.inf, because, along=SIZES, why=tried)
        & in_time(lab, text["below"], slowest),
    }


def hitting(lab: Laboratory) -> Verdict:
    """The time of loss = 1/m^2, over m^2, with n >= L^2 log m: of order m^2 in tau, of order m in t."""

    def time(run: Any, p: Any) -> float:
        return hitting_time(run, p["m"]) / float(p["m"]) ** 2

    what = "tau at loss = 1/m^2, over m^2,"
    seen, long = at_hitting(lab, what, time), longer(lab, what, time).between(17 / 2, 1.05 * 17, SEVENTEEN)
    return (seen.order("m", 0) & long & as_derived(lab, seen.points[0])).adding(why_measured=HITTING_TRIED)


SEVENTEEN = "tau times the loss tends to 17 for n to infinity by Beyond.svm; half of it for terms 1/log(tau) and L/n, a twentieth more"


HITTING_TRIED = (
    "tried: 1/loss grows at a rate between two constants (F.8), which gives the time; F.8 is measured, and its constants come from "
    "the sandwich of F.6"
)


def used_until(run: Any, p: Any) -> float:
    """The largest used over allowed of the items of Definition F.1 from T_1 to the time of loss = 1/m^2."""
    end = hitting_time(run, p["m"])
    keep = (run.taus >= T1) & (run.taus <= end)
    found = [used[keep] for used in sum_items(run, 7.0, float(p["m"]))]
    return max(float(np.max(found)), *small_items(run, scale_at(p), end).values())


def items_at_hitting(lab: Laboratory) -> Verdict:
    """All items of Definition F.1 from T_1 to the time of loss = 1/m^2, used over allowed."""
    what = "the largest used over allowed of Definition F.1 up to T*"
    seen = at_hitting(lab, what, used_until)
    because = "constants of F.1, with 7 in |G| <= O(log m), since -G_3 is about 3 log(tau), and tau = m^2"
    long = longer(lab, what, used_until).between(0, 1, because)
    return (seen.between(0, 1, because) & long & as_derived(lab, seen.points[0])).adding(why_measured=ITEMS_TRIED)


ITEMS_TRIED = (
    "tried: (a)-(e) are bounded by |G| <= C log m and loss <= C/t, in closed form; (f)-(j) have a trapping set for n to infinity only "
    "(Beyond.trapped)"
)


@book.claim(
    "F.20",
    "Near-zero loss is reached in phase 2",
    kind="existence",
    where="Theorem F.20",
    parts=("T* exists", "T* is in phase 2"),
    hypotheses=(*PHASES, TIED),
    uses=["F.1", "F.8", "F.19", "F.9", "F.12", "F.15", "F.17", "F.18", "F.5", "F.6", "F.20-proof", "Beyond.level3"],
    statement=r"T^\star=\min\{t:\hat{\mathcal L}^{(t)}=\Theta(1/\mathrm{poly}(m))\}\in[T_1,T_2]",
    reading="Infinite width, n = 630, L = 4 (to L = 32 from zero), loss 1/m^2: items of F.1 hold up to T*; (a)-(e) are powers of 1/m.",
)
def small_loss(lab: Laboratory) -> dict[str, Verdict]:
    """The hitting time over m, and the items of Definition F.1 up to it."""
    return {"T* exists": hitting(lab), "T* is in phase 2": items_at_hitting(lab)}


@book.claim(
    "F.20-proof",
    "How long phase 2 lasts",
    kind="order",
    origin="proof",
    where="Proof of Theorem F.20, last two sentences",
    parts=("T_2 - T_1", "the time of the loss"),
    hypotheses=(*PHASES, TIED),
    uses=["F.1", "F.8", "Beyond.level3"],
    statement=r"T_2-T_1\ge\Omega(\mathrm{poly}(m)),\quad\hat{\mathcal L}^{(t)}\le O(1/\mathrm{poly}(m))\ \text{implies}\ t=\Theta(\mathrm{poly}(m))",
    reading="Infinite width, n = 630, L = 4 (to L = 32 from zero): all items of F.1 hold up to t = Theta(m), where the loss is 1/m^2.",
)
def phase_two_lasts(lab: Laboratory) -> dict[str, Verdict]:
    """The same two measurements."""
    return {"T_2 - T_1": items_at_hitting(lab), "the time of the loss": hitting(lab)}
