"""Times at equal errors: runs at several tolerances, read off between them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from odesys import System, integrate, read_system

#: the literature gallery, and systems that are only timed
PLACES = (Path(__file__).parents[1] / "tests" / "literature", Path(__file__).parent / "systems")
REPEAT = 7
ENOUGH = 2.0  # seconds of repetitions


@dataclass(frozen=True)
class Task:
    """A system with numbers in it, where it starts and ends, and its end state by a tight run."""

    name: str
    system: System
    start: np.ndarray
    values: Mapping[str, float]
    end: float
    reference: np.ndarray

    def error(self, state: Any) -> float:
        """Largest error of an end state, relative to its largest entry where an entry is smaller than a thousandth."""
        size = np.maximum(np.abs(self.reference), 1e-3 * np.abs(self.reference).max())
        return float(np.max(np.abs(np.asarray(state) - self.reference) / size))


def literature(
    name: str, end: float, values: Mapping[str, float], start: Mapping[str, float], method: str, rtol: float
) -> Task:
    """A system of the literature gallery, some of its numbers changed; `method` and `rtol` are of the reference."""
    read = read_system(next(file for place in PLACES for file in place.glob(f"{name}.*")))
    numbers = {n: float(v) for n, v in read.values.items()} | dict(values)
    known = {n: float(v) for n, v in read.start.items()} | dict(start)
    first = np.array([known.get(n, 0.0) for n in read.system.names])
    tight = integrate(read.system, first, (0.0, end), numbers, method=method, rtol=rtol, atol=1e-17)
    return Task(name, read.system, first, numbers, end, tight.end_state)


def best_time(work: Callable[[], Any], repeat: int = REPEAT) -> tuple[Any, float]:
    """What the work gives, and the least processor time of some repetitions."""
    found, times = work(), list[float]()
    while len(times) < repeat and sum(times) < ENOUGH:
        began, count = time.process_time(), 0
        while count == 0 or time.process_time() - began < 0.01:  # the clock ticks in microseconds
            work()
            count += 1
        times.append((time.process_time() - began) / count)
    return found, min(times)


def at_error(runs: list[tuple[float, float]], wanted: float) -> float:
    """Time at which the error is as wanted, on the straight line in logarithms between two runs; else not-a-number."""
    ordered = sorted((math.log(max(error, 1e-300)), math.log(seconds)) for error, seconds in runs)
    errors, times = zip(*ordered, strict=True)
    inside = errors[0] <= math.log(wanted) <= errors[-1]
    return math.exp(np.interp(math.log(wanted), errors, times)) if inside else math.nan


def time_for(runs: list[tuple[float, float]], wanted: float) -> float:
    """The same; where all runs are more precise the time of the quickest of them, infinite where none is."""
    read = at_error(runs, wanted)
    return read if not math.isnan(read) else min((s for e, s in runs if e <= wanted), default=math.inf)


def table(found: Mapping[str, list[tuple[float, float]]], levels: tuple[float, ...], mine: str) -> list[str]:
    """A row per solver: its time for each error, and ours over it; see `time_for`."""
    lines = ["| solver | " + " | ".join(f"ms at error {level:.0e} (ours over it)" for level in levels) + " |"]
    lines.append("| --- |" + " --- |" * len(levels))
    ours = [time_for(found[mine], level) for level in levels]
    for solver, runs in found.items():
        times = [time_for(runs, level) for level in levels]
        cells = [
            "not reached" if math.isinf(t) else f"{1e3 * t:.3g}" + ("" if math.isinf(m) else f" ({m / t:.2g})")
            for t, m in zip(times, ours, strict=True)
        ]
        lines.append(f"| {solver} | " + " | ".join(cells) + " |")
    return lines
