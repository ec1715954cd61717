"""The command line: every command with its JSON, every mistake as one line and exit code 2, nothing half-written."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from typer.testing import CliRunner, Result

import odesys
from odesys import System
from odesys.cli import commands
from odesys.errors import IntegrationError, OdesysError
from odesys.papers import registry, verification
from odesys.papers.claims import ClaimBook
from odesys.papers.mutation import Mutation
from odesys.papers.paper import FigureSpec, Paper, Parameter, Simulation
from odesys.report import content
from odesys.terminal import Progress
from odesys.verdicts import Verdict, measured, proved, refuted

ROOT = Path(__file__).resolve().parents[3]

# ---- a small paper: a damped oscillator ------------------------------------------------------------------------------


def oscillator(parameters: Mapping[str, Any]) -> System:
    x, y, d = sp.symbols("x y d")
    return System.from_equations({x: y, y: -x - d * y}, parameters=[d])


def decay(parameters: Mapping[str, Any]) -> System:
    x = sp.Symbol("x")
    return System.from_equations({x: -x / parameters["K"]})


def run(parameters: Mapping[str, Any], progress: Progress) -> Simulation:
    progress("stage 1", 0.5)
    t = np.linspace(0, 1, 5)
    events = tuple({"name": f"T{k}", "kind": "stage", "time": float(k)} for k in range(20))

    def plot(folder: Path) -> list[Path]:
        (folder / "plot.png").write_text("a picture")
        return [folder / "plot.png"]

    return Simulation(
        protocol="swing",
        parameters=parameters,
        final={"x": parameters["omega"], "loss": float("inf")},
        events=events,
        cost={"field_evaluations": 7, "steps": 3, "seconds": 0.25},
        invariant_drift=None,
        columns={"t": t, "x": np.exp(-t)},
        plot=plot,
    )


def still(parameters: Mapping[str, Any], progress: Progress) -> Simulation:
    return Simulation("still", parameters, {"x": 1.0}, (), {"steps": 0}, 1e-12, {"t": np.zeros(1)})


def sliding(parameters: Mapping[str, Any], progress: Progress) -> Simulation:
    events = (
        {"name": "H_p_1", "kind": "switch", "time": 1.5},
        {"name": "H_p_2", "kind": "slide", "time": 2.25, "end": 4.0},
    )
    beside = {"rate": 0.1, "steps": 40, "final": {"x": -2.5, "unasked": 7.75}}
    note = "discrete steps may leave this branch"
    columns, final = {"t": np.zeros(1)}, {"x": 1.0, "only_here": 2.0}
    return Simulation("sliding", parameters, final, events, {"steps": 0}, 1e-12, columns, note, descent=beside)


def fails(parameters: Mapping[str, Any], progress: Progress) -> Simulation:
    progress("stage 1", 0.5)
    raise IntegrationError("the step became too small\nat t = 3", time=3.0)


def breaks(parameters: Mapping[str, Any], progress: Progress) -> Simulation:
    raise ZeroDivisionError("a mistake of ours")


def interrupted(parameters: Mapping[str, Any], progress: Progress) -> Simulation:
    raise KeyboardInterrupt


@dataclass
class Comparison:
    widths: list[int]
    seeds: int
    parameters: Mapping[str, Any]

    def as_json(self, paper: str) -> dict[str, Any]:
        rows = [{"width": m, "mean": m**-0.5, "low": 0.9 * m**-0.5, "high": 1.1 * m**-0.5} for m in self.widths]
        exponent = {"value": -0.5, "low": -0.6, "high": None}
        asked = {"paper": paper, "parameters": self.parameters, "seeds": self.seeds}
        return {**asked, "deviation": rows, "exponent": exponent}

    def plot(self, folder: Path) -> list[Path]:
        (folder / "deviation.png").write_text("a picture")
        return [folder / "deviation.png"]


def draw(folder: Path, progress: Progress) -> list[Path]:
    progress("drawing", 1.0)
    (folder / "swing.pdf").write_text("a picture")
    return [folder / "swing.pdf"]


def draw_half(folder: Path, progress: Progress) -> list[Path]:
    (folder / "half.pdf").write_text("half a pic")
    raise OdesysError("the figure can not be drawn")


BOOK = ClaimBook("toy", laboratory=lambda mutation="": mutation, mutations=[Mutation("broken", "a sentence")])


@BOOK.claim("A.1", "Right", kind="identity", statement="1 = 1", reading="as it stands")
def claim_right(lab: str) -> Verdict:
    return refuted("broken") if lab else proved()


@BOOK.claim(
    "A.2",
    "Misprinted",
    kind="identity",
    statement="1 = 2",
    reading="literally",
    expect="fails",
    uses=["A.1"],
    insensitive="a misprint in the text",
)
def claim_misprinted(lab: str) -> Verdict:
    return refuted({"left": 1, "right": 2}).correcting("1 = 1", proved(), "a typo")


@BOOK.claim("A.3", "Wrong", kind="order", statement="x", reading="y", level="full", insensitive="it is only slow")
def claim_wrong(lab: str) -> Verdict:
    return measured(False, {"x": 3})


TOY = Paper(
    name="toy",
    title="A toy [bold]paper",
    reference="nobody, never",
    parameters=(Parameter("K", 2, "a number", int, low=2), Parameter("omega", 0.1, "a scale", low=0, open_low=True)),
    systems={"full": oscillator, "quotient": decay},
    protocols={
        "swing": run,
        "still": still,
        "sliding": sliding,
        "fails": fails,
        "breaks": breaks,
        "interrupted": interrupted,
    },
    figures={"1": FigureSpec("The swing", draw), "2b": FigureSpec("The swing again", draw)},
    compare=lambda widths, seeds, parameters, progress: Comparison(widths, seeds, parameters),
    book=lambda: BOOK,
)
BARE = Paper("bare", "Nothing in it", "none", (), {}, {}, {"bad": FigureSpec("Not drawn", draw_half)})

FOLDER_SOURCE = """
from odesys.papers.paper import Paper, Parameter, Simulation

