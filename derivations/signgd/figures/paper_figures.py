"""Figures 1, 18 and 19 and table 2 redrawn, the overlap report; others are in `optimisers` and `power_laws`."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from odesys import Progress, new_figure, save_figure, silent

from ..setting import DISJOINT, Case, published, regime
from ..special import mean_field, network, recursion, shared_supports, stages
from ..special.network import Optimiser, Training
from ..special.recursion import Run
from ..special.training_sets import fresh, make
from . import panels

SETTING, ETA, SEED, LAST = published("a"), 1e-4, 0, 2000
SHOWN = 900  # steps of figure 1
FINE = 100  # steps of the stage I picture for one step of the paper


@cache
def setting_a(kind: str) -> Training:
    """Setting (a) at d = 2000 to 2000 steps by one optimiser, with the test loss."""
    data, weights = make(SETTING, (SEED, 0)), network.gaussian(SETTING, (SEED, 1))
    chosen = {"signgd": Optimiser("signgd", ETA), "adam": Optimiser("adam", ETA), "gd": Optimiser("gd", 0.1)}[kind]
    return network.train(
        data, weights, chosen, LAST, 2 if kind == "signgd" else 20, fresh(SETTING, 500, (SEED, 2)), seed=SEED
    )


@cache
def shown() -> Training:
    """The same by sign descent to the last step that figure 1 shows, without a test loss, which takes longest."""
    data, weights = make(SETTING, (SEED, 0)), network.gaussian(SETTING, (SEED, 1))
    return network.train(data, weights, Optimiser("signgd", ETA), SHOWN, 2, seed=SEED)


@cache
def early() -> Run:
    """The first 10 steps of setting (a), each split into fine ones."""
    data, weights = make(SETTING, (SEED, 0)), network.gaussian(SETTING, (SEED, 1))
    fine = network.train(data, weights, Optimiser("signgd", ETA / FINE), 10 * FINE, 5, seed=SEED).run
    return replace(fine, times=fine.times / FINE, eta=ETA)


@cache
def disjoint_run() -> Run:
    """The recursion with the sizes of setting (a) and disjoint supports."""
    case = replace(SETTING, supports=DISJOINT)
    return recursion.descend(recursion.draw(case, SEED), ETA, 900)


def figure_1(folder: Path, progress: Progress = silent) -> list[Path]:
    """Values, alignment, votes, flips and attention of setting (a), and the loss with its mean field."""
    first, run = early(), shown().run
    progress("networks", 0.8)
    fig, axes = new_figure(2, 3, (16, 8.4))
    ax = axes[0, 0]
    ax.plot(first.times, first.v, color=panels.NOISE, linewidth=0.8)
    ax.plot([], [], color=panels.NOISE, label=r"$v_i$, noise")
    ax.plot(first.times, first.v_mu, "k--", label=r"$v_\mu$, signal")
    ax.axhline(0, color="0.6", linewidth=0.8)
    ax.set(xlabel="iteration", ylabel="inner product", title="(a) mean values: stage I")
    ax.legend(fontsize=8)
    _key_classes(axes[0, 1], first)
    panels.noise_panel(axes[0, 2], run, 0, 40, "(c) neuron 0 to step 40: stages II and III", reference=112)
    panels.noise_panel(axes[1, 0], run, 0, 900, "(d) neuron 0 to step 900: stage IV", signals=False, reference=112)
    low, high = axes[1, 0].get_ylim()
    axes[1, 0].set_ylim(low - 0.15 * (high - low), high)  # room for the words below the curves
    found = stages.stages(run)
    for name, text, height in (("key_flip", "key flip", 0.09), ("query_flip", "query flip", 0.02)):
        time = getattr(found.flips, name)
        axes[1, 0].axvline(time, color="0.5", linewidth=0.8)
        axes[1, 0].text(time + 6, height, f"{text} {time:.0f}", fontsize=8, transform=axes[1, 0].get_xaxis_transform())
    panels.attention_panel(axes[1, 1], run, 900, "(e) attention on the signal patch")
    _loss_with_theory(axes[1, 2], run)
    shared = shown().data.shared.mean()
    fig.suptitle(
        f"setting (a): $d = 2000$, $n = 20$, $s = 80$, $m_k = 100$, seed {SEED}; "
        f"{100 * shared:.0f} % of a support is shared"
    )
    return save_figure(fig, folder, "1")


def _key_classes(ax: Any, run: Run) -> None:
    """Key noise of the neuron with the most even classes, coloured by the signs at the start."""
    signs = np.sign(run.q[0]), np.sign(run.k[0])
    mixed = (signs[0] * signs[1] < 0).sum(axis=1)
    neuron = int(np.abs(mixed - run.q.shape[2] / 2).argmin())
    names = {
        (1, 1): ("C0", "$k > 0, q > 0$"),
        (1, -1): ("C1", "$k > 0, q < 0$"),
        (-1, 1): ("C2", "$k < 0, q > 0$"),
        (-1, -1): ("C3", "$k < 0, q < 0$"),
    }
    for i in range(run.k.shape[2]):
        ax.plot(
            run.times,
            run.k[:, neuron, i],
            color=names[int(signs[1][neuron, i]), int(signs[0][neuron, i])][0],
            linewidth=0.9,
        )
    for colour, label in names.values():
        ax.plot([], [], color=colour, label=label)
    ax.axhline(0, color="0.6", linewidth=0.8)
    ax.set(xlabel="iteration", ylabel="inner product", title=f"(b) key noise of neuron {neuron}: stage II")
    ax.legend(fontsize=7, title="at the start", title_fontsize=7)


def _loss_with_theory(ax: Any, run: Run) -> None:
    other = disjoint_run()
    unit = stages.flip_unit(other.start, ETA)
    keep = other.times <= 900
    samples = stages.mean_field_samples(other, stages.REFERENCE * unit)
    ax.semilogy(run.times[run.times <= 900], run.loss[run.times <= 900], color="C0", label="network, shared supports")
    ax.semilogy(other.times[keep], other.loss[keep], color="C3", label="recursion, disjoint supports")
    ax.semilogy(other.times[keep], mean_field.loss(samples, other.times[keep]), "k--", label="mean field of the latter")
    ax.set(xlabel="iteration", ylabel="loss", title="(f) training loss")
    ax.legend(fontsize=8)


def figure_18(folder: Path, progress: Progress = silent) -> list[Path]:
    """Setting (a) on [0, 2000]: values, queries and keys, attention, and losses of the three optimisers."""
    runs = []
    for k, kind in enumerate(("signgd", "adam", "gd")):
        runs.append(setting_a(kind))
        progress("networks", (k + 1) / 3)
    run = runs[0].run
    fig, axes = new_figure(2, 3, (16, 8.2))
    ax = axes[0, 0]
    ax.plot(run.times, run.v, color=panels.NOISE, linewidth=0.8)
    ax.plot([], [], color=panels.NOISE, label=r"$v_i$")
    ax.plot(run.times, run.v_mu, "k--", label=r"$v_\mu$")
    ax.plot(
        run.times,
        2 * ETA * run.times * run.start.l1.mean(),
        color="0.5",
        linestyle=":",
        label=r"$2\eta t\|\xi\|_1$ (disjoint)",
    )
    ax.set(xlabel="iteration", title="values")
    ax.legend(fontsize=8)
    panels.noise_panel(axes[0, 1], run, 0, LAST, "query and key noise of neuron 0", reference=112)
    panels.attention_panel(axes[0, 2], run, LAST, "attention, SignGD")
    panels.attention_panel(axes[1, 0], runs[1].run, LAST, f"attention, {runs[1].optimiser.label}")
    panels.attention_panel(axes[1, 1], runs[2].run, LAST, r"attention, GD ($\eta = 0.1$)")
    panels.loss_panel(axes[1, 2], runs, "losses: full training, dotted test")
    fig.suptitle(f"setting (a) to step 2000, seed {SEED}")
    return save_figure(fig, folder, "18")


def figure_19(folder: Path, progress: Progress = silent) -> list[Path]:
    """Time line of stages I to IV in regime R1, formal times of the paper against measured events."""
    case = regime("R1")
    start = recursion.draw(case, SEED)
    run = recursion.geometric(start, 30 * case.flip_time(), records=2500, progress=progress)
    found = stages.stages(run)
    formal = found.formal.as_dict()
    fig, ax = new_figure(1, 1, (13, 5.2))
    bounds = [1e-15, formal["T1"], formal["T2"], formal["T3"], found.events["T4"], 30 * case.flip_time()]
    names = ("I: values", "II: signs align", "III: votes", "IV: flips", "all aligned")
    for k, (low, high) in enumerate(pairwise(bounds)):
        ax.axvspan(low, high, color=f"C{k}", alpha=0.13, linewidth=0)
        ax.text(math.sqrt(low * high), 1.03, names[k], ha="center", fontsize=9, transform=ax.get_xaxis_transform())
    measured = {
        **found.events,
        **{n: getattr(found.flips, n) for n in ("key_flip", "query_flip", "key_zero", "query_zero")},
    }
    texts = {
        "T1": r"all $v_i > v_\mu$",
        "T2_sgn": "99 % of pairs aligned",
        "T2": "sums beat signals",
        "T3": "signals opposite",
        "T4_minus": r"$T_4^-$: (29), (30) end",
        "T4_plus": r"$T_4^+$: (42) holds",
        "T4": "absorbing cone",
        "key_flip": "keys turn",
        "query_flip": "queries turn",
        "key_zero": "keys cross 0",
        "query_zero": "queries cross 0",
    }
    rows = sorted((t, n) for n, t in measured.items() if math.isfinite(t))
    for k, (time, name) in enumerate(rows):
        ax.plot(time, len(rows) - k, "o", color="k", markersize=5)
        ax.text(time * 1.25, len(rows) - k, f"{texts[name]}  ({time:.2g})", va="center", fontsize=8)
    for name, label in (("T1", "$T_1$"), ("T2_sgn", "$T_2^{SGN}$"), ("T2", "$T_2$"), ("T3", "$T_3$"), ("T4", "$T_4$")):
        ax.plot(formal[name], -0.2, "^", color="C3", markersize=7)
        ax.text(formal[name], -1.0, label, ha="center", fontsize=9, color="C3")
    ax.plot([], [], "o", color="k", label="measured events")
    ax.plot([], [], "^", color="C3", label="formal times of the paper ($C_3 = 2$)")
    ax.set(xscale="log", xlim=(1e-15, 3e-5), ylim=(-1.6, len(rows) + 0.8), xlabel=r"$\theta = \eta t$", yticks=[])
    ax.legend(loc="upper right", fontsize=8)
    return save_figure(fig, folder, "19")


def figure_alignment(folder: Path, progress: Progress = silent) -> list[Path]:
    """Table 2 as a picture: with the paper's step, and with a hundredth of it, where two-step cycles are rare."""
    run = shown().run
    names = ["$++$", "$+-$", "$-+$", "$--$"]
    fig, axes = new_figure(1, 2, (10.5, 4.6))
    tables = (
        (stages.contingency(run, 10), r"$\eta = 10^{-4}$, step 10"),
        (stages.contingency(early(), 10), rf"$\eta = 10^{{-4}}/{FINE}$, the same $\eta t$"),
    )
    for ax, (table, title) in zip(axes, tables, strict=True):
        ax.imshow(table, cmap="Blues", vmin=0, vmax=550)
        for i in range(4):
            for j in range(4):
                ax.text(j, i, str(table[i, j]), ha="center", va="center", color="w" if table[i, j] > 300 else "k")
        good = (table[:, 0].sum() + table[:, 3].sum()) / table.sum()
        ax.set(
            xticks=range(4),
            yticks=range(4),
            xticklabels=names,
            yticklabels=names,
            xlabel="signs (key, query) then",
            ylabel="signs at the start",
            title=f"{title}: {100 * good:.1f} % aligned",
        )
        ax.grid(False)
    return save_figure(fig, folder, "alignment")


