"""Figures 1-4 of the two-mixture paper, redrawn: exact infinite-width recursion against a network trained for real.

The paper trains all weights at once by gradient descent with step 0.1 and leaves m, omega and b open; here m = 100,
omega = 0.1, b = 1/2, population gradient, 4000 steps. Seeds are printed in the titles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from odesys import (
    ProgramNetwork,
    Progress,
    State,
    Trajectory,
    gradient_flow,
    integrate,
    iterate,
    new_figure,
    row_softmax,
    save_figure,
)

from .. import dynamics, setting
from ..compare import start_network

STEP, STEPS, EVERY, WIDTH, SEED = setting.RATE, 4000, 20, 100, 1
SETTING = {"K": 2, "omega": 0.1, "b": 0.5}
RECORD = range(0, STEPS + 1, EVERY)
COLOURS = {
    "n_v": "C0",
    "n_c": "C3",
    "M_cv_same": "C3",
    "M_cv_other": "C0",
    "M_cc_same": "C2",
    "M_cc_other": "C8",
    "M_vc_same": "C1",
    "M_vc_other": "C5",
    "M_vv_same": "C4",
    "M_vv_other": "C6",
}
TEX = {
    "n_v": r"$w_+^\top v_k$",
    "n_c": r"$w_+^\top c_k$",
    "M_cv_same": r"$c_1^\top W_K^\top W_Q v_1$",
    "M_cv_other": r"$c_1^\top W_K^\top W_Q v_2$",
    "M_cc_same": r"$c_1^\top W_K^\top W_Q c_1$",
    "M_cc_other": r"$c_1^\top W_K^\top W_Q c_2$",
    "M_vc_same": r"$v_1^\top W_K^\top W_Q c_1$",
    "M_vc_other": r"$v_1^\top W_K^\top W_Q c_2$",
    "M_vv_same": r"$v_1^\top W_K^\top W_Q v_1$",
    "M_vv_other": r"$v_1^\top W_K^\top W_Q v_2$",
}
SAMPLES = {
    r"$X_{1,+,-}$": ["c1", "v1", "-v2"],
    r"$X_{1,-,+}$": ["c1", "-v1", "v2"],
    r"$X_{1,+,+}$": ["c1", "v1", "v2"],
    r"$X_{1,-,-}$": ["c1", "-v1", "-v2"],
}


@cache
def _theory() -> dict[str, np.ndarray]:
    """The exact gradient-descent map on the 22 orbit variables from the infinite-width start, with group losses."""
    reduced = dynamics.reduced_descent()
    run = iterate(
        reduced.system,
        reduced.initial_state(SETTING["omega"]),
        STEPS,
        {"b": SETTING["b"], "eta": STEP},
        record_every=EVERY,
    )
    table = {name: run.state(name) for name in reduced.system.names}
    margins = np.array([run.observable(f"margin_{i + 1}") for i in range(len(setting.data()))])
    return table | _group_losses(margins) | {"step": run.times}


@cache
def _network() -> dict[str, Any]:
    """A network of width 100 under the same gradient descent, measured as the same path scalars."""
    nets = start_network(WIDTH, SEED, SETTING).descend_recorded(STEP, STEPS, RECORD)
    reduced = dynamics.reduced()
    states = np.array([reduced.orbits.project(net.paths()) for net in nets])
    table = {name: states[:, i] for i, name in enumerate(reduced.system.names)}
    images = [net.images() for net in nets]
    scores = np.array([image["W_K.p"].T @ image["W_Q.p"] for image in images])
    return table | _group_losses(_margins(nets)) | {"step": np.array(RECORD), "scores": scores}


def _margins(nets: Sequence[ProgramNetwork]) -> np.ndarray:
    """Margins of all samples, along a run."""
    seen = [net.outputs() for net in nets]
    return np.array([[each[f"margin_{i + 1}"] for each in seen] for i in range(len(setting.data()))])


def _group_losses(margins: np.ndarray) -> dict[str, np.ndarray]:
    losses = np.logaddexp(0.0, -margins)
    conflict = np.array([setting.is_conflicting(sample) for sample in setting.data().samples])
    return {"conflicting": losses[conflict].mean(axis=0), "consistent": losses[~conflict].mean(axis=0)}


def figure_1(folder: Path, progress: Progress) -> list[Path]:
    """Losses, neurons and scores along gradient descent: theory (lines) and a network (dots)."""
    progress("theory", 0.1)
    theory = _theory()
    progress("network", 0.3)
    net = _network()
    fig, axes = new_figure(1, 3, (14.0, 4.0))
    scores = ("M_cv_same", "M_cv_other", "M_vv_same", "M_vc_same", "M_cc_same")
    panels = (("consistent", "conflicting"), ("n_v", "n_c"), scores)
    titles = ("(a) loss by sample type", "(b) neurons of the + head", "(c) scores of the + head")
    for ax, names, title in zip(axes, panels, titles, strict=True):
        for k, name in enumerate(names):
            colour = COLOURS.get(name, f"C{k}")
            ax.plot(theory["step"], theory[name], color=colour, label=TEX.get(name, name))
            ax.plot(net["step"][::8], net[name][::8], ".", color=colour, markersize=4)
        ax.set(xlabel="step", title=title)
        beside = {"loc": "upper left", "bbox_to_anchor": (1, 1)} if names is scores else {}  # curves are everywhere
        ax.legend(fontsize=8, **(beside or {"loc": "center right" if ax is axes[0] else "best"}))
    axes[0].axhline(np.log(2), color="0.6", linewidth=0.8, linestyle=":")
    axes[0].set_ylim(bottom=0)
    title = f"lines: infinite width; dots: network with m = {WIDTH} (seed {SEED}), means over groups and heads"
    fig.suptitle(title, fontsize=10)
    return save_figure(fig, folder, "fig1")


def figure_2(folder: Path, progress: Progress) -> list[Path]:
    """Softmax weights of the + head after training on four samples."""
    progress("network", 0.2)
    scores = _network()["scores"][-1]
    fig, axes = new_figure(1, 4, (14.0, 3.8))
    image = None
    for ax, (title, tokens) in zip(axes, SAMPLES.items(), strict=True):
        places, signs = zip(*(setting.words().pinned.parse(token) for token in tokens), strict=True)
        weights = row_softmax((scores[np.ix_(places, places)] * np.outer(signs, signs)).T)
        image = ax.imshow(weights, vmin=0, vmax=1, cmap="viridis")
        names = [_token_tex(token) for token in tokens]
        ax.set_xticks(range(3), names)
        ax.set_yticks(range(3), names)
        ax.grid(False)
        ax.set(title=title, xlabel="key", ylabel="query")
        for i, j in np.ndindex(3, 3):
            ax.text(
                j,
                i,
                f"{weights[i, j]:.2f}",
                ha="center",
                va="center",
                color="black" if weights[i, j] > 0.6 else "white",
            )
    fig.colorbar(image, ax=axes, shrink=0.8, label="attention")
    fig.suptitle(f"+ head after {STEPS} steps, m = {WIDTH} (seed {SEED})", fontsize=10)
    return save_figure(fig, folder, "fig2")


def figure_3(folder: Path, progress: Progress) -> list[Path]:
    """Training the attention alone with Gaussian neurons: the loss does not go to zero."""
    fig, ax = new_figure()
    for k, (seed, curve) in enumerate(attention_only().items()):
        progress("seeds", (k + 1) / 4)
        ax.plot(list(RECORD), curve, label=f"seed {seed}: {curve[-1]:.2f}")
    ax.axhline(0, color="0.6", linewidth=0.8)
    ax.set(xlabel="step", ylabel="population loss", title="attention alone, Gaussian neurons", ylim=(0, None))
    ax.legend(title="final loss")
    return save_figure(fig, folder, "fig3")


@cache
def attention_only(seeds: Sequence[int] = (0, 1, 2, 3), spread: float = 1.0) -> dict[int, np.ndarray]:
    """Loss curves of attention-only gradient descent, neurons w ~ N(0, spread^2) frozen."""
    flow = gradient_flow(setting.model(), setting.data(), train=("W_K", "W_Q"))
    given = {"omega": SETTING["omega"], "scales": {"w": spread}, "parameters": {"b": SETTING["b"]}}
    nets = flow.networks(seeds, WIDTH, **given).descend_recorded(STEP, STEPS, RECORD)
    return dict(zip(seeds, np.array([each.loss() for each in nets]).T, strict=True))


def figure_4(folder: Path, progress: Progress) -> list[Path]:
    """All sixteen scores of the + head: eight theoretical curves, sixteen measured ones."""
    progress("theory", 0.2)
    theory, net = _theory(), _network()
    fig, axes = new_figure(2, 2, (11.0, 7.5), sharex=True)
    words = setting.words().words
    for ax, kind in zip(axes.flat, ("cv", "cc", "vc", "vv"), strict=True):
        for name in (f"M_{kind}_same", f"M_{kind}_other"):
            ax.plot(theory["step"], theory[name], color=COLOURS[name], label=TEX[name])
        for (i, key), (j, query) in product(enumerate(words), enumerate(words)):
            name = dynamics.orbit_name(State("KQ", "p", key, query))
            if name.startswith(f"M_{kind}_"):
                mark = "." if key.endswith("1") else "x"
                ax.plot(net["step"][::8], net["scores"][::8, i, j], mark, color=COLOURS[name], markersize=4)
        ax.set_title(f"key {kind[0]}, query {kind[1]}")
        ax.legend(fontsize=8)
    for ax in axes[1]:
        ax.set_xlabel("step")
    title = f"lines: infinite width; network with m = {WIDTH}, seed {SEED}: dots for keys c1, v1, crosses for c2, v2"
    fig.suptitle(title, fontsize=10)
    return save_figure(fig, folder, "fig4")


KINKS: dict[str, Any] = {"K": 3, "L": 4, "omega": 0.1, "b": 0.5}


@cache
def sliding_run() -> Trajectory:
    """Simultaneous training for K = 3, L = 4 to t = 600, which slides along two ReLU kinks."""
    reduced = dynamics.reduced("simultaneous", KINKS["K"], KINKS["L"])
    return integrate(
        reduced.system, reduced.initial_state(KINKS["omega"]), (0.0, 600.0), {"b": KINKS["b"]}, rtol=1e-10, atol=1e-14
    )


def figure_sliding(folder: Path, progress: Progress) -> list[Path]:
    """The loss and the two kinks that simultaneous training slides along, slides shaded."""
    progress("integrating", 0.1)
    run = sliding_run()
    compiled = run.system.compile({"b": KINKS["b"]})
    fig, axes = new_figure(1, 3, (14.0, 4.0))
    close = (min(s.start for s in run.slides) - 4, max(s.end for s in run.slides) + 4)
    for ax, (begin, end) in zip(axes, ((0.0, 600.0), (0.0, 600.0), close), strict=True):
        times = np.linspace(begin, end, 1201)
        states = run.at(times)
        if ax is axes[0]:
            ax.semilogy(times, compiled.observed(times, states)["loss"], "C7")
        else:
            table = np.array([compiled.surfaces(t, x) for t, x in zip(times, states, strict=True)])
            for colour, slide in zip(("C0", "C3"), run.slides, strict=True):
                label = f"${setting.surface_tex(slide.name, KINKS['K'], KINKS['L'])}$"
                ax.plot(times, table[:, slide.surface], color=colour, label=label)
            ax.axhline(0, color="0.6", linewidth=0.8)
        for colour, slide in zip(("C0", "C3"), run.slides, strict=True):
            ax.axvspan(slide.start, slide.end, color=colour, alpha=0.2, linewidth=0)
        ax.set(xlabel="t", xlim=(begin, end))
    axes[0].set_title("(a) population loss")
    axes[1].set_title("(b) two ReLU arguments; off where negative")
    axes[2].set(title="(c) the same at the slides", ylim=(-0.06, 0.06))
    axes[1].legend(fontsize=8)
    parts = "; ".join(f"[{s.start:.3f}, {s.end:.3f}]" for s in run.slides)
    fig.suptitle(f"K = 3, L = 4, omega = 0.1, b = 1/2, all weights at once: slides on {parts}", fontsize=10)
    return save_figure(fig, folder, "sliding")


def _token_tex(token: str) -> str:
    return f"${token[:-1]}_{token[-1]}$"


def plot_run(
    columns: Mapping[str, Any],
    events: Sequence[Mapping[str, Any]],
    folder: Path,
    descent: Mapping[str, Any] | None = None,
) -> list[Path]:
    """Loss, neurons and scores of a simulated run, with its events as vertical lines and its slides shaded.

    The columns of `descent`, if there are any, are dashed.
    """
    fig, axes = new_figure(1, 3, (14.0, 4.0))
    time = columns["t"]
    panels = (("loss",), ("n_v", "n_c"), tuple(name for name in columns if name.startswith("M_")))
    for ax, names, title in zip(axes, panels, ("population loss", "neurons", "scores"), strict=True):
        for k, name in enumerate(names):
            colour = COLOURS.get(name, f"C{k}")
            ax.plot(time, columns[name], color=colour, label=TEX.get(name, name))
            if descent is not None:
                ax.plot(descent["t"], descent[name], "--", color=colour)
        for event in events:
            if "end" in event:
                ax.axvspan(event["time"], event["end"], color="0.8", alpha=0.6, linewidth=0)
                continue
            ax.axvline(event["time"], color="0.7", linewidth=0.8, linestyle=":" if event["kind"] == "switch" else "--")
        ax.set(xlabel="t", title=title)
        if len(names) > 1:
            ax.legend(fontsize=8, loc="center right" if descent is None else "upper left")
    axes[0].set_yscale("log")
    if descent is not None:
        fig.suptitle(f"solid: the exact flow; dashed: gradient descent at rate {setting.RATE:g}", fontsize=10)
    return save_figure(fig, folder, "run")
