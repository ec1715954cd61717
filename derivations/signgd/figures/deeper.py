"""Figures 14 and 15 and tables 4 to 11: the first layer of deeper transformers under SignGD."""

from __future__ import annotations

from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from odesys import Progress, new_figure, save_figure, silent

from ..setting import published
from ..special import deep_network, stages
from ..special.deep_network import Deep, DeepRun
from ..special.printed_tables import PRINTED
from . import panels

D, ETA, STEPS, SEED = 400, 2e-4, 600, 0
TABLES = {  # by the captions
    str(number): Deep(layers, mlp, residual)
    for number, (residual, mlp, layers) in enumerate(product((True, False), (False, True), (2, 3)), 4)
}
SMALLEST = 1e-300  # what is below it is not known as a float, and not drawn: steps take the signs of scaled gradients


@cache
def deep(layers: int, mlp: bool, residual: bool) -> DeepRun:
    """Setting (a) at d = 400, where labels are equal, twice the published step size."""
    return deep_network.train(published("a", D), Deep(layers, mlp, residual), ETA, STEPS, SEED)


def _four(number: str, residual: bool, folder: Path, progress: Progress) -> list[Path]:
    fig, axes = new_figure(4, 4, (20, 16))
    kinds = [(layers, mlp) for mlp in (False, True) for layers in (2, 3)]
    for k, (row, (layers, mlp)) in enumerate(zip(axes, kinds, strict=True)):
        found = deep(layers, mlp, residual)
        run, name = found.run, Deep(layers, mlp, residual).label
        table = stages.contingency(run, 10)
        share = (table[:, 0].sum() + table[:, 3].sum()) / table.sum()
        row[0].plot(run.times, run.v, color=panels.NOISE, linewidth=0.8)
        row[0].plot([], [], color=panels.NOISE, label=r"$v_i$, noise")
        row[0].plot(run.times, run.v_mu, "k--", label=r"$v_\mu$, signal")
        row[0].set(xlabel="iteration", ylabel="inner product", title=f"{name}: values of the last layer")
        row[0].legend(fontsize=8)
        unit = stages.REFERENCE * stages.flip_unit(run.start, run.eta)
        title = f"first layer, neuron 0; {100 * share:.0f} % aligned at $t = 10$"
        panels.noise_panel(row[1], run, 0, STEPS, title, reference=unit)
        panels.attention_panel(row[2], run, STEPS, "attention of the first layer")
        row[3].semilogy(run.times, np.where(found.gradient > SMALLEST, found.gradient, np.nan))
        row[3].set(
            xlabel="iteration",
            ylabel="mean absolute entry",
            title=r"mean size of gradients of $W_Q$, $W_K$, first layer",
        )
        progress("networks", (k + 1) / len(kinds))
    word = "with" if residual else "without"
    fig.suptitle(f"setting (a), $d = {D}$, SignGD with $\\eta = {ETA:g}$, {word} residual connections; widths are ours")
    return save_figure(fig, folder, number)


def figure_14(folder: Path, progress: Progress = silent) -> list[Path]:
    """Two and three layers, without and with an MLP, all with residual connections."""
    return _four("14", True, folder, progress)


def figure_15(folder: Path, progress: Progress = silent) -> list[Path]:
    """The same without residual connections."""
    return _four("15", False, folder, progress)


def signs_at_ten(number: str) -> np.ndarray:
    """One of tables 4 to 11 at the published size and step: signs at the start (rows) and at t = 10 (columns)."""
    found = deep_network.train(published("a"), TABLES[number], 1e-4, 10, SEED, 10, floats=True)
    return stages.contingency(found.run, 10)


def figure_tables(folder: Path, progress: Progress = silent) -> list[Path]:
    """Tables 4 to 11: printed counts, and below them those of our models, whose pairs start with other signs."""
    fig, axes = new_figure(2, 4, (20, 9.6))
    names = ["$++$", "$+-$", "$-+$", "$--$"]
    for k, (ax, (number, deep)) in enumerate(zip(axes.flat, TABLES.items(), strict=True), 1):
        tables = PRINTED[number].counts, signs_at_ten(number)
        ax.imshow(tables[0], cmap="Blues", vmin=0, vmax=550)
        for place in np.ndindex(4, 4):
            text = "\n".join(str(table[place]) for table in tables)
            ax.text(*place[::-1], text, ha="center", va="center", color="w" if tables[0][place] > 300 else "k")
        printed, ours = (f"{100 * table[:, [0, 3]].sum() / table.sum():.1f}" for table in tables)
        word = "residual" if deep.residual else "no residual"
        ax.set_title(f"table {number}: {deep.label}, {word}\naligned: printed {printed} %, ours {ours} %", fontsize=10)
        ax.set(xticks=range(4), yticks=range(4), xticklabels=names, yticklabels=names)
        ax.set(xlabel="signs (key, query) at $t = 10$", ylabel="signs at the start")
        ax.grid(False)
        progress("networks", k / len(TABLES))
    fig.suptitle(f"setting (a), $d = 2000$: printed counts above, ours below, with widths of ours and seed {SEED}")
    return save_figure(fig, folder, "tables")
