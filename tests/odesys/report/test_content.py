"""What a report says: a part that can not be computed is said, and levels choose claims and figures."""

from __future__ import annotations

import json
import platform
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from odesys import Data, System, Words, __version__, maps, squared, sym
from odesys.errors import OdesysError
from odesys.papers import registry
from odesys.papers.claims import ClaimBook, Outcome
from odesys.papers.explorer import Explorer, LiveProtocol, LiveStage, Panel, Slider
from odesys.papers.paper import Formula, Parameter, Setting, Simulation
from odesys.papers.proof_files import ProofRun
from odesys.papers.survival import theorem_lines, with_survival
from odesys.papers.verification import errata_markdown
from odesys.report import content as content_room
from odesys.report import html
from odesys.report.content import Content, FigurePart, Request, SystemPart, gather, pictures, provenance, told
from odesys.report.explorer import fragment
from odesys.report.setting import data_rows, setting_formulas
from odesys.tex.latex import system_latex
from odesys.verdicts import proved, refuted, undecided
from tests.report_pages import Reader, toy

MakeContent = Callable[..., Content]


def test_what_can_not_be_computed_is_said_and_the_rest_is_there(toy_content: MakeContent) -> None:
    content = toy_content()
    text = html.page(content)
    assert content.problems == {"run": "the step became <too> small"}
    assert "could not be computed: the step became &lt;too&gt; small" in text
    seen = Reader(text)
    assert "A run" not in seen.text.split("How this was made")[0] and "A.2" in seen.text
    assert [o.claim.id for o in content.unexpected()] == ["A.1"] and "unexpected" in seen.text


def test_what_nobody_foresaw_in_one_part_leaves_the_others(toy_content: MakeContent) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("<a mistake>")

    paper = toy()
    figures = {name: replace(figure, draw=broken) for name, figure in paper.figures.items()}
    wrong = replace(paper, systems={"s": broken, **paper.systems}, protocols={"p": broken}, figures=figures)
    content = toy_content(wrong)
    assert (
        content.problems["run"].startswith("ZeroDivisionError, in line ") and "<a mistake>" in content.problems["run"]
    )
    assert content.problems["figures"].startswith("1: ZeroDivisionError")
    assert content.problems["systems"].startswith("s: ZeroDivisionError") and len(content.systems) == 1 + len(
        paper.systems
    )
    assert content.outcomes
    assert "&lt;a mistake&gt;" in html.page(content)


def test_levels_of_claims_and_figures(toy_content: MakeContent) -> None:
    content = toy_content()
    text = html.page(content)
    assert [f.id for f in content.figures] == ["1"] and [c.id for c in content.not_run] == ["A.3"]
    assert content.figures_left_out() == ["2"] and "<code>--level full</code> runs it" in text
    content = toy_content(level="full")
    assert [f.id for f in content.figures] == ["1", "2"] and not content.not_run


def test_the_main_figure_is_drawn_at_every_level(toy_content: MakeContent) -> None:
    content = toy_content(replace(toy(), main_figure="2"))
    assert [f.id for f in content.figures] == ["1", "2"] and content.main_figure == "2"
    text = html.page(content)
    assert text.index("long") < text.index("What to change") and text.count('aria-labelledby="main') == 1


def test_sections_are_those_with_something_to_say(toy_content: MakeContent) -> None:
    full = toy_content()
    assert full.sections() == ["setting", "systems", "graph", "claims", "errata", "figures", "provenance"]
    bare = toy_content(replace(toy(), figures={}, book=None))
    assert bare.sections() == ["setting", "systems", "provenance"]


def test_a_paper_has_formulas_of_its_own(toy_content: MakeContent) -> None:
    own = [Formula("output", "f"), Formula("loss", r"\ell(z) = e^{-z}")]
    assert toy_content(replace(toy(), formulas=lambda parameters: own)).formulas == own


@pytest.mark.parametrize("drawn", [True, False])
def test_a_run_is_kept_as_data_and_drawn_where_it_can_be(toy_content: MakeContent, drawn: bool) -> None:
    def plot(folder: Path) -> list[Path]:
        (folder / "x.svg").write_text('<svg viewBox="0 0 100 50"><g id="a"/></svg>')
        return [folder / "x.svg"]

    def run(parameters: object, progress: object) -> Simulation:
        found: dict[str, Any] = {"protocol": "run", "parameters": {}, "final": {"x": 2.0}, "events": (), "cost": {}}
        return Simulation(
            **found, invariant_drift=None, columns={"t": [0.0, 1.0], "x": [1.0, 2.0]}, plot=plot if drawn else None
        )

    content = toy_content(toy(protocols={"run": run}))
    assert content.problems == {} and content.simulation["final"] == {"x": 2.0}
    assert [file.name for file in content.run_files] == ["x.svg"] * drawn
    kept = content.folder / "simulate"
    assert json.loads((kept / "result.json").read_text()) == content.simulation
    assert (kept / "trajectory.csv").read_text().split() == ["t,x", "0.0,1.0", "1.0,2.0"]
    assert np.load(kept / "trajectory.npz")["x"].tolist() == [1.0, 2.0]


