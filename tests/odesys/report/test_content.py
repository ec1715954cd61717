"""What a report says: a part that can not be computed is said, and levels choose claims and figures."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from odesys.papers.paper import Formula, Simulation
from odesys.report import html
from odesys.report.content import Content
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
