"""Simultaneous training for K = 3, L = 4 to t = 600: sliding followed against a plain Runge-Kutta solver that chatters.

    python -m benchmarks.bench_sliding [FILE]

prints the table, and writes it to FILE if one is given. Every state at which the field or a gate is computed counts
once, root finding and dense output included; a plain solver computes nothing but the field, once per call.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

from derivations.two_mixture import dynamics
from numerics.flows.integrate import integrate

K, L, OMEGA, BIAS, END = 3, 4, 0.1, 0.5, 600.0
PLAIN = ((1e-6, 1e-10), (1e-8, 1e-12))
FOLLOWED = ((1e-6, 1e-10), (1e-8, 1e-12), (1e-10, 1e-14))


@dataclass(frozen=True)
class Row:
    """One run: the method, its tolerances, what it took and where it ended."""

    method: str
    rtol: float
    evaluations: int
    steps: int
    loss: float
    seconds: float
    events: str


def plain_row(rtol: float, atol: float) -> Row:
    """RK45 on the discontinuous field, as `solve_ivp` runs it."""
    reduced = dynamics.reduced("simultaneous", K, L)
    compiled = reduced.system.compile({"b": BIAS})
    began = time.perf_counter()
    done = solve_ivp(compiled, (0.0, END), np.asarray(reduced.initial_state(OMEGA), dtype=float), rtol=rtol, atol=atol)
    loss = compiled.observables(END, done.y[:, -1])["loss"]
    return Row("plain RK45", rtol, done.nfev, done.t.size - 1, loss, time.perf_counter() - began, "none")


def followed_row(rtol: float, atol: float) -> Row:
    """Event by event, slides followed (DOP853 between events), by the reference integrator."""
    reduced = dynamics.reduced("simultaneous", K, L)
    start, options = reduced.initial_state(OMEGA), {"rtol": rtol, "atol": atol, "backend": "reference"}
    run = integrate(reduced.system, start, (0.0, END), {"b": BIAS}, **options)
    events = [f"{name} off {time:.7f}" for name, time in ((e.name, e.time) for e in run.events if e.kind == "switch")]
    events += [f"{s.name} slide [{s.start:.5f}, {s.end:.5f}]" for s in run.slides]
    return Row(
        "slides followed",
        rtol,
        run.cost.state_evaluations,
        run.cost.steps,
        run.final["loss"],
        run.cost.seconds,
        ", ".join(events),
    )


def rows() -> Iterator[Row]:
    """All runs, the last the most accurate."""
    yield from (plain_row(*pair) for pair in PLAIN)
    yield from (followed_row(*pair) for pair in FOLLOWED)


def table(found: list[Row]) -> str:
    """The runs as a Markdown table; the loss is compared with that of the last one."""
    lines = [
        f"# Sliding: K = {K}, L = {L}, omega = {OMEGA}, b = {BIAS}, all weights at once, to t = {END:g}",
        "",
        "| method | rtol | evaluations | steps | final loss | gap to the last row | seconds |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    last = found[-1].loss
    lines += [
        f"| {r.method} | {r.rtol:.0e} | {r.evaluations:,} | {r.steps:,} | {r.loss:.12f} "
        f"| {abs(r.loss - last):.1e} | {r.seconds:.1f} |"
        for r in found
    ]
    return "\n".join([*lines, "", f"Events of the last row: {found[-1].events}.", ""])


def main() -> None:
    """Print the table, and save it if a file is named."""
    text = table(list(rows()))
    print(text)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