# ---- part by part ----------------------------------------------------------------------------------------------------


def decay(parameters: Mapping[str, Any]) -> System:
    return System.from_equations({"x": -sym("k") * sym("x")}, ["k"])


@pytest.mark.parametrize(
    ("latex", "shown", "note"),
    [(50_000, 330_000, False), (50_001, 5, True), (5, 330_001, True), (50_000, 330_001, True), (5, 0, False)],
)
def test_a_system_that_is_too_long_for_a_page_is_named_in_its_place(
    toy_content: MakeContent, monkeypatch: pytest.MonkeyPatch, latex: int, shown: int, note: bool
) -> None:
    """Up to 50,000 characters of LaTeX and 330,000 of MathML are on the page; files have all of it."""
    monkeypatch.setattr(content_room, "system_latex", lambda system, document=False: "d" if document else "x" * latex)
    monkeypatch.setattr(content_room, "system_mathml", lambda system: "m" * shown)
    monkeypatch.setattr(content_room, "compact", lambda text: text)
    content = toy_content(toy(systems={"full": decay}))
    (part,) = content.systems
    assert (part.name, part.kind, part.dimension, len(part.latex)) == ("full", "flow", 1, latex)
    assert part.parameters == ("k",) and (content.folder / "system_full.tex").read_text().strip() == "d"
    assert "x" in (content.folder / "system_full.txt").read_text()
    said = "too long for this page; `odesys derive toy --system full --format latex` writes it"
    assert part.note == (said if note else "") and part.mathml == ("" if note else "m" * shown)


def test_a_system_is_written_out_or_says_why_not(toy_content: MakeContent, monkeypatch: pytest.MonkeyPatch) -> None:
    (part,) = toy_content(toy(systems={"full": decay})).systems
    system = decay({})
    assert part.latex == system_latex(system) and part.mathml.startswith("<math") and part.note == ""

    def refuse(system: System, document: bool = False) -> str:
        raise OdesysError("it has too many states")

    def wrong(parameters: Mapping[str, Any]) -> System:
        raise OdesysError("K must be even")

    monkeypatch.setattr(content_room, "system_latex", refuse)
    content = toy_content(toy(systems={"full": decay, "half": wrong}))
    first, second = content.systems
    assert (first.kind, first.dimension, first.latex, first.mathml) == ("flow", 1, "", "")
    assert first.note == "it has too many states" and second == SystemPart("half", note="K must be even")
    assert second.dimension == 0 and "systems" not in content.problems, "a refusal is no mistake"


def test_definitions_have_no_answer_and_what_did_not_run_is_counted(toy_content: MakeContent) -> None:
    book = ClaimBook("toy", laboratory=dict)
    answers = {"A": proved(), "B": undecided("x"), "C": refuted({"x": 1}), "D": proved(), "E": proved(), "F": None}
    for id in answers:
        kind = "definition" if id == "D" else "identity"
        book.claim(id, id, kind=kind, statement="s", reading="r", main=id in "AF")(lambda lab: proved())
    content = toy_content(toy(book=None))
    assert content.counts() == {"holds": 0, "fails": 0, "undecided": 0, "untested": 0, "not run": 0}
    assert content.theorems() == [] and content.not_run == []
    content.book = book
    outcomes = [Outcome(book[id], verdict, 0.0) for id, verdict in answers.items() if verdict is not None]
    content.outcomes = with_survival(book, outcomes)
    assert content.counts() == {"holds": 2, "fails": 1, "undecided": 1, "untested": 0, "not run": 1}
    assert [claim.id for claim in content.not_run] == ["F"] and content.theorems() == theorem_lines(
        book, content.outcomes
    )
    assert content.theorems() == ["A A: stands as printed"]
    assert [outcome.claim.id for outcome in content.unexpected()] == ["B", "C"]


def test_there_is_a_section_for_each_part_that_is_there(toy_content: MakeContent) -> None:
    content = toy_content(replace(toy(), figures={}, book=None))
    content.simulation, content.comparison = {}, {}
    assert content.sections() == ["setting", "systems", "run", "comparison", "provenance"]
    content.book = ClaimBook("toy", laboratory=dict)
    assert "claims" not in content.sections(), "nothing was checked"


