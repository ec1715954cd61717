"""What the number of groups costs: python -m benchmarks.bench_families [--full-run]

1. One whole run (simultaneous training to t / K = 300) with K = 2 and with K = 1,000,000, on the same 22 equations with
   K a parameter; medians over runs taken in turn, so that both see the same machine.
2. One field evaluation with K = 64: the 22 equations as machine code, against the full system of all
   path scalars. Straight-line code of the full system would have tens of millions of operations and does not compile;
   it is run by the block back end, which is compiled NumPy (matrix products and one kernel over all samples).
3. With --full-run also the whole trajectory to t / K = 0.6 with both, at the same tolerance; at t / K = 0.68 thousands
   of copies of one unit switch at the same instant, which the quotient sees as one switch.

All on one thread.
"""

# ruff: noqa: E402
from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before NumPy is loaded

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from derivations.two_mixture import dynamics, setting
from numerics.flows.integrate import integrate

BIAS, OMEGA = 0.5, 0.1


def seconds(task: Callable[[], Any], repeat: int, inner: int = 1) -> float:
    """Median time of one call, over `repeat` batches of `inner` calls."""
    out = []
    for _ in range(repeat):
        began = time.perf_counter()
        for _ in range(inner):
            task()
        out.append((time.perf_counter() - began) / inner)
    return statistics.median(out)


def time_runs(groups: Sequence[int] = (2, 1_000_000), end: float = 300.0, repeat: int = 9) -> None:
    """Whole runs for several K in turn, the same scaled time."""
    flow = dynamics.family("simultaneous")
    start = flow.initial_state(OMEGA)

    def run(K: int) -> Any:
        return integrate(flow.system, start, (0.0, end * K), {"b": BIAS, "K": K}, rtol=1e-9)

    runs = {K: run(K) for K in groups}  # also warms up
    times: dict[int, list[float]] = {K: [] for K in groups}
    for _ in range(repeat):
        for K in groups:
            times[K].append(seconds(lambda K=K: run(K), 1))
    first = statistics.median(times[groups[0]])
    print(f"simultaneous training to t/K = {end:g}, rtol 1e-9, 22 variables, K a parameter")
    for K in groups:
        took, done = statistics.median(times[K]), runs[K]
        print(
            f"  K = {K:>9}: {took:.3f} s, {done.cost.field_evaluations} evaluations, {done.cost.steps} steps, "
            f"loss {done.final['loss']:.6f}, M_cv_same {done.final['M_cv_same']:.4f}, "
            f"{took / first:.2f} times K = {groups[0]}"
        )


def time_fields(K: int = 64) -> None:
    """One evaluation of the quotient and of the full system."""
    small = dynamics.family("simultaneous")
    flow = dynamics.full_flow("simultaneous", K)
    full = flow.system.compile({"b": BIAS}, "block")
    z = small.initial_state(0.4) + 0.01 * np.random.default_rng(0).normal(size=22)
    x = small.bind(K=K).lift(z)
    quick = {backend: small.compile(K=K, b=BIAS, backend=backend) for backend in ("native", "scalar")}
    gap = np.abs(small.bind(K=K).lift(quick["native"](0.0, z)) - full(0.0, x)).max()
    large = seconds(lambda: full(0.0, x), 5)
    print(f"one field evaluation with K = {K}, L = 3, one thread")
    samples = len(setting.data(K))
    print(f"  full: {flow.system.dimension} states, {samples} samples, block back end: {large * 1e3:.1f} ms")
    for backend, code in quick.items():
        took = seconds(lambda code=code: code(0.0, z), 7, 2000)
        print(f"  quotient: 22 states, {backend}: {took * 1e6:.2f} us, {large / took:.0f} times faster")
    print(f"  largest difference of the two fields: {gap:.1e}")


def time_full_run(K: int = 64, end: float = 0.6) -> None:
    """The same trajectory with both systems."""
    small, flow = dynamics.family("simultaneous"), dynamics.full_flow("simultaneous", K)
    span = (0.0, K * end)

    def run() -> Any:
        return integrate(small.system, small.initial_state(OMEGA), span, {"b": BIAS, "K": K}, rtol=1e-9)

    mine = run()
    took = seconds(run, 5)
    began = time.perf_counter()
    other = integrate(flow.system, flow.initial_state(OMEGA), span, {"b": BIAS}, rtol=1e-9, backend="block")
    large = time.perf_counter() - began
    gap = np.abs(small.bind(K=K).lift(mine.end_state) - other.end_state).max()
    print(f"the run to t/K = {end:g} with K = {K}, rtol 1e-9")
    print(
        f"  full: {large:.1f} s ({other.cost.field_evaluations} evaluations), quotient: {took:.3f} s "
        f"({mine.cost.field_evaluations}), {large / took:.0f} times faster; end states differ by {gap:.1e}"
    )


def main() -> None:
    """Run the benchmarks and print what they found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--full-run", action="store_true", help="also integrate the full system with K = 64")
    chosen = parser.parse_args()
    time_runs()
    time_fields()
    if chosen.full_run:
        time_full_run()


if __name__ == "__main__":
    main()
