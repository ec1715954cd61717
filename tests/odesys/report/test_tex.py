"""The LaTeX bundle."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from odesys.papers.paper import Formula
from odesys.report import tex
from odesys.report.content import Content
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
