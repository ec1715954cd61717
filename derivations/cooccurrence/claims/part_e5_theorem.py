"""Appendix E, the end of phase 1: all items hold, and Theorem 3.1."""

from __future__ import annotations

from typing import Any

import flint
import numpy as np

from odesys import (
    Verdict,
)

from ..laboratory import Laboratory
from ..special.phase_one_bounds import DELTA, Bounds, Cell, Start
from ..special.phase_one_bounds import HALF as ROOT
from ..special.phase_one_bounds import T1 as T_ONE
from ..special.sample_sums import Sums, irrelevant_sums
from .book import book
from .common_hypotheses import NEURONS, PHASES
from .common_runs import ALL, SIZES, always, likely, phase_one
from .part_e2_terms import (
    CONSTANT,
    EVENTS,
    ITEMS,
    at_most,
    certain,
    even,
    mean_slope,
    mixed_size,
    phase_one_parts,
    score_speed,
)
from .part_e3_half_way import RIGHT

END_TRIED = "tried: |G| <= 7 and beta are certified up to T_1 (E.26); the lower ends need dG(mu1) > 0 and R > 1 from T_0.5 on, which is E.19, measured"
QUARTER = (
    {"low": 0.5},
    "a constant of Omega(1): less than a third of G_1 and -G_3 at T_1 from zero, 1.76 and 1.83 at the least n, 24",
)
THEOREM_TRIED = (
    "tried: bullet three is certified; bullets one, two and four are those of E.27, whose lower ends rest on E.19"
)


@book.claim(
    "E.26",
    "All items of phase 1 hold up to its end",
    kind="order",
    where="Theorem E.26",
    source="damaged",
    parts=tuple(ITEMS),
    hypotheses=(*PHASES, NEURONS),
    uses=["E.2", "E.14", "E.15", "E.17", "E.23", "E.25"],
    statement=r"t\le\tfrac{C_{T_1}}{\sigma_1^2mm_1}:\ \max_{\mu\le3}|\Delta w_j^\top W_V\mu|\le R=O(\tfrac1{m_1}),\ \max_{\mu>3}|\Delta w_j^\top W_V\mu|\le O(\tfrac Rn+\tfrac R{\sqrt m}),\ |\Delta A|\le O(\tfrac1{m\sqrt m}),\ \max|\Delta\rho|\le R_Q,\ \max|\Delta\kappa|\le R_K;\ \text{thus}\ T_1=\tfrac{C_{T_1}}{\sigma_1^2mm_1}",
    reading=f"C_T1 = 40, {EVENTS}; R = 21/m_1; R_K and R_Q are of order sigma_0^2 sqrt(m); all items together give T_1.",
)
def phase_one_to_the_end(lab: Laboratory) -> dict[str, Verdict]:
    """Each item up to tau = 40."""
    return phase_one_parts(lab)


TILDE = "constant 1 beside 1/c_0, which START bounds by log^4(mn): what the tilde in sigma_0 = 1/Theta(sqrt(Lm)) hides"


def beta_bounds(c: Cell, x: Bounds) -> bool:
    """beta over sigma_1^2 m m_1 is between 9/10 and 11/10 up to T_1."""
    start, gain = Start(c), 2 * T_ONE * mean_slope() * x["G"] * c.power(m1=1, m=-2, L=1)
    low = 1 - c.radius(c.log(2 / DELTA, m1=1)) - start.cross * c.power(m1=ROOT, m=-ROOT) - gain
    return bool(low >= flint.arb(9) / 10 and x["beta"] <= flint.arb(11) / 10)


@book.claim(
    "E.27",
    "End of phase 1",
    kind="order",
    where="Theorem E.27",
    parts=("margins", "mu1, mu2, mu3", "irrelevant words", "beta"),
    hypotheses=PHASES,
    uses=["E.14", "E.15", "E.19", "E.20", "E.20-use", "E.26", "D.7", "Beyond.level3"],
    statement=r"t=T_1:\ y_iF_i=\Theta(1)\ \forall i;\ G(\mu_1),G(\mu_2),-G(\mu_3)=\Theta(1);\ G(\mu)=\widetilde O(\sigma_0\sigma_1\sqrt{mm_1})\ \forall\mu\in\mathcal R;\ \sum_{j_1,j_2}\langle a_{j_1}w_{j_1},a_{j_2}w_{j_2}\rangle=\Theta(\sigma_1^2mm_1)",
    reading="Networks at tau = 40; the third's tilde is 1/c_0, polylogarithmic by Condition 1, along n, L for means over samples; beta on the events of D.3 and E.5.",
)
def end_of_phase_one(lab: Laboratory) -> dict[str, Verdict]:
    """Values at T_1 over all parameters; beta by the bootstrap."""

    def over_order(run: Any, words: np.ndarray) -> float:
        unit = run.scale.sigma0 * run.scale.sigma1 * np.sqrt(float(run.scale.m) * run.scale.m1)
        return float(np.abs(words).max() / unit * run.scale.sigma0 * np.sqrt(run.L * float(run.scale.m)))

    def irrelevant(run: Any) -> float:
        return over_order(run, run.G[-1, 3:])

    def sample_means(run: Any) -> np.ndarray:
        return np.asarray(irrelevant_sums(run)[-1] / (run.tokens >= 3).sum(axis=1))

    because = "constants of the order at T_1 = 40: no |G| exceeds 7, since the rates are at most 1/6"
    return {
        "margins": always(lab, "margin", lambda r: r.margins[-1], 0.2, 7, because, phase_one, ALL, END_TRIED),
        "mu1, mu2, mu3": always(
            lab, "signal", lambda r: r.G[-1, :3] * [1, 1, -1], 0.5, 7, because, phase_one, ALL, END_TRIED
        ),
        "irrelevant words": always(
            lab,
            "|G(mu)| on R, times c_0, over its order",
            irrelevant,
            0,
            2,
            TILDE,
            phase_one,
            ("m", "m1", "c0"),
            END_TRIED,
        )
        & always(
            lab,
            "|mean of G over the irrelevant words of a sample|, times c_0, over the order",
            lambda r: over_order(r, r.rest[-1] / (r.L - r.has.sum(axis=1)) if isinstance(r, Sums) else sample_means(r)),
            0,
            2,
            TILDE,
            phase_one,
            SIZES,
            END_TRIED,
        ),
        "beta": certain(lab, beta_bounds, low=0.9, high=1.1),
    }


