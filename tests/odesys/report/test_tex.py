"""The LaTeX bundle."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from odesys.papers.paper import Formula
from odesys.report import tex
from odesys.report.claim_entry import claim_entries
from odesys.report.content import Content
from odesys.report.proof_graph_layout import Box, GraphLayout
from odesys.tex.documents import plain
from odesys.verdicts import certified, measured, proved
from tests.report_pages import toy

MakeContent = Callable[..., Content]


def test_a_paper_has_formulas_of_its_own(toy_content: MakeContent) -> None:
    own = [Formula("output & more", r"f = \langle v, x\rangle")]
    content = toy_content(replace(toy(), formulas=lambda parameters: own))
    assert r"\paragraph{output \& more} \[ f = \langle v, x\rangle \]" in tex.body(content)


def test_texts_are_made_harmless_and_formulas_are_kept(toy_content: MakeContent) -> None:
    body = tex.body(toy_content())
    assert r"\section{A \textless{}toy\textgreater{}}" in body and "nobody \\& never." in body
    assert r"\[ 1 = 2 \]" in body and r"a typo \& more." in body and "<" not in body.replace(r"1 < 2 &", "")
    assert r"A.3 & Third & not run & -- & \pageref{toy:A.3} \\" in body
    assert r"\emph{Rests on:} A.1 (p.~\pageref{toy:A.1})." in body


def test_the_proof_graph_has_the_colours_of_the_verdicts(toy_content: MakeContent) -> None:
    body = tex.body(toy_content())
    for id, word in (("A.1", "undecided"), ("A.2", "fails")):
        assert re.search(rf"\\node\[fill={tex.COLOURS[word]}\] \(n\d\) at \(\d+,\d+\) {{{id}}};", body), id
    assert body.count(r"\draw[gray!60,very thin]") == 1 and "Linked to no other claim: A.3." in body


def test_pictures_are_pdf_where_there_is_one(toy_content: MakeContent, tmp_path: Path) -> None:
    content = toy_content()
    files = tuple(tmp_path / "figures" / name for name in ("x.pdf", "x.png", "y.png", "z.svg"))
    content.figures = [replace(content.figures[0], files=files)]
    body = tex.body(content)
    assert "{toy/figures/x.pdf}" in body and "{toy/figures/y.png}" in body
    assert "x.png" not in body and "z.svg" not in body


def test_labels_have_nothing_that_tex_acts_on() -> None:
    assert tex.label("toy", r"E.1 {a}_b%") == "toy:E.1--a-_b-"


def test_the_main_file_inputs_every_paper() -> None:
    text = tex.main(["one", "two"], "A & B")
    assert r"\title{A \& B}" in text and text.index(r"\input{one/body}") < text.index(r"\input{two/body}")
    assert text.startswith(r"\documentclass") and text.endswith("\\end{document}\n")


def test_a_small_graph_is_drawn_at_its_size_and_a_large_one_smaller(
    toy_content: MakeContent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It fits 16 by 22 centimetres; where a node is lower than 0.42 centimetres the letters are tiny."""
    content = toy_content()
    for width, height, scale, font in (
        (1000.0, 100.0, 0.016, "tiny"),
        (100.0, 1000.0, 0.022, "scriptsize"),
        (16 * 22 / 0.421, 10.0, 0.421 / 22, "scriptsize"),
        (16 * 22 / 0.419, 10.0, 0.419 / 22, "tiny"),
    ):
        layout = GraphLayout({"A.1": Box(5, 5, 5), "A.2": Box(5, 20, 5)}, (("A.1", "A.2"),), width, height)
        monkeypatch.setattr(tex, "layered_layout", lambda graph, layout=layout: layout)
        text = tex.body(content)
        assert f"{scale:.5f}" in text and f"\\{font}" in text
        assert "(n0)" in text and "(n1)" in text


def test_each_answer_has_a_colour_of_its_evidence(toy_content: MakeContent) -> None:
    first, second, third = claim_entries(toy_content())
    assert [tex._colour(entry) for entry in (first, second, third)] == ["gray!40", "red!25", "white"]
    assert second.outcome is not None
    for verdict, colour in ((proved(), "green!25"), (certified(), "cyan!25"), (measured(True), "yellow!35")):
        assert tex._colour(replace(second, outcome=replace(second.outcome, verdict=verdict))) == colour


def test_text_with_formulas_is_left_alone_and_other_text_is_made_harmless() -> None:
    assert tex._plain_around_formulas("where $x_1$ is") == "where $x_1$ is"
    for text in ("5 $ each", "x_1 & y", "a $ b $ c $"):
        assert tex._plain_around_formulas(text) == plain(text) != text


def test_one_file_per_picture_and_pdf_first(toy_content: MakeContent, tmp_path: Path) -> None:
    content = toy_content()
    for names, shown in (
        ("x.pdf x.png", ["x.pdf"]),
        ("x.png x.pdf", ["x.pdf"]),
        ("x.png y.png", ["x.png", "y.png"]),
        ("x.svg x.txt", []),
    ):
        files = [tmp_path / name for name in names.split()]
        assert tex._pictures(content, files) == [f"toy/{name}" for name in shown]
