"""A sweep of a hundred thousand points on a local Dask cluster of one and of two workers: what a second one is worth.

    python -m benchmarks.bench_sweep [FILE] [POINTS]

A point is a run of Lotka and Volterra's system to t = 20 through `integrate`. Points are sent and rows are kept as
`odesys sweep --dask` does it. Where a machine is busy with other work, elapsed time says nothing, so the speed-up is
given by processor time too: that of one worker alone over the larger of two. It is what a free core for each process
would show, as long as scheduler and client together have less to do than a worker, which the table says.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import psutil

from numerics.sweeps.store import SweepStore
from numerics.sweeps.sweep import Plan, make_plan, run_sweep
from odesys.papers import registry

POINTS = 100_000
SOURCE = """
from numerics.flows.integrate import integrate
from odesys import System
from odesys.papers.paper import Paper, Parameter, Simulation

SYSTEM = System.from_strings({"x": "x*(a - y)", "y": "y*(x - b)"})

def run(parameters, progress):
    done = integrate(SYSTEM, [1.0, 2.0], (0.0, 20.0), parameters, rtol=1e-9)
    return Simulation("run", parameters, done.final, (), {"steps": done.cost.steps}, None, {"t": [0.0]})

PAPER = Paper("hares", "Hares and lynxes", "none",
              (Parameter("a", 1.0, "birth", low=0, open_low=True), Parameter("b", 1.0, "death", low=0, open_low=True)),
              {}, {"run": run}, {})
"""


def plan_of(folder: Path, points: int) -> Plan:
    """The grid of the paper in a folder."""
    side = round(points**0.5)
    over = [f"a=lin:0.5:1.5:{side}", f"b=lin:0.5:1.5:{-(-points // side)}"]
    return make_plan(str(folder), registry.find_paper(str(folder)), "run", over, {})


def run(plan: Plan, workers: int, folder: Path) -> dict[str, float]:
    """Elapsed time, processor time of each worker, and of scheduler and client, which are this process."""
    from distributed import LocalCluster

    folder.mkdir()
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(n_workers=workers, **options) as cluster:
        ids = [psutil.Process(worker.pid) for worker in cluster.workers.values()]
        before = [sum(p.cpu_times()[:2]) for p in ids]
        began, mine = time.perf_counter(), time.process_time()
        with SweepStore(folder, plan, False) as store:
            done = run_sweep(plan, store.keep, set(), dask=cluster.scheduler_address)
        elapsed, mine = time.perf_counter() - began, time.process_time() - mine
        assert done == len(plan.points)
        taken = [sum(p.cpu_times()[:2]) - b for p, b in zip(ids, before, strict=True)]
    return {"elapsed": elapsed, "client": mine, "largest": max(taken), "all": sum(taken)}


def main(points: int = POINTS) -> str:
    """The table as text."""
    with tempfile.TemporaryDirectory() as given:
        folder = Path(given) / "hares"
        folder.mkdir()
        (folder / "__init__.py").write_text(SOURCE)
        plan = plan_of(folder, points)
        found = {workers: run(plan, workers, Path(given) / f"out{workers}") for workers in (1, 2)}
    one, two = found[1], found[2]
    lines = [f"# Sweeps on a cluster\n\n{__doc__.split(chr(10), 1)[0]} By `python -m benchmarks.bench_sweep`.\n"]
    lines += ["| workers | points | elapsed s | worker s, the larger | all workers s | scheduler and client s |"]
    lines += ["| --- |" + " --- |" * 5]
    for workers, row in found.items():
        cells = (row["elapsed"], row["largest"], row["all"], row["client"])
        lines.append(f"| {workers} | {len(plan.points)} | " + " | ".join(f"{cell:.1f}" for cell in cells) + " |")
    lines += [
        "",
        f"Speed-up by processor time: {one['largest'] / max(two['largest'], two['client']):.2f}; "
        f"by elapsed time: {one['elapsed'] / two['elapsed']:.2f} (load average {os.getloadavg()[0]:.1f} on "
        f"{os.cpu_count()} cores). A point takes {1e3 * one['all'] / len(plan.points):.2f} ms of a worker and "
        f"{1e3 * one['client'] / len(plan.points):.2f} ms of scheduler and client together.\n",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    text = main(int(sys.argv[2]) if len(sys.argv) > 2 else POINTS)
    print(text)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text + "\n", encoding="utf-8")
