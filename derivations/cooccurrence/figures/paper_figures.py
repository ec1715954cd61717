"""Figures of the co-occurrence paper: figure 1 with its sizes, a clean version under Condition 1, and the limits.

The paper leaves open which Kaiming start, which seed and where its phases end. Figure 1 here: Gaussian weights with the
variance 1 / (3 fan-in) of framework defaults, a_j = +-1, full batch, irrelevant words drawn with repetition (64 words
can not be all different in 60 samples), seed 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from odesys import Progress, iterate, new_figure, save_figure

from .. import dynamics, protocol, setting
from ..laboratory import Laboratory
from ..special import balancing
from ..special.trajectories import Course, course, kernel_run, mean_field_run, network, planar_run

EXPERIMENT = {"n": 60, "L": 5, "d": 64, "m": 128, "m1": 256, "eta": 0.01, "steps": 30_000, "seed": 0}
SHORT = 2000  # epochs of the figure on the default page: about 25 s of processor time
PAIRS = {
    (1, 0): r"$\mu_2^\top W_K^\top W_Q\mu_1$",
    (0, 1): r"$\mu_1^\top W_K^\top W_Q\mu_2$",
    (2, 0): r"$\mu_3^\top W_K^\top W_Q\mu_1$",
    (2, 1): r"$\mu_3^\top W_K^\top W_Q\mu_2$",
}
P1 = setting.condition_one(5, 2048, 32, 0.1)
CLASS_NAMES = {1: r"$I_1$ both", 2: r"$I_2$ only $\mu_1$", 3: r"$I_3$ only $\mu_2$", 4: r"$I_4$ none"}


def recorded_steps(steps: int) -> list[int]:
    """Step numbers on a logarithmic grid, with 0 and the last."""
    return sorted({0, steps, *np.unique(np.geomspace(1, steps, 90).astype(int)).tolist()})


@cache
def experiment(steps: int = int(EXPERIMENT["steps"])) -> dict[str, Any]:
    """The paper's run: a network trained for real, and the exact recursion on its Gram variables from one start."""
    e = EXPERIMENT
    rng = np.random.default_rng(int(e["seed"]))
    data = setting.training_set(int(e["n"]), int(e["L"]), int(e["d"]), rng, distinct=False)
    scale = setting.framework_default(int(e["d"]), int(e["m"]), int(e["m1"]))
    flow, record = dynamics.descent_of(data, int(e["d"])), recorded_steps(steps)
    net = network(flow, scale, int(e["seed"]))
    nets = net.descend_recorded(e["eta"], steps, record)
    seen = [each.outputs() for each in nets]
    margins = np.array([[each[f"margin_{i + 1}"] for i in range(len(data))] for each in seen])
    images = [each.images() for each in nets]
    scores = np.array([(i["W_K"].T @ i["W_Q"])[:3, :3] for i in images])
    run = iterate(
        flow.system,
        net.paths(),
        steps,
        {**scale.parameters, "eta": e["eta"]},
        record_every=record,
        backend="block",
    )
    theory = Course(flow, scale, run.times, run.states)
    return {
        "step": np.array(record),
        "margins": margins,
        "scores": scores,
        "theory": theory,
        "classes": setting.class_positions(data),
    }


def class_losses(margins: np.ndarray, classes: Mapping[int, np.ndarray]) -> dict[int, np.ndarray]:
    """Mean loss per class along a run; margins (k, n)."""
    return {c: np.logaddexp(0, -margins[:, p]).mean(axis=1) for c, p in classes.items()}


def figure_1(folder: Path, progress: Progress) -> list[Path]:
    """The first epochs of figure 1 with the paper's sizes; `figure_1full` has all."""
    return _descent_figure(folder, progress, SHORT, "fig1")


def figure_1full(folder: Path, progress: Progress) -> list[Path]:
    """Figure 1 with the paper's sizes and all of its epochs."""
    return _descent_figure(folder, progress, int(EXPERIMENT["steps"]), "fig1_full")


