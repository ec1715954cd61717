"""Figures 1, 2 and 3 of the paper in a size for one computer, the proof graph, and plots of simulated runs.

The rest is in `attention`. Cases are cells of `numerics.sweeps.cells`: kept until the figure is drawn, independent of
the number of processes; long figures use two.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from odesys import (
    ParameterError,
    PowerLaw,
    Progress,
    fit_power_law,
    new_figure,
    run_cells,
    save_figure,
    silent,
    unfinished_cells,
)

from ..setting import Case
from ..special import bounds, training_sweeps
from .sizes import FULL, QUICK, Size, say_size

NOISELESS = "tokens without noise ($c_0 = 0.01$ in the paper)"
ALPHA, GAP = r"\alpha_*", r"(\alpha_*-\alpha_\#)"


def map_cases(frozen: bool = False, size: Size = QUICK) -> list[list[Case]]:
    """Rows alpha_* with alpha_nd = 1/2, columns N."""
    return [
        [replace(size.map, alpha_s=a, alpha_c=0.5 - a, N=N, frozen=int(frozen)) for N in size.samples]
        for a in size.alphas
    ]


def success_map(
    cases: Sequence[Sequence[Case]], seeds: int, progress: Progress, store: Path | None, workers: int = 1
) -> np.ndarray:
    """Test losses (rows, columns, seeds) of a table of cases; those of a row differ by N alone."""
    cells = []
    for row in cases:
        if any(replace(case, N=row[0].N) != row[0] for case in row):
            raise ParameterError("cases of a row of the map differ by more than N; use a row for each")
        used = tuple(range(row[0].seed, row[0].seed + seeds))
        cells.append((row[0], tuple(case.N for case in row), used))
    return np.array(run_cells(training_sweeps.over_sizes, cells, progress, workers, store, "test losses"))


def figure_1a(folder: Path, progress: Progress = silent, size: Size = QUICK) -> list[Path]:
    """Success over alpha_*^-2 and N, and the number of samples at which the mean test loss falls through the level."""
    return _success_figure(folder, progress, "1a", frozen=False, power=-2, size=size)


def figure_3(folder: Path, progress: Progress = silent, size: Size = QUICK) -> list[Path]:
    """The same with keys and queries frozen, over alpha_*^-4; and trained against frozen at a fixed alpha_#."""
    return _success_figure(folder, progress, "3", frozen=True, power=-4, size=size)


def _success_figure(folder: Path, progress: Progress, key: str, frozen: bool, power: int, size: Size) -> list[Path]:
    name, level = key + size.suffix, size.level
    with unfinished_cells(f"shallow_vit {name}", size.keep) as store:
        losses = success_map(map_cases(frozen, size), size.trials, progress, store, size.workers)
        loss_sweeps = {
            label: training_sweeps.test_losses(
                alpha_cases(int(label == "frozen"), size), 2 * size.trials, progress, size.workers, store
            )
            for label in (("trained", "frozen") if frozen else ())
        }
        fig, axes = new_figure(1, 3 if frozen else 2, (16.5 if frozen else 11.5, 4.6))
        x = np.array([a**power for a in size.alphas])
        _map(fig, axes[0], x, np.array(size.samples), (losses < level).mean(axis=2).T)
        axes[0].set(
            xlabel=rf"$\alpha_*^{{{power}}}$",
            ylabel="$N$",
            title=("attention frozen: " if frozen else "") + f"share with test loss < {level:g}",
        )
        _threshold_panel(axes[1], losses, power, size)
        if frozen:
            _loss_panel(axes[2], loss_sweeps)
        said = rf"$\sigma = {size.map.sigma}$, $\delta = {size.map.delta}$"
        say_size(fig, size, size.map, size.trials, said, NOISELESS, _scatter(size.map))
        return save_figure(fig, folder, name)


def alpha_cases(frozen: int, size: Size = QUICK) -> list[Case]:
    """alpha_* at a fixed alpha_# and N: what the loss owes to alpha_* alone."""
    base = replace(size.map, jitter=0.03, alpha_c=0.04, N=32, frozen=frozen)
    return [replace(base, alpha_s=a) for a in (0.15, 0.2, 0.3, 0.4)]