def run(parameters, progress):
    for k in range(5):
        progress("swinging along", k / 4)
    return Simulation("swing", parameters, {"x": parameters["omega"]}, (), {"steps": 1}, None, {"t": [0.0, 1.0]})

def interrupted(parameters, progress):
    raise KeyboardInterrupt

def breaks(parameters, progress):
    raise ZeroDivisionError("a mistake of ours")

def system(parameters):
    import sympy as sp
    from odesys import System
    x = sp.Symbol("x")
    return System.from_equations({x: -x})

PAPER = Paper("folder_toy", "A toy in a folder", "none", (Parameter("omega", 0.1, "a scale"),), {"full": system},
              {"swing": run, "interrupted": interrupted, "breaks": breaks}, {})
"""


@pytest.fixture
def odesys_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Run a command in an empty folder, with the small papers as the only ones known."""
    known = {"toy": TOY, "bare": BARE}
    monkeypatch.setattr(registry, "announced", dict)
    monkeypatch.setattr(registry, "source_modules", lambda: {name: f"toy_papers.{name}" for name in known})
    for name, paper in known.items():
        module = type(sys)(f"toy_papers.{name}")
        module.PAPER = paper  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, f"toy_papers.{name}", module)
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(commands.app, list(map(str, arguments)), prog_name="odesys")


def works(result: Result) -> str:
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result.stdout


def refused(result: Result) -> str:
    """The one line of a refusal."""
    assert result.exit_code == 2
    assert result.stdout == "" and "Traceback" not in result.stderr
    assert result.stderr.startswith("odesys: ") and result.stderr.endswith("\n") and result.stderr.count("\n") == 1
    return result.stderr.removeprefix("odesys: ").rstrip("\n")


def read(file: str | Path) -> Any:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} in {file}")

    return json.loads(Path(file).read_text(encoding="utf-8"), parse_constant=refuse)


def files(folder: Path | str = ".") -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in Path(folder).rglob("*") if not p.is_dir())


# ---- every command ---------------------------------------------------------------------------------------------------


def test_list(odesys_command) -> None:
    lines = works(odesys_command("list", "--json", "list.json")).splitlines()
    assert lines[:2] == ["bare  -         Nothing in it", "toy   quotient  A toy [bold]paper"]
    text = works(odesys_command("list", "toy"))
    for word in ("full, quotient (default)", "swing (default), still", "K=2", "2b  The swing again", "3 claims"):
        assert word in text
    bare, toy = read("list.json")["papers"]
    assert bare["name"] == "bare" and toy["name"] == "toy"
    assert toy["systems"] == ["full", "quotient"] and toy["default_system"] == "quotient"
    assert toy["protocols"][0] == "swing" and len(toy["claims"]) == 3
    assert toy["figures"] == [{"id": "1", "title": "The swing"}, {"id": "2b", "title": "The swing again"}]
    assert toy["parameters"][0] == {"name": "K", "default": 2, "type": "int", "help": "a number"}


def test_derive_writes_the_summary(odesys_command) -> None:
    works(odesys_command("derive", "toy", "--set", "K=3", "--set", "omega = 0.5", "--json", "a/derive.json"))
    summary = read("a/derive.json")
    assert summary.pop("seconds") >= 0
    assert summary == {
        "paper": "toy",
        "system": "quotient",
        "kind": "flow",
        "parameters": {"K": 3, "omega": 0.5},
        "dimension": 1,
        "states": ["x"],
        "free_parameters": [],
    }
    works(odesys_command("derive", "toy", "--system", "full", "--json", "f.json"))
    assert read("f.json")["states"] == ["x", "y"] and read("f.json")["free_parameters"] == ["d"]
    for options in (["--quotient"], ["--system", "quotient"], ["--quotient", "--system", "quotient"]):
        works(odesys_command("derive", "toy", *options, "--json", "q.json"))
        assert read("q.json")["system"] == "quotient" and read("q.json")["states"] == ["x"]


def test_derive_formats(odesys_command) -> None:
    full = ("--system", "full")
    texts = {form: works(odesys_command("derive", "toy", *full, "--format", form)) for form in commands.Format}
    assert len(set(texts.values())) == len(texts) == 5
    assert works(odesys_command("derive", "toy", *full)) == texts[commands.Format.text]
    assert "-x - d*y" in texts[commands.Format.text]
    assert "\\documentclass" not in texts[commands.Format.latex] and "\\" in texts[commands.Format.latex]
    assert "<math" in texts[commands.Format.mathml]
    assert System.from_json(texts[commands.Format.json]).names == ("x", "y")
    compile(texts[commands.Format.python], "toy.py", "exec")
    for form in commands.Format:
        file = f"o/{form}.txt"
        assert works(odesys_command("derive", "toy", *full, "--format", form, "--out", file)) == f"wrote {file}\n"
        assert Path(file).read_text() == texts[form]


