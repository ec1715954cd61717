"""Batches of a thousand runs at equal errors: our lanes by Taylor series and DOP853 against heyoka's batch integrator.

    python -m benchmarks.bench_batch [FILE]

prints the tables, and writes them to FILE if one is given. Starts are drawn around one, within ten percent for classic
systems and one percent for the flagship (two_mixture by its quotient, 22 states, from t = 2 to t = 140, gates held);
the error is the largest of the end states of 16 of the runs against heyoka in long doubles, relative as in `bench_zoo`,
absolute for the flagship. All solvers of a system are timed in turn, in one process; a time is the shortest of some.
heyoka has as many lanes as it recommends, in its default and compact mode, and twice as many; diffrax, where it is
installed, its Dopri8 under vmap. Code is compiled before; times to compile, or to read what was compiled before, stand
beside.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from numerics.compiled.compiled_flow import CompiledFlow
from odesys.expr import graph

from . import task
from .bench_zoo import ZOO, equations, with_reference
from .work_precision import Task, literature, time_for

NAMES = ("lorenz", "pendulum", "kepler", "repressilator")
POINTS, CHECKED, ROUNDS = 1000, 16, 5
TOLERANCES, FLAGSHIP_TOLERANCES = (1e-6, 1e-8, 1e-10, 1e-12, 1e-13), (3e-11, 1e-11, 3e-12)
FLAGSHIP_HEYOKA = (1e-11, 1e-12)  # its default mode compiles for half a minute each
LEVELS, FLAGSHIP_LEVELS = (1e-7, 1e-9, 1e-11), (2e-13,)


class Flagship(Task):
    """A task whose error is absolute."""

    def error(self, state: Any) -> float:
        """Largest error of an end state."""
        return float(np.abs(np.asarray(state) - self.reference).max())


@dataclass(frozen=True)
class Work:
    """A batch, to be run again and again: by whom, and how long it took to get ready."""

    solver: str
    run: Callable[[], np.ndarray]
    ready: float


@dataclass(frozen=True)
class Batch:
    """Starts of a task, with the references of the first of them."""

    given: Task
    begin: float
    starts: np.ndarray
    references: list[Task]

    def error(self, ends: np.ndarray) -> float:
        """The largest error of the runs that have a reference."""
        return max(one.error(end) for one, end in zip(self.references, ends, strict=False))


def batch_of(given: Task, spread: float, begin: float = 0.0) -> Batch:
    """A thousand starts around that of a task."""
    drawn = np.random.default_rng(11).uniform(-1, 1, (POINTS, given.start.size))
    starts: np.ndarray = given.start * (1 + spread * drawn)
    compact = given.start.size > 8
    references = [with_reference(replace(given, start=x), begin, compact) for x in starts[:CHECKED]]
    return Batch(given, begin, starts, references)


def ours(batch: Batch, method: str, tolerances: Sequence[float], solver: str, flow: CompiledFlow) -> list[Work]:
    """Our batches."""
    given, found, values = batch.given, [], [dict(batch.given.values)] * POINTS
    for rtol in tolerances:
        options: dict[str, Any] = {"rtol": rtol, "atol": 1e-3 * rtol, "method": method}

        def run(flow: CompiledFlow = flow, options: dict[str, Any] = options, count: int = POINTS) -> np.ndarray:
            return flow.batch(batch.starts[:count], (batch.begin, given.end), values[:count], **options)

        began = time.process_time()
        run(count=1)
        found.append(Work(solver, run, time.process_time() - began))
    return found


def heyoka(batch: Batch, factor: int, compact: bool, tolerances: Sequence[float], solver: str) -> list[Work]:
    """heyoka's batch integrator with so many times the lanes that it recommends."""
    import heyoka as hy

    given, starts, lanes, found = batch.given, batch.starts, factor * hy.recommended_simd_size(), []
    pairs = equations(given)
    for rtol in tolerances:
        began = time.process_time()
        made = hy.taylor_adaptive_batch(pairs, np.zeros((given.start.size, lanes)), tol=rtol, compact_mode=compact)

        def run(made: Any = made) -> np.ndarray:
            ends = np.empty_like(starts)
            for k in [*range(0, POINTS - lanes, lanes), POINTS - lanes]:  # the last lanes are full, too
                made.set_time(batch.begin)
                made.state[:] = starts[k : k + lanes].T
                made.propagate_until(given.end)
                ends[k : k + lanes] = made.state.T
            return ends

        found.append(Work(solver, run, time.process_time() - began))
    return found


