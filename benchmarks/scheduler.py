"""A sweep on many threads, simulated: one scheduler that needs a fixed time for every task it hands out or takes back.

    python -m benchmarks.scheduler [--measure]

prints the part of all threads' time that is spent on points, for several lengths of a batch. Points last 20 ms, with a
spread of a factor e; a thread has one more batch waiting beside the one it computes, as Dask's workers do. The time per
task is what `measured` found: processor time of a scheduler with a process of its own, over tasks that do nothing,
handed out as `numerics.sweeps.on_dask` does it. With --measure it is measured anew and used.
"""

from __future__ import annotations

import heapq
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from numerics.sweeps.on_dask import TASK_SECONDS

POINT_SECONDS, WAITING = 0.02, 2
TASKS, AT_ONCE = 3000, 16
THREADS, BATCHES = (10, 100, 1000), (0.02, 0.1, 1.0, 10.0)


def measured(tasks: int = TASKS, workers: int = 2) -> float:
    """Seconds of a scheduler's processor per task, here: scheduler and workers are processes of their own."""
    import psutil
    from distributed import Client, wait

    with tempfile.TemporaryDirectory() as folder:
        file, begin = Path(folder) / "scheduler.json", [sys.executable, "-m"]
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
        kinds = ["dask_scheduler"] + ["dask_worker"] * workers
        more = {"dask_scheduler": ["--port", "0", "--no-dashboard"], "dask_worker": ["--nthreads", "1", "--no-nanny"]}
        started: list[subprocess.Popen[bytes]] = []
        try:
            for kind in kinds:
                words = [*begin, f"distributed.cli.{kind}", "--scheduler-file", str(file), *more[kind]]
                started.append(subprocess.Popen(words, **quiet))
            while not file.exists():
                time.sleep(0.1)
            with Client(scheduler_file=str(file)) as client:
                client.wait_for_workers(workers)
                scheduler, open_ones = psutil.Process(started[0].pid), set[Any]()
                before = sum(scheduler.cpu_times()[:2])
                for number in range(tasks):
                    open_ones.add(client.submit(math.sqrt, number, pure=False))
                    if len(open_ones) >= AT_ONCE:
                        open_ones -= wait(open_ones, return_when="FIRST_COMPLETED").done
                wait(open_ones)
                return float(sum(scheduler.cpu_times()[:2]) - before) / tasks
        finally:
            for process in reversed(started):
                process.terminate()
                process.wait()


def busy_part(threads: int, batch: float, tasks: int = 20_000, task_seconds: float = TASK_SECONDS) -> float:
    """Part of the threads' time that is spent on points, from the first task to the last."""
    drawn = np.random.default_rng(1)
    points = max(1, round(batch / POINT_SECONDS))
    spread = np.sqrt(math.log(1 + (math.e - 1) / points))  # of a mean of so many
    lengths = points * POINT_SECONDS * drawn.lognormal(-(spread**2) / 2, spread, tasks)
    free, scheduler, queues, work, sent = [0.0] * threads, 0.0, list[tuple[float, int]](), 0.0, 0
    for thread in range(threads * WAITING):
        heapq.heappush(queues, (0.0, thread % threads))
    while sent < tasks:
        asked, thread = heapq.heappop(queues)
        scheduler = max(scheduler, asked) + task_seconds  # takes a result back and hands the next batch out
        free[thread] = max(free[thread], scheduler) + lengths[sent]
        work += lengths[sent]
        heapq.heappush(queues, (free[thread], thread))
        sent += 1
    return float(work / (threads * max(free)))


def main(task_seconds: float = TASK_SECONDS) -> str:
    """The table as text."""
    lines = [
        "| threads | " + " | ".join(f"batches of {b:g} s" for b in BATCHES) + " |",
        "| --- |" + " --- |" * len(BATCHES),
    ]
    for threads in THREADS:
        parts = [busy_part(threads, batch, 40 * threads, task_seconds) for batch in BATCHES]
        lines.append(f"| {threads} | " + " | ".join(f"{part:.2f}" for part in parts) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    each = measured() if "--measure" in sys.argv[1:] else TASK_SECONDS
    print(f"{1e3 * each:.3g} ms a task")
    print(main(each))