def test_derive_alone_shows_names_sizes_and_what_to_type_next(odesys_command) -> None:
    text = works(odesys_command("derive", "toy"))
    assert re.search(r"^ full +2 +flow +d", text, flags=re.MULTILINE)
    assert (
        re.search(r"^ quotient \(default\) +1 +flow", text, flags=re.MULTILINE)
        and "sizes are for K=2, omega=0.1" in text
    )
    for command in re.findall(r"^ +odesys (.*?) +#", text, flags=re.MULTILINE):
        works(odesys_command(*command.split()))
    assert Path("system.tex").read_text().startswith("\\documentclass")
    assert "bare has no systems" in refused(odesys_command("derive", "bare"))


def test_any_option_derives_the_default_system(odesys_command) -> None:
    for options in (["--set", "K=3"], ["--format", "text"]):
        assert "full" not in works(odesys_command("derive", "toy", *options))
    works(odesys_command("derive", "toy", "--out", "a.txt"))
    works(odesys_command("derive", "toy", "--json", "a.json"))
    assert read("a.json")["system"] == "quotient" and Path("a.txt").is_file()


@pytest.mark.parametrize("line", ["list", "list toy", "derive toy", "verify toy --level full --all", "simulate toy"])
def test_nothing_that_one_would_type_is_broken_at_80_columns(odesys_command, monkeypatch, line: str) -> None:
    wide = odesys_command(*line.split()).stdout
    monkeypatch.setenv("COLUMNS", "80")
    narrow = odesys_command(*line.split()).stdout
    assert max(map(len, narrow.splitlines())) <= 80
    typed = {w for w in re.findall(r"[\w./-]{6,}", wide) if any(c in w for c in "_-/.")}
    assert typed <= set(re.findall(r"[\w./-]{6,}", narrow))
    typed = set(re.findall(r"^ +(odesys .*?)(?: +#.*)?$", wide, flags=re.MULTILINE))
    assert all(command in narrow for command in typed) and bool(typed) == line.startswith(("list", "derive"))


def test_derive_latex_to_a_tex_file_is_a_document(odesys_command) -> None:
    works(odesys_command("derive", "toy", "--format", "latex", "--out", "toy.tex"))
    document = Path("toy.tex").read_text()
    assert document.startswith("\\documentclass") and "\\end{document}" in document


def test_simulate(odesys_command) -> None:
    text = works(odesys_command("simulate", "toy", "--set", "omega=0.05", "--out", "run", "--json", "run.json"))
    for word in ("toy, swing", "0.05", "inf", "first 12 of 20", "T11", "field_evaluations", "wrote run/plot.png"):
        assert word in text
    assert "T12" not in text
    result = read("run.json")
    assert result == read("run/result.json")
    assert result["paper"] == "toy" and result["protocol"] == "swing"
    assert result["parameters"] == {"K": 2, "omega": 0.05}
    assert result["final"] == {"x": 0.05, "loss": None} and result["not_finite"] == {"final.loss": "inf"}
    assert result["cost"] == {"field_evaluations": 7, "steps": 3, "seconds": 0.25}
    assert result["events"][0] == {"name": "T0", "kind": "stage", "time": 0.0} and result["invariant_drift"] is None
    assert files("run") == ["plot.png", "result.json", "trajectory.csv", "trajectory.npz"]
    rows = list(csv.DictReader(Path("run/trajectory.csv").read_text().splitlines()))
    with np.load("run/trajectory.npz") as arrays:
        assert [float(row["x"]) for row in rows] == arrays["x"].tolist() == np.exp(-arrays["t"]).tolist()


def test_simulate_shows_until_when_a_slide_lasts(odesys_command) -> None:
    text = works(odesys_command("simulate", "toy", "--protocol", "sliding"))
    header = next(line for line in text.splitlines() if "kind" in line)
    assert header.split() == ["time", "until", "kind", "name"]
    rows = [line.split() for line in text.splitlines() if line.split()[-1:] in (["H_p_1"], ["H_p_2"])]
    assert rows == [["1.5", "-", "switch", "H_p_1"], ["2.25", "4", "slide", "H_p_2"]]


def test_simulate_shows_descent_beside_the_flow_where_it_was_run(odesys_command) -> None:
    text = works(odesys_command("simulate", "toy", "--protocol", "sliding", "--json", "sliding.json"))
    assert "descent, rate 0.1" in text and "note: discrete steps may leave this branch" in text
    rows = [line.split() for line in text.splitlines() if line.split()[:1] in (["x"], ["only_here"], ["unasked"])]
    assert rows == [["x", "1", "-2.5"], ["only_here", "2", "-"]]
    result = json.loads(Path("sliding.json").read_text())
    assert result["descent"]["final"]["x"] == -2.5 and result["descent"]["steps"] == 40
    text = works(odesys_command("simulate", "toy", "--protocol", "still", "--json", "still.json"))
    assert "descent" not in text and json.loads(Path("still.json").read_text())["descent"] is None


