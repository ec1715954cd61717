"""A sweep on many threads, simulated: one scheduler that needs a fixed time for every task it hands out or takes back.

    python -m benchmarks.scheduler

prints the part of all threads' time that is spent on points, for several lengths of a batch. Points last 20 ms, with a
spread of a factor e; a thread has one more batch waiting beside the one it computes, as Dask's workers do. Nothing here
is measured; the time per task is the millisecond that Dask's own documentation names as the most a task costs.
"""

from __future__ import annotations

import heapq
import math

import numpy as np

TASK_SECONDS, POINT_SECONDS, WAITING = 1e-3, 0.02, 2
THREADS, BATCHES = (10, 100, 1000), (0.02, 0.1, 1.0, 4.0)


def busy_part(threads: int, batch: float, tasks: int = 20_000) -> float:
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
        scheduler = max(scheduler, asked) + TASK_SECONDS  # takes a result back and hands the next batch out
        free[thread] = max(free[thread], scheduler) + lengths[sent]
        work += lengths[sent]
        heapq.heappush(queues, (free[thread], thread))
        sent += 1
    return float(work / (threads * max(free)))


def main() -> str:
    """The table as text."""
    lines = [
        "| threads | " + " | ".join(f"batches of {b:g} s" for b in BATCHES) + " |",
        "| --- |" + " --- |" * len(BATCHES),
    ]
    for threads in THREADS:
        parts = [busy_part(threads, batch, 40 * threads) for batch in BATCHES]
        lines.append(f"| {threads} | " + " | ".join(f"{part:.2f}" for part in parts) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(main())
