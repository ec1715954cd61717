"""What a report says, gathered once: every part is computed, kept on disk as it comes, and timed.

A part that can not be computed is reported with its sentence, and the others go on.
"""

from __future__ import annotations

import os
import platform
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .. import __version__, files
from ..errors import OdesysError
from ..papers import registry
from ..papers.claims import CheckError, Claim, ClaimBook, Outcome
from ..papers.kept_parts import KeptParts
from ..papers.kept_runs import source_hash
from ..papers.paper import Formula, Paper
from ..papers.proof_files import ProofFile, check_proofs
from ..papers.survival import theorem_lines
from ..papers.verification import errata_markdown, verify
from ..papers.workers import Answer, at_most
from ..terminal import Progress
from ..tex.latex import system_latex, system_mathml, system_text
from ..verdicts import ANSWERS
from .explorer import Fragment, fragment
from .mathml import compact
from .setting import data_rows, setting_formulas
from .setting_words import DataRow

LARGEST_LATEX, LARGEST_MATHML = 50_000, 330_000  # characters of one system on a page
PACKAGES = ("sympy", "numpy", "scipy", "networkx", "matplotlib", "python-flint", "latex2mathml", "llvmlite")


@dataclass(frozen=True)
class SystemPart:
    """A system written out; `latex` and `mathml` are empty where it is too large, and `note` says so."""

    name: str
    kind: str = ""
    dimension: int = 0
    parameters: tuple[str, ...] = ()
    latex: str = ""
    mathml: str = ""
    note: str = ""


@dataclass(frozen=True)
class FigurePart:
    """A figure with its files on disk."""

    id: str
    title: str
    files: tuple[Path, ...]


@dataclass
class Content:
    """Everything a report says about one paper, in the order in which it is computed."""

    paper: Paper
    level: str
    parameters: Mapping[str, Any]
    folder: Path
    about: str = ""
    formulas: list[Formula] = field(default_factory=list)
    data: list[DataRow] = field(default_factory=list)
    samples: int = 0
    systems: list[SystemPart] = field(default_factory=list)
    book: ClaimBook | None = None
    outcomes: list[Outcome] = field(default_factory=list)
    simulation: Mapping[str, Any] | None = None  # the documented result of a run
    run_files: tuple[Path, ...] = ()
    comparison: Mapping[str, Any] | None = None
    comparison_files: tuple[Path, ...] = ()
    figures: list[FigurePart] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    command: str = ""
    kept: KeptParts = field(default_factory=KeptParts)
    explorer: Fragment | None = None  # the section "try it": the equations, live
    print_all: bool = False  # on paper, what is folded is printed too

    @property
    def not_run(self) -> list[Claim]:
        """Claims that this level leaves out."""
        done = {outcome.claim.id for outcome in self.outcomes}
        return [claim for claim in self.book or () if claim.id not in done]

    def counts(self) -> dict[str, int]:
        """Number of claims by verdict; definitions and conditions have none."""
        table = dict.fromkeys(ANSWERS, 0)
        for outcome in self.outcomes:
            if outcome.claim.judged:
                table[outcome.verdict.as_stated] += 1
        return table | {"not run": len(self.not_run)}

    def theorems(self) -> list[str]:
        """A line for each main theorem: does it stand?"""
        return theorem_lines(self.book, self.outcomes) if self.book else []

    def sections(self) -> list[str]:
        """What there is something to say about, in the order of the LaTeX bundle."""
        checked = self.book is not None and bool(self.outcomes)
        there = {
            "setting": True,
            "systems": True,
            "graph": checked,
            "claims": checked,
            "errata": checked,
            "run": self.simulation is not None,
            "comparison": self.comparison is not None,
            "figures": bool(self.figures),
            "provenance": True,
        }
        return [name for name, said in there.items() if said]

    @property
    def main_figure(self) -> str:
        """The id of the figure that the page opens with; empty where the paper has none."""
        return self.paper.main_figure or next((id for id, f in self.paper.figures.items() if f.level != "never"), "")

    def figures_left_out(self) -> list[str]:
        """Figures that only a report of the full level has."""
        drawn = {figure.id for figure in self.figures}
        return [id for id, figure in self.paper.figures.items() if figure.level == "full" and id not in drawn]

    def unexpected(self) -> list[Outcome]:
        """Claims whose verdict is not the one the book expects."""
        return [outcome for outcome in self.outcomes if not outcome.as_expected]


@dataclass(frozen=True)
class Request:
    """What is asked of a report."""

    level: str = "quick"
    workers: int = 1
    widths: tuple[int, ...] = ()  # empty: as the paper proposes
    seeds: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)
    print_all: bool = False
    proofs: bool = False  # exported, and checked where there is Coq


