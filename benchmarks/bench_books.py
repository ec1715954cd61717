"""`odesys verify` of all five books, quick, everything measured anew: processor time with one worker and with two.

    python -m benchmarks.bench_books [FILE]

Rows: each book by a command of its own, then all five by one command, which loads libraries once; the latter with one
worker and with two, where processor time is that of all processes together. Machine code is kept from a run before
(`--empty` starts with an empty store in place of it: what is compiled is then counted, once). The limit is about the
command for all five.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from odesys.papers.registry import known_names

LIMIT = 120.0  # seconds of processor time, all five


def run(arguments: list[str], store: str | None = None) -> tuple[float, float]:
    """Processor time of a command with all its processes, and how long it took."""
    given = {**os.environ, "ODESYS_MEASUREMENTS": "anew", "OMP_NUM_THREADS": "1"}
    given.pop("PYTHONDONTWRITEBYTECODE", None)  # compiled Python is kept, as it is by default
    if store is not None:
        given["ODESYS_CACHE"] = store
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "odesys", "verify", *arguments], env=given, stdout=subprocess.DEVNULL, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return spent, time.perf_counter() - began


def main(arguments: list[str]) -> None:
    """Print the table, or write it to a file."""
    empty = "--empty" in arguments
    files = [name for name in arguments if name != "--empty"]
    papers = sorted(known_names())
    with tempfile.TemporaryDirectory() as folder:
        store = folder if empty else None
        rows = [] if empty else [(paper, *run([paper, "--workers", "1"])) for paper in papers]
        for workers in (1,) if empty else (1, 2):
            rows.append((f"all five, {workers} worker{'s' * (workers > 1)}", *run(["--workers", str(workers)], store)))
    lines = [
        "# The five books",
        "",
        "`odesys verify`, quick, everything measured anew. By `python -m benchmarks.bench_books`"
        + (" `--empty`: nothing is compiled before." if empty else ", machine code kept from before."),
        "",
        "| books | processor time, s | elapsed, s |",
        "| --- | --- | --- |",
        *(f"| {name} | {spent:.1f} | {elapsed:.1f} |" for name, spent, elapsed in rows),
        "",
        f"Load at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; {LIMIT:g} s are asked for.",
        "",
    ]
    text = "\n".join(lines)
    if files:
        Path(files[0]).write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
