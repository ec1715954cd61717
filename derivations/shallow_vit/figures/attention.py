"""Figures 4 to 8: attention concentration, token sparsification, a spurious pattern, and more patterns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from odesys import Images, Progress, new_figure, run_cells, save_figure, silent, unfinished_cells

from ..setting import Case
from ..special import bounds, class_network, image_tokens, network, observables, sparsify, symmetric_runs
from .sizes import FULL, QUICK, Size, say_size

ATTENTION = Case(L=40, N=8, sigma=0.1, delta=0.2, alpha_s=0.5, alpha_c=0.05, m=100, noise=0.01, eta=0.2)
KINDS = {
    "rel_s": ("C0", "label-relevant queries"),
    "rel_c": ("C1", "confusion queries"),
    "rel_n": ("C2", "nuisance queries"),
    "rel": ("k", "mean over queries"),
}
FRACTIONS = (0.0, 0.1, 0.2, 0.3)
COLOURS = {"random": "C7", "irrelevant": "C0", "noisy": "C3", "attention": "C4"}


def attention_run(case: Case) -> network.Run:
    """A token run with the attention recorded at every step."""
    return network.train(case, observe=lambda net, data, found: observables.of_network(net, data, found, case.M))


def figure_4(folder: Path, progress: Progress = silent) -> list[Path]:
    """Attention on label-relevant tokens of token networks: by type of query, margins 1 and 20, both read-outs."""
    cases = {
        r"$\Gamma = 1$": ATTENTION,
        r"$\Gamma = 20$": replace(ATTENTION, margin=20.0),
        r"$\Gamma = 1$, output weights per position": replace(ATTENTION, readout="per_position"),
    }
    fig, axes = new_figure(1, 3, (16.5, 4.4), sharey=True)
    for k, (title, case) in enumerate(cases.items()):
        run = attention_run(case)
        progress("token networks", (k + 1) / 3)
        for name, (colour, label) in KINDS.items():
            axes[k].plot(run.times, run.table[name], color=colour, label=label, linestyle=_line(name))
        axes[k].axhline(bounds.token_ceiling(case), color="C2", linestyle=":", label=r"$\alpha_*/(\alpha_*+\alpha_\#)$")
        axes[k].set(xlabel="iteration", title=title, ylim=(0.35, 1.0))
    axes[0].set(ylabel="attention on label-relevant tokens")
    axes[0].legend(fontsize=8)
    return save_figure(fig, folder, "4")


def _line(name: str) -> str:
    return "--" if name == "rel" else "-"


def removal(cell: tuple[str, float, int, Case]) -> float:
    """Test loss of one sparsified run."""
    rule, fraction, seed, case = cell
    return sparsify.experiment(rule, fraction, seed, case)


def removal_table(
    case: Case,
    rules: tuple[str, ...],
    seeds: int,
    progress: Progress,
    store: Path | None,
    fractions: tuple[float, ...] = FRACTIONS,
    workers: int = 1,
) -> dict[str, np.ndarray]:
    """Test losses (fractions, seeds) of each rule; where nothing is removed all rules are the same run."""
    wanted = [
        (rule if fraction else rules[0], fraction, seed, case)
        for rule in rules
        for fraction in fractions
        for seed in range(seeds)
    ]
    cells = list(dict.fromkeys(wanted))
    found = dict(zip(cells, run_cells(removal, cells, progress, workers, store, "sparsified runs"), strict=True))
    losses = np.array([found[cell] for cell in wanted])
    return dict(zip(rules, losses.reshape(len(rules), len(fractions), seeds), strict=True))


def figure_5(folder: Path, progress: Progress = silent, size: Size = QUICK) -> list[Path]:
    """Test loss over the fraction of removed tokens, tokens of unit length and raw Gaussian tokens."""
    with unfinished_cells(f"shallow_vit 5{size.suffix}", size.keep) as store:
        tables = [
            removal_table(
                replace(size.removal, unit=unit), sparsify.RULES, size.removals, progress, store, workers=size.workers
            )
            for unit in (1, 0)
        ]
        fig, axes = new_figure(1, 2, (11.5, 4.4), sharey=True)
        for ax, table, title in zip(axes, tables, ("tokens of unit length", "raw Gaussian tokens"), strict=True):
            _removal_panel(ax, table, title)
        axes[0].set(ylabel="test loss after 20 steps", ylim=(0, None))
        axes[0].legend(fontsize=8)
        say_size(fig, size, size.removal, size.removals, _removal_sizes(size.removal))
        return save_figure(fig, folder, f"5{size.suffix}")


def _removal_sizes(case: Case) -> str:
    return (
        rf"$N = {case.N}$, $L = {case.L}$, $\sigma = {case.sigma}$, $\delta = {case.delta}$ ($m = 1000$ in the paper)"
    )


def _removal_panel(ax: Any, table: Mapping[str, np.ndarray], title: str) -> None:
    for rule, losses in table.items():
        mean, spread = losses.mean(axis=1), losses.std(axis=1, ddof=1) / np.sqrt(losses.shape[1])
        label = {"irrelevant": "label-irrelevant", "attention": "least attention"}.get(rule, rule)
        ax.errorbar(FRACTIONS, mean, yerr=spread, fmt="o-", capsize=3, color=COLOURS[rule], markersize=4, label=label)
    ax.set(xlabel="fraction of removed tokens", title=title, xticks=FRACTIONS)


def pictures(pixels: np.ndarray, y: np.ndarray, cell: tuple[int, float, float, int, Case]) -> float:
    """Test accuracy after training on N of these images."""
    N, correlation, share, seed, case = cell
    return image_tokens.accuracy(Images(pixels, y, ""), N, correlation, share, seed, case)


def figure_6(folder: Path, progress: Progress = silent, size: Size = QUICK, data: Path | None = None) -> list[Path]:
    """Images in a background that is removed step by step: accuracy for two N, and with a spurious background.

    The images are the user's own (`data`), or a synthetic set; the network is (1), one layer, on patches.
    """
    images = image_tokens.synthetic_images() if data is None else image_tokens.own_images(data)
    most = min(size.images.N, len(images.y) // 2)
    curves = {f"$N = {N}$": (N, 0.5) for N in (most // 4, most)} | {"background 90 to 10": (most, 0.9)}
    cells = [
        (N, correlation, share, seed, size.images)
        for N, correlation in curves.values()
        for share in size.shares
        for seed in range(size.pictures)
    ]
    with unfinished_cells(f"shallow_vit 6{size.suffix}", size.keep) as store:
        learn = partial(pictures, image_tokens.small(images.pixels), images.y)
        found = run_cells(learn, cells, progress, size.workers, store, "images")
    table = dict(zip(curves, np.reshape(found, (len(curves), len(size.shares), size.pictures)), strict=True))
    fig, axes = new_figure(1, 3, (15, 4.2))
    shown = image_tokens.framed(images, 1.0, np.random.default_rng(0))
    axes[0].imshow(np.hstack([shown[np.flatnonzero(images.y == label)[0]] for label in (1, -1)]), cmap="gray")
    axes[0].set(title=images.title, xticks=[], yticks=[])
    axes[0].grid(False)
    for ax, names in zip(axes[1:], (list(curves)[:2], list(curves)[1:]), strict=True):
        for name in names:
            mean, spread = table[name].mean(axis=1), table[name].std(axis=1)
            ends = np.minimum(spread, mean), np.minimum(spread, 1 - mean)  # a share is between 0 and 1
            ax.errorbar(size.shares, mean, yerr=ends, fmt="o-", capsize=3, label=name)
        ax.set(xlabel="removed share of the background", ylabel="test accuracy", ylim=(0.4, 1.02))
        ax.legend(fontsize=8)
    axes[1].set_title("both backgrounds equally often")
    axes[2].set_title("a background that goes with the label")
    about = f"$L = {size.images.L}$ patches, {size.images.steps} steps, one layer (five, with four heads, in the paper)"
    say_size(fig, size, size.images, size.pictures, about)
    return save_figure(fig, folder, f"6{size.suffix}")


MANY = (10, 15, 20)


def many_case(M: int, margin: float = 100.0) -> Case:
    """A case with M patterns in as many dimensions as the symmetric system has."""
    return Case(M=M, alpha_s=0.5, alpha_c=0.05, d=M, m_a=M, m_b=M, m=500, xi=1e-4, eta=0.02, margin=margin)


def mirrored_neurons(case: Case, pi: float) -> class_network.Run:
    """The symmetric system as two mirrored neurons that stand for a share pi each, from a start of size 1e-6.

    Its equations need not be derived for every M; steps of 0.02 end within 1e-4 of its flow.
    """
    ones = dict.fromkeys(("x1", "zo", "ka", "ko", "ra", "ro"), 1.0)
    start, data = symmetric_runs.lift({**ones, "d1": 1e-6, "dn": 1e-7}, case.M, pi), symmetric_runs.samples(case)
    small = replace(case, m=2, steps=5000)
    return class_network.train(small, 0, data, start, lambda s, f: observables.of_classes(s, f, data), record=5)


def figure_7(folder: Path, progress: Progress = silent) -> list[Path]:
    """Attention of the symmetric system for M = 10, 15, 20, with a network of 500 neurons for M = 10."""
    fig, axes = new_figure(1, 3, (16.5, 4.4), sharey=True)
    for k, M in enumerate(MANY):
        case = many_case(M)
        run = mirrored_neurons(case, symmetric_runs.living(case, count=500))
        times = run.times * run.case.eta
        for name, (colour, label) in KINDS.items():
            axes[k].plot(times, run.table[name], color=colour, label=label, linestyle=_line(name))
        reach = np.interp([1.0, 10.0], run.table["F"], times)
        for s, text in zip(reach, (r"$\Gamma=1$", r"$\Gamma=10$"), strict=True):
            axes[k].axvline(s, color="0.8", linewidth=0.8)
            axes[k].text(s, 0.36, text, rotation=90, fontsize=8, color="0.4", ha="right", va="bottom")
        axes[k].axhline(
            bounds.attention_ceiling(0.5, 0.05), color="C2", linestyle=":", label=r"$\alpha_*/(\alpha_*+\alpha_\#)$"
        )
        axes[k].set(xlabel=r"$s = \eta t$", title=f"$M = {M}$", ylim=(0.33, 1.0))
        progress("symmetric system", (k + 1) / 4)
    data = class_network.exact_data(many_case(10))
    net = class_network.train(
        many_case(10), 0, data, observe=lambda s, f: observables.of_classes(s, f, data), record=50
    )
    for name, (colour, _) in KINDS.items():
        axes[0].plot(net.times * net.case.eta, net.table[name], "o", color=colour, markersize=2.5)
    axes[0].plot([], [], "o", color="0.5", markersize=3, label="network, $m = 500$")
    axes[0].set(ylabel="attention on label-relevant tokens")
    axes[0].legend(fontsize=8, loc="upper left", bbox_to_anchor=(0.0, 0.99))
    return save_figure(fig, folder, "7")


def figure_8(folder: Path, progress: Progress = silent, size: Size = QUICK) -> list[Path]:
    """Test loss over the fraction of removed tokens for M = 10, 15, 20 in 20 dimensions."""
    with unfinished_cells(f"shallow_vit 8{size.suffix}", size.keep) as store:
        fig, axes = new_figure(1, 3, (16.5, 4.4), sharey=True)
        for ax, M in zip(axes, size.patterns, strict=True):
            case = replace(size.removal, M=M, d=20, m_a=20, m_b=20)
            rules = ("random", "irrelevant", "noisy")
            _removal_panel(
                ax, removal_table(case, rules, size.removals, progress, store, workers=size.workers), f"$M = {M}$"
            )
        axes[0].set(ylabel="test loss after 20 steps", ylim=(0, None))
        axes[0].legend(fontsize=8)
        say_size(fig, size, case, size.removals, _removal_sizes(size.removal), patterns=size.patterns)
        return save_figure(fig, folder, f"8{size.suffix}")


figure_5_full, figure_6_full, figure_8_full = (partial(draw, size=FULL) for draw in (figure_5, figure_6, figure_8))
