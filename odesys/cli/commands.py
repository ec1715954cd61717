"""The command line: each command reads its options, asks the paper, and prints or writes what comes back.

Nothing heavy is imported before a command needs it, and nothing typed by the user is run as code.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import __version__, files
from ..errors import OdesysError, ParameterError
from ..expr import gc_pause
from ..memory import limit_memory
from ..papers import registry
from ..terminal import print_files, print_table, progress_bar, shown
from .options import (
    Commands,
    Format,
    JsonFile,
    Level,
    OutFile,
    OutFolder,
    PaperName,
    PaperNames,
    PrintAmount,
    Protocol,
    ReportFormat,
    Settings,
    complete,
    interrupt,
    mend_environment,
    mend_streams,
    read_settings,
    read_widths,
)

if TYPE_CHECKING:
    from ..expr.indexed import IndexedSystem
    from ..expr.system import System
    from ..papers.paper import Paper, Simulation

_EVENTS_SHOWN = 12
MOST_SEEDS, MOST_DRAWS, MOST_WORKERS, MOST_SEED = 10**6, 10**5, 1024, 2**63 - 1

app = typer.Typer(
    cls=Commands,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Closed dynamical systems of transformer training: derived, verified, compared with real networks.

    \b
    Examples:
        odesys list
        odesys report two_mixture --out report      # one page: equations, verdicts, figures
        odesys derive two_mixture --quotient --format latex
        odesys new mine && odesys verify ./mine     # a paper of your own
        odesys --install-completion                 # papers, systems and options with the tab key
    """,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"odesys {__version__}")
        raise typer.Exit


_Version = Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")]


@app.callback()
def _options(version: _Version = False) -> None: ...


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _papers(names: Iterable[str] | None) -> dict[str, Paper]:
    """The papers asked for by the words they were asked with; all of them where none is named."""
    chosen = {name: registry.find_paper(name) for name in names or ()}
    chosen = chosen or {paper.name: paper for paper in registry.all_papers()}
    if not chosen:
        raise OdesysError("no paper is installed; name a folder with one, such as `odesys new mine` makes")
    return chosen


def _command_line() -> str:
    import shlex

    return shlex.join(["odesys", *sys.argv[1:]])


def _save(
    result: Mapping[str, Any],
    json: Path | None,
    out: Path | None,
    plot: Callable[[Path], Any] | None,
    columns: Mapping[str, Any] | None = None,
) -> None:
    """Write what was computed; plots come last, so that a run is not lost if they fail."""
    if json:
        files.write_json(json, result)
    if out:
        with files.staged(out) as tables:
            files.write_json(tables.folder / "result.json", result)
            if columns is not None:
                files.write_csv(tables.folder / "trajectory.csv", columns)
                files.write_npz(tables.folder / "trajectory.npz", columns)
        print_files(tables.files)
        with files.staged(out) as plots:
            if plot is not None:
                plot(plots.folder)
        print_files(plots.files)


# ---- commands --------------------------------------------------------------------------------------------------------


@app.command("list")
def list_papers(names: PaperNames = None, json: JsonFile = None) -> None:
    """The papers in one line each; with a name, its systems, protocols, parameters, figures and claims.

    \b
    Examples: odesys list
              odesys list two_mixture --json list.json
    """
    from .overview import print_paper, print_papers

    files.prepare(None, json)
    found = _papers(names)
    if names:
        for word, paper in found.items():
            print_paper(paper, word)
    else:
        print_papers(list(found.values()))
    if json:
        files.write_json(json, {"papers": [registry.describe(p) for p in found.values()]})


