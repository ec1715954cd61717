"""Figures with more than two groups (5-7 of the paper), the laws in K, and a phase diagram of stage 2.

Figures 5-7 iterate the exact gradient-descent map of the family (step 0.1, omega = 0.1, b = 1/2, L = 3) at infinite
width; its 22 variables are the same for every K.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

from odesys import Progress, integrate, iterate, new_figure, save_figure

from .. import dynamics
from ..claims.part_beyond_k_trajectories import stage_two_time, time_to_learn
from ..laboratory import Laboratory
from ..special import closed_forms
from .paper_figures import COLOURS, SETTING, STEP, TEX

STEPS = {3: 6000, 4: 7000, 8: 20_000}
RECORDS = 300
OTHERS = ("M_vv_same", "M_vc_same", "M_cc_same", "M_vv_other", "M_vc_other", "M_cc_other")


@cache
def descent_curves(K: int, steps: int) -> dict[str, np.ndarray]:
    """States, population loss and the losses of consistent and conflicting samples along gradient descent."""
    flow = dynamics.family_map(3)
    run = iterate(
        flow.system,
        flow.initial_state(SETTING["omega"]),
        steps,
        {"b": SETTING["b"], "eta": STEP, "K": K},
        record_every=max(1, steps // RECORDS),
    )
    table = {name: run.state(name) for name in flow.system.names} | {"step": run.times, "loss": run.observable("loss")}
    for kind, positions in sample_kinds().items():
        margins = np.array([run.observable(f"margin_{position}") for position in positions])
        table[kind] = np.logaddexp(0.0, -margins).mean(axis=0)
    return table


def sample_kinds() -> dict[str, list[int]]:
    """Numbers of the sample orbits whose distractor has the sign of the label (consistent), or the other one."""
    orbits = dynamics.family_map(3).samples.orbits
    kinds: dict[str, list[int]] = {"consistent": [], "conflicting": []}
    for position, orbit in enumerate(orbits, start=1):
        ((_, sign),) = orbit.others[0]
        kinds["consistent" if sign == orbit.label else "conflicting"].append(position)
    return kinds


def _groups_figure(K: int, name: str, folder: Path, progress: Progress) -> list[Path]:
    progress(f"K = {K}", 0.1)
    run, steps = descent_curves(K, STEPS[K]), STEPS[K]
    fig, axes = new_figure(1, 3, (14.0, 4.2))
    for kind, colour in (("consistent", "C0"), ("conflicting", "C1")):
        axes[0].plot(run["step"], run[kind], color=colour, label=kind)
    axes[0].axhline(np.log(2), color="0.6", linewidth=0.8, linestyle=":")
    axes[0].set(title="(a) loss by sample type", ylim=(0, None))
    for neuron in ("n_v", "n_c"):
        axes[1].plot(run["step"], run[neuron], color=COLOURS[neuron], label=TEX[neuron])
    axes[1].set(title="(b) neurons of the + head", ylim=(0, None))
    for score in OTHERS:
        axes[2].plot(run["step"], run[score], color=COLOURS[score], linewidth=0.9, label=TEX[score])
    for score in ("M_cv_same", "M_cv_other"):
        axes[2].plot(run["step"], run[score], color=COLOURS[score], linewidth=1.8, label=TEX[score])
    axes[2].plot(
        run["step"],
        -run["M_cv_same"] / (K - 1),
        color="k",
        linestyle="--",
        linewidth=1.0,
        label=r"$-c_1^\top W_K^\top W_Q v_1/(K-1)$",
    )
    axes[2].set(title="(c) scores of the + head")
    for ax in axes:
        ax.set(xlabel="step", xlim=(0, steps))
        ax.locator_params(axis="x", nbins=5)
    axes[0].legend(fontsize=8, loc="center right")
    axes[1].legend(fontsize=8)
    axes[2].legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    fig.suptitle(
        f"K = {K} groups, L = 3: gradient descent with step {STEP} at infinite width "
        f"(omega = {SETTING['omega']}, b = {SETTING['b']}), loss {run['loss'][-1]:.4f} after {steps} steps",
        fontsize=10,
    )
    return save_figure(fig, folder, name)


def figure_5(folder: Path, progress: Progress) -> list[Path]:
    """Three groups."""
    return _groups_figure(3, "fig5", folder, progress)


def figure_6(folder: Path, progress: Progress) -> list[Path]:
    """Four groups."""
    return _groups_figure(4, "fig6", folder, progress)


def figure_7(folder: Path, progress: Progress) -> list[Path]:
    """Eight groups."""
    return _groups_figure(8, "fig7", folder, progress)


# ---- the laws in K ---------------------------------------------------------------------------------------------------

LAW_GROUPS = (2, 3, 4, 6, 10, 20, 50, 100, 1000, 10_000, 100_000, 1_000_000)


def switch_time(K: int, bias: float = 0.5) -> float:
    """T_0.5 by integration of stage 1 with K groups."""
    flow = dynamics.family("stage1")
    end = K * (2 * bias + np.exp(2 * bias)) / 2
    run = integrate(flow.system, flow.initial_state(0.1), (0.0, end), {"b": bias, "K": K}, rtol=1e-10)
    return run.times_of("switch")[0]


def figure_law(folder: Path, progress: Progress) -> list[Path]:
    """Switching time, stage 2 and the whole training from K = 2 to a million, each over K."""
    lab, groups = Laboratory(), np.array(LAW_GROUPS)
    smooth = np.geomspace(2, 1e6, 300)
    fig, axes = new_figure(1, 3, (14.0, 4.2))
    progress("stage 1", 0.1)
    bias = sp.Symbol("b", real=True)
    half = float(closed_forms.stage_one(2).switch_time().subs(bias, SETTING["b"])) / 2
    axes[0].plot(smooth, np.full_like(smooth, half), "k--", linewidth=1.0, label=r"$\frac{1}{4}(2b+e^{2b}-1)$, proved")
    axes[0].plot(groups, [switch_time(int(K)) / K for K in groups], "o", color="C0", label="integrated")
    axes[0].set(title=r"(a) stage 1: $T_{0.5}/K$", ylim=(0, 2 * half))
    for n, omega in enumerate((0.1, 0.01, 0.001)):
        progress("stage 2", 0.2 + 0.15 * n)
        found = [stage_two_time(lab, int(K), omega) for K in groups]
        n_c = found[0][1]
        axes[1].plot(
            groups,
            [time / K for (time, _), K in zip(found, groups, strict=True)],
            "o",
            color=f"C{n}",
            label=rf"$\omega$ = {omega:g}",
        )
        law = 9 * (smooth - 1) / n_c * (np.log(1 / omega) + np.log(2) / 2) / smooth
        axes[1].plot(smooth, law, "--", color=f"C{n}", linewidth=1.0)
    axes[1].set(title=r"(b) stage 2: $(T_2-T_1)/K$ until $M^a_{cv}=1$", ylim=(0, None))
    axes[1].plot([], [], "k--", linewidth=1.0, label=r"$\frac{1}{4\kappa_K}\log\frac{2}{\omega^2}$, frozen forces")
    for n, omega in enumerate((0.1, 0.01)):
        progress("simultaneous training", 0.65 + 0.15 * n)
        times = np.array([time_to_learn(lab, int(K), omega) for K in groups])
        slope = time_to_learn(lab, "infinity", omega)
        offset = 2 * (times[0] - slope)
        axes[2].plot(groups, times, "o", color=f"C{n}", label=rf"$\omega$ = {omega:g}")
        axes[2].plot(smooth, slope + offset / smooth, "--", color=f"C{n}", linewidth=1.0)
        axes[2].axhline(slope, color=f"C{n}", linewidth=0.8, linestyle=":")
    axes[2].plot([], [], "k--", linewidth=1.0, label=r"$\alpha+\beta/K$, line through $K=2$")
    axes[2].plot([], [], "k:", linewidth=0.8, label=r"$\alpha$ from the limit $K\to\infty$")
    axes[2].set(title=r"(c) all weights at once: $T/K$ until $M_{c_kv_k}=1$", ylim=(0, None))
    for ax in axes:
        ax.set(xlabel="number of groups K", xscale="log")
        ax.legend(fontsize=8, loc="lower right")
    fig.suptitle(
        r"times over K, from 2 to 1,000,000 groups ($L=3$, $b=1/2$; stage 1 of length $10K$ before stage 2)",
        fontsize=10,
    )
    return save_figure(fig, folder, "law")


# ---- phase diagram ---------------------------------------------------------------------------------------------------

PHASE_OMEGA = np.geomspace(1e-3, 0.3, 17)
PHASE_T1 = np.geomspace(1.6, 300.0, 17)
LEARNED, BROKEN, LONGEST = 1.0, 0.1, 1e5


@cache
def _stage_two_code() -> Any:
    # compiled once for the whole diagram: n_c, n_v and the start are states, so no grid point needs code of its own
    return dynamics.reduced("stage2").system.compile({"b": SETTING["b"]})


def transitions(omega: float, T1: float) -> tuple[float, float]:
    """T2 (first time M_cv_same = 1) and the time at which |M^s_vc| = 0.1, from t = 0 on; nan if a kink comes first."""
    reduced, code = dynamics.reduced("stage2"), _stage_two_code()
    names = list(reduced.system.names)
    start = reduced.initial_state(omega)
    for name, value in closed_forms.stage_one().neurons(T1, SETTING["b"]).items():
        start[names.index(name)] = value
    score, same, other = (names.index(f"M_{kind}") for kind in ("cv_same", "vc_same", "vc_other"))

    def learned(t: float, x: np.ndarray) -> float:
        return x[score] - LEARNED

    def broken(t: float, x: np.ndarray) -> float:
        return abs(x[same] + x[other]) - BROKEN

    def kink(t: float, x: np.ndarray) -> float:
        return float(code.surfaces(t, x).min())

    def both(t: float, x: np.ndarray) -> float:
        return min(learned(t, x), broken(t, x))

    both.terminal = kink.terminal = True  # type: ignore[attr-defined]
    run = solve_ivp(
        code,
        (T1, LONGEST),
        start,
        method="DOP853",
        rtol=1e-8,
        atol=1e-10 * omega**2,
        events=(learned, broken, both, kink),
    )
    return tuple(float(times[0]) if times.size else np.nan for times in run.t_events[:2])  # type: ignore[return-value]


@cache
def phase_table(omegas: tuple[float, ...], starts: tuple[float, ...]) -> np.ndarray:
    """T2 and the second transition over (T1, omega), shape (2, len(starts), len(omegas))."""
    table = np.array([[transitions(omega, T1) for omega in omegas] for T1 in starts])
    return np.moveaxis(table, 2, 0)


def best_start(learned: np.ndarray) -> np.ndarray:
    """T1 with the smallest T2 for each omega: the vertex of the parabola through the three lowest grid points."""
    logs, out = np.log(PHASE_T1), []
    for column in learned.T:
        k = int(np.clip(np.nanargmin(column), 1, len(logs) - 2))
        a, b, _ = np.polyfit(logs[k - 1 : k + 2], column[k - 1 : k + 2], 2)
        out.append(np.exp(-b / (2 * a)))
    return np.array(out)


def figure_phase(folder: Path, progress: Progress) -> list[Path]:
    """When stage 2 has learned, how long its near symmetry then lasts, and the best length of stage 1."""
    rows = []
    for k, T1 in enumerate(PHASE_T1):
        progress("stage 2", k / len(PHASE_T1))
        rows.append(phase_table(tuple(PHASE_OMEGA), (float(T1),))[:, 0, :])
    learned, second = np.moveaxis(np.array(rows), 1, 0)
    fig, axes = new_figure(1, 2, (13.0, 5.0))
    best = best_start(learned)
    panels = (
        (learned, r"(a) $T_2$: end of stage 2 ($M_{c_1v_1}=1$)", "log", (100, 150, 200, 300, 500, 1000, 3000)),
        (second / learned, r"(b) second transition ($|M^s_{vc}|=0.1$) over $T_2$", None, np.arange(1.0, 2.5, 0.2)),
    )
    for ax, (values, title, norm, levels) in zip(axes, panels, strict=True):
        shown = np.ma.masked_invalid(values)
        image = ax.pcolormesh(PHASE_OMEGA, PHASE_T1, shown, cmap="viridis", shading="nearest", norm=norm)
        lines = ax.contour(PHASE_OMEGA, PHASE_T1, shown, levels, colors="w", linewidths=0.8)
        ax.clabel(lines, fontsize=8, fmt="%g")
        ax.plot(PHASE_OMEGA, best, color="C3", linewidth=1.8, label=r"$T_1$ with the smallest $T_2$")
        ax.set(xscale="log", yscale="log", title=title, xlabel=r"initial scale $\omega$", ylabel="end $T_1$ of stage 1")
        ax.grid(False)
        ax.set_facecolor("0.85")
        fig.colorbar(image, ax=ax)
    axes[0].legend(fontsize=8, loc="lower left")
    if np.isnan(second).any():
        axes[1].plot([], [], "s", color="0.85", label="a ReLU kink is reached first")
    axes[1].legend(fontsize=8, loc="lower left")
    fig.suptitle("stage 2 from the infinite-width start, K = 2, L = 3, b = 1/2", fontsize=10)
    return save_figure(fig, folder, "phase")