def gather(name: str, paper: Paper, request: Request, folder: Path, progress: Progress) -> Content:
    """Compute everything about one paper; data files go to `folder` as soon as each part is done."""
    content = Content(
        paper,
        request.level,
        paper.read_parameters(request.settings),
        folder,
        about=registry.documentation(name),
        kept=KeptParts.of(name),
        print_all=request.print_all,
    )
    shares = {"setting": 0.0, "systems": 0.02, "explorer": 0.09, "claims": 0.1, "run": 0.6, "comparison": 0.65}
    shares["figures"] = 0.8
    steps: dict[str, Callable[[Progress], None]] = {
        "setting": lambda tell: _setting(content),
        "systems": lambda tell: _systems(content, tell),
        "explorer": lambda tell: _explorer(content),
        "claims": lambda tell: _claims(content, name, request.workers, tell, request.proofs),
        "run": lambda tell: _run(content, tell),
        "comparison": lambda tell: _compare(content, request, tell),
        "figures": lambda tell: _figures(content, tell),
    }
    ends = [*list(shares.values())[1:], 1.0]
    for (step, work), low, high in zip(steps.items(), shares.values(), ends, strict=True):
        with _timed(content, step), at_most(request.workers):  # two reports side by side have a core each
            work(
                lambda text, fraction, low=low, high=high: (  # type: ignore[misc]
                    progress(f"{paper.name}: {text}", low + (high - low) * min(max(fraction, 0.0), 1.0))
                )
            )
    return content


@contextmanager
def _timed(content: Content, step: str) -> Iterator[None]:
    began = time.perf_counter()
    try:
        yield
    except Exception as error:  # the other parts go on
        content.problems[step] = told(error)
    content.seconds[step] = time.perf_counter() - began


