"""Figures 2 to 13, 16 and 17: sign descent, Adam and gradient descent side by side, in sizes for one processor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from odesys import Images, Progress, new_figure, save_figure, silent

from ..setting import Case, published
from ..special import network, recursion, stages
from ..special.image_runs import LEVELS, Losses, load_images, train_on
from ..special.image_runs import optimisers as noisy_optimisers
from ..special.network import Optimiser, Training, Weights
from ..special.recursion import Run, State
from ..special.training_sets import fresh, make
from . import panels

ETA, SEED, STEPS = 1e-4, 0, 2000
SIGN = Optimiser("signgd", ETA)
COLOURS, STYLES = ("C0", "C4", "C5", "C1", "C2"), ("-", "--", "-.", "--", "-")  # SignGD, three of Adam, GD


@cache
def trained(letter: str, optimiser: Optimiser, d: int = 1000, steps: int = STEPS, seed: int = SEED) -> Training:
    """A published setting at dimension d; data (seed, 0), weights (seed, 1), 500 fresh samples (seed, 2)."""
    case = published(letter, d)
    data, weights = make(case, (seed, 0)), network.gaussian(case, (seed, 1))
    return network.train(data, weights, optimiser, steps, 5, fresh(case, 500, (seed, 2)), _sizes, seed=seed)


def _sizes(weights: Weights, gradient: Weights, changes: list[np.ndarray]) -> Mapping[str, float]:
    """Mean size of query gradients (sign descent: of scaled ones) and of query updates."""
    return {"gradient": float(np.abs(gradient.W_Q).mean()), "update": float(np.abs(changes[0]).mean())}


def three(beta2: float = 0.99, eta_gd: float = 0.1) -> tuple[Optimiser, Optimiser, Optimiser]:
    """SignGD, Adam(0.9, beta2) and GD."""
    return SIGN, Optimiser("adam", ETA, 0.9, beta2), Optimiser("gd", eta_gd)


def _reference(run: Any) -> float:
    return stages.REFERENCE * stages.flip_unit(run.start, ETA)


def figure_2(folder: Path, progress: Progress = silent, data: Path | None = None) -> list[Path]:
    """Noise products of SignGD and Adam, training losses with one step size, test loss over the level of noise.

    The last panel is on images of the user's own (as the digits of the paper), or else on synthetic data.
    """
    images = None if data is None else load_images(data)
    sign, adam = trained("a", SIGN), trained("a", Optimiser("adam", ETA))
    fig, axes = new_figure(2, 2, (12, 8.4))
    for ax, run, text in ((axes[0, 0], sign, "(a)"), (axes[0, 1], adam, "(b)")):
        panels.noise_panel(
            ax,
            run.run,
            0,
            STEPS,
            f"{text} {run.optimiser.label}: neuron 0",
            signals=False,
            reference=_reference(run.run),
        )
    chosen = [SIGN, *(Optimiser("adam", ETA, beta1) for beta1 in (0.0, 0.5, 0.9)), Optimiser("gd", ETA)]
    panels.loss_panel(
        axes[1, 0],
        [trained("a", o) for o in chosen],
        r"(c) training loss, all with $\eta = 10^{-4}$",
        COLOURS,
        test=False,
        styles=STYLES,
    )
    progress("networks", 0.6)
    if images is None:
        _signal_sweep(axes[1, 1])
        last = "$d = 400$, seeds 0 to 2"
    else:
        _noise_sweep(axes[1, 1], images, progress)
        last = f"$d = 49$, $m_k = 10$, seed {SEED}"
    fig.suptitle(f"setting (a), $d = 1000$, $n = 10$, $s = 40$, $m_k = 50$, seed {SEED}; (d): {last}")
    return save_figure(fig, folder, "2")


def _noise_sweep(ax: Any, images: Images, progress: Progress) -> None:
    """Test losses on images over the scaled SNR lambda, with the largest training loss in the title."""
    found: dict[str, list[Losses]] = {}
    for k, level in enumerate(LEVELS, 1):
        for optimiser in noisy_optimisers(level):
            found.setdefault(optimiser.kind, []).append(train_on(images, level, optimiser))
        progress("images", 0.6 + 0.4 * k / len(LEVELS))
    labels = {"signgd": "SignGD", "adam": "Adam(0.9, 0.999)", "gd": "GD"}
    for name, rows in found.items():
        ax.plot(LEVELS, [row.test for row in rows], "o-", color=panels.COLOURS[name], label=labels[name])
    worst = max(row.train for rows in found.values() for row in rows)
    title = f"(d) test loss on {images.title}; training loss at most {worst:.2g}"
    ax.set(xlabel=r"scaled SNR $\lambda$", ylabel="test loss", title=title)
    ax.legend(fontsize=8)


SIGNALS = (0.5, 1.0, 2.0, 4.0)


@cache
def signal_rows(seeds: int = 3) -> dict[str, list[list[float]]]:
    """Test losses over the length of the signal, one list per length, one number per seed; for each optimiser."""
    rows: dict[str, list[list[float]]] = {"signgd": [], "adam": [], "gd": []}
    for mu in SIGNALS:
        case = replace(published("a", 400), mu=mu)
        found: dict[str, list[float]] = {name: [] for name in rows}
        for seed in range(seeds):
            data, weights = make(case, (seed, 0)), network.gaussian(case, (seed, 1))
            for optimiser in three(0.999):
                run = network.train(data, weights, optimiser, 2500, 2500, seed=seed)
                found[optimiser.kind].append(network.test(run, 500, (seed, 2)).loss)
        for name in rows:
            rows[name].append(found[name])
    return rows


def _signal_sweep(ax: Any) -> None:
    labels = {"signgd": "SignGD", "adam": "Adam(0.9, 0.999)", "gd": r"GD ($\eta = 0.1$)"}
    for name, values in signal_rows().items():
        ax.plot(SIGNALS, [np.mean(v) for v in values], "o-", color=panels.COLOURS[name], label=labels[name])
        for mu, seeds in zip(SIGNALS, values, strict=True):
            ax.plot([mu] * len(seeds), seeds, ".", color=panels.COLOURS[name], markersize=4)
    ax.axhline(np.log(2), color="0.6", linewidth=0.8)
    ax.set(
        xscale="log",
        xlabel=r"length $\|\mu\|$ of the signal ($\|\xi\|_2 \approx 2$)",
        ylabel="test loss",
        title="(d) test loss, synthetic data in the place of digits",
    )
    ax.set_xticks(SIGNALS, [f"{mu:g}" for mu in SIGNALS])
    ax.minorticks_off()
    ax.legend(fontsize=8)


def _setting(letter: str, number: str, folder: Path) -> list[Path]:
    """Key noise and values to step 2, attention and noise of neuron 0 to step 900, in one setting of table 3."""
    run, fine = trained(letter, SIGN).run, trained(letter, Optimiser("signgd", ETA / 100), steps=200).run
    fig, axes = new_figure(1, 4, (20, 4.4))
    t = fine.times / 100
    for ax, values, title in (
        (axes[0], fine.k[:, 0], "(a) key noise of neuron 0"),
        (axes[1], fine.v, "(b) mean values"),
    ):
        ax.plot(t, values, color=panels.KEY if ax is axes[0] else panels.NOISE, linewidth=0.8)
        ax.axhline(0, color="0.6", linewidth=0.8)
        ax.set(xlabel=r"iteration, by steps of $\eta/100$", ylabel="inner product", title=title)
    axes[1].plot([], [], color=panels.NOISE, label=r"$v_i$, noise")
    axes[1].plot(t, fine.v_mu, "k--", label=r"$v_\mu$, signal")
    axes[1].legend(fontsize=8)
    panels.attention_panel(axes[2], run, 900, "(c) attention on the signal patch")
    panels.noise_panel(axes[3], run, 0, 900, "(d) query and key noise of neuron 0", reference=_reference(run))
    fig.suptitle(f"setting ({letter}), $d = 1000$, SignGD, seed {SEED}")
    return save_figure(fig, folder, number)


def figure_3(folder: Path, progress: Progress = silent) -> list[Path]:
    """Setting (a): sparse, orthogonal."""
    return _setting("a", "3", folder)


def figure_4(folder: Path, progress: Progress = silent) -> list[Path]:
    """Setting (b): sparse, noise on the signal coordinate too."""
    return _setting("b", "4", folder)


def figure_5(folder: Path, progress: Progress = silent) -> list[Path]:
    """Setting (c): not sparse, orthogonal."""
    return _setting("c", "5", folder)


def figure_6(folder: Path, progress: Progress = silent) -> list[Path]:
    """Setting (d): not sparse, noise on the signal coordinate too."""
    return _setting("d", "6", folder)


def figure_7(folder: Path, progress: Progress = silent) -> list[Path]:
    """Query and key noise in setting (d), three optimisers."""
    fig, axes = new_figure(1, 3, (16, 4.4))
    for ax, optimiser in zip(axes, three(), strict=True):
        run = trained("d", optimiser).run
        panels.noise_panel(ax, run, 0, STEPS, f"{optimiser.label}: neuron 0", signals=False, reference=_reference(run))
    fig.suptitle(f"setting (d), $d = 1000$: dense noise, the signal coordinate too; seed {SEED}")
    return save_figure(fig, folder, "7")


def figure_8(folder: Path, progress: Progress = silent) -> list[Path]:
    """Attention in setting (d), three optimisers."""
    fig, axes = new_figure(1, 3, (16, 4.4))
    for ax, optimiser in zip(axes, three(), strict=True):
        panels.attention_panel(ax, trained("d", optimiser).run, STEPS, optimiser.label)
    fig.suptitle(f"setting (d), $d = 1000$: attention on the signal patch, seed {SEED}")
    return save_figure(fig, folder, "8")


def figure_9(folder: Path, progress: Progress = silent) -> list[Path]:
    """Training and test losses in setting (d)."""
    chosen = [SIGN, *(Optimiser("adam", ETA, beta1, 0.99) for beta1 in (0.0, 0.5, 0.9)), Optimiser("gd", 0.1)]
    fig, ax = new_figure(1, 1, (8, 5))
    panels.loss_panel(
        ax, [trained("d", o) for o in chosen], f"setting (d), $d = 1000$, seed {SEED}", COLOURS, styles=STYLES
    )
    return save_figure(fig, folder, "9")


# ---- ten patches -----------------------------------------------------------------------------------------------------

PATCHES, LONG = 10, 1600


@cache
def many_patches(optimiser: Optimiser, d: int = 600, seed: int = SEED) -> Training:
    """Setting (d) with five signal and five independent noise patches; keeps attention and the products of neuron 0."""
    case: Case = published("d", d)
    data, weights = make(case, (seed, 0), PATCHES), network.gaussian(case, (seed, 1))
    x = np.ascontiguousarray(data.x[:, :, data.active])

    def watch(here: Weights, gradient: Weights, changes: list[np.ndarray]) -> Mapping[str, Any]:
        found = network.forward(here, x)
        return {"attention": found.attention, "queries": found.queries[:, :, 0], "keys": found.keys[:, :, 0]}

    return network.train(data, weights, optimiser, LONG, 16, fresh(case, 300, (seed, 2), PATCHES), watch, seed=seed)


def ten() -> Sequence[Optimiser]:
    """SignGD, Adam(0.9, 0.99) and GD with step 1."""
    return three(0.99, 1.0)


def winners(run: Training) -> np.ndarray:
    """For every sample the patch that the first row attends to most at the end."""
    return np.asarray(run.extra["attention"][-1][:, 0, :].argmax(axis=1))


def figure_10(folder: Path, progress: Progress = silent) -> list[Path]:
    """Query and key products of neuron 0 with the winning patch of each sample, and its query signal."""
    fig, axes = new_figure(1, 3, (16, 4.4))
    for ax, optimiser in zip(axes, ten(), strict=True):
        run = many_patches(optimiser)
        best = winners(run)
        y = run.data.y
        for i, a in enumerate(best):
            ax.plot(run.run.times, y[i] * run.extra["queries"][:, i, a], color=panels.QUERY, linewidth=0.9)
            ax.plot(run.run.times, y[i] * run.extra["keys"][:, i, a], color=panels.KEY, linewidth=0.9)
        ax.plot([], [], color=panels.QUERY, label=r"$\langle w_{Q,0}, y_i x_i^{(a_i)}\rangle$")
        ax.plot([], [], color=panels.KEY, label=r"$\langle w_{K,0}, y_i x_i^{(a_i)}\rangle$")
        ax.plot(run.run.times, run.run.q_mu[:, 0], "k--", label=r"$\langle w_{Q,0}, \mu\rangle$")
        ax.set(xlabel="iteration", title=optimiser.label)
        ax.legend(fontsize=8)
    fig.suptitle(f"ten patches, setting (d), $d = 600$: products of neuron 0 with the winning patch, seed {SEED}")
    return save_figure(fig, folder, "10")


def figure_11(folder: Path, progress: Progress = silent) -> list[Path]:
    """Attention of all rows on the patch that wins in its sample, and on all signal patches."""
    fig, axes = new_figure(1, 3, (16, 4.4))
    for ax, optimiser in zip(axes, ten(), strict=True):
        run = many_patches(optimiser)
        best, rows = winners(run), run.extra["attention"]  # (T, n, L, L)
        on = rows[:, np.arange(len(best)), :, best]  # (n, T, L): attention on the winner
        t = run.run.times
        signals = run.data.signals
        for name, part, colour in (
            ("signal rows", slice(0, signals), panels.SIGNAL),
            ("noise rows", slice(signals, None), panels.NOISE),
        ):
            ax.plot(t, on[:, :, part].mean(axis=(0, 2)), color=colour, label=f"{name} on the winner $a_i$")
            ax.plot(
                t,
                rows[:, :, part, :signals].sum(axis=3).mean(axis=(1, 2)),
                "--",
                color=colour,
                label=f"{name} on all signal patches",
            )
        noise = int((best >= signals).sum())
        ax.set(
            xlabel="iteration",
            ylabel="softmax weight",
            ylim=(-0.03, 1.03),
            title=f"{optimiser.label}: winner is noise in {noise} of {len(best)} samples",
        )
    axes[-1].legend(fontsize=8, loc="upper right")  # its curves are flat
    fig.suptitle(f"ten patches (five signal, five noise), setting (d), $d = 600$, seed {SEED}")
    return save_figure(fig, folder, "11")


def figure_12(folder: Path, progress: Progress = silent) -> list[Path]:
    """Losses with ten patches."""
    fig, ax = new_figure(1, 1, (8, 5))
    panels.loss_panel(
        ax, [many_patches(o) for o in ten()], f"ten patches, setting (d), $d = 600$, GD with $\\eta = 1$, seed {SEED}"
    )
    return save_figure(fig, folder, "12")


# ---- four heads ------------------------------------------------------------------------------------------------------

HEADS = 4


@cache
def many_heads(count: int = HEADS, d: int = 400, steps: int = 1000, seed: int = SEED) -> list[Run]:
    """Setting (a) with several heads under SignGD at twice the step: the run of each head, from weights of its own."""
    case: Case = published("a", d)
    data = make(case, (seed, 0))
    heads = [network.gaussian(case, (seed, 1, head)).columns(data.active) for head in range(count)]
    starts = [recursion.project(data, network.gaussian(case, (seed, 1, head))) for head in range(count)]
    x, pinned = np.ascontiguousarray(data.x[:, :, data.active]), data.pinned[:, data.active]
    times, states = list[int](), [list[State]() for _ in heads]
    for number in range(steps + 1):
        if number % 5 == 0:
            times.append(number)
            for head, kept in zip(heads, states, strict=True):
                kept.append(network.projected(head, pinned))
        for head, signs in zip(heads, network.head_signs(heads, x, data.y), strict=True):
            for w, sign in zip(head.all(), signs.all(), strict=True):
                w -= 2 * ETA * sign
    return [recursion.from_states(start, times, kept, 2 * ETA) for start, kept in zip(starts, states, strict=True)]


def figure_13(folder: Path, progress: Progress = silent) -> list[Path]:
    """Four heads: values and noise of the first, attention of each, and of a network with one head."""
    runs, (alone,) = many_heads(), many_heads(1)
    fig, axes = new_figure(2, 4, (20, 8.4))
    axes[0, 0].plot(runs[0].times, runs[0].v, color=panels.NOISE, linewidth=0.8)
    axes[0, 0].plot(runs[0].times, runs[0].v_mu, "k--", label=r"$v_\mu$, signal")
    axes[0, 0].set(xlabel="iteration", title="values of head 1")
    axes[0, 0].legend(fontsize=8)
    unit = stages.REFERENCE * stages.flip_unit(alone.start, alone.eta)
    panels.noise_panel(axes[0, 1], runs[0], 0, 1000, "head 1, neuron 0", signals=False, reference=unit)
    panels.noise_panel(axes[0, 2], alone, 0, 1000, "one head alone, neuron 0", signals=False, reference=unit)
    panels.attention_panel(axes[0, 3], alone, 1000, "one head alone: attention")
    for number, (ax, run) in enumerate(zip(axes[1], runs, strict=True), 1):
        panels.attention_panel(ax, run, 1000, f"attention of head {number}")
    fig.suptitle(f"setting (a) with {HEADS} heads, $d = 400$, SignGD with $\\eta = 2\\cdot10^{{-4}}$, seed {SEED}")
    return save_figure(fig, folder, "13")


# ---- Adam's two decays -----------------------------------------------------------------------------------------------

DECAYS = (0.9, 0.99, 0.999)


def figure_16(folder: Path, progress: Progress = silent) -> list[Path]:
    """Training loss for beta1 in {0, 0.5, 0.9} and three beta2, with SignGD and GD."""
    fig, axes = new_figure(1, 3, (16, 4.6), sharey=True)
    for k, (ax, beta1) in enumerate(zip(axes, (0.0, 0.5, 0.9), strict=True)):
        chosen = [SIGN, *(Optimiser("adam", ETA, beta1, beta2) for beta2 in DECAYS), Optimiser("gd", 0.1)]
        panels.loss_panel(
            ax, [trained("a", o) for o in chosen], rf"$\beta_1 = {beta1:g}$", COLOURS, test=False, styles=STYLES
        )
        progress("networks", (k + 1) / 3)
    fig.suptitle(f"training loss in setting (a), $d = 1000$, seed {SEED}; GD with $\\eta = 0.1$")
    return save_figure(fig, folder, "16")


def figure_17(folder: Path, progress: Progress = silent) -> list[Path]:
    """beta1 = 0: unaligned query noise, mean gradients and mean updates for three beta2, with SignGD and GD."""
    fig, axes = new_figure(1, 3, (16, 4.6))
    chosen = [SIGN, *(Optimiser("adam", ETA, 0.0, beta2) for beta2 in DECAYS), Optimiser("gd", 0.1)]
    for colour, optimiser in zip(COLOURS, chosen, strict=True):
        run = trained("a", optimiser)
        found = stages.flips(run.run, _reference(run.run))
        part = f" ({100 * found.crossed.get('query', 0):.0f} % crossed)" if found.count else ""
        if optimiser.kind != "gd" and found.count:
            axes[0].plot(run.run.times, found.curves["query"], color=colour, label=optimiser.label + part)
        if optimiser.kind != "signgd":
            axes[1].semilogy(run.run.times, run.extra["gradient"], color=colour, label=optimiser.label)
        axes[2].semilogy(run.run.times, np.maximum(run.extra["update"], 1e-14), color=colour, label=optimiser.label)
    axes[0].axhline(0, color="0.6", linewidth=0.8)
    axes[0].set(xlabel="iteration", title="mean query noise of unaligned pairs, vote negative")
    axes[1].set(xlabel="iteration", title="mean size of query gradients")
    axes[2].set(xlabel="iteration", title="mean size of query updates")
    for ax in axes:
        ax.legend(fontsize=8)
    fig.suptitle(rf"$\beta_1 = 0$ in setting (a), $d = 1000$, seed {SEED}; GD with $\eta = 0.1$")
    return save_figure(fig, folder, "17")
