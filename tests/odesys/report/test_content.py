"""The report: everything a paper has is on the page, nothing is loaded from elsewhere, what fails says so."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from typer.testing import CliRunner

from odesys.cli import commands
from odesys.errors import IntegrationError
from odesys.papers import registry
from odesys.papers.claims import ClaimBook
from odesys.papers.new import create
from odesys.papers.paper import FigureSpec, Formula, Paper
from odesys.report import html, svg, tex, values
from odesys.report.content import Request, gather
from odesys.report.graph import HEIGHT, ROOM, layers
from odesys.report.html import index, page
from odesys.report.html_claims import anchor
from odesys.report.mathml import mathml
from odesys.tex.latex import plain
from odesys.verdicts import Verdict, proved, refuted, undecided

VOID = {"meta", "link", "input", "img", "br"}


class Reader(HTMLParser):
    """Checks that elements are closed in order, and collects ids, links and attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.elements.append((tag, found))
        self.ids += [found["id"] or ""] if "id" in found else []
        self.links += [found[key] or "" for key in ("href", "src", "xlink:href") if key in found]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.text += data


def odesys(*words: object) -> Any:
    return CliRunner().invoke(commands.app, list(map(str, words)), prog_name="odesys")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("papers")
    create(made / "reported")
    return made


@pytest.fixture(scope="module")
def report(folder: Path) -> Path:
    out = folder / "pages"
    result = odesys(
        "report",
        folder / "reported",
        "--out",
        out,
        "--workers",
        1,
        "--widths",
        "8,32",
        "--seeds",
        2,
        "--json",
        out / "r.json",
    )
    assert result.exit_code == 0, result.output
    return out


# ---- the page --------------------------------------------------------------------------------------------------------


def test_the_page_is_whole(report: Path) -> None:
    text = (report / "reported.html").read_text(encoding="utf-8")
    seen = Reader(text)
    assert len(set(seen.ids)) == len(seen.ids)
    inside = {link[1:] for link in seen.links if link.startswith("#")}
    assert inside <= set(seen.ids) and {anchor(id) for id in ("1.1", "1.2", "1.3", "2.1")} <= set(seen.ids)
    outside = [link for link in seen.links if not link.startswith(("#", "data:")) and link != "index.html"]
    assert not outside
    assert "url(http" not in text and "@import" not in text and "Content-Security-Policy" in text
    for word in (
        "Model and data",
        "Closed systems",
        "What rests on what",
        "Claims",
        "Errata",
        "A run",
        "Theory against finite width",
        "Figures",
        "How this page was made",
        "misprint",
        "14 states",
    ):
        assert word in seen.text
    assert "\\" not in re.sub(r"<(pre|script|code).*?</\1>|data-text=\"[^\"]*\"", "", text, flags=re.DOTALL)


