"""What all commands share: how the program ends, options with their completion, and how texts are read."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ..errors import OdesysError, ParameterError
from ..locks import holding
from ..memory import usable_memory
from ..papers import registry
from ..terminal import shown

#: base of all complaints about arguments and options; typer exports only this child of it, under all its versions
_UsageError: Any = typer.BadParameter.__bases__[0]
_INTERRUPTED = 130
LARGEST_WIDTH = 10**8
_PLACES = ("--out", "--json", "--errata", "--certificates", "--proofs", "--data")  # options that name files, folders


class Commands(TyperGroup):
    """The one place where the program ends: 0, or 2 and one sentence for a mistake, or 130 when interrupted."""

    def main(self, *args: Any, **more: Any) -> Any:
        more["standalone_mode"] = False
        try:
            code = super().main(*args, **more)
            sys.stdout.flush()
        except OdesysError as error:
            code = _complain(str(error))
        except _UsageError as error:
            code = _complain(_usage_sentence(error))
        except (KeyboardInterrupt, typer.Abort):
            code = _INTERRUPTED
        except (MemoryError, OverflowError, RecursionError) as error:
            code = _complain(_beyond(error))
        except BrokenPipeError:  # the reader has gone, as in `odesys list | head -1`
            _close_output()
            code = 1
        except OSError as error:
            code = _complain(
                f"{error.filename or 'what this command prints'} can not be used: {error.strerror or error}"
            )
            _close_output()
        if code == _INTERRUPTED:  # some versions of typer turn the interrupt into this code themselves
            typer.echo("odesys: interrupted", err=True)
        sys.exit(code if isinstance(code, int) else 0)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse options that name a place with no name, which would be taken for the current folder."""
        for option in _PLACES if not ctx.resilient_parsing else ():
            if f"{option}=" in args or (option, "") in pairwise(args):
                raise ParameterError(f"{option} has an empty name; give a place, or leave {option} out")
        return list(super().parse_args(ctx, args))

    def invoke(self, ctx: Any) -> Any:
        """Run a command; what an interrupt left behind is said in the notes on it."""
        try:
            with holding():
                return super().invoke(ctx)
        except KeyboardInterrupt as error:
            for note in getattr(error, "__notes__", ()):
                typer.echo(f"odesys: {note}", err=True)
            raise


def _close_output() -> None:
    """Nothing more is printed, not even at the end of the process."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def mend_streams() -> None:
    """A stream that is closed swallows what is printed; signs that a terminal does not know become question marks."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def mend_environment() -> None:
    """Commands draw to files, whatever backend is set; a fixed date that is no date in seconds counts as not set."""
    os.environ["MPLBACKEND"] = "Agg"
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "0")
    try:
        datetime.fromtimestamp(int(fixed) if fixed.isascii() and fixed.isdecimal() else math.inf, UTC)
    except (ValueError, OverflowError, OSError):  # matplotlib would stop at it
        del os.environ["SOURCE_DATE_EPOCH"]


def interrupt(*_: Any) -> None:
    """Being asked to end is treated like Ctrl-C: what is done is kept, nothing is left half-written."""
    raise KeyboardInterrupt


def _beyond(error: Exception) -> str:
    """What to do where a computation is larger than this machine, or than floating-point numbers."""
    if isinstance(error, MemoryError):
        return f"the memory of this machine ({usable_memory() / 2**30:.0f} GB) is not enough for this; lower the sizes"
    if isinstance(error, OverflowError):
        return "a number became larger than floating-point numbers can be; give smaller parameters"
    return "an expression is nested more deeply than it can be worked on; name parts of it, or lower the sizes"


def _complain(text: str) -> int:
    typer.echo(f"odesys: {shown(' '.join(text.split()))}", err=True)  # one line
    return 2


def _usage_sentence(error: Any) -> str:
    text = str(error.format_message()).rstrip(".")
    command = error.ctx.command_path if error.ctx else "odesys"
    return f"{text[:1].lower()}{text[1:]} (see {command} --help)"


# ---- options that several commands share -----------------------------------------------------------------------------


def complete(kind: str) -> Callable[[typer.Context, str], list[str]]:
    """Shell completion of the names a paper has: its systems, protocols, figures, parameters or claims."""

    def names(ctx: typer.Context, incomplete: str) -> list[str]:
        try:
            if kind == "papers":
                found = registry.known_names()
            else:
                paper = registry.find_paper(_paper_on_line(ctx))
                found = (
                    [f"{p.name}=" for p in paper.parameters]
                    if kind == "parameters"
                    else paper.claims()
                    if kind == "claims"
                    else list(getattr(paper, kind))
                )
        except Exception:  # a completion that fails completes nothing
            return []
        return [name for name in found if name.startswith(incomplete)]

    return names


def _paper_on_line(ctx: typer.Context) -> str:
    """The paper named so far; while the value of an option is missing only the line itself knows it."""
    word = ctx.params.get("paper") or next(iter(ctx.params.get("names") or ()), "")
    line = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")
    return word or next((w for w in line.split()[2:] if not w.startswith("-")), "")


PaperName = Annotated[
    str,
    typer.Argument(
        metavar="PAPER", autocompletion=complete("papers"), help="A name from `odesys list`, or a folder with a paper."
    ),
]
PaperNames = Annotated[
    list[str] | None,
    typer.Argument(metavar="[PAPER ...]", autocompletion=complete("papers"), help="[default: all papers]"),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Set a parameter; repeatable.", autocompletion=complete("parameters")
    ),
]
Protocol = Annotated[
    str | None,
    typer.Option("--protocol", metavar="NAME", help="[default: the first]", autocompletion=complete("protocols")),
]
JsonFile = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON.")]
OutFolder = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Folder for tables, results and plots.")]
OutFile = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write here instead of printing.")]
Format = StrEnum("Format", "text latex mathml json python")
Level = StrEnum("Level", "quick full")
ReportFormat = StrEnum("ReportFormat", "html latex")
PrintAmount = StrEnum("PrintAmount", "short full")


def read_settings(texts: Iterable[str] | None) -> dict[str, str]:
    settings: dict[str, str] = {}
    for text in texts or ():
        name, _, value = (part.strip() for part in text.partition("="))
        if not name or not value:
            raise ParameterError(f"--set {text!r} can not be read: write --set NAME=VALUE, as in --set omega=0.05")
        if name in settings:
            raise ParameterError(f"--set gives {name} twice: {settings[name]} and {value}; give it once")
        settings[name] = value
    return settings


def read_widths(text: str) -> list[int]:
    widths: list[int] = []
    shown = text if len(text) <= 60 else f"{text[:60]}..."
    for part in text.split(","):
        if not (part.strip().isdecimal() and part.strip().isascii() and len(part) < 20 and int(part) > 0):
            raise ParameterError(f"--widths {shown!r} can not be read: {part[:60]!r} is not a positive whole number")
        if int(part) in widths:
            raise ParameterError(f"--widths {shown!r} has {int(part)} twice")
        if int(part) > LARGEST_WIDTH:
            raise ParameterError(
                f"a network of width {int(part):,} has at least {int(part) * 8 / 2**30:,.0f} GB for every word, and "
                f"there are {usable_memory() / 2**30:.0f} GB; the largest width is {LARGEST_WIDTH:,}"
            )
        widths.append(int(part))
    return widths