def test_simulate_another_protocol_without_plot_and_events(odesys_command) -> None:
    text = works(odesys_command("simulate", "toy", "--protocol", "still", "--out", "run"))
    assert "toy, still" in text and "events" not in text and "1e-12" in text
    assert files("run") == ["result.json", "trajectory.csv", "trajectory.npz"]
    works(odesys_command("simulate", "toy"))
    assert files() == [f"run/{name}" for name in files("run")]


def test_compare(odesys_command) -> None:
    options = ("--widths", "64, 256", "--seeds", "3", "--set", "K=4", "--out", "c", "--json", "c.json")
    text = works(odesys_command("compare", "toy", *options))
    for word in ("64", "256", "0.125", "fitted exponent", "-0.5", "-0.6", "wrote c/deviation.png"):
        assert word in text
    result = read("c.json")
    assert result == read("c/result.json")
    assert result["seeds"] == 3 and result["parameters"]["K"] == 4 and result["exponent"]["value"] == -0.5
    assert [row["width"] for row in result["deviation"]] == [64, 256]
    works(odesys_command("compare", "toy", "--json", "default.json"))
    assert read("default.json")["seeds"] == 8
    assert [row["width"] for row in read("default.json")["deviation"]] == [64, 256, 1024]


def test_verify(odesys_command) -> None:
    text = works(odesys_command("verify", "toy", "--json", "v.json", "--errata", "e.md", "--mutations", "--all"))
    for word in (
        "A.1",
        "Misprinted",
        "fails",
        "instead (holds, proof): 1 = 1",
        "2 claims of the paper: 1 holds, 1 fails; 2 by proof",
        "1 of 2",
        "score 1/2",
        "A.2: a misprint in the text",
    ):
        assert word in text
    result = read("v.json")
    assert [c["id"] for c in result["claims"]] == ["A.1", "A.2"]
    assert result["claims"][1]["as_stated"] == "fails" and result["claims"][1]["corrected"]["as_stated"] == "holds"
    survivor = {"claim": "A.2", "mutation": "broken", "reason": "a misprint in the text"}
    assert result["mutations"]["toy"]["survivors"] == [survivor]
    assert result["mutations"]["toy"]["table"] == {"A.1": {"broken": "killed"}, "A.2": {"broken": "survived"}}
    assert "**A.2**: Misprinted" in Path("e.md").read_text() and "A.1" not in Path("e.md").read_text()
    works(odesys_command("verify", "toy", "--errata", "e.tex"))
    assert r"\end{document}" in Path("e.tex").read_text()
    assert works(odesys_command("verify", "bare")) == "bare has no registered claims yet\n"


def test_verify_an_unexpected_verdict_is_exit_code_1(odesys_command) -> None:
    result = odesys_command("verify", "toy", "--level", "full")
    assert result.exit_code == 1 and "unexpected" in result.stdout and "    x = 3" in result.stdout
    assert odesys_command("verify", "toy", "--claim", "A.3").exit_code == 1
    assert "toy has no claim 'A.9'" in refused(odesys_command("verify", "toy", "--claim", "A.9"))


def test_verify_a_survivor_without_a_reason_is_exit_code_1(odesys_command, monkeypatch: pytest.MonkeyPatch) -> None:
    silent_book = ClaimBook(
        "toy", laboratory=lambda mutation="": mutation, mutations=[Mutation("broken", "a sentence")]
    )
    silent_book.claim("A.1", "Deaf", kind="identity", statement="1 = 1", reading="as it stands")(lambda lab: proved())
    monkeypatch.setattr(registry, "find_paper", lambda name: replace(TOY, book=lambda: silent_book))
    works(odesys_command("verify", "toy"))
    result = odesys_command("verify", "toy", "--mutations")
    assert result.exit_code == 1 and "no reason known" in result.stdout
    assert "exit code 1" in works(odesys_command("verify", "--help")).lower()


def test_figures(odesys_command) -> None:
    assert works(odesys_command("figures", "toy", "--out", "f", "--json", "f.json")) == "wrote f/swing.pdf\n" * 2
    assert read("f.json") == {
        "paper": "toy",
        "figures": [
            {"id": "1", "title": "The swing", "files": ["f/swing.pdf"]},
            {"id": "2b", "title": "The swing again", "files": ["f/swing.pdf"]},
        ],
    }
    assert works(odesys_command("figures", "toy", "--fig", "2b")) == "wrote figures/toy/swing.pdf\n"
    assert files() == ["f.json", "f/swing.pdf", "figures/toy/swing.pdf"]