def _descent_figure(folder: Path, progress: Progress, steps: int, file: str) -> list[Path]:
    """Scores and losses of the paper's run: exact recursion (lines), a network trained for real (dots)."""
    progress("gradient descent", 0.1)
    run = experiment(steps)
    theory: Course = run["theory"]
    fig, axes = new_figure(1, 2, (12.0, 4.6))
    x = run["step"] + 1
    for k, ((i, j), name) in enumerate(PAIRS.items()):
        lines, dots = theory.tables["KQ"][:, i, j], run["scores"][:, i, j]
        axes[0].plot(x, lines - lines[0], color=f"C{k}", label=name + f" (start {lines[0]:+.3f})")
        axes[0].plot(x[::4], (dots - dots[0])[::4], ".", color=f"C{k}", markersize=5)
    axes[0].set(xlabel="epoch + 1", ylabel="change of the score", title="(a) attention scores, first word the key")
    own, other = class_losses(theory.margins, run["classes"]), class_losses(run["margins"], run["classes"])
    for k, (c, name) in enumerate(CLASS_NAMES.items()):
        axes[1].plot(x, own[c], color=f"C{k}", label=name)
        axes[1].plot(x[::4], other[c][::4], ".", color=f"C{k}", markersize=5)
    axes[1].plot(x, theory.loss, color="k", linewidth=2, label="total")
    axes[1].set(xlabel="epoch + 1", ylabel="loss", yscale="log", title="(b) training loss by class")
    right = x[phase_boundary(theory.margins)]
    for ax in axes:
        ax.axvline(right, color="0.75", linewidth=0.8, linestyle="--")
        ax.annotate("all classified", (right, 0.02), xycoords=("data", "axes fraction"), fontsize=8)
        ax.set_xscale("log")
        ax.legend(fontsize=8)
    e = EXPERIMENT
    sizes = ", ".join(f"{key} = {e[key]}" for key in ("n", "L", "d", "m", "m1", "eta", "seed"))
    epochs = f"{steps} of its {e['steps']} epochs" if steps < int(e["steps"]) else f"{steps} epochs"
    fig.suptitle(f"{sizes}; {epochs}; lines: exact recursion on Gram variables, dots: weights", fontsize=10)
    return save_figure(fig, folder, file)


def phase_boundary(margins: np.ndarray) -> int:
    """The first row from which on all samples are classified; margins (k, n)."""
    wrong = np.flatnonzero(margins.min(axis=1) <= 0)
    return min(int(wrong[-1]) + 1, len(margins) - 1) if len(wrong) else 0


TAUS = (0.0, *np.geomspace(0.1, 1e4, 150).tolist())


def figure_1clean(folder: Path, progress: Progress) -> list[Path]:
    """Figure 1 under Condition 1: a network of width 2048 (dots) on the infinite-width flow (lines)."""
    progress("network", 0.1)
    lab = Laboratory()
    net = course(lab, 60, 5, P1, 5, TAUS)
    progress("infinite width", 0.7)
    mean = mean_field_run(lab, 60, 5, P1, 1e4)
    given = {"n": 60, "L": 5, "m": P1.m, "m1": P1.m1, "c0": 0.1, "C_T1": 40.0, "tau_end": 50.0}
    events = protocol.mean_field(given).events
    times = {e["name"]: e["time"] for e in events}
    grid = np.geomspace(0.1, 1e4, 300)
    table = dict(zip(mean.names, mean.at(grid).T, strict=True))
    fig, axes = new_figure(1, 3, (15.0, 4.4))
    for k, (pair, name) in enumerate(PAIRS.items()):
        change = net.tables["KQ"][:, pair[0], pair[1]] - net.tables["KQ"][0, pair[0], pair[1]]
        axes[0].plot(net.taus[1::4], change[1::4], ".", color=f"C{k}", label=name)
    for name, colour in (("A_12", "C0"), ("A_31", "C2")):
        axes[0].plot(grid, table[name] * np.sqrt(P1.m), color=colour, linewidth=1)
    axes[0].set(title="(a) change of scores", xlabel=r"$\tau=\sigma_1^2mm_1\,t$")
    losses = class_losses(net.margins, net.classes)
    compiled = mean.system.compile(mean.parameters)
    observed = compiled.observed(grid, mean.at(grid))
    for k, (c, name) in enumerate(CLASS_NAMES.items()):
        axes[1].plot(net.taus[1::4], losses[c][1::4], ".", color=f"C{k}", label=name)
        axes[1].plot(grid, np.logaddexp(0, -observed[f"margin_I{c}"]), color=f"C{k}", linewidth=1)
    axes[1].axhline(np.log(2), color="0.6", linestyle=":", linewidth=0.8)
    axes[1].set(title="(b) loss by class", yscale="log", xlabel=r"$\tau$")
    for k, (word, name) in enumerate((("G_1", r"$G(\mu_1),G(\mu_2)$"), ("G_3", r"$G(\mu_3)$"))):
        axes[2].plot(grid, table[word], color=f"C{k}", label=name)
    for j, colour in ((0, "C0"), (1, "C0"), (2, "C1")):
        axes[2].plot(net.taus[1::4], net.G[1::4, j], ".", color=colour, markersize=4)
    axes[2].set(title="(c) sub-network", xlabel=r"$\tau$")
    for ax in axes:
        ax.set_xscale("log")
        for k, (name, label) in enumerate((("T_0.5", r"$T_{0.5}$"), ("T_cls", r"$T_{cls}$"), ("T_1", r"$T_1$"))):
            tau = times[name]
            ax.axvline(tau, color="0.75", linewidth=0.8, linestyle="--")
            side = "right" if k == 0 else "left"  # T_0.5 and T_cls are close to each other
            ax.annotate(label, (tau, 0.02), xycoords=("data", "axes fraction"), fontsize=8, ha=side)
        ax.legend(fontsize=8)
    title = f"n = 60, L = 5, m = {P1.m}, m1 = {P1.m1}, c0 = 0.1; dots: network (seed 5), lines: infinite width"
    fig.suptitle(title, fontsize=10)
    return save_figure(fig, folder, "fig1_clean")