@app.command()
def derive(
    paper: PaperName,
    quotient: Annotated[bool, typer.Option("--quotient", help="Reduce by the symmetries.")] = False,
    system: Annotated[
        str | None,
        typer.Option("--system", metavar="NAME", help="[default: what list shows]", autocompletion=complete("systems")),
    ] = None,
    settings: Settings = None,
    form: Annotated[
        Format | None, typer.Option("--format", help="[default: text]; latex to a .tex file is a whole document.")
    ] = None,
    out: OutFile = None,
    json: JsonFile = None,
) -> None:
    """Derive a closed system from the model and the data; --set K=symbol leaves K open where the paper allows it.

    With no option it shows which systems there are and how large they are. Any option derives: the paper's default
    system, unless --system or --quotient names another.

    \b
    Examples: odesys derive two_mixture
              odesys derive two_mixture --quotient
              odesys derive two_mixture --set K=3 --format latex --out system.tex
    """
    chosen = registry.find_paper(paper)
    if quotient and system not in (None, "quotient"):
        raise ParameterError(f"--quotient and --system {system} ask for two systems; give one of them")
    parameters = chosen.read_parameters(read_settings(settings), symbols=True)
    if not (quotient or system or settings or form or out or json):
        _show_sizes(paper, chosen, parameters)
        return
    name = system or ("quotient" if quotient else chosen.default)
    build = registry.pick(chosen, "system", name, chosen.systems)
    files.prepare(out, json)
    with progress_bar(f"deriving {chosen.name}"):
        start = time.perf_counter()
        built = build(parameters)
        seconds = time.perf_counter() - start
        text = _write_system(built, form or Format.text, document=out is not None and out.suffix == ".tex")
    if out:
        print_files([files.write_text(out, text)])
    else:
        typer.echo(shown(text.rstrip("\n")))
    if json:
        files.write_json(
            json,
            {
                "paper": chosen.name,
                "system": name,
                "kind": built.kind,
                "parameters": parameters,
                "seconds": seconds,
                "dimension": built.dimension,
                "states": list(built.names),
                "free_parameters": list(built.parameters),
            },
        )


def _show_sizes(word: str, chosen: Paper, parameters: Mapping[str, Any]) -> None:
    from ..papers.sizes import system_sizes
    from .overview import print_sizes

    if not chosen.systems:
        raise OdesysError(f"{chosen.name} has no systems")
    with progress_bar(f"deriving {chosen.name}") as progress:
        sizes = system_sizes(chosen, parameters, registry.source_folder(word), progress)
    print_sizes(chosen, word, sizes)


def _write_system(system: System | IndexedSystem, form: Format, document: bool) -> str:
    from ..expr.indexed import IndexedSystem
    from ..jit import serialise
    from ..tex import latex

    if isinstance(system, IndexedSystem):
        return _write_indexed(system, form, document)
    writers = {
        Format.text: latex.system_text,
        Format.mathml: latex.system_mathml,
        Format.json: serialise.system_to_json,
        Format.python: serialise.system_to_python,
    }
    return latex.system_latex(system, document=document) if form == Format.latex else writers[form](system)


def _write_indexed(system: IndexedSystem, form: Format, document: bool) -> str:
    from ..tex import indexed

    if form == Format.latex:
        return indexed.indexed_latex(system, document=document)
    if form in (Format.text, Format.mathml):
        return indexed.indexed_text(system) if form == Format.text else indexed.indexed_mathml(system)
    sizes = " and ".join(system.sizes.values())
    raise ParameterError(
        f"equations for every {sizes} are formulas, --format text, latex or mathml; for {form.value} set numbers"
    )


@app.command()
def simulate(
    paper: PaperName,
    protocol: Protocol = None,
    settings: Settings = None,
    out: OutFolder = None,
    json: JsonFile = None,
) -> None:
    """Run a training protocol on the closed system.

    \b
    Example: odesys simulate two_mixture --set omega=0.05 --out run
    """
    chosen = registry.find_paper(paper)
    run = registry.pick(chosen, "protocol", protocol or next(iter(chosen.protocols), ""), chosen.protocols)
    parameters = chosen.read_parameters(read_settings(settings))
    files.prepare(out, json, ("trajectory.csv", "trajectory.npz", "result.json"))
    with progress_bar(f"simulating {chosen.name}") as progress:
        done = run(parameters, progress)
    _print_final(chosen.name, done)
    slides = any("end" in e for e in done.events)  # a slide is an interval of time, the others happen at once
    events = [(e["time"], *([e.get("end")] if slides else ()), e["kind"], e["name"]) for e in done.events]
    if events:
        left = f", the first {_EVENTS_SHOWN} of {len(events)}" if len(events) > _EVENTS_SHOWN else ""
        columns = ("time", *(["until"] if slides else ()), "kind", "name")
        print_table(f"events{left}", columns, events[:_EVENTS_SHOWN])
    print_table("cost", (*done.cost, "invariant drift"), [(*done.cost.values(), done.invariant_drift)])
    if done.note:
        typer.echo(shown(f"note: {done.note}"))
    _save(done.as_json(chosen.name), json, out, done.plot, done.columns)


