"""`integrate`, the door everyone uses, against `solve_ivp` with a lambdified field, on Lorenz's system.

    python -m benchmarks.bench_door [FILE]

Both take DOP853 at the same tolerances to t = 10. Rows: the first call in a fresh process with machine code kept from
before, the same with an empty store, and calls from the second on, timed in turn with those of `solve_ivp`. Libraries
are loaded before the first call, SymPy's lambdify is not counted, machine code is where it is said. Processor time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

from odesys import System, integrate

START, SPAN, OPTIONS = [1.0, 1.0, 1.0], (0.0, 10.0), {"rtol": 1e-9, "atol": 1e-12}
ROUNDS, PROCESSES = 30, 5


def lorenz() -> System:
    """Lorenz's system with its numbers."""
    x, y, z = sp.symbols("x y z")
    return System.from_equations({x: 10 * (y - x), y: x * (28 - z) - y, z: x * y - sp.Rational(8, 3) * z})


def works(system: System) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """A call of `integrate` and one of `solve_ivp`."""
    field = sp.lambdify([sp.Symbol("t"), list(system.states)], list(system.rhs), modules="math")
    ours = lambda: integrate(system, START, SPAN, **OPTIONS)  # noqa: E731
    return ours, lambda: solve_ivp(field, SPAN, START, "DOP853", **OPTIONS)


def seconds(work: Callable[[], Any]) -> float:
    """Processor time of one call."""
    began = time.process_time()
    work()
    return time.process_time() - began


def measured() -> dict[str, float]:
    """Seconds of first and later calls in this process."""
    import llvmlite.binding  # noqa: F401 a library, loaded before

    import numerics.compiled.compiled_flow  # noqa: F401

    ours, theirs = works(lorenz())
    seconds(theirs)
    found = {"first": seconds(ours), "second": np.inf, "solve_ivp": np.inf}
    for _ in range(ROUNDS):
        found["second"] = min(found["second"], seconds(ours))
        found["solve_ivp"] = min(found["solve_ivp"], seconds(theirs))
    gap = np.abs(ours().end_state - theirs().y[:, -1]).max()
    return found | {"gap": float(gap)}


def in_fresh_process(store: str | None) -> dict[str, float]:
    """The same in a process of its own, its machine code kept in a folder."""
    given = os.environ | ({"XDG_CACHE_HOME": store} if store else {})
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.bench_door", "--one"], env=given, capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> str:
    """The table as text."""
    with tempfile.TemporaryDirectory() as store:
        empty = in_fresh_process(store)
        filled = [in_fresh_process(store) for _ in range(PROCESSES)]
    theirs = min(run["solve_ivp"] for run in filled)
    rows = {
        "first call, nothing kept: compiles": empty["first"],
        "first call, machine code kept": min(run["first"] for run in filled),
        "from the second call on": min(run["second"] for run in filled),
        "solve_ivp, lambdified": theirs,
    }
    lines = [f"# The default door\n\n{__doc__.split(chr(10), 1)[0]} By `python -m benchmarks.bench_door`.\n"]
    lines += ["| call | ms | over solve_ivp |", "| --- | --- | --- |"]
    lines += [f"| {name} | {1e3 * value:.3g} | {value / theirs:.2g} |" for name, value in rows.items()]
    later = sorted(run["second"] / run["solve_ivp"] for run in filled)
    lines += ["", f"Largest distance of the ends: {max(run['gap'] for run in filled):.1e}."]
    lines += [
        f"From the second call on, ratio in each of {PROCESSES} processes: {later[0]:.3f} to {later[-1]:.3f}.",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:] == ["--one"]:
        print(json.dumps(measured()))
    else:
        text = main()
        print(text)
        if len(sys.argv) > 1:
            Path(sys.argv[1]).write_text(text + "\n", encoding="utf-8")
