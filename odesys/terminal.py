"""What a person sees while and after a command runs: a progress bar, tables, the files written."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Progress = Callable[[str, float], None]  # told what is being done, and which fraction of it is done


def silent(step: str, fraction: float) -> None:
    """Progress that says nothing.

    >>> silent("half of the runs", 0.5) is None
    True
    """


@contextmanager
def progress_bar(title: str) -> Iterator[Progress]:
    """A bar on stderr if that is a terminal, nothing otherwise."""
    if not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(title, total=None)
        yield lambda step, fraction: bars.update(task, description=step, total=1.0, completed=fraction)


def print_table(title: str, columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """A plain table on stdout; numbers with six digits, missing ones as a dash."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    for name in columns:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(f"{c:.6g}" if isinstance(c, float) else "-" if c is None else str(c) for c in row))
    console = Console(markup=False, highlight=False, emoji=False, width=None if sys.stdout.isatty() else 120)
    console.print(*filter(None, (title, table)), "", sep="\n")


def print_files(files: Iterable[Path]) -> None:
    """Say what was written."""
    for file in files:
        print(f"wrote {file}")