def _print_final(paper: str, done: Simulation) -> None:
    """The final observables, with those of descent beside them where it was run."""
    beside = done.descent
    told = done.meanings
    columns = (
        "observable",
        "final value",
        *([f"descent, rate {beside['rate']:g}"] if beside else ()),
        *(["what it is"] if told else ()),
    )
    rows = [
        (name, value, *([beside["final"].get(name)] if beside else ()), *([told.get(name, "")] if told else ()))
        for name, value in done.final.items()
    ]
    print_table(f"{paper}, {done.protocol}", columns, rows)


@app.command()
def compare(
    paper: PaperName,
    widths: Annotated[str | None, typer.Option("--widths", metavar="M,M,...", help="[default: the paper's]")] = None,
    seeds: Annotated[
        int | None, typer.Option("--seeds", metavar="N", min=1, max=MOST_SEEDS, help="Networks trained at each width.")
    ] = None,
    settings: Settings = None,
    out: OutFolder = None,
    json: JsonFile = None,
) -> None:
    """Theory against trained networks of finite width; after an interruption the same command goes on.

    \b
    Example: odesys compare two_mixture --widths 400,1600 --seeds 20 --out compare
    """
    chosen = registry.find_paper(paper)
    if chosen.compare is None:
        raise OdesysError(f"{chosen.name} has no comparison with finite width")
    sizes = list(chosen.widths) if widths is None else read_widths(widths)
    parameters = chosen.read_parameters(read_settings(settings))
    files.prepare(out, json, ("result.json",))
    with progress_bar(f"comparing {chosen.name}") as progress:
        done = chosen.compare(sizes, seeds or chosen.seeds, parameters, progress)
    result = done.as_json(chosen.name)
    rows = [[row[c] for c in ("width", "mean", "low", "high")] for row in result["deviation"]]
    print_table(f"{chosen.name}: distance of networks to the theory", ("width", "mean", "low", "high"), rows)
    if result["exponent"] is not None:
        print_table("", ("fitted exponent", "low", "high"), [[result["exponent"][c] for c in ("value", "low", "high")]])
    if result.get("explained"):
        typer.echo(shown(result["explained"]))
    _save(result, json, out, done.plot)


@app.command()
def figures(
    paper: PaperName,
    fig: Annotated[
        list[str] | None,
        typer.Option(
            "--fig",
            metavar="ID",
            help="Only this; repeatable [default: all but proof].",
            autocompletion=complete("figures"),
        ),
    ] = None,
    level: Annotated[Level, typer.Option("--level", help="quick leaves out the long figures.")] = Level.quick,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="PATH", help="Your own data, for figures that take them.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="[default: figures/PAPER]")] = None,
    json: JsonFile = None,
) -> None:
    """Draw the figures of a paper again.

    \b
    Examples: odesys figures two_mixture --fig 1 --fig 2 --out figures
              odesys figures benign_overfitting --fig 2 --data mnist.npz
    """
    chosen = registry.find_paper(paper)
    shown = ("quick", "full") if level is Level.full else ("quick",)  # the proof graph, "never", only by its name
    usual = [name for name, figure in chosen.figures.items() if figure.level in shown]
    wanted = {name: registry.pick(chosen, "figure", name, chosen.figures) for name in fig or usual}
    others = [name for name, figure in wanted.items() if not figure.own_data]
    if data is not None and others:
        taking = ", ".join(name for name, figure in chosen.figures.items() if figure.own_data) or "none"
        raise ParameterError(f"figure {others[0]} takes no --data; those of {chosen.name} that do: {taking}")
    own = {} if data is None else {"data": data}
    folder = out or Path("figures") / chosen.name
    files.prepare(folder, json, ())
    drawn = []
    for name, figure in wanted.items():
        with progress_bar(f"drawing {name}") as progress, files.staged(folder) as stage:
            figure.draw(stage.folder, progress, **own)
        print_files(stage.files)
        drawn.append({"id": name, "title": figure.title, "files": stage.files})
    if json:
        files.write_json(json, {"paper": chosen.name, "figures": drawn})