def test_a_screen_reader_finds_its_way(report: Path) -> None:
    seen = Reader((report / "reported.html").read_text(encoding="utf-8"))
    levels = [int(tag[1]) for tag, _ in seen.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1 and all(b - a <= 1 for a, b in pairwise(levels))
    pictures = [a for tag, a in seen.elements if tag == "svg" and "figure" in (a.get("class") or "")]
    assert len(pictures) >= 3 and all(a["role"] == "img" and a["aria-labelledby"] in seen.ids for a in pictures)
    assert all(a.get("scope") in ("col", "row") for tag, a in seen.elements if tag == "th")
    assert all(a.get("alt") for tag, a in seen.elements if tag == "img")
    assert ("html", {"lang": "en", "class": "no-script"}) in seen.elements
    assert all("tabindex" in a for tag, a in seen.elements if tag == "div" and "scroll" in (a.get("class") or ""))


def test_data_files_lie_beside_the_page(report: Path) -> None:
    data = report / "reported"
    verdicts = json.loads((data / "verify.json").read_text())
    assert [c["id"] for c in verdicts["claims"]] == ["1.1", "1.2", "1.3", "2.1"] and verdicts["complete"]
    assert "## 1.3" in (data / "errata.md").read_text()
    for name in ("system_quotient.tex", "simulate/trajectory.csv", "compare/result.json", "figures/fig1.svg"):
        assert (data / name).stat().st_size > 100
    summary = json.loads((report / "r.json").read_text())["papers"][0]
    assert summary["claims"] == {"holds": 3, "fails": 1, "undecided": 0, "not run": 0} and summary["problems"] == {}
    assert 'href="reported.html"' in (report / "index.html").read_text()


def test_the_index_keeps_earlier_papers(folder: Path, report: Path) -> None:
    create(folder / "second_one")
    result = odesys("report", folder / "second_one", "--out", report, "--workers", 1, "--widths", "8", "--seeds", 1)
    assert result.exit_code == 0, result.output
    text = (report / "index.html").read_text()
    assert 'href="reported.html"' in text and 'href="second_one.html"' in text
    Reader(text)


def test_latex_bundle(folder: Path, tmp_path: Path) -> None:
    result = odesys(
        "report",
        folder / "reported",
        "--out",
        tmp_path,
        "--format",
        "latex",
        "--workers",
        1,
        "--widths",
        "8,32",
        "--seeds",
        1,
    )
    assert result.exit_code == 0, result.output
    body = (tmp_path / "reported" / "body.tex").read_text()
    for id in ("1.1", "1.2", "1.3", "2.1"):
        assert body.count(rf"\label{{reported:{id}}}") == 1
    assert r"\documentclass" not in body and body.count(r"\begin{") == body.count(r"\end{")
    assert body.count(r"\begingroup") == body.count(r"\endgroup") == 1
    for file in re.findall(r"\\includegraphics\[[^]]*\]\{([^}]*)\}", body):
        assert (tmp_path / file).read_bytes().startswith(b"%PDF")
    assert r"\input{reported/body}" in (tmp_path / "main.tex").read_text()
    balance = 0
    for c in re.sub(r"\\[{}]|%.*", "", body):
        balance += {"{": 1, "}": -1}.get(c, 0)
        assert balance >= 0
    assert balance == 0


def test_latex_text_is_harmless() -> None:
    assert plain("a_b & 50% \\x {y} ^~ ≥ α “q”") == (
        r"a\_b \& 50\% \textbackslash{}x \{y\} \textasciicircum{}\textasciitilde{} \ensuremath{\ge} "
        r"\ensuremath{\alpha} ``q''"
    )
    assert plain("\N{SNOWMAN}") == "?"


# ---- what can go wrong -----------------------------------------------------------------------------------------------


def toy(**more: Any) -> Paper:
    def nothing(parameters: Any, progress: Any) -> Any:
        raise IntegrationError("the step became <too> small", time=1.0)

    def draw(folder: Path, progress: Any) -> list[Path]:
        (folder / "x.svg").write_text('<svg viewBox="0 0 100 50"><g id="a"/></svg>')
        return [folder / "x.svg"]

    book = ClaimBook("toy", laboratory=lambda mutation="": mutation)

    @book.claim(
        "A.1", "<script>alert(1)</script>", kind="identity", statement=r"1 < 2 & \unknown{", reading="<b>bold</b>"
    )
    def first(lab: str) -> Verdict:
        return undecided("x < y")

    @book.claim("A.2", "Second", kind="identity", statement="1 = 2", reading="as is", uses=["A.1"], expect="fails")
    def second(lab: str) -> Verdict:
        return refuted({"<i>": [1, 2.5, None]}).correcting("1 = 1", proved(), "a typo & more")

    @book.claim("A.3", "Third", kind="order", statement="x", reading="y", level="full")
    def third(lab: str) -> Verdict:
        return proved()

    known: dict[str, Any] = {
        "name": "toy",
        "title": "A <toy>",
        "reference": "nobody & never",
        "parameters": (),
        "systems": {},
        "protocols": {"run": nothing},
        "book": lambda: book,
        "figures": {
            "1": FigureSpec("one", draw),
            "2": FigureSpec("long", draw, "full"),
            "3": FigureSpec("elsewhere", draw, "never"),
        },
    }
    return Paper(**{**known, **more})


@pytest.fixture
def toy_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def make(paper: Paper | None = None, **request: Any) -> tuple[Any, str]:
        monkeypatch.setattr(registry, "documentation", lambda name: "symbols: <x>")
        content = gather("toy", paper or toy(), Request(**request), tmp_path, lambda text, fraction: None)
        return content, page(content)

    return make


def test_what_can_not_be_computed_is_said_and_the_rest_is_there(toy_page) -> None:
    content, text = toy_page()
    assert content.problems == {"run": "the step became <too> small"}
    assert "could not be computed: the step became &lt;too&gt; small" in text
    seen = Reader(text)
    assert "A run" not in seen.text.split("How this page")[0] and "A.2" in seen.text
    assert [o.claim.id for o in content.unexpected()] == ["A.1"] and "unexpected" in seen.text


def test_texts_are_never_markup(toy_page) -> None:
    _, text = toy_page()
    body = text.split("<script>\n")[0]
    assert "<script>" not in body and "<b>bold" not in body and "<i>" not in body and "&lt;script&gt;" in body
    assert r"\unknown{" in text and 'class="tex-only"' in text  # TeX that can not be read is shown


def test_levels_of_claims_and_figures(toy_page) -> None:
    content, text = toy_page()
    assert [f.id for f in content.figures] == ["1"] and [c.id for c in content.not_run] == ["A.3"]
    assert "Left out at level quick: 2" in text and "it belongs to level full" in text
    content, text = toy_page(level="full")
    assert [f.id for f in content.figures] == ["1", "2"] and not content.not_run


def test_a_paper_with_nothing_in_it(toy_page) -> None:
    _, text = toy_page(replace(toy(), protocols={}, figures={}, book=None))
    assert "Claims" not in Reader(text).text


def test_a_paper_has_formulas_of_its_own(toy_page) -> None:
    own = [Formula("output & more", r"f = \langle v, x\rangle"), Formula("loss", r"\ell(z) = e^{-z}")]
    content, text = toy_page(replace(toy(), formulas=lambda parameters: own))
    assert content.formulas == own and "output &amp; more" in text and mathml(own[0].tex, True) in text
    assert r"\paragraph{output \& more} \[ f = \langle v, x\rangle \]" in tex.body(content)


def test_a_page_that_would_be_too_large_is_made_smaller(toy_page, monkeypatch: pytest.MonkeyPatch) -> None:
    import sympy as sp

    from odesys import System

    x, y = sp.symbols("x y")
    small, large = System.from_equations({x: -x}), System.from_equations({x: (x + y) ** 3, y: sp.exp(x) / (1 + y)})
    paper = replace(toy(), systems={"small": lambda p: small, "large": lambda p: large})
    content, text = toy_page(paper)
    assert all(part.mathml for part in content.systems)
    monkeypatch.setattr(html, "LARGEST_PAGE", len(text) - 10)
    content, shorter = toy_page(paper)
    assert len(shorter) <= len(text) - 10 and "too long for this page" in shorter
    assert [bool(part.mathml) for part in content.systems] == [True, False]
    assert escape(content.systems[1].latex) in shorter


def test_settings_belong_to_one_paper(folder: Path, tmp_path: Path) -> None:
    for words, sentence in (
        (["--set", "omega=3"], "--set belongs to one paper"),
        (["--widths", "x"], "positive whole"),
        (["--set", "omega=-3", str(folder / "reported")], "out of range"),
        (["--level", "deep"], "--level"),
        (["nowhere"], "there is no paper 'nowhere'"),
    ):
        result = odesys("report", *words, "--out", tmp_path / "r")
        assert result.exit_code == 2 and sentence in result.stderr and not (tmp_path / "r").exists()


# ---- parts -----------------------------------------------------------------------------------------------------------


def test_every_statement_of_every_paper_becomes_mathml() -> None:
    count = 0
    for paper in registry.all_papers():
        for claim in paper.book() if paper.book else ():
            text = mathml(claim.statement, True)
            assert text.startswith("<math") and "\\" not in text, (paper.name, claim.id, claim.statement)
            count += 1
    assert count > 200


def test_the_setting_is_written_from_the_model() -> None:
    from fractions import Fraction

    from odesys import AttentionModel, Dictionary, Distribution, Head, Neurons, Sample, Value
    from odesys.papers.paper import Setting
    from odesys.report.setting import data_rows, setting_formulas

    words = Dictionary(["c1", "v1"], [[2, 1], [1, 2]])
    data = Distribution([Sample(["c1", "-v1"], 1 if k % 2 else -1, Fraction(1, 40), f"s{k}") for k in range(40)])
    heads = [Head(+1, "relu", "b"), Head(-1, "linear", Fraction(-1, 2))]
    model = AttentionModel(words, heads, Value(("W_O", "W_V"), Neurons((1, -1))), pooling="mean", scale=Fraction(1, 2))
    found = {f.what: f.tex for f in setting_formulas(Setting(model, data, ("W_O", "W_K"), "hinge", step=True))}
    assert found["output"] == r"f(X) = \mathrm{relu}\big(H_{+}(X) + b\big) - \big(H_{-}(X) -\frac{1}{2}\big)"
    assert r"\frac{1}{L}\sum" in found["head"] and r"\sum_{i=1}^{2} a_i\, \mathrm{relu}" in found["head"]
    assert r"\frac{1}{2}\, x_{h}^\top" in found["attention"] and r"\eta" in found["training"]
    assert r"\text{frozen: } W_{V},\ W_{Q}" in found["training"] and "pmatrix" in found["words"]
    rows = data_rows(Setting(model, data, ("W_O",)))
    assert len(rows) == 16 and {row.label for row in rows} == {"+1", "-1"} and rows[0].weight == r"\frac{1}{40}"
    assert all(mathml(tex).startswith("<math") for tex in found.values())


def test_mathml_details() -> None:
    assert 'rspace="0"' in mathml("W_{K+}") and 'rspace="0"' not in mathml("a+b")
    assert "\N{MATHEMATICAL DOUBLE-STRUCK DIGIT ONE}" in mathml(r"\mathbb{1}[h>0]")
    assert "<mo" in mathml(r"\Big\{x\Big\}") and "tex-only" not in mathml(r"\Big\{x\Big\}")


def test_graph_layout_has_no_overlaps_and_points_down() -> None:
    graph = nx.gnp_random_graph(60, 0.08, seed=4, directed=True)
    graph = nx.DiGraph([(f"claim{a}", f"claim{b}") for a, b in graph.edges if a < b])
    graph.add_nodes_from(f"alone{k}" for k in range(30))
    layout = layers(graph)
    assert set(layout.places) == set(graph)
    assert all(layout.places[a][1] < layout.places[b][1] for a, b in graph.edges)
    boxes = [(x - layout.widths[n] / 2, x + layout.widths[n] / 2, y) for n, (x, y) in layout.places.items()]
    assert all(a >= 0 and b <= ROOM for a, b, _ in boxes)
    for i, (a, b, y) in enumerate(boxes):
        assert all(d <= a or b <= c or abs(y - z) >= HEIGHT for c, d, z in boxes[:i])


def test_svg_ids_do_not_clash_and_dense_figures_become_pictures(tmp_path: Path) -> None:
    text = (
        '<?xml version="1.0"?><!DOCTYPE svg><svg width="9pt" viewBox="0 0 90.123456 50"><defs><path id="p" d="M '
        '1.234567 0.012345678"/></defs><g id="axes_1"><use xlink:href="#p" style="clip-path: url(#p)"/></g></svg>'
    )
    made = svg.small(text, "f3", "a <title>")
    assert 'id="f3-p"' in made and '"#f3-p"' in made and "url(#f3-p)" in made and "axes_1" not in made
    assert "1.23 " in made and "0.0123457" in made and "width=" not in made and "a &lt;title&gt;" in made
    (tmp_path / "a.svg").write_text(text.replace("</svg>", "<g/>" * svg.LARGEST_SVG + "</svg>"))
    assert svg.inline([tmp_path / "a.svg"], "f", "t").startswith("<svg")  # nothing else to show
    (tmp_path / "a.png").write_bytes(b"png")
    assert svg.inline([tmp_path / "a.svg", tmp_path / "a.png"], "f", "t").startswith("<img")
    assert svg.inline([], "f", "t") == ""


def test_values() -> None:
    nested = {"a": [1, 2.5, None, True], "b": {"c": "x<y"}}
    assert values.text(nested) == "a: 1, 2.5, none, True; b: c: x<y"
    assert "x&lt;y" in values.html(nested) and values.html(nested).count("<dl>") == 2
    assert values.text(list(range(100))).endswith("(100 in all)")


def test_anchors_are_distinct() -> None:
    ids = ["E.1(11)", "E.1_11", "E.1 11", "E.1/11", "E.1-11"]
    assert len({anchor(id) for id in ids}) == len(ids)


def test_index_without_papers() -> None:
    Reader(index([]))


def test_a_token_that_stands_for_several_is_written_with_its_number() -> None:
    from odesys import AttentionModel, Dictionary, Distribution, Head, Sample
    from odesys.papers.paper import Setting
    from odesys.report.setting import data_rows

    data = Distribution([Sample(["a", "-b"], label=+1, weight=1, counts=["alpha", 3])])
    (row,) = data_rows(Setting(AttentionModel(Dictionary(["a", "b"]), [Head()]), data, ("w",)))
    assert row.tokens == r"\alpha\times a,\ 3\times (-b)"
