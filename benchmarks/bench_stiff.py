"""Four stiff systems from the literature: processor time against the error reached, ours and others.

    python -m benchmarks.bench_stiff [FILE]

prints the tables, and writes them to FILE if one is given. Every solver runs at several tolerances and is given the
field and the exact Jacobian that odesys compiled. The error is that of the end state against Radau at 1e-12; the time
at an error is read off the straight line, in logarithms, between two runs.
CVODE calls back into Python: its last row has the time of these calls, measured by making as many of them, taken off,
which is what a field in machine code would leave of it. It needs scikit-sundae, and is left out without it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from numerics.compiled.compiled_flow import CompiledFlow
from odesys import integrate

from .work_precision import Task, best_time, literature, table

ENDS = {"robertson": 1e5, "hires": 321.8122, "oregonator": 360.0, "van_der_pol": 2000.0}
VALUES: Mapping[str, dict[str, float]] = {"van_der_pol": {"mu": 1000.0}}
STARTS: Mapping[str, dict[str, float]] = {
    "oregonator": {"x": 1.0, "y": 2.0, "z": 3.0},
    "van_der_pol": {"x": 2.0, "y": 0.0},
}
TOLERANCES = tuple(10.0**-k for k in range(2, 11))
LEVELS = (1e-4, 1e-6, 1e-8)  # errors at which times are compared


def ours(given: Task, rtol: float) -> tuple[float, float]:
    """Error and time of a run of which the end is kept, as the others are asked for."""
    flow, options = CompiledFlow(given.system), {"rtol": rtol, "method": "Rodas5P"}
    end, seconds = best_time(lambda: flow.final(given.start, (0.0, given.end), given.values, **options))
    return given.error(end), seconds


def door(given: Task, rtol: float) -> tuple[float, float]:
    """Error and time of `integrate` as it comes: it has to notice, and keeps every step."""
    run, seconds = best_time(lambda: integrate(given.system, given.start, (0.0, given.end), given.values, rtol=rtol))
    assert run.stiff_from is not None
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


def main() -> str:
    """The tables as text."""
    solvers = {
        "odesys, Rodas5P": ours,
        "odesys, integrate as it comes": door,
        "Radau": scipy("Radau"),
        "BDF": scipy("BDF"),
        "LSODA": scipy("LSODA"),
    }
    try:
        solvers |= {"CVODE": cvode(False), "CVODE, field in machine code": cvode(True)}
    except ImportError:
        print("scikit-sundae is not installed, so CVODE is left out", file=sys.stderr)
    lines = [f"# Stiff systems\n\n{__doc__.split(chr(10), 1)[0]} Written by `python -m benchmarks.bench_stiff`.\n"]
    for name, end in ENDS.items():
        given = literature(name, end, VALUES.get(name, {}), STARTS.get(name, {}), "Radau", 1e-12)
        found: dict[str, list[tuple[float, float]]] = {solver: [] for solver in solvers}
        for rtol in TOLERANCES:  # in turn, so that a busy machine is busy for all
            for solver, run in solvers.items():
                found[solver].append(run(given, rtol))
        lines += [
            f"## {name}, {given.system.dimension} states, to t = {end:g}\n",
            *table(found, LEVELS, "odesys, Rodas5P"),
            "",
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    text = main()
    print(text)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text + "\n", encoding="utf-8")
