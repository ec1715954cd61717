"""Panels that several figures share: noise products of a neuron, attention, losses; the picture of a simulated run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from odesys import new_figure, save_figure

from ..special.network import Training
from ..special.recursion import Run

QUERY, KEY, SIGNAL, NOISE = "C0", "C3", "C2", "C1"
COLOURS = {"signgd": "C0", "adam": "C1", "gd": "C2"}


def noise_panel(
    ax: Any, run: Run, neuron: int, last: float, title: str, signals: bool = True, reference: float | None = None
) -> None:
    """Query (blue) and key (red) noise of one neuron over time; pairs against the vote are drawn strongly.

    The sign gauge makes the vote positive: all curves are multiplied by the sign of the query signal at `reference`.
    """
    keep = run.times <= last
    at = run.index(reference if reference is not None else last)
    vote = np.sign(run.q_mu[at, neuron]) or 1.0
    t = run.times[keep]
    apart = np.sign(run.q[at, neuron]) == -vote
    for i in range(run.q.shape[2]):
        width, alpha = (1.1, 0.9) if apart[i] else (0.7, 0.3)
        ax.plot(t, vote * run.q[keep, neuron, i], color=QUERY, linewidth=width, alpha=alpha)
        ax.plot(t, vote * run.k[keep, neuron, i], color=KEY, linewidth=width, alpha=alpha)
    ax.plot([], [], color=QUERY, label="query noise")
    ax.plot([], [], color=KEY, label="key noise")
    ax.plot([], [], color="0.7", linewidth=0.7, label="pale: with the vote")
    if signals:
        ax.plot(t, vote * run.q_mu[keep, neuron], "--", color=SIGNAL, label="query signal")
        ax.plot(t, vote * run.k_mu[keep, neuron], "--", color="k", label="key signal")
    ax.set(xlabel="iteration", ylabel="inner product, times the vote", title=title)
    ax.legend(fontsize=7, loc="upper left")


def attention_panel(ax: Any, run: Run, last: float, title: str) -> None:
    """Attention on the signal patch of the signal and of the noise patch: every sample thin, the mean thick."""
    keep = run.times <= last
    for name, values, colour in (
        ("$s_{11}$: signal on signal", run.s11, SIGNAL),
        ("$s_{21}$: noise on signal", run.s21, NOISE),
    ):
        ax.plot(run.times[keep], values[keep], color=colour, alpha=0.15, linewidth=0.7)
        ax.plot(run.times[keep], values[keep].mean(axis=1), color=colour, label=name)
    ax.set(xlabel="iteration", ylabel="softmax weight", title=title, ylim=(-0.03, 1.03))
    ax.legend(fontsize=8)


def loss_panel(
    ax: Any,
    runs: Sequence[Training],
    title: str,
    colours: Sequence[str] | None = None,
    test: bool = True,
    styles: Sequence[str] | None = None,
) -> None:
    """Training losses (full) and test losses (dotted) over iterations, logarithmic."""
    for k, trained in enumerate(runs):
        colour = colours[k] if colours is not None else COLOURS[trained.optimiser.kind]
        style = styles[k] if styles is not None else "-"
        ax.semilogy(trained.run.times, trained.loss, style, color=colour, label=trained.optimiser.label)
        if test and trained.test_loss.size:
            ax.semilogy(trained.run.times, trained.test_loss, ":", color=colour)
    if test:
        ax.plot([], [], "k:", label="test loss")
    ax.set(xlabel="iteration", ylabel="loss", title=title)
    ax.legend(fontsize=8)


def plot_run(columns: Mapping[str, Any], events: Sequence[Mapping[str, Any]], folder: Path) -> list[Path]:
    """Losses, attention and noise products of a simulated run, with the stage events."""
    fig, axes = new_figure(1, 3, (16, 4.2))
    t = columns["t"]
    for name in columns:
        if name.startswith("loss"):
            axes[0].semilogy(t, columns[name], "--" if name == "loss_mean_field" else "-", label=name.replace("_", " "))
        if name.startswith(("s11", "s21")):
            axes[1].plot(t, columns[name], label=name.replace("_", " "))
    pairs = [name for name in columns if name.startswith(("q_1_", "k_1_"))]
    for name in pairs:
        axes[2].plot(t, columns[name], color=QUERY if name[0] == "q" else KEY, linewidth=0.8, alpha=0.7)
    for name, colour in (("q_mu_1", SIGNAL), ("k_mu_1", "k")):
        if name in columns:
            axes[2].plot(t, columns[name], "--", color=colour, label=name.replace("_", " "))
    marks = [e for e in events if e["kind"] == "stage"]
    for k, event in enumerate(marks):
        for ax in axes[:2] if not pairs else axes:
            ax.axvline(event["time"], color="0.75", linewidth=0.7, zorder=0)
        axes[1].text(
            event["time"],
            0.02 + 0.06 * (k % 8),
            event["name"],
            fontsize=6,
            rotation=0,
            color="0.25",
            transform=axes[1].get_xaxis_transform(),
        )
    labels = ("training loss", "attention on the signal", "noise products of neuron 1")
    for ax, label in zip(axes, labels, strict=True):
        ax.set(xlabel="$t$", ylabel=label)
    axes[0].legend(fontsize=8)
    axes[1].legend(fontsize=8)
    if pairs:
        axes[2].plot([], [], color=QUERY, label="query noise")
        axes[2].plot([], [], color=KEY, label="key noise")
        axes[2].legend(fontsize=8)
    else:
        axes[2].set_axis_off()
    return save_figure(fig, folder, "run")