def figure_overlap(folder: Path, progress: Progress = silent) -> list[Path]:
    """How far the reduced recursion is from the network as supports become disjoint with growing d."""
    base = Case(n=10, s=40, d=1001, m_k=24, m_v=10, sigma_0=0.1 / math.sqrt(1000), supports=1)
    rows = shared_supports.over_dimension(base, (501, 1001, 2001, 4001, 8001, 16001), 3, ETA, progress)
    fig, axes = new_figure(1, 2, (11, 4.2))
    shared = np.array([row["shared"] for row in rows])
    axes[0].plot(shared, [row["speed"] for row in rows], "o", markersize=4)
    axes[0].set(xlabel="part of a support that is shared", ylabel=r"speed of query noise over $\eta\|\xi\|_1$")
    for name, label in (("noise", r"rms of $q, k$ at $T_f$"), ("turned", "pairs with another sign")):
        axes[1].plot(shared, [row[name] for row in rows], "o", markersize=4, label=label)
    axes[1].set(xlabel="part of a support that is shared", ylabel="network against recursion, relative")
    axes[1].legend(fontsize=8)
    fig.suptitle("overlapping supports: $n = 10$, $s = 40$, $m_k = 24$, $d$ from 501 to 16001, 3 seeds each")
    return save_figure(fig, folder, "overlap")
