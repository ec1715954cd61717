"""Batches of a thousand runs at equal errors: our lanes by Taylor series and DOP853 against heyoka's batch integrator.

    python -m benchmarks.bench_batch [FILE]

prints the tables, and writes them to FILE if one is given. Starts are drawn within ten percent of that of `bench_zoo`;
the error is the largest of all end states against heyoka in long doubles, of 16 of the runs. heyoka is in its default
mode with as many lanes as it recommends, and with twice as many. Code is compiled before; times to compile, or to read
what was compiled before, stand beside.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from numerics.compiled.compiled_flow import CompiledFlow

from .bench_zoo import ZOO, Runs, equations, with_reference
from .work_precision import Task, at_error, best_time, literature

NAMES = ("lorenz", "pendulum", "kepler", "repressilator")
POINTS, CHECKED = 1000, 16
TOLERANCES = (1e-6, 1e-8, 1e-10, 1e-12, 1e-13)
LEVELS = (1e-7, 1e-9, 1e-11)


def starts_of(given: Task) -> np.ndarray:
    """A thousand starts around that of a task."""
    drawn = np.random.default_rng(11).uniform(-1, 1, (POINTS, given.start.size))
    found: np.ndarray = given.start * (1 + 0.1 * drawn)
    return found


def error_of(references: list[Task], ends: np.ndarray) -> float:
    """The largest error of the runs that have a reference."""
    return max(one.error(end) for one, end in zip(references, ends, strict=False))


def ours(method: str) -> Callable[[Task, np.ndarray, list[Task]], tuple[Runs, float]]:
    """Errors and seconds per run of our batches, and the time to compile."""

    def runs(given: Task, starts: np.ndarray, references: list[Task]) -> tuple[Runs, float]:
        flow, found, values = CompiledFlow(given.system), [], [given.values] * POINTS
        began = time.process_time()
        flow.batch(starts[:1], (0.0, given.end), values[:1], rtol=TOLERANCES[-1], method=method)
        ready = time.process_time() - began
        for rtol in TOLERANCES:
            options: dict[str, Any] = {"rtol": rtol, "atol": 1e-3 * rtol, "method": method}
            work = lambda o=options: flow.batch(starts, (0.0, given.end), values, **o)  # noqa: E731
            ends, seconds = best_time(work)
            found.append((error_of(references, ends), seconds / POINTS))
        return found, ready

    return runs


def heyoka(factor: int) -> Callable[[Task, np.ndarray, list[Task]], tuple[Runs, float]]:
    """heyoka's batch integrator with so many times the lanes that it recommends."""

    def runs(given: Task, starts: np.ndarray, references: list[Task]) -> tuple[Runs, float]:
        import heyoka as hy

        pairs, lanes, found, ready = equations(given), factor * hy.recommended_simd_size(), [], 0.0
        for rtol in TOLERANCES:
            began = time.process_time()
            batch = hy.taylor_adaptive_batch(pairs, np.zeros((given.start.size, lanes)), tol=rtol)
            ready = time.process_time() - began

            def work(batch: Any = batch) -> np.ndarray:
                ends = np.empty_like(starts)
                for k in range(0, POINTS, lanes):
                    batch.set_time(0.0)
                    batch.state[:] = starts[k : k + lanes].T
                    batch.propagate_until(given.end)
                    ends[k : k + lanes] = batch.state.T
                return ends

            ends, seconds = best_time(work)
            found.append((error_of(references, ends), seconds / POINTS))
        return found, ready

    return runs


def main(names: tuple[str, ...] = NAMES) -> str:
    """The tables as text."""
    solvers = {"odesys, Taylor": ours("Taylor"), "odesys, DOP853": ours("DOP853")}
    solvers |= {"heyoka": heyoka(1), "heyoka, twice the lanes": heyoka(2)}
    lines = [f"# Batches\n\n{__doc__.split(chr(10), 1)[0]} By `python -m benchmarks.bench_batch`.\n"]
    for name in names:
        end, values, start = ZOO[name]
        given = literature(name, end, values, start, "Taylor", 3e-14)
        starts = starts_of(given)
        references = [with_reference(replace(given, start=x)) for x in starts[:CHECKED]]
        found = {solver: run(given, starts, references) for solver, run in solvers.items()}
        lines += [f"## {name}, {given.system.dimension} states, to t = {end:g}\n"]
        lines += ["| solver | " + " | ".join(f"us a run at error {level:.0e}" for level in LEVELS) + " |"]
        lines += ["| --- |" + " --- |" * len(LEVELS)]
        best = [min(at_error(found[s][0], level) for s in solvers if s.startswith("heyoka")) for level in LEVELS]
        for solver, (runs, _) in found.items():
            times = [at_error(runs, level) for level in LEVELS]
            cells = [f"{1e6 * t:.3g} ({t / b:.2g})" for t, b in zip(times, best, strict=True)]
            lines.append(f"| {solver} | " + " | ".join(cells) + " |")
        lines.append("\nms to compile: " + ", ".join(f"{s} {1e3 * r:.0f}" for s, (_, r) in found.items()) + "\n")
    lines.append("In brackets: over the better of heyoka's two.\n")
    return "\n".join(lines)


if __name__ == "__main__":
    text = main()
    print(text)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text + "\n", encoding="utf-8")