CHANGES: dict[str, Any] = {  # over m^-1, m^-1, m^-3/2 (1/L + 1/sqrt(m)), m^-2, m^-2
    "neurons": lambda c, x: 2 * T_ONE * mean_slope() * mixed_size(c, x),
    "values": lambda c, x: 2 * T_ONE * x["G"] * even(x),
    "scores": lambda c, x: 2 * T_ONE * score_speed(c, x),
    "keys": lambda c, x: 4 * T_ONE * x["G"] * even(x) * x["A"] * c.power(c0=2, L=-1) / c.tilde,
    "queries": lambda c, x: 4 * T_ONE * x["G"] * even(x) * x["A"] * c.power(c0=2, L=-1) / c.tilde,
}
BULLETS = ("mu1, mu2, mu3", "classified", *CHANGES, "loss")


def theorem_parts(lab: Laboratory) -> dict[str, Verdict]:
    """Bullets one, two and four with high probability, the changes of bullet three by their orders."""

    def signals(run: Any) -> np.ndarray:
        return np.asarray(run.G[-1, :3] * [1, 1, -1])

    parts = {
        "mu1, mu2, mu3": likely(
            lab,
            "G_1, G_2, -G_3 > 1/2 at T_1",
            lambda r: (signals(r) > 0.5).all(),
            signals,
            phase_one,
            QUARTER,
            ALL,
            THEOREM_TRIED,
        ),
        "classified": likely(
            lab,
            "all margins are above 0.1 at T_1",
            lambda r: (r.margins[-1] > 0.1).all(),
            lambda r: r.margins[-1],
            phase_one,
            RIGHT,
            ALL,
            THEOREM_TRIED,
        ),
    }
    parts |= {name: at_most(lab, ratio, T_ONE * CONSTANT) for name, ratio in CHANGES.items()}
    loss = always(
        lab,
        "loss at T_1",
        lambda r: r.loss[-1],
        0.05,
        float(np.log(2)),
        "below its start, and no margin exceeds 3",
        phase_one,
        ALL,
        THEOREM_TRIED,
    )
    return {**parts, "loss": loss}


@book.claim(
    "E.28",
    "Phase 1 (formal)",
    kind="order",
    where="Theorem E.28",
    source="damaged",
    parts=BULLETS,
    hypotheses=PHASES,
    uses=["E.9", "E.12", "E.23", "E.25", "E.27"],
    statement=r"\exists T_1=\widetilde O(1/m):\ G(\mu_1),G(\mu_2)\ge\Omega(1),\ G(\mu_3)\le-\Omega(1);\ y_iF_i=\Omega(1)\ \forall i;\ t\le T_1:\ |\Delta\langle w_{j_1},w_{j_2}\rangle|,|\Delta\langle v(\mu),v(\nu)\rangle|\le\widetilde O(\tfrac1m),\ |\Delta\nu^\top W_K^\top W_Q\mu|\le\widetilde O(\tfrac1{m^{3/2}}(\tfrac1L+\tfrac1{\sqrt m})),\ |\Delta\kappa|,|\Delta\rho|\le\widetilde O(\tfrac1{m^2});\ \hat{\mathcal L}(T_1)=\Theta(1)",
    reading="T_1 = 40/m, which is tau = 40; the constants 1/2 and 0.1 stand for Omega(1); changes without tildes.",
)
def theorem_phase_one(lab: Laboratory) -> dict[str, Verdict]:
    """All bullets."""
    return theorem_parts(lab)


@book.claim(
    "Thm.3.1",
    "Phase 1",
    kind="order",
    where="Theorem 3.1",
    parts=BULLETS,
    hypotheses=PHASES,
    main=True,
    same_as="E.28",
    uses=["E.28"],
    statement=r"\exists T_1=\widetilde O(1/m):\ G(\mu_1),G(\mu_2)\ge\Omega(1),\ G(\mu_3)\le-\Omega(1);\ y_iF_i>0\ \forall i;\ t\le T_1:\ \langle w_{j_1},w_{j_2}\rangle,\ \nu^\top W_K^\top W_Q\mu,\ \nu^\top W_V^\top W_V\mu,\ \nu^\top W_K^\top W_K\mu,\ \nu^\top W_Q^\top W_Q\mu\ \text{close to their start};\ \hat{\mathcal L}(T_1)=\Theta(1)",
    reading="T_1 = 40/m; close means the orders of Theorem E.28.",
)
def theorem_phase_one_again(lab: Laboratory) -> dict[str, Verdict]:
    """The same bullets."""
    return theorem_parts(lab)