def _scatter(case: Case) -> str:
    return rf"fractions $\alpha_*$ scatter by {case.jitter:g} (not in the paper)"


def _map(fig: Any, ax: Any, x: np.ndarray, sizes: np.ndarray, share: np.ndarray) -> None:
    columns = np.arange(len(x) + 1) - 0.5
    image = ax.pcolormesh(columns, np.arange(len(sizes) + 1) - 0.5, share, cmap="gray", vmin=0, vmax=1)
    ax.set_xticks(range(len(x)), [f"{value:.3g}" for value in x])
    ax.set_yticks(range(len(sizes)), [str(n) for n in sizes])
    ax.grid(False)
    ax.spines[["top", "right"]].set_visible(True)  # white cells have an edge too
    fig.colorbar(image, ax=ax)


def _threshold_panel(ax: Any, losses: np.ndarray, power: int, size: Size) -> None:
    gaps = np.array([2 * a - 0.5 for a in size.alphas])
    needed = np.array([training_sweeps.thresholds(size.samples, row, size.level) for row in losses])
    good = np.isfinite(needed)
    ax.loglog(gaps[good], needed[good], "o", color="C0", label=f"$N$ at mean test loss {size.level:g}")
    bound, number = np.array([a**power for a in size.alphas]), {-2: 11, -4: 13}[power]
    if good.sum() > 2:
        law = fit_power_law(gaps[good].tolist(), needed[good].tolist())
        line = np.geomspace(gaps.min(), gaps.max(), 50)
        ax.loglog(line, law.prefactor * line**law.value, "--", color="C0", label=_power(GAP, law))
        scale = needed[good].min() / bound.min()
        ax.loglog(gaps, scale * bound, ":", color="C3", label=rf"$\alpha_*^{{{power}}}$ of ({number})")
    ax.set(xlabel=r"$\alpha_* - \alpha_\#$", ylabel="$N$", title=r"samples needed, $\alpha_{nd} = 1/2$")
    _plain_ticks(ax, [0.2, 0.3, 0.4], size.samples)
    ax.legend(fontsize=8)


def _loss_panel(ax: Any, found: Mapping[str, training_sweeps.Sweep]) -> None:
    for colour, (label, sweep) in zip(("C0", "C1"), found.items(), strict=True):
        x = [case.alpha_s for case in sweep.cases]
        law = sweep.mean_law(x)
        ax.loglog(x, sweep.values, ".", color=colour, alpha=0.35, markersize=4)
        ax.loglog(x, sweep.mean, "o-", color=colour, label=f"{label}, mean; {_power(ALPHA, law)}")
    ax.set(
        xlabel=r"$\alpha_*$",
        ylabel="test loss at zero training loss",
        title=r"$N = 32$, $\alpha_\# = 0.04$",
    )
    _plain_ticks(ax, [0.15, 0.2, 0.3, 0.4], ())
    ax.legend(fontsize=8)


def _power(base: str, law: PowerLaw) -> str:
    return rf"${base}^{{{law.value:.2f}\pm{law.half_width:.2f}}}$"


def _plain_ticks(ax: Any, x: Sequence[float], y: Sequence[float]) -> None:
    if len(x):
        ax.set_xticks(x, [f"{value:g}" for value in x])
        ax.xaxis.minorticks_off()
    if len(y):
        ax.set_yticks(y, [f"{value:g}" for value in y])
        ax.yaxis.minorticks_off()