def figure_balance(folder: Path, progress: Progress) -> list[Path]:
    """R, class sums and 1 / loss: planar limit, n = 60, and their exact limits."""
    progress("runs", 0.2)
    lab = Laboratory()
    planar, kernel = planar_run(lab), kernel_run(lab, 60, 5, 1e7)
    limit, finite = (balancing.hard_margin(s) for s in (lab.planar(), lab.kernel(60, 5)))
    grid = np.geomspace(0.3, 1e6, 400)
    fig, axes = new_figure(1, 3, (15.0, 4.4))
    for run, exact, name, colour in ((planar, limit, r"$n\to\infty$", "C0"), (kernel, finite, "$n=60,\\ L=5$", "C1")):
        field = run.system.compile()
        rates = np.array([field(0.0, s) for s in run.at(grid)])
        R = rates[:, 1] / rates[:, 0] * (1 if run is planar else -1)
        axes[0].plot(grid, R, color=colour, label=name)
        axes[0].axhline(float(exact.R), color=colour, linestyle=":", linewidth=1)
        seen = field.observed(grid, run.at(grid))
        margins = {c: seen[f"margin_I{c}"] for c in (1, 2, 4)}
        sums = {c: float(setting.PROBABILITY[c]) / (1 + np.exp(u)) for c, u in margins.items()}
        for c, style in ((1, "-"), (4, "--")):
            axes[1].plot(grid, sums[c] / sums[2], style, color=colour, label=f"$S_{c}/S_2$, {name}")
        axes[1].axhline(float(exact.class_sums[1] / exact.class_sums[2]), color=colour, linestyle=":", linewidth=1)
        axes[2].plot(grid, 1 / seen["loss"], color=colour, label=name)
        axes[2].plot(
            grid,
            grid / float(exact.loss_times_tau),
            color=colour,
            linestyle=":",
            linewidth=1,
            label=rf"slope $1/{float(exact.loss_times_tau):.4g}$",
        )
    axes[0].axhspan(1, 2, color="0.93", zorder=0)
    axes[0].set(title=r"$R=-\dot G(\mu_3)/\dot G(\mu_1)$, dotted: exact limits", ylim=(-0.6, 2.1))
    axes[1].set(title="class sums of loss derivatives", ylim=(0, 3))
    axes[2].set(title=r"$1/\hat L$", yscale="log")
    for ax in axes:
        ax.set(xscale="log", xlabel=r"$\tau$")
        ax.legend(fontsize=8)
    return save_figure(fig, folder, "balance")


