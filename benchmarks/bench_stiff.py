"""Four stiff systems from the literature: processor time against the error reached, ours and others.

    python -m benchmarks.bench_stiff [FILE]

prints the tables, and writes them to FILE if one is given. Every solver runs at several tolerances and is given the
field and the exact Jacobian that odesys compiled. The error is that of the end state, relative to its largest entry per
state, against Radau at 1e-12. The time at an error is read off the straight line, in logarithms, between two runs.
CVODE calls back into Python: its last row has the time of these calls, measured by making as many of them, taken off,
which is what a field in machine code would leave of it. It needs scikit-sundae, and is left out without it.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from odesys import System, integrate, read_system

LITERATURE = Path(__file__).parents[1] / "tests" / "literature"
ENDS = {"robertson": 1e5, "hires": 321.8122, "oregonator": 360.0, "van_der_pol": 2000.0}
VALUES: Mapping[str, dict[str, float]] = {"van_der_pol": {"mu": 1000.0}}
STARTS: Mapping[str, dict[str, float]] = {
    "oregonator": {"x": 1.0, "y": 2.0, "z": 3.0},
    "van_der_pol": {"x": 2.0, "y": 0.0},
}
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
LEVELS = (1e-4, 1e-6, 1e-8)  # errors at which times are compared
REPEAT = 5


@dataclass(frozen=True)
class Task:
    """A system with numbers in it, and where it ends."""

    name: str
    system: System
    start: np.ndarray
    values: Mapping[str, float]
    end: float
    reference: np.ndarray

    def error(self, state: Any) -> float:
        """Largest relative error of an end state."""
        return float(np.max(np.abs(np.asarray(state) - self.reference) / np.abs(self.reference)))


def task(name: str) -> Task:
    """One of the four."""
    path = next(LITERATURE.glob(f"{name}.*"))
    read = read_system(path)
    values = {n: float(v) for n, v in read.values.items()} | VALUES.get(name, {})
    known = {n: float(v) for n, v in read.start.items()} | STARTS.get(name, {})
    start = np.array([known.get(n, 0.0) for n in read.system.names])
    tight = integrate(read.system, start, (0.0, ENDS[name]), values, method="Radau", rtol=1e-12, atol=1e-17)
    return Task(name, read.system, start, values, ENDS[name], tight.end_state)


def best_time(work: Callable[[], Any]) -> tuple[Any, float]:
    """What the work gives, and the least processor time of some repetitions."""
    found, times = work(), []
    for _ in range(REPEAT):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
        if sum(times) > 2:
            break
    return found, min(times)


def ours(given: Task, rtol: float) -> tuple[float, float]:
    """Error and time of `integrate` with its default method."""
    run, seconds = best_time(lambda: integrate(given.system, given.start, (0.0, given.end), given.values, rtol=rtol))
    return given.error(run.end_state), seconds


def scipy(method: str) -> Callable[[Task, float], tuple[float, float]]:
    """Error and time of a method of `solve_ivp` with the compiled field and Jacobian."""

    def run(given: Task, rtol: float) -> tuple[float, float]:
        compiled = given.system.compile(given.values)
        options: dict[str, Any] = {"rtol": rtol, "atol": 1e-3 * rtol * least(given), "jac": compiled.jacobian}
        work = lambda: solve_ivp(compiled, (0.0, given.end), given.start, method, **options)  # noqa: E731
        done, seconds = best_time(work)
        return given.error(done.y[:, -1]), seconds

    return run


def least(given: Task) -> float:
    """Smallest start value that is not zero, the scale of the default absolute tolerance."""
    sizes = np.abs(given.start)
    return float(min(1.0, sizes[sizes > 0].min()))


def cvode(without_calls: bool) -> Callable[[Task, float], tuple[float, float]]:
    """Error and time of CVODE (BDF) with the compiled field and Jacobian; `without_calls` takes off their time."""
    from sksundae.cvode import CVODE

    def run(given: Task, rtol: float) -> tuple[float, float]:
        compiled = given.system.compile(given.values)

        def field(t: float, y: np.ndarray, out: np.ndarray) -> None:
            out[:] = compiled(t, y)

        def jacobian(t: float, y: np.ndarray, yp: np.ndarray, out: np.ndarray) -> None:
            out[:, :] = compiled.jacobian(t, y)

        options = {"rtol": rtol, "atol": 1e-3 * rtol * least(given), "max_num_steps": 1_000_000, "jacfn": jacobian}
        solver = CVODE(field, method="BDF", **options)
        done, seconds = best_time(lambda: solver.solve(np.array([0.0, given.end]), given.start))
        if without_calls:
            n, out, slopes = given.start.size, np.empty(given.start.size), np.empty((given.start.size,) * 2)
            _, calls = best_time(lambda: [field(0.0, given.start, out) for _ in range(done.nfev)])
            _, more = best_time(lambda: [jacobian(0.0, given.start, out, slopes) for _ in range(done.njev)])
            seconds = max(seconds - calls - more, 1e-7 * n)
        return given.error(done.y[-1]), seconds

    return run


def at_error(runs: list[tuple[float, float]], wanted: float) -> float:
    """Time at which the error is as wanted, between two runs; not-a-number outside."""
    ordered = sorted((math.log(max(error, 1e-300)), math.log(seconds)) for error, seconds in runs)
    errors, times = zip(*ordered, strict=True)
    inside = errors[0] <= math.log(wanted) <= errors[-1]
    return math.exp(np.interp(math.log(wanted), errors, times)) if inside else math.nan


def main() -> str:
    """The tables as text."""
    solvers = {"odesys": ours, "Radau": scipy("Radau"), "BDF": scipy("BDF"), "LSODA": scipy("LSODA")}
    try:
        solvers |= {"CVODE": cvode(False), "CVODE, field in machine code": cvode(True)}
    except ImportError:
        print("scikit-sundae is not installed, so CVODE is left out", file=sys.stderr)
    lines = [f"# Stiff systems\n\n{__doc__.split(chr(10), 1)[0]} Written by `python -m benchmarks.bench_stiff`.\n"]
    for name in ENDS:
        given = task(name)
        found = {solver: [run(given, rtol) for rtol in TOLERANCES] for solver, run in solvers.items()}
        lines.append(f"## {name}, {given.system.dimension} states, to t = {given.end:g}\n")
        lines.append("| solver | " + " | ".join(f"ms at error {level:.0e} (ours over it)" for level in LEVELS) + " |")
        lines.append("| --- |" + " --- |" * len(LEVELS))
        mine = [at_error(found["odesys"], level) for level in LEVELS]
        for solver, runs in found.items():
            times = [at_error(runs, level) for level in LEVELS]
            cells = [f"{1e3 * t:.3g} ({m / t:.2g})" for t, m in zip(times, mine, strict=True)]
            lines.append(f"| {solver} | " + " | ".join(cells).replace("nan (nan)", "not reached") + " |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    text = main()
    print(text)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text + "\n", encoding="utf-8")