@app.command()
def verify(
    names: PaperNames = None,
    claim: Annotated[
        list[str] | None,
        typer.Option("--claim", metavar="ID", help="Only this; repeatable.", autocompletion=complete("claims")),
    ] = None,
    level: Annotated[Level, typer.Option("--level", help="quick leaves out the long checks.")] = Level.quick,
    mutations: Annotated[bool, typer.Option("--mutations", help="Run the claims on broken systems too.")] = False,
    redraw: Annotated[
        int,
        typer.Option(
            "--redraw",
            metavar="N",
            min=0,
            max=MOST_DRAWS,
            help="Measured claims N times more, at new seeds and points.",
        ),
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", metavar="S", min=0, max=MOST_SEED, help="Seed of --redraw.")] = 0,
    show_all: Annotated[bool, typer.Option("--all", help="Show the table of all claims.")] = False,
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", min=1, max=MOST_WORKERS, help="[default: all cores]")
    ] = None,
    errata: Annotated[Path | None, typer.Option("--errata", metavar="FILE", help="Errata as .md or .tex.")] = None,
    certificates: Annotated[
        Path | None,
        typer.Option("--certificates", metavar="DIR", help="Write certificates for python -m odesys.check."),
    ] = None,
    proofs: Annotated[
        Path | None, typer.Option("--proofs", metavar="DIR", help="Write proofs as Coq files and have them checked.")
    ] = None,
    check: Annotated[bool, typer.Option("--check/--no-check", help="Run Coq on the files of --proofs.")] = True,
    json: JsonFile = None,
) -> None:
    """Check the claims of papers: do the main theorems stand, and what has to be changed?

    Exit code 1 if a claim does not come out as expected. With --redraw, which draws claims of level full too, also if
    more than one draw in 200 changes a verdict. With --mutations also if a claim keeps its verdict on a broken
    system that it reads and the book gives no reason why that is right, if it notices no mutation and the book does
    not say why, or if a reason is given for a claim that does notice.

    \b
    Examples: odesys verify two_mixture --json verify.json --errata errata.md
              odesys verify two_mixture --redraw 20 --seed 1
              odesys verify two_mixture --claim E.2 --level full
              odesys verify two_mixture --claim D.1 --proofs proofs
    """
    from ..papers.verification import Request, run_command
    from ..papers.workers import available_cores

    chosen = _papers(names)
    own = [name for each in chosen.values() if each.book for name in each.book().certificates] if certificates else []
    for option, folder in {"--certificates": certificates, "--proofs": proofs}.items():
        if option == "--certificates" or folder != certificates:
            files.prepare(folder, json, own if option == "--certificates" else (), option)
    files.prepare(errata, json, None, "--errata")
    cores = workers or available_cores()
    request = Request(
        claim or [],
        level.value,
        mutations,
        redraw,
        seed,
        show_all,
        errata,
        json,
        cores,
        certificates,
        proofs,
        check,
    )
    if not run_command(chosen, request):
        raise typer.Exit(1)


@app.command()
def report(
    names: PaperNames = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the pages.")] = Path("report"),
    form: Annotated[
        ReportFormat, typer.Option("--format", help="latex is a body to input, with figures as PDF.")
    ] = ReportFormat.html,
    level: Annotated[Level, typer.Option("--level", help="quick leaves out long checks and figures.")] = Level.quick,
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", min=1, max=MOST_WORKERS, help="[default: all cores]")
    ] = None,
    widths: Annotated[str | None, typer.Option("--widths", metavar="M,M,...", help="[default: the paper's]")] = None,
    seeds: Annotated[
        int | None, typer.Option("--seeds", metavar="N", min=1, max=MOST_SEEDS, help="[default: the paper's]")
    ] = None,
    printed: Annotated[
        PrintAmount, typer.Option("--print", help="What comes out of a printer; full has all that is folded.")
    ] = PrintAmount.short,
    proofs: Annotated[
        bool, typer.Option("--proofs", help="Seals of proofs that Coq checked, with their files.")
    ] = False,
    settings: Settings = None,
    json: JsonFile = None,
) -> None:
    """Write one self-contained page per paper: equations, verdicts, proof graph, figures, theory against finite width.

    Exit code 1 if a claim does not come out as expected or a part could not be computed.

    \b
    Examples: odesys report two_mixture --out report
              odesys report --format latex --out bundle
    """
    from ..papers.workers import available_cores
    from ..report.content import Request
    from ..report.write import FILES, run_command

    chosen = _papers(names)
    given = read_settings(settings)
    if given and len(chosen) != 1:
        raise ParameterError(f"--set belongs to one paper, and this report has {len(chosen)}; name one")
    for paper in chosen.values():
        paper.read_parameters(given)  # a mistake shows before the work
    request = Request(
        level.value,
        workers or available_cores(),
        tuple(read_widths(widths)) if widths else (),
        seeds or 0,
        given,
        printed is PrintAmount.full,
        proofs,
    )
    if json:
        own = [f"{each.name}/{file}" for each in chosen.values() for file in FILES]
        files.refuse_shared(out, json, own)
    files.prepare_folder(out, ("index.html", "main.tex"))  # two reports may write to it, on different papers
    files.prepare(None, json)
    if not run_command(chosen, request, out, form.value, json, _command_line()):
        raise typer.Exit(1)


