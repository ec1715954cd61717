"""Every TeX output compiles: errata of all books, a bundle with hostile titles, nightly what papers really write."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from odesys.papers import registry
from odesys.papers.claims import ClaimBook, Outcome
from odesys.papers.paper import Paper
from odesys.papers.verification import errata_latex
from odesys.report import tex
from odesys.report.content import Content, Request, gather
from odesys.tex.documents import formula, plain
from odesys.verdicts import Verdict, proved, refuted
from tests.report_pages import toy

PROGRAM = shutil.which("pdflatex")
PAPERS = ("benign_overfitting", "cooccurrence", "shallow_vit", "signgd", "two_mixture")
HOSTILE = 'a "quoted"\n\n title ]\x00\x1b \\input{x} % $ # & _ ^ ~ { } < > | \N{SNOWMAN} ß ł é \u2028 end'
needs_tex = pytest.mark.skipif(PROGRAM is None, reason="no pdflatex on this machine; make tex installs one")


def compile_tex(folder: Path, name: str) -> None:
    done = subprocess.run(
        [str(PROGRAM), "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", name],
        cwd=folder,
        capture_output=True,
        encoding="latin-1",
        check=False,
    )
    assert done.returncode == 0, done.stdout[-1500:]


def test_breaks_and_control_signs_become_blanks_or_go() -> None:
    assert plain("one\n\n two\r\n\tthree\u2028four") == "one two three four"
    assert plain('say "x"') == r"say {\char34}x{\char34}"
    assert formula("a\n\n= b\x00\\\\\tc \n") == "a = b\\\\ c"


@needs_tex
@pytest.mark.parametrize("name", PAPERS)
def test_the_errata_of_every_book_compile(name: str, tmp_path: Path) -> None:
    """As if everything failed: all titles, places and statements are in it."""
    book = registry.find_paper(name).book
    assert book is not None
    found = refuted({"said": HOSTILE}).correcting("1 = 1", proved(), HOSTILE)
    outcomes = [Outcome(claim, found, 0.0) for claim in book() if claim.scored]
    text = errata_latex(outcomes)
    assert text.count("\\item") == len(outcomes) > 20
    (tmp_path / "errata.tex").write_text(text, encoding="utf-8")
    compile_tex(tmp_path, "errata.tex")


@needs_tex
def test_hostile_titles_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "documentation", lambda name: HOSTILE)
    paper: Paper = toy()
    figures = {id: replace(figure, title=HOSTILE) for id, figure in paper.figures.items()}
    book = ClaimBook("toy", laboratory=lambda mutation="": mutation)

    @book.claim("A.1]", HOSTILE, kind="identity", statement="1\n\n= \x002", reading=HOSTILE, expect="fails")
    def first(lab: str) -> Verdict:
        return refuted({HOSTILE: HOSTILE}).correcting("1\n\n= 1", proved(), HOSTILE)

    hostile = replace(paper, title=HOSTILE, reference=HOSTILE, figures=figures, book=lambda: book)
    content = gather("toy", hostile, Request(), tmp_path / hostile.name, lambda text, fraction: None)
    content.command = HOSTILE
    content.problems["run"] = HOSTILE
    content.figures.clear()  # pictures of other formats
    _bundle(content, tmp_path)


def _bundle(content: Content, folder: Path) -> None:
    (content.folder / "body.tex").write_text(tex.body(content), encoding="utf-8")
    (folder / "main.tex").write_text(tex.main([content.paper.name], HOSTILE), encoding="utf-8")
    compile_tex(folder, "main.tex")


@needs_tex
@pytest.mark.nightly
@pytest.mark.parametrize("name", PAPERS)
def test_what_papers_write_compiles(name: str, tmp_path: Path) -> None:
    for words in (["report", name, "--format", "latex", "--out", "."], ["verify", name, "--errata", "errata.tex"]):
        line = [sys.executable, "-m", "odesys", *words, "--workers", "2"]
        env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        done = subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    compile_tex(tmp_path, "main.tex")
    compile_tex(tmp_path, "errata.tex")
    for file in sorted((tmp_path / name).glob("system_*.tex")):
        compile_tex(file.parent, file.name)