def told(error: Exception) -> str:
    """An error as a sentence; for one that nobody foresaw, what it is and where it came from."""
    if isinstance(error, OdesysError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    where = f", in line {frames[-1].lineno} of {Path(frames[-1].filename).name}" if frames else ""
    return f"{type(error).__name__}{where}: {error}"


def _setting(content: Content) -> None:
    def work(folder: Path) -> dict[str, Any]:
        formulas, rows, samples = list[Formula](), list[DataRow](), 0
        if content.paper.setting is not None:
            setting = content.paper.setting(content.parameters)
            formulas, rows, samples = setting_formulas(setting), data_rows(setting), len(setting.data)
        if content.paper.formulas is not None:
            formulas += content.paper.formulas(content.parameters)
        return {"formulas": [asdict(each) for each in formulas], "rows": [asdict(row) for row in rows],
                "samples": samples}  # fmt: skip

    given = {"parameters": content.parameters, "pages": source_hash((Path(__file__).parent,))}
    found, _ = content.kept.part("setting", given, content.folder, work)
    content.formulas = [Formula(**each) for each in found["formulas"]]
    content.data, content.samples = [DataRow(**row) for row in found["rows"]], found["samples"]


def _systems(content: Content, progress: Progress) -> None:
    for k, (name, build) in enumerate(content.paper.systems.items()):
        progress(f"system {name}", k / len(content.paper.systems))
        try:
            content.systems.append(_system(content, name, build))
        except OdesysError as error:
            content.systems.append(SystemPart(name, note=str(error)))
        except Exception as error:
            content.systems.append(SystemPart(name, note=told(error)))
            content.problems["systems"] = f"{name}: {told(error)}"


def _system(content: Content, name: str, build: Callable[[Mapping[str, Any]], Any]) -> SystemPart:
    def work(folder: Path) -> dict[str, Any]:
        system = build(content.parameters)
        found = {
            "kind": system.kind,
            "dimension": system.dimension,
            "parameters": [system.tex.get(p, p) for p in system.parameters],
        }
        try:
            found["latex"] = system_latex(system)
        except OdesysError as error:
            return found | {"latex": "", "mathml": "", "note": str(error)}
        files.write_text(folder / f"system_{name}.tex", system_latex(system, document=True))
        files.write_text(folder / f"system_{name}.txt", system_text(system))
        short = len(found["latex"]) <= LARGEST_LATEX
        return found | {"mathml": system_mathml(system) if short else "", "note": ""}

    given = {"system": name, "parameters": content.parameters}
    found, _ = content.kept.part("system", given, content.folder, work)
    shown = compact(found["mathml"]) if found["mathml"] else ""
    if len(shown) > LARGEST_MATHML or len(found["latex"]) > LARGEST_LATEX:
        command = f"odesys derive {content.paper.name} --system {name} --format latex"
        found, shown = found | {"note": f"too long for this page; `{command}` writes it"}, ""
    return SystemPart(
        name, found["kind"], found["dimension"], tuple(found["parameters"]), found["latex"], shown, found["note"]
    )


def _explorer(content: Content) -> None:
    def work(folder: Path) -> dict[str, str]:
        assert content.paper.explorer is not None
        return asdict(fragment(content.paper.explorer(content.parameters)))

    if content.paper.explorer is not None:
        given = {"parameters": content.parameters, "pages": source_hash((Path(__file__).parent,))}
        made, _ = content.kept.part("explorer", given, content.folder, work)
        content.explorer = Fragment(**made)


def _claims(content: Content, name: str, workers: int, progress: Progress, sealed: bool = False) -> None:
    if content.paper.book is None:
        return
    book = content.book = content.paper.book()
    known = {} if sealed else content.kept.answers(book.paper)
    proofs: list[ProofFile] | None = [] if sealed else None

    def keep(outcomes: list[Outcome], complete: bool = False) -> None:
        found = {"claims": [o.as_json() for o in outcomes], "complete": complete}
        files.write_json(content.folder / "verify.json", found)
        fresh = {o.claim.id: Answer(o.claim.id, "", o.verdict, o.seconds) for o in outcomes}
        if fresh.keys() - known.keys():
            content.kept.keep_answers(book.paper, {**known, **fresh})

    wanted = book.select(level=content.level)
    try:
        content.outcomes = verify(book, wanted, progress, workers, name, keep, known, proofs)
    except CheckError as error:  # the page has the others, and says so
        content.outcomes = error.outcomes
        keep(content.outcomes)
        raise
    if proofs is not None:
        folder = content.folder / "proofs"
        content.outcomes = check_proofs(content.outcomes, proofs, folder, True, workers, progress).outcomes
    keep(content.outcomes, complete=True)
    files.write_text(content.folder / "errata.md", errata_markdown(content.outcomes))


def _run(content: Content, progress: Progress) -> None:
    paper = content.paper
    for protocol, run in list(paper.protocols.items())[:1]:

        def work(folder: Path, run: Callable[..., Any] = run) -> dict[str, Any]:
            done = run(content.parameters, progress)
            found: dict[str, Any] = done.as_json(paper.name)
            files.write_json(folder / "result.json", found)
            files.write_csv(folder / "trajectory.csv", done.columns)
            files.write_npz(folder / "trajectory.npz", done.columns)
            if done.plot is not None:
                done.plot(folder)
            return found

        given = {"protocol": protocol, "parameters": content.parameters, "formats": files.figure_formats.get()}
        content.simulation, written = content.kept.part("run", given, content.folder / "simulate", work)
        content.run_files = pictures(written)


def _compare(content: Content, request: Request, progress: Progress) -> None:
    paper = content.paper
    if paper.compare is None:
        return
    widths, seeds = list(request.widths or paper.widths), request.seeds or paper.seeds

    def work(folder: Path) -> dict[str, Any]:
        assert paper.compare is not None
        done = paper.compare(widths, seeds, content.parameters, progress)
        found: dict[str, Any] = done.as_json(paper.name)
        files.write_json(folder / "result.json", found)
        done.plot(folder)
        return found

    given = {
        "widths": widths,
        "seeds": seeds,
        "parameters": content.parameters,
        "formats": files.figure_formats.get(),
    }
    content.comparison, written = content.kept.part("compare", given, content.folder / "compare", work)
    content.comparison_files = pictures(written)


def _figures(content: Content, progress: Progress) -> None:
    levels = ("quick", "full") if content.level == "full" else ("quick",)
    main = content.main_figure
    wanted = {id: figure for id, figure in content.paper.figures.items() if figure.level in levels or id == main}
    failed = []
    for k, (id, figure) in enumerate(wanted.items()):

        def work(folder: Path, draw: Callable[..., Any] = figure.draw) -> None:
            draw(folder, lambda text, fraction: None)

        progress(f"figure {id}", k / len(wanted))
        given = {"figure": id, "formats": files.figure_formats.get()}
        try:
            _, written = content.kept.part("figure", given, content.folder / "figures", work)
            content.figures.append(FigurePart(id, figure.title, pictures(written)))
        except Exception as error:
            failed.append(f"{id}: {told(error)}")
    if failed:
        raise OdesysError("; ".join(failed))


def pictures(files: Sequence[Path]) -> tuple[Path, ...]:
    """The files that show something."""
    return tuple(file for file in files if file.suffix.lower() in (".svg", ".png", ".pdf"))


def provenance(content: Content) -> dict[str, str]:
    """Versions, platform, date, parameters and seeds: what is needed to make the same report again."""
    from importlib import metadata

    found = {"odesys": __version__, "Python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    seeds = content.comparison.get("seeds") if content.comparison else None
    rows = {
        "command": content.command,
        "date": _now().strftime("%Y-%m-%d %H:%M UTC"),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": ", ".join(f"{name} {version}" for name, version in found.items()),
        "level of the claims": content.level,
        "parameters": ", ".join(f"{name} = {value}" for name, value in content.parameters.items()),
    }
    if content.folder.name:
        rows["data"] = (
            f"verify.json, errata.md, trajectories and figures in the folder {content.folder.name} beside this page"
        )
    if seeds is not None:
        rows["seeds of the networks"] = ", ".join(map(str, seeds)) if isinstance(seeds, (list, tuple)) else str(seeds)
    return rows


def _now() -> datetime:
    """The time, or the one fixed for reproducible output."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    if fixed.isascii() and fixed.isdecimal():
        with suppress(ValueError, OverflowError, OSError):  # too large for a date
            return datetime.fromtimestamp(int(fixed), UTC)
    return datetime.now(UTC)
