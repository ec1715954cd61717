"""The page of a paper: everything is on it, nothing is loaded from elsewhere, texts are never markup."""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Callable
from dataclasses import replace
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from odesys import System
from odesys.papers import registry
from odesys.papers.claims import ClaimBook, Outcome
from odesys.papers.hypotheses import Hypothesis
from odesys.papers.paper import Formula
from odesys.report import html
from odesys.report.claim_entry import anchor
from odesys.report.content import Content, FigurePart, SystemPart
from odesys.report.explorer import Fragment
from odesys.report.html import index, page
from odesys.report.mathml import mathml
from odesys.report.opening import SEGMENTS
from odesys.report.svg import InlineFigure
from odesys.verdicts import proved
from tests.report_pages import Reader, stand_in, toy, with_long_proofs

MakeContent = Callable[..., Content]


def test_the_page_is_whole(report: Path) -> None:
    text = (report / "reported.html").read_text(encoding="utf-8")
    seen = Reader(text)
    assert len(set(seen.ids)) == len(seen.ids)
    inside = {link[1:] for link in seen.links if link.startswith("#")}
    assert inside <= set(seen.ids) and {anchor(id) for id in ("1.1", "1.2", "1.3", "2.1")} <= set(seen.ids)
    outside = [link for link in seen.links if not link.startswith(("#", "data:")) and link != "index.html"]
    assert not outside
    assert "url(http" not in text and "@import" not in text and "Content-Security-Policy" in text
    order = [
        "What to change in the paper",
        "Changes, most serious first",
        "Equations",
        "14 equations, flow",
        "Model and data",
        "All claims",
        "What rests on what",
        "Theory against networks",
        "A run of the equations",
        "How this was made",
    ]
    body = seen.text.split("Skip to the content")[1]
    places = [body.rindex(word) for word in order]
    assert places == sorted(places) and "misprint" in body
    assert "\\" not in re.sub(r"<(pre|script|code).*?</\1>|data-te(xt|x)=\"[^\"]*\"", "", text, flags=re.DOTALL)


def test_each_claim_stands_once(report: Path) -> None:
    text = (report / "reported.html").read_text(encoding="utf-8")
    assert text.count("How it was read and checked") == 4
    assert all(text.count(f'id="{anchor(id)}"') == 1 for id in ("1.1", "1.2", "1.3", "2.1"))


def test_letters_have_a_form_of_their_own_and_scripts_are_the_pages_own(report: Path) -> None:
    text = (report / "reported.html").read_text(encoding="utf-8")
    assert set(re.findall(r'mathvariant="([^"]*)"', text)) <= {"normal"} and "ℒ" in text and "𝔼" in text
    assert "{'" not in text  # data structures of Python are nothing for a reader
    policy = re.search(r"script-src ([^;]*);", text)
    scripts = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    assert policy and policy.group(1) == " ".join(f"'sha256-{digest}'" for digest in digests)


def test_an_explorer_has_its_place_and_its_script(toy_content: MakeContent) -> None:
    content = toy_content()
    content.explorer = live = Fragment('<div id="live"></div>', "#live { color: red; }", "let x = 1 < 2;")
    text = page(content)
    assert "<script>let x = 1 < 2;</script>" in text and text.count("'sha256-") == 2 and live.style in text
    assert text.index('id="changes"') < text.index('id="try"') < text.index('id="live"') < text.index('id="equations"')


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


def test_texts_are_never_markup(toy_content: MakeContent) -> None:
    text = page(toy_content())
    body = text.split('<script>"use strict"')[0]
    assert "<script>" not in body and "<b>bold" not in body and "<i>" not in body and "&lt;script&gt;" in body
    assert r"\unknown{" in text and 'class="tex-only"' in text  # TeX that can not be read is shown


def test_a_paper_with_nothing_in_it(toy_content: MakeContent) -> None:
    text = page(toy_content(replace(toy(), protocols={}, figures={}, book=None)))
    assert "Claims" not in Reader(text).text


