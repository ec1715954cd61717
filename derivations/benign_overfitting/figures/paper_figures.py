"""Figures 1, 3 and 4 of the paper redrawn, and the phase boundary."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from odesys import Progress, available_cores, final_folder, iterate, new_figure, save_figure, silent

from ..compare import orbit_start, quotient
from ..dynamics import orbit_names
from ..protocol import attention, columns_of
from ..setting import Case
from ..special import mean_field, span_network
from .heat_map import Theory, Trained, heat_map

# Fig. 1: the start is the Gaussian of the standard deviation of PyTorch's default divided by 16; |w_O|^2 = 1/3
FIGURE_1 = Case(
    N=20, M=16, d=1024, d_h=512, mu=30.0, noise=0.04 * 1024, C_p=20.0, w2=1 / 3, kappa=512 / (256 * 3 * 1024)
)
EPS = 0.01
CURVE = 1000.0  # the paper's hand-placed curve N SNR^2
GRID = 20


def heat_cases(sizes: Sequence[int] = tuple(range(2, 41, 2)), count: int = GRID) -> tuple[np.ndarray, list[list[Case]]]:
    """SNR from 0.16 to 15.6 in equal steps, as in figure 1, and the case of every N and SNR."""
    snrs = np.linspace(0.16, 15.6, count)
    root = math.sqrt(FIGURE_1.noise)
    return snrs, [[replace(FIGURE_1, N=N, mu=float(s) * root) for s in snrs] for N in sizes]


def _cells(folder: Path, name: str) -> Path:
    """Finished cells of a heat map are kept beside the figure, so that an interrupted drawing goes on."""
    return final_folder(folder) / f"{name}-cells"


def _show_heat(ax: Any, fig: Any, sizes: Sequence[int], snrs: np.ndarray, losses: np.ndarray, cut: bool) -> None:
    """One heat map with the paper's curve and the level of the mean field."""
    width, step = (snrs[1] - snrs[0]) / 2, (sizes[1] - sizes[0]) / 2
    edges = np.append(snrs - width, snrs[-1] + width)
    rows = np.append(np.array(sizes) - step, sizes[-1] + step)
    values = (losses > mean_field.LEVEL).astype(float) if cut else losses
    image = ax.pcolormesh(edges, rows, values, cmap="Greys" if cut else "viridis", vmin=0, vmax=2 if cut else 0.7)
    marks = list(sizes)[:: max(1, len(sizes) // 10)]
    ax.plot(
        [_level(N) for N in marks],
        marks,
        "o",
        color="C1" if cut else "w",
        markersize=4,
        label="mean field: test loss 0.2",
    )
    n = np.linspace(max(1, rows[0]), rows[-1], 200)
    ax.plot(np.sqrt(CURVE / n), n, "r-", label=r"$N\,\mathrm{SNR}^2 = 1000$")
    ax.set(xlim=(0, edges[-1]), ylim=(rows[0], rows[-1]), xlabel="SNR", ylabel="$N$", yticks=marks)
    ax.grid(False)
    if not cut:
        fig.colorbar(image, ax=ax)
    ax.legend(loc="lower left", fontsize=8, facecolor="0.85", framealpha=0.9)


@cache
def _level(N: int) -> float:
    """SNR at which the mean-field test loss of figure 1 is 0.2; d, which does not enter, has room for the tokens."""
    case = replace(FIGURE_1, N=N, d=max(FIGURE_1.d, FIGURE_1.M * N))
    return math.sqrt(2 * FIGURE_1.C_p**2 * mean_field.boundary(case, EPS) / N)


FINITE_SIZES, FINITE_COUNT, FINITE_RATE = tuple(range(2, 21, 4)), 12, 40.0
QUICK_SIZES, QUICK_SNRS = (3, 6, 9), (4.02, 7.88, 11.74, 15.6)
THEORY_SIZES, THEORY_COUNT = tuple(range(3, 10)), 40


def figure_1(folder: Path, progress: Progress = silent) -> list[Path]:
    """Networks of the paper's size on few cells, on the mean field: colours are theory, circles are networks."""
    snrs, cases = heat_cases(THEORY_SIZES, THEORY_COUNT)
    workers, store = min(2, available_cores()), _cells(folder, "1")
    theory = heat_map(cases, Theory(EPS), progress, workers, store)
    root = math.sqrt(FIGURE_1.noise)
    trained = [[replace(FIGURE_1, N=N, mu=s * root) for s in QUICK_SNRS] for N in QUICK_SIZES]
    nets = heat_map(trained, Trained(EPS, FINITE_RATE, tests=200), progress, workers, store)
    fig, axes = new_figure(1, 2, (12, 4.6))
    _show_quick(axes[0], fig, snrs, theory, nets)
    for k, (N, dots) in enumerate(zip(QUICK_SIZES, nets, strict=True)):
        axes[1].plot(N * snrs**2, theory[THEORY_SIZES.index(N)], color=f"C{k}", label=f"$N = {N}$")
        axes[1].plot(N * np.array(QUICK_SNRS) ** 2, dots, "o", color=f"C{k}")
    axes[1].axvline(CURVE, color="r", linewidth=0.9)
    axes[1].axhline(mean_field.LEVEL, color="0.5", linewidth=0.8)
    axes[1].set(xscale="log", xlabel=r"$N\,\mathrm{SNR}^2$", ylabel="test loss", ylim=(0, 0.8))
    axes[1].set_title("lines: mean field, dots: networks")
    axes[1].legend(fontsize=8)
    return _finished(save_figure(fig, folder, "1"), folder, "1")


def _show_quick(ax: Any, fig: Any, snrs: np.ndarray, theory: np.ndarray, nets: np.ndarray) -> None:
    """Theory as a map over SNR and N, networks as circles of the same colours, and the paper's curve."""
    look = {"cmap": "viridis", "vmin": 0, "vmax": 0.7}
    image = ax.pcolormesh(snrs, THEORY_SIZES, theory, shading="nearest", **look)
    level = [np.interp(-mean_field.LEVEL, -row, snrs, right=np.nan) for row in theory]  # losses fall with the SNR
    ax.plot(level, THEORY_SIZES, "w-", linewidth=2)
    x, y = np.meshgrid(QUICK_SNRS, QUICK_SIZES)
    ax.scatter(x.ravel(), y.ravel(), c=nets.ravel(), s=110, edgecolors="k", **look, zorder=3)
    n = np.linspace(THEORY_SIZES[0] - 0.5, THEORY_SIZES[-1] + 0.5, 200)
    ax.plot(np.sqrt(CURVE / n), n, "r-", label=r"$N\,\mathrm{SNR}^2 = 1000$")
    ax.set(xlim=(0, 16), ylim=(n[0], n[-1]), xlabel="SNR", ylabel="$N$", yticks=THEORY_SIZES)
    ax.set_title("test loss at training loss 0.01; circles: networks; white: 0.2")
    ax.grid(False)
    ax.legend(loc=(0.02, 0.68), fontsize=8)
    fig.colorbar(image, ax=ax)


def figure_1theory(folder: Path, progress: Progress = silent) -> list[Path]:
    """Mean-field heat map of the test loss at training loss 0.01, and the same cut at 0.2."""
    sizes = tuple(range(2, 41, 2))
    snrs, cases = heat_cases(sizes)
    losses = heat_map(cases, Theory(EPS), progress, min(2, available_cores()), _cells(folder, "1theory"))
    fig, axes = new_figure(1, 2, (12, 4.6))
    for ax, cut in zip(axes, (False, True), strict=True):
        _show_heat(ax, fig, sizes, snrs, losses, cut)
    axes[0].set_title("mean field: test loss at training loss 0.01")
    axes[1].set_title("above (grey) and below 0.2")
    return _finished(save_figure(fig, folder, "1theory"), folder, "1theory")


def _finished(files: list[Path], folder: Path, name: str) -> list[Path]:
    shutil.rmtree(_cells(folder, name), ignore_errors=True)
    return files


def figure_1finite(folder: Path, progress: Progress = silent) -> list[Path]:
    """The heat map by networks of the paper's size (d = 1024, d_h = 512), and every cell against the mean field."""
    snrs, cases = heat_cases(FINITE_SIZES, FINITE_COUNT)
    workers, store = min(2, available_cores()), _cells(folder, "1finite")
    theory = heat_map(cases, Theory(EPS), silent, workers, store)
    nets = heat_map(cases, Trained(EPS, FINITE_RATE), progress, workers, store)
    fig, axes = new_figure(1, 3, (17, 4.6))
    for ax, cut in zip(axes, (False, True), strict=False):
        _show_heat(ax, fig, FINITE_SIZES, snrs, nets, cut)
    axes[0].set_title("networks: test loss at training loss 0.01")
    axes[1].set_title("above (grey) and below 0.2")
    product = np.array(FINITE_SIZES)[:, None] * snrs[None, :] ** 2
    for values, style, label in ((theory, "x", "mean field"), (nets, "o", "networks, one seed each")):
        points = axes[2].scatter(
            product.ravel(),
            values.ravel(),
            c=np.repeat(FINITE_SIZES, FINITE_COUNT),
            marker=style,
            s=22,
            cmap="plasma",
            label=label,
        )
    fig.colorbar(points, ax=axes[2], label="$N$")
    axes[2].axvline(CURVE, color="r", linewidth=0.9)
    axes[2].axhline(mean_field.LEVEL, color="0.5", linewidth=0.8)
    axes[2].set(
        xscale="log",
        xlabel=r"$N\,\mathrm{SNR}^2$",
        ylabel="test loss",
        xlim=(5, 6000),
        ylim=(0, 0.8),
        title="every cell over $N\\,$SNR$^2$",
    )
    axes[2].legend(fontsize=8)
    return _finished(save_figure(fig, folder, "1finite"), folder, "1finite")


def figure_boundary(folder: Path, progress: Progress = silent) -> list[Path]:
    """The level 0.2 over N at three mobilities, and the test loss over the balance r."""
    fig, axes = new_figure(1, 2, (12, 4.4))
    sizes = (2, 4, 8, 20, 40, 80)
    base = Case(N=8, M=3, d=2000, d_h=500, mu=10.0, noise=1.0, C_p=4.0)
    for k, strength in enumerate((0.01, 1.0, 10.0, 100.0)):
        level = [mean_field.boundary(replace(base, N=N, kappa=strength / base.m_2), EPS) for N in sizes]
        axes[0].plot(sizes, level, "o-", label=rf"$M = 3$, $\kappa m_2 = {strength:g}$")
        balances = np.geomspace(0.1, 20, 25)
        losses = [
            mean_field.test_loss(replace(mean_field.with_balance(base, float(r)), kappa=strength / base.m_2), EPS)
            for r in balances
        ]
        axes[1].plot(balances, losses, label=rf"$\kappa m_2 = {strength:g}$")
        progress("boundary", (k + 1) / 4)
    theta = math.log(math.expm1(mean_field.LEVEL)) / math.log(math.expm1(EPS))
    lazy = theta / (1 - theta) * (1 + (base.M - 2) / base.C_p**2)
    axes[0].axhline(lazy, color="0.4", linestyle="--", label="$M = 3$, uniform attention, closed form")
    drift = [_level(N) ** 2 * N / (2 * FIGURE_1.C_p**2) for N in sizes]
    strength = FIGURE_1.kappa * FIGURE_1.m_2
    axes[0].plot(sizes, drift, "ks-", markersize=4, label=rf"figure 1: $M = 16$, $\kappa m_2 = {strength:.3g}$")
    axes[0].plot(
        sizes,
        [CURVE / (2 * FIGURE_1.C_p**2)] * len(sizes),
        "r-",
        linewidth=0.9,
        label=r"figure 1: $N\,\mathrm{SNR}^2 = 1000$",
    )
    axes[0].set(
        xscale="log",
        xlabel="$N$",
        ylim=(0, 2.1),
        ylabel=r"$r^* = N\,\mathrm{SNR}^2/(2C_p^2)$ at test loss 0.2",
        title="$N\\,$SNR$^2$ = const is nearly right: the boundary drifts with $N$",
    )
    axes[1].axhline(mean_field.LEVEL, color="0.6", linewidth=0.8)
    axes[1].set(
        xscale="log",
        xlabel=r"balance $r = N\mu^2/(2\tilde\sigma_p^2d)$",
        ylabel="test loss at training loss 0.01",
        title="$N = 8$: mobile attention makes it sharp",
    )
    axes[0].set_xticks(sizes, [str(N) for N in sizes])
    axes[0].minorticks_off()
    for ax in axes:
        ax.legend(fontsize=8)
    return save_figure(fig, folder, "boundary")


_KAPPA = 1024 / (256 * 3 * 2048)  # d_h times the variance of the default start divided by 16^2
APPENDIX_A = {
    "3": Case(N=16, M=4, d=2048, d_h=1024, mu=25.0, noise=0.05**2 * 2048, C_p=20.0, w2=1 / 3, kappa=_KAPPA),
    "4": Case(N=10, M=4, d=2048, d_h=1024, mu=15.0, noise=0.05**2 * 2048, C_p=20.0, w2=1 / 3, kappa=_KAPPA),
}
APPENDIX_ETA = 2e-3


@cache
def appendix_run(key: str, seed: int = 0) -> span_network.Descent:
    """Gradient descent of figure 3 or 4 to the training loss 0.01."""
    return span_network.descend(span_network.draw(APPENDIX_A[key], seed), APPENDIX_ETA, EPS, 6000, record=10)


def limit_columns(case: Case, eta: float, steps: int, every: int = 10) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Step numbers, and values and scores within a sample by type, of the exact infinite-width recursion."""
    reduced = quotient(case.N, case.M)
    known = {**case.mean_field, "eta": eta}
    run = iterate(
        reduced.system,
        orbit_start(reduced, case),
        steps,
        {n: known[n] for n in reduced.system.parameters},
        record_every=every,
        backend="block",
    )
    names, _, tie = orbit_names(reduced, case.N, case.M)
    kept = {new: run.state(old) for old, new in names.items()}
    same, other = next(((run.state(b), run.state(a)) for a, b in tie.items() if names[b] == "S_ww"), (None, None))
    if same is not None and other is not None:  # a weak row sees itself once and M - 3 other weak tokens
        kept["S_ww"] = np.log((np.exp(same) + (case.M - 3) * np.exp(other)) / (case.M - 2))
    return run.times, kept


def figure_3(folder: Path, progress: Progress = silent) -> list[Path]:
    """The benign run of appendix A."""
    return _appendix("3", "benign: $N = 16$, $\\mu = 25$", folder)


def figure_4(folder: Path, progress: Progress = silent) -> list[Path]:
    """The harmful run of appendix A."""
    return _appendix("4", "harmful: $N = 10$, $\\mu = 15$", folder)


def _appendix(key: str, title: str, folder: Path) -> list[Path]:
    case, run = APPENDIX_A[key], appendix_run(key)
    flow = mean_field.run_case(case, EPS, frozen=False)
    times = np.linspace(0, flow.end_time, 300)
    reduced = columns_of(flow, times)
    steps, theory = limit_columns(case, APPENDIX_ETA, run.steps)
    fig, axes = new_figure(1, 4, (17, 3.9))
    panels: list[tuple[Any, dict[str, str], str]] = [
        (axes[0], {"S_ss": r"signal for $\mu$", "S_2s": r"$\xi_2$ for $\mu$"}, r"scores $x_l^\top W_QW_K^\top\mu$"),
        (
            axes[1],
            {"S_s2": r"signal for $\xi_2$", "S_22": r"$\xi_2$ for $\xi_2$"},
            r"scores $x_l^\top W_QW_K^\top\xi_2$",
        ),
        (axes[2], {}, "attention of the signal row and of the $\\xi_2$ row"),
        (axes[3], {"v_s": r"$y\mu^\top W_Vw_O$", "v_2": r"$y\xi_2^\top W_Vw_O$"}, "values"),
    ]
    for ax, names, label in panels:
        for colour, (name, text) in zip(("C0", "C3"), names.items(), strict=False):
            ax.plot(steps, theory[name], "-", color=colour, label=text)
            ax.plot(times / APPENDIX_ETA, reduced[name], ":", color=colour)
            ax.plot(run.times[::4], run.table[name][::4], "o", color=colour, markersize=2.5)
        ax.set(xlabel="iteration", title=label)
    for colour, row, on in (("C0", "s", "s"), ("C3", "s", "2"), ("C1", "2", "s"), ("C2", "2", "2")):
        word = {"s": r"$\mu$", "2": r"$\xi_2$"}
        axes[2].plot(steps, attention(theory, case.M, row, on), color=colour, label=f"{word[row]} on {word[on]}")
        axes[2].plot(run.times[::4], run.table[f"phi_{row}{on}"][::4], "o", color=colour, markersize=2.5)
    for ax in axes:
        ax.legend(fontsize=8)
    fig.suptitle(f"{title}; lines: infinite width, dotted: 18 variables, dots: network ($d = 2048$, $d_h = 1024$)")
    return save_figure(fig, folder, key)


def _label(name: str) -> str:
    """v_s_p as v_s with a plus."""
    letter, index, *mark = name.split("_")
    sign = {"p": "+", "m": "-"}[mark[0]] if mark else ""
    return f"${letter}_{{{index}}}^{{{sign}}}$"


def plot_run(columns: Mapping[str, Any], events: Sequence[Mapping[str, Any]], folder: Path) -> list[Path]:
    """Losses, values and scores of a simulated run, with the ends of the stages."""
    fig, axes = new_figure(1, 3, (15, 4))
    t = columns["t"]
    for name in ("loss", "test_loss"):
        if name in columns:
            axes[0].semilogy(t, columns[name], label=name.replace("_", " "))
    for name in columns:
        if name.startswith("v_"):
            axes[1].plot(t, columns[name], label=_label(name))
        if name.startswith("S_"):
            axes[2].plot(t, columns[name], label=_label(name))
    for ax, label in zip(axes, ("loss", "values", "scores"), strict=True):
        for event in events:
            ax.axvline(event["time"], color="0.6", linewidth=0.8)
        ax.set(xlabel=r"$\tau = \eta t$", ylabel=label)
        ax.legend(fontsize=8)
    return save_figure(fig, folder, "run")