def figure_1b(folder: Path, progress: Progress = silent, size: Size = QUICK) -> list[Path]:
    """Success over sigma and 1/sqrt(N), alpha_* = 0.3 and alpha_# = 0.2; and the stopping time over sigma and delta."""
    cases = [
        [replace(size.map, alpha_s=0.3, alpha_c=0.2, sigma=s, m_a=10, m_b=10, N=N) for N in size.samples]
        for s in size.sigmas
    ]
    base, sigmas, level = replace(size.times, m_a=10, m_b=10), size.sigmas, size.level
    with unfinished_cells(f"shallow_vit 1b{size.suffix}", size.keep) as store:
        losses = success_map(cases, size.trials, progress, store, size.workers)
        tilted = {
            "sigma": [replace(base, sigma=value) for value in sigmas],
            "delta": [replace(base, delta=value) for value in sigmas],
        }
        times = {
            name: training_sweeps.stopping_times(row, size.trials, progress, size.workers, store)
            for name, row in tilted.items()
        }
        fig, axes = new_figure(1, 3, (16.5, 4.4))
        _map(
            fig,
            axes[0],
            np.array(sigmas),
            np.array([round(1 / math.sqrt(n), 3) for n in size.samples]),
            (losses < level).mean(axis=2).T,
        )
        axes[0].set(xlabel=r"$\sigma$", ylabel=r"$1/\sqrt{N}$", title=f"share with test loss < {level:g}")
        axes[0].invert_yaxis()
        needed = 1 / np.sqrt([training_sweeps.thresholds(size.samples, row, level) for row in losses])
        line = 1 / np.sqrt([bounds.samples(row[0]) for row in cases])
        axes[1].plot(sigmas, needed, "o-", color="C0", label="runs to zero training loss")
        axes[1].plot(
            sigmas,
            line * np.nan_to_num(needed[0], nan=0.1) / line[0],
            ":",
            color="C3",
            label="(11), scaled at $\\sigma = 0$",
        )
        axes[1].set(
            xlabel=r"$\sigma$",
            ylabel=rf"$1/\sqrt{{N}}$ at mean test loss {level:g}",
            ylim=(0, 1.3 * float(np.nanmax(needed, initial=0.1))),
            title=r"$\alpha_* = 0.3$, $\alpha_\# = 0.2$",
        )
        for (name, sweep), colour in zip(times.items(), ("C0", "C1"), strict=True):
            axes[2].plot(sigmas, sweep.mean, "o-", color=colour, label=rf"over $\{name}$")
        axes[2].set(
            xlabel=r"$\sigma$ or $\delta$",
            ylabel=r"$\eta T$",
            ylim=(0, 9),
            title=r"$\alpha_* = 0.5$, $\alpha_\# = 0.05$",
        )
        for ax in axes[1:]:
            ax.legend(fontsize=8, loc="lower left")
        said = rf"map: $\delta = {size.map.delta}$, {_scatter(size.map)}"
        say_size(fig, size, cases[0][0], size.trials, said, NOISELESS, rf"right: $m = {base.m}$, $\eta = {base.eta}$")
        return save_figure(fig, folder, f"1b{size.suffix}")


def figure_2(folder: Path, progress: Progress = silent, size: Size = QUICK) -> list[Path]:
    """Stopping time over 1/alpha_*, over 1/(alpha_* - alpha_#), and over the step size."""
    base = replace(size.times, sigma=0.1, delta=0.4, m_a=10, m_b=10)
    with unfinished_cells(f"shallow_vit 2{size.suffix}", size.keep) as store:
        found = {
            key: training_sweeps.stopping_times(
                training_sweeps.scheme(key, base), size.runs, progress, size.workers, store
            )
            for key in training_sweeps.SCHEMES
        }
        steps = training_sweeps.stopping_times(
            [replace(base, eta=eta, alpha_s=0.5, alpha_c=0.05) for eta in size.etas],
            size.runs,
            progress,
            size.workers,
            store,
        )
        fig, axes = new_figure(1, 3, (16.5, 4.4))
        for k, (key, sweep) in enumerate(found.items()):
            alpha = np.array([case.alpha_s for case in sweep.cases])
            gap = np.array([case.alpha_s - case.alpha_c for case in sweep.cases])
            axes[0].loglog(1 / alpha, sweep.mean, "o-", color=f"C{k}", markersize=4, label=training_sweeps.SCHEMES[key])
            axes[1].loglog(
                1 / gap,
                sweep.mean,
                "o",
                color=f"C{k}",
                markersize=4,
                label=f"{training_sweeps.SCHEMES[key]}: {_power(GAP, sweep.law(gap.tolist()))}",
            )
        line = np.array([1.2, 20.0])
        constant = float(
            np.median(
                np.concatenate(
                    [sweep.mean * [case.alpha_s - case.alpha_c for case in sweep.cases] for sweep in found.values()]
                )
            )
        )
        axes[1].loglog(line, constant * line, "k--", linewidth=0.8, label=rf"${constant:.2f}/{GAP}$")
        axes[0].set(xlabel=r"$1/\alpha_*$", ylabel=r"$\eta T$", title=r"$\sigma = 0.1$, $\delta = 0.4$")
        axes[1].set(xlabel=r"$1/(\alpha_* - \alpha_\#)$", ylabel=r"$\eta T$", title="over the gap of both fractions")
        for ax in axes[:2]:
            _plain_ticks(ax, (1.25, 2.5, 5, 10, 20), (5, 10, 20, 40))
        _eta_panel(axes[2], steps, size.etas)
        for ax in axes:
            ax.legend(fontsize=8)
        say_size(fig, size, base, size.runs, NOISELESS)
        return save_figure(fig, folder, f"2{size.suffix}")