def test_figures_of_the_users_own_data(odesys_command, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def draw_own(folder: Path, progress: Progress, data: Path | None = None) -> list[Path]:
        seen.append(data)
        return []

    two = {"a": FigureSpec("plain", draw), "b": FigureSpec("of your data", draw_own, own_data=True)}
    monkeypatch.setattr(sys.modules["toy_papers.toy"], "PAPER", replace(TOY, figures=two))
    works(odesys_command("figures", "toy", "--fig", "b", "--data", "mine.npz"))
    works(odesys_command("figures", "toy", "--fig", "b"))
    assert seen == [Path("mine.npz"), None]
    sentence = refused(odesys_command("figures", "toy", "--data", "mine.npz"))
    assert sentence == "figure a takes no --data; those of toy that do: b"


def test_an_interrupt_while_plotting_leaves_the_tables(odesys_command, monkeypatch: pytest.MonkeyPatch) -> None:
    def plot(folder: Path) -> list[Path]:
        (folder / "half.png").write_text("half a pic")
        raise KeyboardInterrupt

    def stopped(parameters: Mapping[str, Any], progress: Progress) -> Simulation:
        return replace(run(parameters, progress), plot=plot)

    monkeypatch.setattr(sys.modules["toy_papers.toy"], "PAPER", replace(TOY, protocols={"swing": stopped}))
    result = odesys_command("simulate", "toy", "--out", "run")
    written = ["run/result.json", "run/trajectory.csv", "run/trajectory.npz"]
    assert (result.exit_code, result.stderr) == (130, "odesys: interrupted\n") and files() == written
    assert [line.removeprefix("wrote ") for line in result.stdout.splitlines() if "wrote" in line] == written


def test_every_figure_named_is_drawn(odesys_command, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    three = {name: FigureSpec(name, lambda folder, progress, name=name: drawn.append(name) or []) for name in "abc"}
    monkeypatch.setattr(sys.modules["toy_papers.toy"], "PAPER", replace(TOY, figures=three))
    works(odesys_command("figures", "toy", "--fig", "c", "--fig", "a", "--fig", "c", "--json", "f.json"))
    assert drawn == ["c", "a"] and [figure["id"] for figure in read("f.json")["figures"]] == drawn
    sentence = refused(odesys_command("figures", "toy", "--fig", "b", "--fig", "d"))
    assert "toy has no figure 'd'; there is a, b, c" in sentence
    assert drawn == ["c", "a"], "a name that is not known shows before anything is drawn"


def test_long_figures_are_drawn_where_they_are_asked_for(odesys_command, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    levels = {"a": "quick", "b": "full", "c": "never"}
    all_levels = {
        name: FigureSpec(name, lambda folder, progress, name=name: drawn.append(name) or [], level)
        for name, level in levels.items()
    }
    monkeypatch.setattr(sys.modules["toy_papers.toy"], "PAPER", replace(TOY, figures=all_levels))
    for more, wanted in ((), "a"), (("--level", "full"), "ab"), (("--fig", "b"), "b"), (("--fig", "c"), "c"):
        drawn.clear()
        works(odesys_command("figures", "toy", *more))
        assert drawn == list(wanted)


def test_help_and_version(odesys_command) -> None:
    assert works(odesys_command("--version")) == f"odesys {odesys.__version__}\n"
    text = works(odesys_command("--help"))
    for command in ("list", "derive", "verify", "simulate", "compare", "figures"):
        assert f"\n  {command} " in text
        page = works(odesys_command(command, "--help"))
        assert f"Usage: odesys {command}" in page and "--json FILE" in page
        assert works(odesys_command(command, "-h")) == page


# ---- mistakes --------------------------------------------------------------------------------------------------------

MISTAKES = [
    ("", "missing command (see odesys --help)"),
    ("derve toy", "no such command 'derve'"),
    ("--bogus", "no such option: --bogus"),
    ("derive", "missing argument 'PAPER' (see odesys derive --help)"),
    ("derive toy extra", "extra"),
    ("derive toi", "there is no paper 'toi'; there is bare, toy; did you mean toy?"),
    ("derive ./nowhere", "there is no folder './nowhere'"),
    ("derive toy --format pdf", "'pdf' is not one of 'text', 'latex', 'mathml', 'json', 'python'"),
    ("derive toy --system ful", "toy has no system 'ful'; there is full, quotient; did you mean full?"),
    ("derive toy --quotient --system full", "--quotient and --system full ask for two systems"),
    ("derive bare --quotient", "bare has no systems"),
    ("derive toy --set omega", "--set 'omega' can not be read: write --set NAME=VALUE"),
    ("derive toy --set =3", "--set '=3' can not be read"),
    ("derive toy --set omega=", "--set 'omega=' can not be read"),
    ("derive toy --set omega=abc", "omega = 'abc' can not be used: it must be a number above 0"),
    ("derive toy --set omega=nan", "omega = nan is out of range"),
    ("derive toy --set omega=-1", "omega = -1 is out of range: it must be a number above 0"),
    ("derive toy --set omega=__import__('os')", "can not be used"),
    ("derive toy --set K=symbol", "K = 'symbol' can not be used: a symbol is not available for it"),
    ("derive toy --set K=2.5", "it must be a whole number of at least 2"),
    ("derive toy --set K=2 --set K=3", "--set gives K twice: 2 and 3"),
    ("derive toy --set k=2", "toy has no parameter 'k'; it has K, omega"),
    ("derive toy --out x --json ./x", "--out and --json both name x"),
    ("simulate toy --out x --json x/trajectory.csv", "--out and --json both name x/trajectory.csv"),
    ("simulate toy --out x --json x/plot.png", "--json names x/plot.png in the folder of --out"),
    ("compare toy --out x --json x/deviation.svg", "--json names x/deviation.svg in the folder of --out"),
    ("figures toy --out x --json x/fig1.png", "--json names x/fig1.png in the folder of --out"),
    ("simulate toy --out=", "--out has an empty name; give a place"),
    ("list --json=", "--json has an empty name; give a place"),
    ("verify toy --errata= --json x", "--errata has an empty name; give a place"),
    ("verify toy --errata x --json ./x", "--errata and --json both name x"),
    ("verify toy --proofs x --json x", "--proofs and --json both name x"),
    ("verify toy --proofs x/y --errata x", "x is a folder; give the name of a file"),
    ("simulate toy --protocol swings", "toy has no protocol 'swings'; there is swing, still"),
    ("simulate bare", "bare has no protocols"),
    ("simulate toy --protocol fails", "the step became too small at t = 3"),
    ("compare bare", "bare has no comparison with finite width"),
    ("compare toy --widths 64,x", "'x' is not a positive whole number"),
    ("compare toy --widths 0", "'0' is not a positive whole number"),
    ("compare toy --widths -64", "'-64' is not a positive whole number"),
    ("compare toy --widths 64,", "'' is not a positive whole number"),
    ("compare toy --widths 1e3", "'1e3' is not a positive whole number"),
    ("compare toy --widths ٣", "is not a positive whole number"),
    ("compare toy --widths " + "9" * 5000, "is not a positive whole number"),
    ("compare toy --widths 64,064", "has 64 twice"),
    ("compare toy --seeds 0", "--seeds"),
    ("compare toy --seeds many", "--seeds"),
    ("figures toy --fig 2", "toy has no figure '2'; there is 1, 2b; did you mean 2b?"),
    ("figures bare", "the figure can not be drawn"),
]


@pytest.mark.parametrize(("line", "words"), MISTAKES, ids=[line[:40] for line, _ in MISTAKES])
def test_a_mistake_is_one_line_and_exit_code_2(odesys_command, line: str, words: str) -> None:
    assert words in refused(odesys_command(*line.split()))
    assert files() == []


def test_a_place_without_a_name_is_refused(odesys_command) -> None:
    for option in ("--out", "--json"):
        assert f"{option} has an empty name" in refused(odesys_command("simulate", "toy", option, ""))
    assert files() == []


def test_json_does_not_replace_a_certificate(odesys_command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TOY.book().certificates, "wave.json", (("A.1",), lambda file: None))
    line = ("verify", "toy", "--certificates", "c", "--json", "c/wave.json")
    assert "--certificates and --json both name c/wave.json" in refused(odesys_command(*line))
    assert files() == []


def test_control_characters_do_not_reach_the_terminal(odesys_command) -> None:
    line = refused(odesys_command("derive", "toy\x1b[31m\n2"))
    assert line.isprintable()
    assert refused(odesys_command("derive", "toy", "--set", "omega\x1b[31m=1")).isprintable()


@pytest.mark.parametrize("command", ["derive", "simulate", "compare", "figures"])
@pytest.mark.parametrize("option", ["--out", "--json"])
def test_a_place_that_takes_no_files_is_refused_before_the_work(odesys_command, monkeypatch, command, option) -> None:
    def never(*arguments: Any) -> Any:
        raise AssertionError("the work was started")

    lazy = Paper("toy", "", "", (), {"full": never}, {"swing": never}, {"1": FigureSpec("", never)}, compare=never)
    monkeypatch.setattr(sys.modules["toy_papers.toy"], "PAPER", lazy)
    Path("file").write_text("kept")
    wrong = "folder" if option == "--json" or command == "derive" else "file"
    Path("folder").mkdir()
    for place, words in [
        ("file/sub/x", "file is a file"),
        ("/proc/nonexistent/x", "the folder /proc/nonexistent"),
        (wrong, f"is a {wrong}"),
    ]:
        assert words in refused(odesys_command(command, "toy", option, place))
    assert files() == ["file"] and Path("file").read_text() == "kept"


def test_list_refuses_a_bad_place(odesys_command) -> None:
    assert "the folder /proc/nonexistent" in refused(odesys_command("list", "--json", "/proc/nonexistent/x"))


def test_a_file_of_the_result_that_is_a_folder_is_refused(odesys_command) -> None:
    Path("run/result.json").mkdir(parents=True)
    for command in ("simulate", "compare"):
        assert "run/result.json is a folder" in refused(odesys_command(command, "toy", "--out", "run"))
    assert files() == []


# ---- other ways to end -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", ["fails", "breaks", "interrupted"])
def test_a_run_that_does_not_end_well_leaves_no_file(odesys_command, protocol: str) -> None:
    result = odesys_command("simulate", "toy", "--protocol", protocol, "--out", "run", "--json", "a/run.json")
    assert result.exit_code == {"fails": 2, "breaks": 1, "interrupted": 130}[protocol]
    assert files() == [] and result.stdout == ""
    assert isinstance(result.exception, ZeroDivisionError) == (protocol == "breaks")
    if protocol == "interrupted":
        assert result.stderr == "odesys: interrupted\n"


def test_a_plot_that_fails_does_not_lose_the_run(odesys_command, monkeypatch: pytest.MonkeyPatch) -> None:
    def plot(self: Comparison, folder: Path) -> list[Path]:
        (folder / "half.png").write_text("half a pic")
        raise OdesysError("no font")

    monkeypatch.setattr(Comparison, "plot", plot)
    result = odesys_command("compare", "toy", "--out", "c", "--json", "c.json")
    assert result.exit_code == 2 and result.stderr == "odesys: no font\n"
    assert files() == ["c.json", "c/result.json"]


# ---- as a process ----------------------------------------------------------------------------------------------------


def process(*arguments: str, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    options = {"capture_output": True, "text": True, "env": environment, "timeout": 120, **options}
    return subprocess.run([sys.executable, "-m", "odesys", *arguments], cwd=cwd, **options)


@pytest.fixture
def toy_folder(tmp_path: Path) -> Path:
    (tmp_path / "my_toy").mkdir()
    (tmp_path / "my_toy" / "__init__.py").write_text(FOLDER_SOURCE)
    return tmp_path


def test_a_paper_in_a_folder(toy_folder: Path) -> None:
    done = process("simulate", "my_toy", "--set", "omega=0.3", "--json", "run.json", cwd=toy_folder)
    assert done.returncode == 0 and done.stderr == "" and "folder_toy, swing" in done.stdout
    assert read(toy_folder / "run.json")["final"] == {"x": 0.3}


def test_mistakes_of_the_user_and_ours(toy_folder: Path) -> None:
    done = process("simulate", "my_toy", "--set", "omega=abc", cwd=toy_folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "odesys: omega = 'abc' can not be used: it must be a number\n"
    done = process("simulate", "my_toy", "--protocol", "breaks", cwd=toy_folder)
    assert done.returncode == 1 and done.stderr.startswith("Traceback") and "a mistake of ours" in done.stderr
    done = process("simulate", "my_toy", "--protocol", "interrupted", cwd=toy_folder)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "odesys: interrupted\n")


def test_figures_are_drawn_whatever_backend_and_date_are_set(tmp_path: Path) -> None:
    process("new", "mine", cwd=tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": "nonsense", "SOURCE_DATE_EPOCH": "²"}
    done = process("figures", "./mine", cwd=tmp_path, env=environment)
    assert done.returncode == 0 and done.stderr == "" and "wrote figures/mine/fig1.png" in done.stdout


def test_json_to_a_pipe(toy_folder: Path) -> None:
    done = process("derive", "my_toy", "--out", "x.txt", "--json", "/dev/stderr", cwd=toy_folder)
    assert done.returncode == 0 and json.loads(done.stderr)["states"] == ["x"]


def test_a_reader_that_leaves_is_no_drama(toy_folder: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = process("list", cwd=toy_folder, capture_output=False, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert done.returncode == 1 and done.stderr == ""


def test_progress_shows_on_a_terminal_only(toy_folder: Path) -> None:
    pty = pytest.importorskip("pty")
    terminal, end = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "100"}
    with_bar = process(
        "simulate", "my_toy", cwd=toy_folder, env=environment, capture_output=False, stdout=subprocess.PIPE, stderr=end
    )
    os.close(end)
    shown = os.read(terminal, 100_000).decode(errors="replace")
    os.close(terminal)
    quiet = process("simulate", "my_toy", cwd=toy_folder)
    assert with_bar.returncode == 0 and "swinging along" in shown
    assert quiet.stderr == "" and quiet.stdout == with_bar.stdout


def test_help_starts_without_the_heavy_libraries(tmp_path: Path) -> None:
    heavy = {"sympy", "numpy", "scipy", "matplotlib", "networkx", "llvmlite"}
    imported = imports_of(tmp_path, "--help")
    assert "typer" in imported and not imported & heavy
    imported = imports_of(tmp_path, "list")
    assert "derivations" in imported and not imported & heavy


def imports_of(tmp_path: Path, *words: str) -> set[str]:
    command = [sys.executable, "-X", "importtime", "-m", "odesys", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    return {line.rpartition("|")[2].strip().split(".")[0] for line in done.stderr.splitlines()}


def test_analyse_searches_the_box_that_it_is_given(odesys_command) -> None:
    found = odesys_command("analyse", "-e", "x' = x^2 - 2", "--box", "x=0:2")
    assert found.exit_code == 0 and "with x in [0, 2]" in found.output
    assert "with x in [0, 2]" not in odesys_command("analyse", "-e", "x' = x^2 - 2").output


# ---- what is handed on -----------------------------------------------------------------------------------------------


@pytest.fixture
def handed(odesys_command, monkeypatch: pytest.MonkeyPatch):
    """What a command hands to the function `run_command` of a module, whose answer is given."""

    def call(module: str, answer: bool, *words: str) -> tuple[tuple[Any, ...], int]:
        seen: list[tuple[Any, ...]] = []
        monkeypatch.setattr(f"{module}.run_command", lambda *given: (seen.append(given), answer)[1])
        result = odesys_command(*words)
        assert len(seen) == 1 and result.stderr == "", result.stderr
        return seen[0], result.exit_code

    monkeypatch.setattr("odesys.papers.workers.available_cores", lambda: 5)
    return call


def test_what_a_verification_is_asked_for(handed) -> None:
    module = "odesys.papers.verification"
    (papers, request), code = handed(module, True, "verify")
    assert list(papers) == ["bare", "toy"] and code == 0
    assert request == verification.Request([], "quick", workers=5) and request.check
    options = "--claim A --claim B --level full --mutations --redraw 3 --seed 7 --all --workers 2 --errata e.md"
    options += " --certificates both --proofs both --no-check --json v.json"
    (papers, request), code = handed(module, False, "verify", "toy", *options.split())
    assert papers == {"toy": TOY} and code == 1
    both = Path("both")
    assert request == verification.Request(
        ["A", "B"], "full", True, 3, 7, True, Path("e.md"), Path("v.json"), 2, both, both, False
    )


def test_what_a_report_is_asked_for(handed, odesys_command, monkeypatch: pytest.MonkeyPatch) -> None:
    module = "odesys.report.write"
    monkeypatch.setattr(sys, "argv", ["odesys", "report", "a b"])
    given, code = handed(module, True, "report")
    assert code == 0 and list(given[0]) == ["bare", "toy"]
    assert given[1:] == (content.Request("quick", 5), Path("report"), "html", None, "odesys report 'a b'")
    options = "--out o --format latex --level full --workers 2 --widths 4,8 --seeds 3 --print full --proofs"
    options += " --set omega=0.5 --json r.json"
    given, code = handed(module, False, "report", "toy", *options.split())
    assert code == 1 and given[0] == {"toy": TOY}
    request = content.Request("full", 2, (4, 8), 3, {"omega": "0.5"}, True, True)
    assert given[1:5] == (request, Path("o"), "latex", Path("r.json"))
    sentence = refused(odesys_command("report", "--set", "omega=0.5"))
    assert sentence == "--set belongs to one paper, and this report has 2; name one"
    assert "omega = -1 is out of range" in refused(odesys_command("report", "toy", "--set", "omega=-1"))


def test_what_a_sweep_is_asked_for(handed, odesys_command) -> None:
    module = "numerics.sweeps.command"
    given, code = handed(module, True, "sweep", "toy", "--over", "omega=1,2")
    assert code == 0
    usual = ("toy", TOY, None, ["omega=1,2"], {}, Path("sweep/toy"), None, False, False, 5, "", ())
    assert given == usual
    options = "--over K=2,3 --over omega=1,2 --protocol still --set K=4 --workers 2 --resume --retry-failed --plot x"
    given, code = handed(module, False, "sweep", "toy", *options.split(), "--out", "o", "--json", "s.json")
    assert code == 1
    places = ({"K": "4"}, Path("o"), Path("s.json"), True, True, 2, "", ["x"])
    assert given == ("toy", TOY, "still", ["K=2,3", "omega=1,2"], *places)
    assert handed(module, True, "sweep", "toy", "--dask", "tcp://here")[0][9:11] == (5, "tcp://here")
    assert "ask for two places to compute" in refused(odesys_command("sweep", "toy", "--dask", "x", "--workers", "2"))
    assert "give --resume with it" in refused(odesys_command("sweep", "toy", "--retry-failed"))


def test_without_papers_or_systems_it_is_said(odesys_command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refused(odesys_command("derive", "bare")) == "bare has no systems"
    monkeypatch.setattr(registry, "all_papers", list)
    assert refused(odesys_command("list")).startswith("no paper is installed; name a folder with one")


def test_events_beyond_a_dozen_are_counted(odesys_command, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table has the first of them; slides have an end, and what happens at once has none."""

    def many(count: int, **more: Any) -> Callable[[Mapping[str, Any], Progress], Simulation]:
        events = [{"time": 100 + k, "kind": "crossing", "name": f"event{k}", **more} for k in range(count)]
        return lambda parameters, progress: replace(run(parameters, progress), events=events, note="take care")

    protocols = {"twelve": many(12), "thirteen": many(13, end=1000), "none": many(0)}
    monkeypatch.setattr(sys.modules["toy_papers.toy"], "PAPER", replace(TOY, protocols=protocols))
    text = works(odesys_command("simulate", "toy"))
    assert "event11" in text and "first 12" not in text and "until" not in text and "note: take care" in text
    text = works(odesys_command("simulate", "toy", "--protocol", "thirteen"))
    assert "events, the first 12 of 13" in text and "event11" in text and "event12" not in text and "until" in text
    assert "1000" in text and "events" not in works(odesys_command("simulate", "toy", "--protocol", "none"))


def test_a_system_of_the_user_is_analysed_written_and_told(odesys_command) -> None:
    Path("spring.ode").write_text("x' = v\nv' = -k*x\npar k=4\ninit x=1\ndone\n")
    told = works(odesys_command("analyse", "spring.ode", "--out", "o", "--json", "a.json"))
    assert "is conserved" in told and "wrote o/page.html" in told
    assert "<title>spring" in Path("o/page.html").read_text("utf-8") and read("a.json")
    line = ["analyse", "-e", "x' = -x", "--out", "p", "--seed", "3"]
    assert "wrote p/page.html" in works(odesys_command(*line))
    assert "<title>A system" in Path("p/page.html").read_text("utf-8")


def test_a_new_paper_says_what_to_try_next(odesys_command) -> None:
    for place, word in (("mine", "./mine"), ("papers/other", "papers/other")):
        told = works(odesys_command("new", place, "--json", "n.json"))
        assert told.endswith(f"try: odesys verify {word}; odesys report {word} --out report\n")
        assert read("n.json")["name"] == Path(place).name
        assert sorted(read("n.json")["files"]) == [f"{place}/{each}" for each in files(place)]


def test_the_program_begins_by_what_keeps_the_machine_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[Any] = []
    monkeypatch.setattr(commands.signal, "signal", lambda *given: called.append(given))
    monkeypatch.setattr(commands, "limit_memory", lambda: called.append("memory"))
    monkeypatch.setattr(commands, "mend_streams", lambda: called.append("streams"))
    monkeypatch.setattr(commands, "app", lambda prog_name: called.append(prog_name))
    commands.main()
    assert called == [(commands.signal.SIGTERM, commands.interrupt), "memory", "streams", "odesys"]