def diffrax(batch: Batch, tolerances: Sequence[float]) -> list[Work]:
    """diffrax's Dopri8 under vmap: all runs in one call, until the last one ends."""
    if find_spec("diffrax") is None:
        return []
    import diffrax as dx
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp

    given = batch.given
    nodes = graph.substitute(given.system.nodes, {graph.sym(k): graph.num(v) for k, v in given.values.items()})
    functions = {name: getattr(jnp, name) for name in ("exp", "sin", "cos", "log", "tanh")}

    def field(t: Any, y: Any, args: Any) -> Any:
        states = dict(zip(given.system.names, y, strict=True))
        return jnp.stack([jnp.asarray(rate) for rate in task.convert(nodes, states, functions)])

    def end(start: Any, rtol: Any) -> Any:
        control = dx.PIDController(rtol=rtol, atol=1e-3 * rtol)
        term, solver, span = dx.ODETerm(field), dx.Dopri8(), (batch.begin, given.end)
        return dx.diffeqsolve(term, solver, *span, None, start, stepsize_controller=control, max_steps=100_000).ys[-1]

    all_ends, starts = jax.jit(jax.vmap(end, in_axes=(0, None))), jnp.asarray(batch.starts)
    found = []
    for rtol in tolerances:

        def run(rtol: float = rtol) -> np.ndarray:
            return np.asarray(jax.block_until_ready(all_ends(starts, rtol)))

        began = time.process_time()
        run()
        found.append(Work("diffrax, vmap", run, time.process_time() - began))
    return found


def timed(batch: Batch, works: list[Work]) -> dict[str, tuple[list[tuple[float, float]], float]]:
    """Errors and seconds per run of each solver, and its longest time to get ready; all are timed in turn."""
    errors, best = [batch.error(work.run()) for work in works], [math.inf] * len(works)
    for _ in range(ROUNDS):
        for k, work in enumerate(works):
            began = time.process_time()
            work.run()
            best[k] = min(best[k], (time.process_time() - began) / POINTS)
    found: dict[str, tuple[list[tuple[float, float]], float]] = {}
    for work, error, seconds in zip(works, errors, best, strict=True):
        runs, ready = found.get(work.solver, ([], 0.0))
        found[work.solver] = ([*runs, (error, seconds)], max(ready, work.ready))
    return found


def classic(name: str) -> tuple[Batch, list[Work]]:
    """A system of the gallery."""
    end, values, start = ZOO[name]
    batch = batch_of(literature(name, end, values, start, "Taylor", 3e-14), 0.1)
    flow = CompiledFlow(batch.given.system)
    works = [w for m in ("Taylor", "DOP853") for w in ours(batch, m, TOLERANCES, f"odesys, {m}", flow)]
    works += heyoka(batch, 1, False, TOLERANCES, "heyoka") + heyoka(batch, 1, True, TOLERANCES, "heyoka, compact")
    works += heyoka(batch, 2, False, TOLERANCES, "heyoka, twice the lanes")
    return batch, works + diffrax(batch, TOLERANCES)


def flagship() -> tuple[Batch, list[Work]]:
    """Two_mixture by its quotient; heyoka has no gates, so they are held; our run that watches them stands beside."""
    from derivations.two_mixture import dynamics

    start = task.quotient_start()
    given = Flagship("flagship", task.held_quotient(), start, {}, task.END, start)
    batch = batch_of(given, 0.01, task.START)
    works = ours(batch, "DOP853", FLAGSHIP_TOLERANCES, "odesys, DOP853", CompiledFlow(given.system))
    gated = dynamics.reduced("simultaneous").system
    watching = replace(batch, given=replace(given, system=gated, values={"b": task.BIAS}))
    works += ours(watching, "DOP853", FLAGSHIP_TOLERANCES, "odesys, DOP853, gates watched", CompiledFlow(gated))
    works += heyoka(batch, 1, False, FLAGSHIP_HEYOKA, "heyoka")
    works += heyoka(batch, 1, True, FLAGSHIP_HEYOKA, "heyoka, compact")
    works += heyoka(batch, 2, False, FLAGSHIP_HEYOKA, "heyoka, twice the lanes")
    return batch, works + heyoka(batch, 2, True, FLAGSHIP_HEYOKA, "heyoka, compact, twice the lanes")


def section(batch: Batch, works: list[Work], levels: Sequence[float]) -> list[str]:
    """The table of a system."""
    found, given = timed(batch, works), batch.given
    lines = [f"## {given.name}, {given.system.dimension} states, to t = {given.end:g}\n"]
    lines += ["| solver | " + " | ".join(f"us a run at error {level:.0e}" for level in levels) + " | ms to compile |"]
    lines += ["| --- |" + " --- |" * (len(levels) + 1)]
    best = [min(time_for(found[s][0], level) for s in found if s.startswith("heyoka")) for level in levels]
    for solver, (runs, ready) in found.items():
        times = [time_for(runs, level) for level in levels]
        cells = [
            "not reached" if math.isinf(t) else f"{1e6 * t:.3g} ({t / b:.2g})" for t, b in zip(times, best, strict=True)
        ]
        lines.append(f"| {solver} | " + " | ".join(cells) + f" | {1e3 * ready:.0f} |")
    return [*lines, ""]


def main(names: tuple[str, ...] = NAMES) -> str:
    """The tables as text."""
    lines = [f"# Batches\n\n{__doc__.split(chr(10), 1)[0]} By `python -m benchmarks.bench_batch`.\n"]
    lines += section(*flagship(), FLAGSHIP_LEVELS)
    for name in names:
        lines += section(*classic(name), LEVELS)
    lines.append("In brackets: over the quickest of heyoka's.\n")
    return "\n".join(lines)


if __name__ == "__main__":
    text = main()
    print(text)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text + "\n", encoding="utf-8")