def figure_portrait(folder: Path, progress: Progress) -> list[Path]:
    """The planar limit: stream lines, the run from zero, the wedge where all is classified, and the final ray."""
    progress("field", 0.3)
    system = dynamics.planar_ode()
    field, run = system.compile(), planar_run(Laboratory())
    xs, zs = np.linspace(-0.5, 5, 60), np.linspace(-0.8, 7, 60)
    speed = np.array([[field(0.0, (x, z)) for x in xs] for z in zs])
    fig, ax = new_figure(size=(6.4, 5.4))
    ax.streamplot(xs, zs, speed[..., 0], speed[..., 1], color="0.75", density=1.2, linewidth=0.7, arrowsize=0.7)
    grid = np.geomspace(1e-3, 300, 400)
    path = run.at(grid)
    ax.plot(path[:, 0], path[:, 1], color="C3", linewidth=2, label="from zero")
    line = np.linspace(0, 5, 2)
    ax.fill_between(line, line, 2 * line, color="C0", alpha=0.1, label="all classified: $x<z<2x$")
    direction = balancing.hard_margin(system).direction
    slope = float(direction["z"] / direction["x"])
    ax.plot(line, slope * line, "C0--", label=rf"$z={slope:g}\,x$")
    times = {e["name"]: e["time"] for e in protocol.planar({"L": 5, "tau_end": 100.0, "C_T1": 40.0}).events}
    for tau in (times["R=1"], times["T_cls"], 100.0):
        point = run.at(tau)
        ax.plot(*point, "o", color="C3", markersize=4)
        ax.annotate(rf"$\tau={tau:.4g}$", point, textcoords="offset points", xytext=(6, -10), fontsize=8)
    ax.set(
        xlabel=r"$x=G(\mu_1)=G(\mu_2)$",
        ylabel=r"$z=-G(\mu_3)$",
        xlim=(-0.5, 5),
        ylim=(-0.8, 7),
        title="the planar limit",
    )
    ax.legend(loc="upper left", fontsize=8)
    return save_figure(fig, folder, "portrait")


def figure_finite_n(folder: Path, progress: Progress) -> list[Path]:
    """Exact limits of R and growth exponents of test margins against n, and where they change."""
    fig, axes = new_figure(1, 2, (12.0, 4.4))
    for k, L in enumerate((4, 5, 6)):
        progress(f"L = {L}", k / 3)
        every = dynamics.every_n(L)
        ns = [n for n in range(6, 1200, 6) if n < 60 or n % 30 == 0]
        rows = [balancing.hard_margin(every.substitute({"n": n})) for n in ns]
        R = [float(row.R) for row in rows]
        test = [float(row.test_exponents()[2]) for row in rows]
        active = np.array([4 in row.support for row in rows])
        axes[0].plot(np.array(ns) / L, R, color=f"C{k}", label=f"L = {L}")
        axes[0].plot(np.array(ns)[active] / L, np.array(R)[active], "o", color=f"C{k}", markersize=4)
        axes[1].plot(np.array(ns) / L, test, color=f"C{k}", label=f"L = {L}")
    axes[0].axhline(1.5, color="0.5", linestyle=":")
    axes[0].axhline(1, color="0.5", linestyle="--", linewidth=0.8)
    axes[1].axhline(0, color="0.5", linestyle="--", linewidth=0.8)
    axes[0].set(title=r"$\lim R$; dots: $I_4$ at the margin", ylabel=r"$R_\infty$")
    axes[1].set(title=r"test margin of $I_2$ per $\ln\tau$: positive iff $R_\infty>1$", ylabel="exponent")
    for ax in axes:
        ax.set(xscale="log", xlabel="n / L")
        ax.legend()
    return save_figure(fig, folder, "finite_n")


def plot_run(columns: Mapping[str, Any], events: Sequence[Mapping[str, Any]], folder: Path) -> list[Path]:
    """Loss, sub-network and scores of a simulated run, with its events as vertical lines."""
    panels: dict[str, list[str]] = {"loss": [], "sub-network": [], "scores": []}
    for name in columns:
        if name.startswith("loss"):
            panels["loss"].append(name)
        elif name in ("x", "z") or name.startswith("G_"):
            panels["sub-network"].append(name)
        elif name in ("A_12", "A_21", "A_31", "A_32", "A_11", "A_33"):
            panels["scores"].append(name)
    shown = {title: names for title, names in panels.items() if names}
    fig, axes = new_figure(1, len(shown), (4.8 * len(shown), 4.0), squeeze=False)
    keep = np.asarray(columns["tau"]) >= 1e-2  # the first steps of a solver are far smaller
    for ax, (title, names) in zip(axes[0], shown.items(), strict=True):
        for name in names:
            ax.plot(columns["tau"][keep], np.asarray(columns[name])[keep], label=name)
        for event in events:
            ax.axvline(event["time"], color="0.7", linewidth=0.8, linestyle="--")
        ax.set(xscale="log", xlabel=r"$\tau$", title=title)
        ax.legend(fontsize=8)
    axes[0][0].set_yscale("log")
    return save_figure(fig, folder, "run")
