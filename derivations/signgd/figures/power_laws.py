"""Figures of the laws: flip and attention times with fitted exponents, the two-step cycle against its probability."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from odesys import Progress, new_figure, save_figure, silent

from ..setting import Case
from ..special import power_laws, recursion, sign_flow


def figure_laws(folder: Path, progress: Progress = silent) -> list[Path]:
    """Key flip over m_k and attention time over sigma_p s, every seed a dot, with the fitted lines."""
    fig, axes = new_figure(1, 2, (11, 4.2))
    flip = power_laws.flip_law()
    progress("laws", 0.5)
    panels = (
        (axes[0], flip, "$m_k$", r"key flip $\theta_f$"),
        (axes[1], power_laws.attention_law(), r"$\sigma_p s$", r"first $\theta$ with all $s_{11} < 0.1$"),
    )
    for ax, law, label, what in panels:
        fit = law.exponent
        sizes = np.array(sorted(set(law.sizes)))
        ax.loglog(law.sizes, law.times, "o", markersize=4, label="sign flow, every seed")
        ax.loglog(
            sizes, fit.prefactor * sizes**fit.value, "k--", label=rf"exponent ${fit.value:.4f}\pm{fit.half_width:.4f}$"
        )
        ax.set(xlabel=label, ylabel=what)
        ax.legend(fontsize=9)
    axes[0].set_xticks(sorted(set(flip.sizes)), [f"{m:.0f}" for m in sorted(set(flip.sizes))])
    axes[0].minorticks_off()
    fig.suptitle(r"$n = 15$; left $\sigma_p s = 10^5$, right $m_k = 32$")
    return save_figure(fig, folder, "laws")


def after_stage_one(start: recursion.Start) -> recursion.Start:
    """The same start with all v_i above v_mu: pairs are driven to their saddle from the first step on."""
    state = replace(start.state, v_mu=0.0, v=np.abs(start.state.v) + 1e-12)
    return replace(start, state=state)


def trap_rows(grains: tuple[float, ...] = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8), seeds: int = 3) -> list[dict[str, float]]:
    """Trapped part of the pairs that start with opposite signs, counted in recursions, with its law."""
    rows = []
    for grain in grains:
        case = Case(n=20, s=2000, d=40_001, m_k=100, m_v=10**6, sigma_p=2.0, sigma_0=1e-6)
        eta = grain * case.sigma_0 / math.sqrt(2 * case.s / math.pi)
        for seed in range(seeds):
            start = after_stage_one(recursion.draw(case, seed))
            steps = math.ceil(4.5 / grain) + 20
            run = recursion.descend(start, eta, steps)
            opposite, same = sign_flow.count_crossings(start.state, start, eta)
            rows.append(
                {
                    "grain": grain,
                    "held": len({(t.neuron, t.sample) for t in sign_flow.trapped(run)}) / opposite,
                    "same_step": same / opposite,
                    "law": sign_flow.trap_probability(start, eta),
                }
            )
    return rows


def figure_trap(folder: Path, progress: Progress = silent) -> list[Path]:
    """Pairs that finite steps hold at their saddle over the size of a step, against the law and its small-h form."""
    rows = trap_rows()
    fig, ax = new_figure()
    h = np.array([row["grain"] for row in rows])
    ax.loglog(h, [row["held"] for row in rows], "o", markersize=4, label="recursions: $q$ and $k$ both alternate")
    order = np.argsort(h)
    ax.loglog(h[order], np.array([row["law"] for row in rows])[order], "k-", label="same step: sum of squares")
    ax.loglog(h[order], h[order] / math.sqrt(math.pi), "k:", label=r"$h/\sqrt{\pi}$")
    ax.set(xlabel=r"$h = \eta\|\xi\|_1/(\sigma_0\|\xi\|_2)$", ylabel="part of pairs with opposite signs")
    ticks = sorted(set(h))
    ax.set_xticks(ticks, [f"{x:g}" for x in ticks])
    ax.minorticks_off()
    ax.legend(fontsize=8)
    return save_figure(fig, folder, "trap")
