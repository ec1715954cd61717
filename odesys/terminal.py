"""What a person sees while and after a command runs: a progress bar, tables, marks, wrapped lines, the files written.

On a terminal lines are wrapped between words and marks have colours; in a pipe lines stay whole and plain. Words are
never broken, so that a name or a command can be copied.
"""

from __future__ import annotations

import os
import sys
import textwrap
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

Progress = Callable[[str, float], None]  # told what is being done, and which fraction of it is done

PIPE_WIDTH = 120  # of tables where nobody looks
#: answer or fault -> its mark, the mark where only ASCII can be written, its colour
MARKS = {
    "holds": ("✓", "+", "green"),
    "fails": ("✗", "x", "red"),
    "undecided": ("?", "?", "yellow"),
    "untested": ("·", "-", "yellow"),
    "false": ("✗", "x", "bold red"),
    "proof": ("✗", "x", "dark_orange"),
    "constant": ("≈", "~", "yellow"),
    "misprint": ("≠", "!", "bright_black"),
    "as printed": ("✓", "+", "bold green"),
    "with corrected constants": ("≈", "~", "bold yellow"),
    "given a repaired step": ("≈", "~", "bold yellow"),
    "open": ("?", "?", "bold yellow"),
    "falls": ("✗", "x", "bold red"),
}


def silent(step: str, fraction: float) -> None:
    """Progress that says nothing.

    Parameters
    ----------
    step : str
        What is being done.
    fraction : float
        How much of it is done.

    Examples
    --------
    >>> silent("half of the runs", 0.5) is None
    True
    """


def paced(progress: Progress, seconds: float = 0.5) -> Progress:
    """Progress that may be told of every step of a loop, quick or slow, and passes on what comes `seconds` later.

    Parameters
    ----------
    progress : Progress
        What is told.
    seconds : float, optional
        The least time between two calls.

    Returns
    -------
    Progress
        A function of a step's name and the fraction that is done.

    Examples
    --------
    >>> from odesys import paced
    >>> told = paced(lambda step, fraction: print(step, fraction), seconds=0)
    >>> told("step 1", 0.5)
    step 1 0.5
    """
    last = time.monotonic()

    def tell(step: str, fraction: float) -> None:
        nonlocal last
        if time.monotonic() - last >= seconds:
            last = time.monotonic()
            progress(step, fraction)

    return tell


@contextmanager
def progress_bar(title: str) -> Iterator[Progress]:
    """A bar on stderr if that is a terminal, below the cell in a notebook, nothing otherwise.

    Parameters
    ----------
    title : str
        What is shown until the first step is named.

    Yields
    ------
    Progress
        A function of a step's name and the fraction that is done; `compare`, `integrate` and others take it.

    Examples
    --------
    >>> from odesys import progress_bar
    >>> with progress_bar("training") as progress:
    ...     progress("network 1 of 2", 0.5)
    ...     print("half")
    half
    """
    if "ipykernel" in sys.modules and hasattr(sys.stderr, "topic"):  # the stream that a kernel puts there
        with _bar_below_the_cell(title) as progress:
            yield progress
        return
    below_a_kernel = "JPY_PARENT_PID" in os.environ  # started by a cell, whose output can not be overwritten
    if below_a_kernel or not sys.stderr.isatty():
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
        task = bars.add_task(shown(title), total=None)
        yield lambda step, fraction: bars.update(task, description=shown(step), total=1.0, completed=fraction)


@contextmanager
def _bar_below_the_cell(title: str) -> Iterator[Progress]:
    """A bar of HTML that needs no widgets, drawn at most five times a second and taken away at the end."""
    import IPython.display

    screen: Any = IPython.display
    shown, last = screen.display(screen.HTML(_bar(title, None)), display_id=True), [0.0]

    def progress(step: str, fraction: float) -> None:
        if time.monotonic() - last[0] > 0.2:
            last[0] = time.monotonic()
            shown.update(screen.HTML(_bar(step, fraction)))

    try:
        yield progress
    finally:
        shown.update(screen.HTML(""))


def _bar(step: str, fraction: float | None) -> str:
    value = "" if fraction is None else f' value="{fraction:.4f}"'
    return f"<progress{value}></progress> {escape(step)}"


def shown(text: str) -> str:
    r"""A text with question marks for what a terminal would act on or can not show; line ends, tabs and blanks stay.

    >>> shown("a title\x1b[2J")
    'a title?[2J'
    """
    if text.isprintable():
        return text
    return "".join(c if c in "\n\t" or c.isprintable() or unicodedata.category(c) == "Zs" else "?" for c in text)


# ---- lines -----------------------------------------------------------------------------------------------------------


def line_width() -> int | None:
    """Columns that a person has; None in a pipe, where lines are not wrapped."""
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        return None
    return max(20, _console().width)


def wrapped(text: str, indent: int = 0, hang: int = 4) -> str:
    """A text wrapped between words: `indent` blanks before the first line, `hang` more before the others.

    >>> wrapped("stands", 4)
    '    stands'
    """
    width, first = line_width(), " " * indent
    if width is None:
        return first + text
    lines = textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=first + " " * hang, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
    return "\n".join(lines)


def say(text: str = "", indent: int = 0, hang: int = 4, mark: str = "", style: str = "") -> None:
    """Print a wrapped text, with the mark of an answer or fault in front where one is named."""
    from rich.text import Text

    sign, plain, colour = MARKS.get(mark, ("", "", ""))
    sign = sign if _written(sign) else plain
    body = shown(text.lstrip("\n"))
    line = Text(wrapped(f"{sign} {body}" if sign else body, indent, hang), style=style)
    if sign:
        line.stylize(colour, indent, indent + len(sign))
    console = _console()
    for _ in range(len(text) - len(body)):
        console.print()
    console.print(line, soft_wrap=True)


def _written(sign: str) -> bool:
    try:
        sign.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _console(width: int | None = None) -> Console:
    from rich.console import Console

    return Console(markup=False, highlight=False, emoji=False, width=width)


# ---- tables and files ------------------------------------------------------------------------------------------------


def print_table(title: str, columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """A plain table on stdout; numbers with six digits, missing ones as a dash; no word is broken."""
    from rich import box
    from rich.table import Table

    title, names = shown(title), [shown(name) for name in columns]
    cells = [[shown(_cell(cell)) for cell in row] for row in rows]
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    needed = 0
    for k, name in enumerate(names):
        longest = max(len(word) for text in (name, *(row[k] for row in cells)) for word in text.split() or [""])
        table.add_column(name, min_width=longest, no_wrap=k == 0)
        needed += 3 + (max(len(text) for text in (name, *(row[0] for row in cells))) if k == 0 else longest)
    for row in cells:
        table.add_row(*row)
    console = _console(max(needed, line_width() or PIPE_WIDTH))
    console.print(*filter(None, (title, table)), "", sep="\n", soft_wrap=False)


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "-" if value is None else str(value)


def print_files(files: Iterable[Path]) -> None:
    """Say what was written."""
    for file in files:
        print(f"wrote {shown(str(file))}")
