"""Single runs of classic systems, and of two of the papers, at equal errors: ours against heyoka and SciPy.

    python -m benchmarks.bench_zoo [FILE]

prints the tables, and writes them to FILE if one is given. Only the end state is asked for and code is compiled before;
the times to compile, or to read what was compiled before, stand beside. The error is that of the end state against
heyoka's Taylor series in long doubles at 1e-18, so that no float of ours is in it. heyoka is in its default mode, for
the systems of the papers in its compact one: the flagship (two_mixture by its quotient, from t = 2 to t = 140, gates
held) and the default run of cooccurrence, which are too long for series. Without heyoka its rows are left out, and the
reference is our own run at 3e-14.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from numerics.compiled.choice import work_of
from numerics.compiled.compiled_flow import CompiledFlow
from odesys import System, integrate
from odesys.expr import graph

from . import task
from .work_precision import Task, at_error, best_time, literature, table

#: end, numbers that differ from the gallery's, start
ZOO: Mapping[str, tuple[float, dict[str, float], dict[str, float]]] = {
    "lorenz": (10.0, {}, {"x": 1.0, "y": 1.0, "z": 1.0}),
    "kepler": (50.0, {}, {"x": 1.0, "y": 0.0, "u": 0.0, "v": 1.2}),
    "henon_heiles": (100.0, {}, {"x": 0.1, "y": 0.2, "u": 0.3, "v": 0.1}),
    "brusselator": (40.0, {}, {"X": 1.0, "Y": 2.0}),
    "repressilator": (60.0, {}, {"m1": 0.0, "m2": 0.0, "m3": 0.0, "p1": 2.0, "p2": 1.0, "p3": 3.0}),
    "fitzhugh": (60.0, {}, {"x": 1.0, "y": 0.5}),
    "euler_top": (60.0, {}, {"x": 1.0, "y": 0.5, "z": 0.7}),
    "roessler": (60.0, {}, {"x": 1.0, "y": 1.0, "z": 0.0}),
    "van_der_pol": (40.0, {"mu": 2.0}, {"x": 2.0, "y": 0.0}),
    "pendulum": (60.0, {}, {}),
    "toda": (30.0, {}, {}),
    "kuramoto": (50.0, {}, {}),
    "hodgkin_huxley": (14.0, {"i": 10.0}, {}),  # a spike; in the next one heyoka's long doubles meet the 0/0 at -40 mV
    "arenstorf": (17.0652165601579625588917206249, {}, {}),
}
TOLERANCES = (*(10.0**-k for k in range(4, 14)), 3e-14)
LEVELS = (1e-6, 1e-9, 1e-11)
Runs = list[tuple[float, float]]


def ours(method: str) -> Callable[[Task], tuple[Runs, float]]:
    """Errors and times of our runs, and the time to compile, or to read kept code, at the tightest tolerance."""

    def runs(given: Task) -> tuple[Runs, float]:
        flow, span, found = CompiledFlow(given.system), (0.0, given.end), []
        began = time.process_time()
        flow.final(given.start, span, given.values, rtol=TOLERANCES[-1], method=method)
        ready = time.process_time() - began
        for rtol in TOLERANCES:
            options: dict[str, Any] = {"rtol": rtol, "atol": 1e-3 * rtol, "method": method}
            end, seconds = best_time(lambda o=options: flow.final(given.start, span, given.values, **o))  # type: ignore[misc]
            found.append((given.error(end), seconds))
        return found, ready

    return runs


def equations(given: Task) -> list[Any]:
    """A system as heyoka has it, its parameters as numbers."""
    import heyoka as hy

    symbols = {name: hy.expression(name) for name in given.system.names}
    numbers = {graph.sym(name): graph.num(value) for name, value in given.values.items()}
    nodes = graph.substitute(given.system.nodes, numbers)
    functions = {name: getattr(hy, name) for name in ("exp", "sin", "cos", "log", "tanh", "sigmoid")}
    return list(zip(symbols.values(), task.convert(nodes, symbols, functions), strict=True))


def with_reference(given: Task, begin: float = 0.0, compact: bool = False) -> Task:
    """The task with the end state by heyoka in long doubles, where it is installed."""
    if find_spec("heyoka") is None:
        return given
    import heyoka as hy

    long = np.longdouble
    tight = hy.taylor_adaptive(
        equations(given), given.start.astype(long), fp_type=long, tol=long("1e-18"), compact_mode=compact
    )
    tight.time = long(begin)
    tight.propagate_until(long(given.end))
    if not np.isfinite(tight.state).all():
        raise ArithmeticError(f"{given.name}: heyoka in long doubles has no end state, so there is no reference")
    return replace(given, reference=np.array(tight.state, dtype=float))


def heyoka(given: Task, compact: bool = False) -> tuple[Runs, float]:
    """heyoka's adaptive Taylor integrator."""
    import heyoka as hy

    pairs = equations(given)
    found, ready = [], 0.0
    for rtol in TOLERANCES:
        began = time.process_time()
        integrator = hy.taylor_adaptive(pairs, given.start.copy(), tol=rtol, compact_mode=compact)
        ready = time.process_time() - began

        def work(integrator: Any = integrator) -> np.ndarray:
            integrator.time = 0.0
            integrator.state[:] = given.start
            integrator.propagate_until(given.end)
            return np.array(integrator.state)

        end, seconds = best_time(work)
        found.append((given.error(end), seconds))
    return found, ready