def test_a_page_that_would_be_too_large_is_made_smaller(
    toy_content: MakeContent, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = sp.symbols("x y")
    small, large = System.from_equations({x: -x}), System.from_equations({x: (x + y) ** 3, y: sp.exp(x) / (1 + y)})
    paper = replace(toy(), systems={"small": lambda p: small, "large": lambda p: large})
    content = toy_content(paper)
    text = page(content)
    assert all(part.mathml for part in content.systems)
    monkeypatch.setattr(html, "LARGEST_PAGE", len(text.encode()) - 10)
    content = toy_content(paper)
    shorter = page(content)
    assert len(shorter.encode()) <= len(text.encode()) - 10 and "too long for this page" in shorter
    assert [bool(part.mathml) for part in content.systems] == [True, False]
    assert escape(content.systems[1].latex) in shorter


def test_the_page_of_the_largest_book_fits_with_long_proofs_and_says_every_step(tmp_path: Path) -> None:
    papers = [paper for paper in registry.all_papers() if paper.book is not None]
    content = with_long_proofs(stand_in(max(papers, key=lambda paper: len(paper.book())), tmp_path))  # type: ignore[misc]
    text = page(content)
    assert len(text.encode()) <= 1_400_000
    for outcome in content.outcomes:
        if outcome.verdict.as_stated == "holds":
            assert f"step 2 of {escape(outcome.claim.id)}:" in text, outcome.claim.id


def test_what_is_folded_is_packed_where_the_page_would_be_too_large(
    toy_content: MakeContent, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = toy_content()
    text = page(content)
    monkeypatch.setattr(html, "LARGEST_PAGE", len(text.encode()) - 10)
    packed = page(content)
    (inside,) = re.findall(r'<script type="text/plain" id="packed">([^<]*)</script>', packed)
    folded = zlib.decompress(base64.b64decode(inside)).decode().split("\f")
    assert len(folded) == len(re.findall(r'data-part="\d"', packed)) == 3
    assert all(part in text for part in folded) and "toy/verify.json" in packed


def test_index_without_papers() -> None:
    Reader(index([]))


def test_a_paper_has_formulas_of_its_own(toy_content: MakeContent) -> None:
    own = [Formula("output & more", r"f = \langle v, x\rangle")]
    text = page(toy_content(replace(toy(), formulas=lambda parameters: own)))
    assert "output &amp; more" in text and mathml(own[0].tex, True) in text


def test_the_bar_counts_the_statements(toy_content: MakeContent) -> None:
    text = page(toy_content())
    shown = re.findall(r'<li class="(b-[^"]*)" style="flex-grow:(\d+)"', text)
    assert shown == [("b-fails f-", "1"), ("b-undecided", "1"), ("b-unrun", "1")]


def test_nested_data_is_a_list_of_terms(toy_content: MakeContent) -> None:
    seen = Reader(page(toy_content()))
    terms = [tag for tag, _ in seen.elements if tag == "dt"]
    assert "<i> = 1, 2.5, None" in seen.text and "1, 2.5, none" in seen.text and len(terms) > 10


def test_no_two_pieces_of_the_bar_differ_in_colour_alone() -> None:
    """Letter and hatching are a pair of their own; the pieces in outline have letters of their own."""
    css = (Path(html.__file__).parent / "templates" / "html" / "page.css").read_text(encoding="utf-8")
    seen = {}
    for kind, letter, _ in SEGMENTS:
        selector = re.escape(".b-" + kind.replace(" ", "."))
        found = re.search(
            rf"^{selector} {{ background: (.*?), var\(--[\w-]+\) !important|^{selector} {{ background: var", css, re.M
        )
        shade = "light" if kind.endswith("constant") else ""  # dark letters on it
        seen[kind] = (letter, found[1] if found else None, shade)
    seen.pop("fails f-")  # where no fault is said
    assert len(set(seen.values())) == len(seen)


def test_the_index_names_each_paper_once(report: Path) -> None:
    text = (report / "index.html").read_text(encoding="utf-8")
    seen = Reader(text)
    assert seen.links.count("reported.html") == 1 and "where it is printed" in seen.text
    assert "stands" in seen.text and text.count('class="bar"') == 1 and "24 → 14 equations" in seen.text
    assert sum(link.startswith("data:image/webp") for link in seen.links) == 1
    kinds = set(re.findall(r'<li class="(b-[^"]*)"', text))
    assert kinds and kinds == set(re.findall(r'<b class="swatch (b-[^"]*)"', text))  # each colour is explained


def test_a_hypothesis_of_many_claims_is_written_once(toy_content: MakeContent) -> None:
    content = toy_content()
    assert content.book is not None
    often, seldom = (Hypothesis(name, tex, lambda p: 1) for name, tex in (("m is large", r"m\gg 17"), ("x", r"x>23")))
    book = ClaimBook("toy", laboratory=lambda mutation="": mutation)
    for k in range(html.SHARED):
        given = (often, seldom) if k else (often,)
        book.claim(f"B.{k}", "t", kind="identity", statement="x", reading="y", hypotheses=given)(lambda lab: proved())
    content.book, content.outcomes = book, [Outcome(claim, proved(), 0.1) for claim in book]
    text = html.page(content)
    assert text.count("<mn>17</mn>") == 1 and text.count("<mn>23</mn>") == html.SHARED - 1
    assert text.count('<a href="#hypothesis-1">m is large</a>') == html.SHARED and 'id="hypothesis-1"' in text


def test_where_a_statement_is_printed_keeps_its_letters(toy_content: MakeContent) -> None:
    content = toy_content()
    book = ClaimBook("toy", laboratory=lambda mutation="": mutation)
    said = {"kind": "identity", "statement": "x", "reading": "y", "where": "Lemma 1, t >= T_1"}
    book.claim("B.1", "t", **said)(lambda lab: proved())
    content.book, content.outcomes = book, [Outcome(claim, proved(), 0.1) for claim in book]
    assert '<span class="place">Lemma 1, t ≥ T<sub>1</sub></span>' in html.page(content)


# ---- piece by piece --------------------------------------------------------------------------------------------------


def content_of(*systems: tuple[str, int], figures: int = 0) -> Content:
    """A report with systems of so many characters, and figures without files."""
    content = Content(toy(), "quick", {}, Path("pages"))
    content.systems = [SystemPart(name, mathml="m" * size) for name, size in systems]
    content.figures = [FigurePart(str(k), f"figure {k}", (Path(f"{k}.svg"),)) for k in range(figures)]
    return content


@pytest.mark.parametrize(
    ("excess", "kept", "left"),
    [
        (0, 0, "small large middle tie"),
        (1, 0, "small middle tie"),
        (300, 0, "small middle tie"),
        (301, 0, "small tie"),
        (10**6, 0, ""),
        (10**6, 200, "small middle tie"),
        (10**6, 199, "small"),
    ],
)
def test_the_longest_systems_are_left_out_until_enough_is_saved(excess: int, kept: int, left: str) -> None:
    content = content_of(("small", 10), ("large", 300), ("middle", 200), ("tie", 200))
    look = html.Look()
    assert html._fewer_lines(content, look, excess, kept) is look
    assert [part.name for part in content.systems if part.mathml] == left.split()
    assert [part.name for part in content.systems] == ["small", "large", "middle", "tie"], "their places stay"
    for part in content.systems:
        said = f"too long for this page; its LaTeX is in toy/system_{part.name}.tex"
        assert part.note == ("" if part.mathml else said)


def test_figures_become_pictures_those_that_save_most_first(monkeypatch: pytest.MonkeyPatch) -> None:
    content = content_of(figures=3)
    content.run_files, content.comparison_files = (Path("run.svg"),), (Path("same.svg"),)
    sizes = {"0.svg": 500, "1.svg": 900, "2.svg": 100, "run.svg": 700, "same.svg": 90}  # as a picture each has 100

    def draw(files: list[Path], prefix: str, title: str, limit: int, width: int) -> list[InlineFigure]:
        return [InlineFigure(svg="x" * sizes[file.name]) if limit else InlineFigure(data="x" * 100) for file in files]

    monkeypatch.setattr(html, "inline", draw)
    for excess, chosen in (
        (0, set()),
        (1, {"1.svg"}),
        (800, {"1.svg"}),
        (801, {"1.svg", "run.svg"}),
        (1401, {"1.svg", "run.svg", "0.svg"}),
        (10**6, {"1.svg", "run.svg", "0.svg"}),
    ):
        look = html._pictures(content, html.Look(packed=True), excess)
        assert {file.name for file in look.pictures} == chosen and look.packed and look.width == html.WIDEST
    small = html._small_pictures(content, html.Look(), 1)
    assert {file.name for file in small.pictures} == set(sizes) and small.width == 800
    assert html._no_systems(content, small, 1).width == 600 and html._packed(content, small, 1).packed
    assert not html.Look().packed


def test_a_page_is_made_smaller_step_by_step_until_it_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step that changes nothing costs no page; excess is what is still too much."""
    content, made, asked = content_of(("a", 5)), list[html.Look](), list[tuple[str, int]]()
    size = {"now": html.LARGEST_PAGE + 10}

    def drawn(content: Content, look: html.Look) -> str:
        made.append(look)
        return "x" * size["now"]

    def step(name: str, saves: int, changes: bool) -> Callable[..., html.Look]:
        def shorten(content: Content, look: html.Look, excess: int) -> html.Look:
            asked.append((name, excess))
            size["now"] -= saves
            return replace(look, width=look.width - 1) if changes else look

        shorten.__name__ = name
        return shorten

    monkeypatch.setattr(html, "_page", drawn)
    for name, saves, changes in (("_packed", 4, True), ("_fewer_lines", 0, False), ("_pictures", 6, True)):
        monkeypatch.setattr(html, name, step(name, saves, changes))
    assert len(html.page(content)) == html.LARGEST_PAGE
    assert asked == [("_packed", 10), ("_fewer_lines", 6), ("_pictures", 6)] and len(made) == 3
    made.clear()
    size["now"] = html.LARGEST_PAGE
    html.page(content)
    assert len(made) == 1 and len(asked) == 3
    assert html._size("é") == 2


@pytest.mark.parametrize(("count", "shared"), [(7, False), (8, True)])
def test_a_hypothesis_of_eight_claims_has_a_place_of_its_own(count: int, shared: bool) -> None:
    book = ClaimBook("toy", laboratory=dict)
    wide, small = Hypothesis("wide", "m > 1", len), Hypothesis("small", "x < 1", len)
    for k in range(9):
        hypotheses = [small, *([wide] * (k < count))]
        book.claim(str(k), "t", kind="identity", statement="s", reading="r", hypotheses=hypotheses)(
            lambda lab: proved()
        )
    content = content_of()
    content.book = book
    wanted = {("small", "x < 1"): "hypothesis-1"} | ({("wide", "m > 1"): "hypothesis-2"} if shared else {})
    assert html._shared(content) == wanted
    content.book = None
    assert html._shared(content) == {}


def test_sections_of_a_page_are_those_with_something_to_say() -> None:
    content = content_of()
    content.paper = toy(figures={})
    assert list(html._sections(content, [])) == ["equations", "provenance"]
    change: list[Any] = [object()]
    assert next(iter(html._sections(content, change))) == "changes"
    for part, section in (("explorer", "try"), ("figures", "figures"), ("run", None)):
        content.problems = {part: "x"}
        assert list(html._sections(content, [])) == [
            s for s in ("try", "equations", "figures", "provenance") if s in (section, "equations", "provenance")
        ]
    content.problems = {}
    content.simulation = {}
    assert "networks" in html._sections(content, [])
    content.simulation, content.comparison = None, {}
    assert "networks" in html._sections(content, [])
    content.book = ClaimBook("toy", laboratory=dict)
    assert "claims" not in html._sections(content, [])
    content.book.claim("1", "t", kind="identity", statement="s", reading="r")(lambda lab: proved())
    content.outcomes = [Outcome(content.book["1"], proved(), 0.0)]
    assert {"claims", "graph"} <= set(html._sections(content, []))
    for figures, main, there in ((1, "", True), (1, "0", False), (2, "0", True), (0, "", False)):
        shown = content_of(figures=figures)
        shown.paper = toy(figures={}, main_figure=main)
        assert ("figures" in html._sections(shown, [])) is there


def test_a_figure_is_drawn_as_svg_unless_all_its_files_are_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(html, "inline", lambda files, prefix, title, limit, width: asked.append((limit, width)) or [])
    one, two = Path("a.svg"), Path("b.svg")
    for pictures, files in ((frozenset(), [one]), (frozenset([one]), [one, two]), (frozenset([one, two]), [one])):
        html.Look(pictures=pictures, width=70).draw(files, "f", "t")
    assert asked == [(html.LARGEST_SVG, 70), (html.LARGEST_SVG, 70), (0, 70)]