def test_progress_goes_through_the_parts_and_never_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part has its share of the whole, whatever it says of itself."""
    monkeypatch.setattr(registry, "documentation", lambda name: "")
    told: list[tuple[str, float]] = []

    def run(parameters: object, progress: Callable[[str, float], None]) -> None:
        for fraction in (-1.0, 0.0, 0.5, 1.0, 7.0):
            progress("running", fraction)

    systems = {name: decay for name in ("a", "b")}
    paper = toy(protocols={"p": run}, systems=systems)
    gather("toy", paper, Request(), tmp_path, lambda text, share: told.append((text, share)))
    shares = [share for _, share in told]
    assert shares == sorted(shares) and shares[0] >= 0 and shares[-1] <= 1
    said = {text: [] for text, _ in told}
    for text, share in told:
        said[text].append(share)
    assert said["toy: running"] == pytest.approx([0.6, 0.6, 0.625, 0.65, 0.65])
    assert said["toy: system a"] == [0.02] and said["toy: system b"] == pytest.approx([0.055])
    assert said["toy: figure 1"] == [0.8]


def test_every_part_says_how_long_it_took(toy_content: MakeContent) -> None:
    began = time.perf_counter()
    content = toy_content()
    assert list(content.seconds) == ["setting", "systems", "explorer", "claims", "run", "comparison", "figures"]
    assert all(seconds >= 0 for seconds in content.seconds.values())
    assert sum(content.seconds.values()) <= time.perf_counter() - began
    assert content.run_files == () and content.samples == 0 and not content.print_all


class Comparison:
    """What a comparison gives: a table, and pictures."""

    def __init__(self, *given: Any) -> None:
        self.given = given

    def as_json(self, paper: str) -> dict[str, Any]:
        widths, seeds, parameters = self.given
        return {"paper": paper, "widths": widths, "seeds": seeds, "parameters": parameters}

    def plot(self, folder: Path) -> None:
        (folder / "law.svg").write_text("<svg/>")
        (folder / "law.txt").write_text("no picture")


def test_a_comparison_is_made_as_asked_for_or_as_the_paper_proposes(toy_content: MakeContent) -> None:
    compared = toy(
        compare=lambda widths, seeds, parameters, progress: Comparison(widths, seeds, dict(parameters)),
        widths=(8, 16),
        seeds=3,
        parameters=(Parameter("K", 5, "size", int),),
    )
    content = toy_content(compared)
    assert content.comparison == {"paper": "toy", "widths": [8, 16], "seeds": 3, "parameters": {"K": 5}}
    content = toy_content(compared, widths=(32,), seeds=7, settings={"K": "2"})
    assert content.comparison == {"paper": "toy", "widths": [32], "seeds": 7, "parameters": {"K": 2}}
    assert content.comparison_files == (content.folder / "compare" / "law.svg",)
    assert json.loads((content.folder / "compare" / "result.json").read_text()) == content.comparison
    assert provenance(content)["seeds of the networks"] == "7" and provenance(content)["parameters"] == "K = 2"


def test_only_the_first_protocol_is_run(toy_content: MakeContent) -> None:
    ran: list[str] = []

    def run(name: str) -> Callable[..., Simulation]:
        return lambda *given: ran.append(name) or Simulation(name, {}, {}, (), {}, None, {"t": [0.0]})

    content = toy_content(toy(protocols={name: run(name) for name in ("first", "second")}))
    assert ran == ["first"] and content.problems == {} and content.simulation["protocol"] == "first"
    assert (
        not Content(toy(), "quick", {}, content.folder).print_all and not Request().print_all and not Request().proofs
    )


def test_an_explorer_is_part_of_a_report_where_the_paper_has_one(toy_content: MakeContent) -> None:
    x = sym("x")
    protocol = LiveProtocol("decay", "free decay", [LiveStage("", decay({}))], {"x": 1}, 5, [Panel("x", {"x": x})])
    made = Explorer("A decay", [Slider("k", 1, 0.1, 10, log=True)], [protocol])
    content = toy_content(toy(explorer=lambda parameters: made))
    assert content.explorer == fragment(made) and toy_content().explorer is None


def test_a_setting_is_written_with_its_samples_before_formulas_of_its_own(toy_content: MakeContent) -> None:
    words = Words("a b")
    w = maps("w", 1, words)
    setting = Setting(lambda X: w @ X[0], Data(words, [("a", 1), ("b", 2), ("b", 3)]), loss=squared)
    own = Formula("more", "x")
    content = toy_content(toy(setting=lambda parameters: setting, formulas=lambda parameters: [own]))
    assert content.formulas == [*setting_formulas(setting), own] and content.samples == 3
    assert content.data == data_rows(setting) and content.problems.keys() == {"run"}


def test_what_was_checked_is_on_disk_with_errata(toy_content: MakeContent) -> None:
    content = toy_content()
    found = json.loads((content.folder / "verify.json").read_text())
    assert found["complete"] is True and [row["id"] for row in found["claims"]] == ["A.1", "A.2"]
    assert (content.folder / "errata.md").read_text() == errata_markdown(content.outcomes)


def test_a_check_that_breaks_off_leaves_the_others_and_is_told(toy_content: MakeContent) -> None:
    book = ClaimBook("toy", laboratory=dict)
    book.claim("A", "a", kind="identity", statement="s", reading="r")(lambda lab: proved())
    book.claim("B", "b", kind="identity", statement="s", reading="r")(lambda lab: 1 / 0)
    content = toy_content(toy(book=lambda: book))
    assert [o.claim.id for o in content.outcomes] == ["A"] and "toy B broke off" in content.problems["claims"]
    found = json.loads((content.folder / "verify.json").read_text())
    assert found["complete"] is False and [row["id"] for row in found["claims"]] == ["A"]
    assert not (content.folder / "errata.md").exists()


def test_proofs_are_exported_and_checked_where_that_is_asked_for(
    toy_content: MakeContent, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Any, ...]] = []

    def checking(
        outcomes: list[Outcome], proofs: Any, folder: Path, check: bool, workers: int, progress: Any
    ) -> ProofRun:
        asked.append((len(proofs), folder.name, check, workers))
        return ProofRun([replace(outcome, seconds=7.0) for outcome in outcomes], [], [])

    monkeypatch.setattr(content_room, "check_proofs", checking)
    assert all(o.seconds != 7 for o in toy_content().outcomes) and asked == []
    content = toy_content(proofs=True)
    assert [o.seconds for o in content.outcomes] == [7.0, 7.0] and asked == [(1, "proofs", True, 1)]
    assert [row["seconds"] for row in json.loads((content.folder / "verify.json").read_text())["claims"]] == [7.0, 7.0]


def test_an_error_that_nobody_foresaw_says_where_it_is_from() -> None:
    assert told(OdesysError("it is stiff")) == "it is stiff"
    assert told(ValueError("odd")) == "ValueError: odd"
    try:
        decay_of_nothing()
    except ZeroDivisionError as error:
        assert re.fullmatch(r"ZeroDivisionError, in line \d+ of test_content\.py: division by zero", told(error))
        assert f"line {error.__traceback__.tb_next.tb_lineno} " in told(error), "the innermost"


def decay_of_nothing() -> float:
    return 1 / 0


def test_pictures_are_files_that_show_something() -> None:
    files = [Path(f"a.{ending}") for ending in ("svg", "json", "PNG", "csv", "pdf", "npz")]
    assert [file.name for file in pictures(files)] == ["a.svg", "a.PNG", "a.pdf"]


def test_a_report_says_how_it_was_made(toy_content: MakeContent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    content = toy_content()
    rows = provenance(content)
    assert rows["date"] == "1970-01-02 00:00 UTC" and rows["level of the claims"] == "quick"
    assert rows["data"].endswith(f"figures in the folder {content.folder.name} beside this page")
    versions = rows["versions"].split(", ")
    assert versions[0] == f"odesys {__version__}" and f"numpy {np.__version__}" in versions
    assert "seeds of the networks" not in rows and rows["system"] == f"{platform.system()} {platform.machine()}"
    content.comparison, content.folder = {"seeds": [3, 5]}, Path("/")
    assert provenance(content)["seeds of the networks"] == "3, 5" and "data" not in provenance(content)
    before = datetime.now(UTC).replace(second=0, microsecond=0)
    for text in ("soon", "²", "٣", "-5", "9" * 20, "9" * 5000):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", text)
        assert before <= datetime.strptime(provenance(content)["date"], "%Y-%m-%d %H:%M UTC").replace(tzinfo=UTC)

    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    assert provenance(content)["versions"] == f"odesys {__version__}, Python {platform.python_version()}"


def test_the_main_figure_is_named_or_the_first_that_a_report_shows(toy_content: MakeContent) -> None:
    content = toy_content()
    figures = content.paper.figures
    for shown, named, main in ((("1", "2"), "", "1"), (("3", "2"), "", "2"), (("3",), "", ""), (("1", "2"), "2", "2")):
        content.paper = toy(figures={id: figures[id] for id in shown}, main_figure=named)
        assert content.main_figure == main
    content.paper, content.figures = toy(), []
    assert content.figures_left_out() == ["2"]
    content.figures = [FigurePart("2", "long", ())]
    assert content.figures_left_out() == []