def _eta_panel(ax: Any, sweep: training_sweeps.Sweep, etas: Sequence[float]) -> None:
    eta = np.array(etas)
    T = sweep.values / eta[:, None]
    law = fit_power_law(np.repeat(eta, T.shape[1]).tolist(), T.ravel().tolist())
    ax.loglog(eta, T, "o", color="C0", markersize=4)
    ax.loglog(eta, law.prefactor * eta**law.value, "-", color="C0", label="runs: " + _power(r"\eta", law))
    printed = np.array([bounds.iterations(case) for case in sweep.cases])
    ax.loglog(eta, printed * T.mean(axis=1)[0] / printed[0], ":", color="C3", label=r"printed: $\eta^{-3/5}$")
    ax.set(xlabel=r"$\eta$", ylabel="$T$", title=r"$\alpha_* = 0.5$, $\alpha_\# = 0.05$")
    _plain_ticks(ax, etas, (20, 40, 80, 160, 320))


figure_1a_full, figure_1b_full, figure_2_full, figure_3_full = (
    partial(draw, size=FULL) for draw in (figure_1a, figure_1b, figure_2, figure_3)
)


def plot_run(
    columns: Mapping[str, Any], events: Sequence[Mapping[str, Any]], margin: float, ceiling: float, folder: Path
) -> list[Path]:
    """Margin, attention and logits of a simulated run, with the ends of the stages and the ceiling of attention."""
    fig, axes = new_figure(1, 3, (15, 4))
    t = columns["t"]
    axes[0].plot(t, columns["F"], label="mean margin $yF$")
    axes[0].axhline(margin, color="0.6", linewidth=0.8)
    for name, label in (("rel_s", "label-relevant"), ("rel_c", "confusion"), ("rel_n", "nuisance"), ("rel", "mean")):
        axes[1].plot(
            t,
            columns[name],
            "k--" if name == "rel" else "-",
            label=f"{label} queries" if name != "rel" else "mean over queries",
        )
    axes[1].axhline(ceiling, color="C2", linewidth=0.8, linestyle=":", label=r"$\alpha_*/(\alpha_*+\alpha_\#)$")
    for name, label in (("S11", "11"), ("S21", "21"), ("Sn1", "n1"), ("S1n", "1n"), ("Skk", "kk"), ("Skx", "kx")):
        axes[2].plot(t, columns[name], label=f"$S_{{{label}}}$")
    for ax, label in zip(axes, ("margin", "attention on label-relevant tokens", "logits"), strict=True):
        for event in events:
            ax.axvline(event["time"], color="0.8", linewidth=0.8)
        ax.set(xlabel=r"$s = \eta t$", ylabel=label)
        ax.legend(fontsize=8)
    return save_figure(fig, folder, "run")
