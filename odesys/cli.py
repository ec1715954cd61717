"""The command line: each command reads its options, asks the paper, and prints or writes what comes back.

Nothing heavy is imported before a command needs it, and nothing typed by the user is run as code.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from . import __version__, output, papers
from .errors import OdesysError, ParameterError
from .terminal import print_files, print_table, progress_bar

if TYPE_CHECKING:
    from .system import System

#: base of all complaints about arguments and options; typer exports only this child of it, under all its versions
_UsageError: Any = typer.BadParameter.__bases__[0]
_EVENTS_SHOWN = 12
_INTERRUPTED = 130


class _Commands(TyperGroup):
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
        except BrokenPipeError:  # the reader has gone, as in `odesys list | head -1`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 1
        if code == _INTERRUPTED:  # some versions of typer turn the interrupt into this code themselves
            typer.echo("odesys: interrupted", err=True)
        sys.exit(code if isinstance(code, int) else 0)


def _complain(text: str) -> int:
    line = " ".join(text.split())  # one line, and nothing in it that a terminal would act on
    typer.echo(f"odesys: {''.join(c if c.isprintable() else '?' for c in line)}", err=True)
    return 2


def _usage_sentence(error: Any) -> str:
    text = str(error.format_message()).rstrip(".")
    command = error.ctx.command_path if error.ctx else "odesys"
    return f"{text[:1].lower()}{text[1:]} (see {command} --help)"


app = typer.Typer(
    cls=_Commands, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Closed dynamical systems of transformer training: derived, simulated, compared with real networks.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"odesys {__version__}")
        raise typer.Exit


_Version = Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")]


@app.callback()
def _options(version: _Version = False) -> None: ...


# ---- options that several commands share -----------------------------------------------------------------------------

PaperName = Annotated[str, typer.Argument(metavar="PAPER", help="A name from `odesys list`, or a folder with a paper.")]
Settings = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Set a parameter; repeatable.")]
JsonFile = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON.")]
OutFolder = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Folder for tables, results and plots.")]
OutFile = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write here instead of printing.")]
Format = StrEnum("Format", "text latex mathml json python")
Level = StrEnum("Level", "quick full")


def _read_settings(texts: Iterable[str] | None) -> dict[str, str]:
    settings: dict[str, str] = {}
    for text in texts or ():
        name, _, value = (part.strip() for part in text.partition("="))
        if not name or not value:
            raise ParameterError(f"--set {text!r} can not be read: write --set NAME=VALUE, as in --set omega=0.05")
        if name in settings:
            raise ParameterError(f"--set gives {name} twice: {settings[name]} and {value}; give it once")
        settings[name] = value
    return settings


def _read_widths(text: str) -> list[int]:
    widths: list[int] = []
    for part in text.split(","):
        if not (part.strip().isdecimal() and part.strip().isascii() and len(part) < 20 and int(part) > 0):
            raise ParameterError(f"--widths {text!r} can not be read: {part!r} is not a positive whole number")
        if int(part) in widths:
            raise ParameterError(f"--widths {text!r} has {int(part)} twice")
        widths.append(int(part))
    return widths


def _save(result: Mapping[str, Any], json: Path | None, out: Path | None, plot: Callable[[Path], Any] | None,
          columns: Mapping[str, Any] | None = None) -> None:
    """Write what was computed; plots come last, so that a run is not lost if they fail."""
    if json:
        output.write_json(json, result)
    if out:
        with output.staged(out) as tables:
            output.write_json(tables.folder / "result.json", result)
            if columns is not None:
                output.write_csv(tables.folder / "trajectory.csv", columns)
                output.write_npz(tables.folder / "trajectory.npz", columns)
        with output.staged(out) as plots:
            if plot is not None:
                plot(plots.folder)
        print_files(tables.files + plots.files)


# ---- commands --------------------------------------------------------------------------------------------------------


@app.command("list")
def list_papers(json: JsonFile = None) -> None:
    """Papers, their systems, protocols, figures and claims."""
    output.prepare(None, json)
    found = papers.all_papers()
    lists = [[", ".join(names) for names in (p.systems, p.protocols, p.figures)] for p in found]
    rows = [(p.name, p.title, *names, len(p.claims())) for p, names in zip(found, lists, strict=True)]
    print_table("", ("paper", "title", "systems", "protocols", "figures", "claims"), rows)
    if json:
        output.write_json(json, {"papers": [papers.describe(p) for p in found]})


@app.command()
def derive(
    paper: PaperName,
    quotient: Annotated[bool, typer.Option("--quotient", help="Reduce by the symmetries.")] = False,
    system: Annotated[str | None, typer.Option("--system", metavar="NAME", help="[default: full]")] = None,
    settings: Settings = None,
    form: Annotated[Format, typer.Option("--format", help="latex to a .tex file is a whole document.")] = Format.text,
    out: OutFile = None,
    json: JsonFile = None,
) -> None:
    """Derive a closed system from the model and the data; --set K=symbol leaves K open where the paper allows it."""
    chosen = papers.find_paper(paper)
    if quotient and system not in (None, "quotient"):
        raise ParameterError(f"--quotient and --system {system} ask for two systems; give one of them")
    parameters = chosen.read_parameters(_read_settings(settings), symbols=True)
    # a parameter left open has no full system to list: its size would depend on it
    left_open = any(isinstance(parameters[p.name], str) and p.kind is not str for p in chosen.parameters)
    name = system or ("quotient" if quotient or left_open else "full")
    build = papers.pick(chosen, "system", name, chosen.systems)
    output.prepare(out, json)
    with progress_bar(f"deriving {chosen.name}"):
        start = time.perf_counter()
        built = build(parameters)
        seconds = time.perf_counter() - start
        text = _write_system(built, form, document=out is not None and out.suffix == ".tex")
    if out:
        print_files([output.write_text(out, text)])
    else:
        typer.echo(text.rstrip("\n"))
    if json:
        output.write_json(json, {
            "paper": chosen.name, "system": name, "kind": built.kind, "parameters": parameters, "seconds": seconds,
            "dimension": built.dimension, "states": list(built.names), "free_parameters": list(built.parameters),
        })


def _write_system(system: System, form: Format, document: bool) -> str:
    from . import latex, serialise

    writers = {
        Format.text: latex.system_text, Format.mathml: latex.system_mathml,
        Format.json: serialise.system_to_json, Format.python: serialise.system_to_python,
    }
    return latex.system_latex(system, document=document) if form == Format.latex else writers[form](system)


@app.command()
def simulate(
    paper: PaperName,
    protocol: Annotated[str | None, typer.Option("--protocol", metavar="NAME", help="[default: the first]")] = None,
    settings: Settings = None,
    out: OutFolder = None,
    json: JsonFile = None,
) -> None:
    """Run a training protocol on the closed system."""
    chosen = papers.find_paper(paper)
    run = papers.pick(chosen, "protocol", protocol or next(iter(chosen.protocols), ""), chosen.protocols)
    parameters = chosen.read_parameters(_read_settings(settings))
    output.prepare(out, json, ("trajectory.csv", "trajectory.npz", "result.json"))
    with progress_bar(f"simulating {chosen.name}") as progress:
        done = run(parameters, progress)
    print_table(f"{chosen.name}, {done.protocol}", ("observable", "final value"), done.final.items())
    slides = any("end" in e for e in done.events)  # a slide is an interval of time, the others happen at once
    events = [(e["time"], *([e.get("end")] if slides else ()), e["kind"], e["name"]) for e in done.events]
    if events:
        left = f", the first {_EVENTS_SHOWN} of {len(events)}" if len(events) > _EVENTS_SHOWN else ""
        columns = ("time", *(["until"] if slides else ()), "kind", "name")
        print_table(f"events{left}", columns, events[:_EVENTS_SHOWN])
    print_table("cost", (*done.cost, "invariant drift"), [(*done.cost.values(), done.invariant_drift)])
    if done.note:
        typer.echo(f"note: {done.note}")
    _save(done.as_json(chosen.name), json, out, done.plot, done.columns)


@app.command()
def compare(
    paper: PaperName,
    widths: Annotated[str, typer.Option("--widths", metavar="M,M,...", help="Widths of the networks.")] = "64,256,1024",
    seeds: Annotated[int, typer.Option("--seeds", metavar="N", min=1, help="Networks trained at each width.")] = 8,
    settings: Settings = None,
    out: OutFolder = None,
    json: JsonFile = None,
) -> None:
    """Theory against trained networks of finite width."""
    chosen = papers.find_paper(paper)
    if chosen.compare is None:
        raise OdesysError(f"{chosen.name} has no comparison with finite width")
    sizes = _read_widths(widths)
    parameters = chosen.read_parameters(_read_settings(settings))
    output.prepare(out, json, ("result.json",))
    with progress_bar(f"comparing {chosen.name}") as progress:
        done = chosen.compare(sizes, seeds, parameters, progress)
    result = done.as_json(chosen.name)
    rows = [[row[c] for c in ("width", "mean", "low", "high")] for row in result["deviation"]]
    print_table(f"{chosen.name}: distance of networks to the theory", ("width", "mean", "low", "high"), rows)
    if result["exponent"] is not None:
        print_table("", ("fitted exponent", "low", "high"), [[result["exponent"][c] for c in ("value", "low", "high")]])
    _save(result, json, out, done.plot)


@app.command()
def figures(
    paper: PaperName,
    fig: Annotated[str | None, typer.Option("--fig", metavar="ID", help="One figure [default: all].")] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="[default: figures/PAPER]")] = None,
    json: JsonFile = None,
) -> None:
    """Draw the figures of a paper again."""
    chosen = papers.find_paper(paper)
    wanted = chosen.figures if fig is None else {fig: papers.pick(chosen, "figure", fig, chosen.figures)}
    folder = out or Path("figures") / chosen.name
    output.prepare(folder, json, ())
    drawn = []
    for name, figure in wanted.items():
        with progress_bar(f"drawing {name}") as progress, output.staged(folder) as stage:
            figure.draw(stage.folder, progress)
        print_files(stage.files)
        drawn.append({"id": name, "title": figure.title, "files": stage.files})
    if json:
        output.write_json(json, {"paper": chosen.name, "figures": drawn})


@app.command()
def verify(
    names: Annotated[list[str] | None, typer.Argument(metavar="[PAPER ...]", help="[default: all papers]")] = None,
    claim: Annotated[list[str] | None, typer.Option("--claim", metavar="ID", help="Only this; repeatable.")] = None,
    level: Annotated[Level, typer.Option("--level", help="quick leaves out the long checks.")] = Level.quick,
    mutations: Annotated[bool, typer.Option("--mutations", help="Run the claims on broken systems too.")] = False,
    workers: Annotated[int | None, typer.Option("--workers", metavar="N", min=1, help="[default: all cores]")] = None,
    errata: Annotated[Path | None, typer.Option("--errata", metavar="FILE", help="Errata as .md or .tex.")] = None,
    certificates: Annotated[Path | None, typer.Option("--certificates", metavar="DIR",
                                                      help="Write certificates for tools/check_*.")] = None,
    json: JsonFile = None,
) -> None:
    """Check the claims of papers.

    Exit code 1 if a claim does not come out as expected. With --mutations also if a claim keeps its verdict on a broken
    system that it reads and the book gives no reason why that is harmless, if it notices no mutation and the book does
    not say why, or if a reason is given for a claim that does notice.
    """
    from .verification import run_command
    from .workers import cores

    output.prepare(errata, json)
    chosen = ({name: papers.find_paper(name) for name in names} if names
              else {paper.name: paper for paper in papers.all_papers()})
    workers = workers or cores()
    if not run_command(chosen, claim or [], level.value, mutations, errata, json, workers, certificates):
        raise typer.Exit(1)


def main() -> None:
    """Entry point of the command `odesys`."""
    app(prog_name="odesys")