def scipy(given: Task) -> tuple[Runs, float]:
    """SciPy's DOP853 with our compiled field."""
    field, found = given.system.compile(given.values), []
    for rtol in TOLERANCES:
        options: dict[str, Any] = {"rtol": rtol, "atol": 1e-3 * rtol}
        work = lambda o=options: solve_ivp(field, (0.0, given.end), given.start, "DOP853", **o).y[:, -1]  # noqa: E731
        end, seconds = best_time(work, 2)  # of tens of milliseconds each
        found.append((given.error(end), seconds))
    return found, 0.0


def flagship() -> Task:
    """Two_mixture by its quotient, gates held."""
    start, end = task.quotient_start(), task.END - task.START
    return of_paper("flagship", task.held_quotient(), start, {}, end)


def cooccurrence() -> Task:
    """The default run of cooccurrence, at infinite width."""
    from derivations.cooccurrence import PAPER, dynamics, setting

    given = PAPER.read_parameters({})
    system, eps = dynamics.mean_field(given["n"], given["L"]), setting.scales(given).epsilon
    first = dynamics.unit_start(dynamics.symmetric(given["n"], given["L"]))
    start, values = np.array([float(first[name]) for name in system.names]), {p: eps[p] for p in system.parameters}
    return of_paper("cooccurrence", system, start, values, given["tau_end"])


def of_paper(name: str, system: System, start: np.ndarray, values: Mapping[str, float], end: float) -> Task:
    """A task with our tightest run as reference."""
    tight = integrate(system, start, (0.0, end), values, method="DOP853", rtol=TOLERANCES[-1], atol=1e-17)
    return Task(name, system, start, values, end, tight.end_state)


def section(
    given: Task, solvers: Mapping[str, Callable[[Task], tuple[Runs, float]]]
) -> tuple[list[str], dict[str, Runs]]:
    """The table of a system, and the errors and times in it."""
    found = {solver: run(given) for solver, run in solvers.items()}
    runs = {solver: errors for solver, (errors, _) in found.items()}
    ready = ", ".join(f"{s} {1e3 * r:.0f}" for s, (_, r) in found.items() if r)
    head = f"## {given.name}, {given.system.dimension} states, to t = {given.end:g}\n"
    return [head, *table(runs, LEVELS, next(iter(runs))), f"\nms to compile: {ready}\n"], runs


def summary(ratios: Mapping[tuple[str, float], tuple[float, float]], work: Mapping[str, float]) -> list[str]:
    """What the ratios of our times to heyoka's are: of our series, and of the quicker of our methods."""
    series, best = zip(*ratios.values(), strict=True)
    at = " and ".join(f"{level:g}" for level in LEVELS[1:])
    slow = [
        f"{name} at {level:g} ({a:.1f}, the other method {b:.1f}; {work[name]:.0f} operations)"
        for (name, level), (a, b) in ratios.items()
        if a > 2
    ]
    return [
        f"At the errors {at} our Taylor series over heyoka: median {median(series):.2f}, largest {max(series):.2f}.",
        f"The quicker of both methods of ours: median {median(best):.2f}, largest {max(best):.2f}.",
        f"Series above twice heyoka: {', '.join(slow) or 'none'}.",
        f"Operations are those of a step's coefficients in scalar code, {median(work.values()):.0f} in the median.",
        "`auto` takes DOP853 for runs as short as these.\n",
    ]


def main() -> str:
    """The tables as text."""
    solvers = {
        "odesys, Taylor": ours("Taylor"),
        "odesys, DOP853": ours("DOP853"),
        "heyoka": heyoka,
        "SciPy, DOP853": scipy,
    }
    long = {"odesys, DOP853": ours("DOP853"), "heyoka, compact": partial(heyoka, compact=True), "SciPy, DOP853": scipy}
    if find_spec("heyoka") is None:
        print("heyoka is not installed, so it is left out", file=sys.stderr)
        del solvers["heyoka"], long["heyoka, compact"]
    lines = [f"# Classic systems\n\n{__doc__.split(chr(10), 1)[0]} By `python -m benchmarks.bench_zoo`.\n"]
    ratios: dict[tuple[str, float], tuple[float, float]] = {}
    work: dict[str, float] = {}
    for name, (end, values, start) in ZOO.items():
        given = with_reference(literature(name, end, values, start, "Taylor", 3e-14))
        rows, runs = section(given, solvers)
        lines += rows
        for level in LEVELS[1:] if "heyoka" in runs else ():
            taylor, dop853, theirs = (at_error(runs[s], level) for s in ("odesys, Taylor", "odesys, DOP853", "heyoka"))
            if math.isfinite(taylor / theirs):
                ratios[name, level] = taylor / theirs, min(taylor, dop853) / theirs
                work[name] = work_of(given.system, 1e-11)
    for given in (flagship(), cooccurrence()):
        lines += section(with_reference(given, compact=True), long)[0]
    return "\n".join(lines + summary(ratios, work) if ratios else lines)


if __name__ == "__main__":
    text = main()
    print(text)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text + "\n", encoding="utf-8")