@app.command()
def sweep(
    paper: PaperName,
    over: Annotated[
        list[str] | None,
        typer.Option(
            "--over",
            metavar="NAME=GRID",
            autocompletion=complete("parameters"),
            help="log:LOW:HIGH:COUNT, lin:LOW:HIGH:COUNT or A,B,C; repeatable.",
        ),
    ] = None,
    protocol: Protocol = None,
    settings: Settings = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", metavar="N", min=1, max=MOST_WORKERS, help="Processes [default: all cores]"),
    ] = None,
    dask: Annotated[str, typer.Option("--dask", metavar="ADDRESS", help="Scheduler of a running Dask cluster.")] = "",
    resume: Annotated[bool, typer.Option("--resume", help="Go on where an earlier sweep stopped.")] = False,
    retry: Annotated[bool, typer.Option("--retry-failed", help="With --resume: compute failed points again.")] = False,
    plot: Annotated[
        list[str] | None, typer.Option("--plot", metavar="NAME", help="Observable to show; repeatable.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="[default: sweep/PAPER]")] = None,
    json: JsonFile = None,
) -> None:
    """Run a protocol at every point of a grid of parameters; rows are stored as they arrive.

    A point that fails is recorded with its error. Exit code 1 if every point failed.

    \b
    Examples: odesys sweep two_mixture --over omega=log:1e-3:0.2:20 --plot t --out sweep
              odesys sweep two_mixture --over omega=log:0.02:0.3:20 --over K=2,3,4 --resume
    """
    from numerics.sweeps.command import run_command

    from ..papers.workers import available_cores

    chosen = registry.find_paper(paper)
    if dask and workers:
        raise ParameterError("--workers and --dask ask for two places to compute; give one of them")
    if retry and not resume:
        raise ParameterError("--retry-failed goes on with an earlier sweep; give --resume with it")
    folder = out or Path("sweep") / chosen.name
    if not run_command(
        paper,
        chosen,
        protocol,
        over or (),
        read_settings(settings),
        folder,
        json,
        resume,
        retry,
        workers or available_cores(),
        dask,
        plot or (),
    ):
        raise typer.Exit(1)


@app.command()
def analyse(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A system: .json, .ode, .sbml, .xml, .ant, .cellml.")
    ] = None,
    equations: Annotated[
        list[str] | None, typer.Option("-e", metavar="EQUATION", help='An equation, as "x\' = y"; repeatable.')
    ] = None,
    settings: Settings = None,
    box: Annotated[
        list[str] | None,
        typer.Option(
            "--box", metavar="x=LOW:HIGH", help="Where equilibria (fixed points of a map) are searched; repeatable."
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="S", min=0, max=MOST_SEED, help="Of random points in searches.")
    ] = 0,
    out: OutFolder = None,
    json: JsonFile = None,
) -> None:
    """Say what can be said about a system of your own, every line with its evidence and with what was searched.

    \b
    Examples: odesys analyse -e "x' = y" -e "y' = -x + mu*(1 - x^2)*y" --set mu=1
              odesys analyse model.ode --out report
    """
    from .analyse import FILES, analysed, write_analysis

    files.prepare(out, json, FILES)
    with progress_bar("reading the system") as progress:
        found = analysed(file, equations or [], read_settings(settings), box or [], seed, progress)
    typer.echo(shown(str(found)))
    if out:
        print_files(write_analysis(found, out, file.stem if file else "A system"))
    if json:
        files.write_json(json, found.as_json())


@app.command()
def new(
    folder: Annotated[Path, typer.Argument(metavar="NAME", help="Name of the paper, or a folder that ends in it.")],
    json: JsonFile = None,
) -> None:
    """Write a small paper of your own that runs at once: setting, systems, protocol, comparison, claims, figure.

    \b
    Example: odesys new mine; odesys report ./mine
    """
    from ..papers.new import create

    files.prepare(None, json)
    written = create(folder)
    print_files(written)
    place = str(folder) if folder.parent != Path() else f"./{folder}"
    typer.echo(f"try: odesys verify {place}; odesys report {place} --out report")
    if json:
        files.write_json(json, {"name": folder.name, "files": written})


def main() -> None:
    """Entry point of the command `odesys`."""
    signal.signal(signal.SIGTERM, interrupt)
    gc_pause.collect_less_often()
    limit_memory()
    mend_streams()
    mend_environment()
    app(prog_name="odesys")
