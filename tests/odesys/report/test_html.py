"""The page of a paper: everything is on it, nothing is loaded from elsewhere, texts are never markup."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html import escape
from itertools import pairwise
from pathlib import Path

import pytest
import sympy as sp

from odesys import System
from odesys.papers.paper import Formula
from odesys.report import html
from odesys.report.claim_entry import anchor
from odesys.report.content import Content
from odesys.report.html import index, page
from odesys.report.mathml import mathml
from tests.report_pages import Reader, toy

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


def test_texts_are_never_markup(toy_content: MakeContent) -> None:
    text = page(toy_content())
    body = text.split("<script>\n")[0]
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
    monkeypatch.setattr(html, "LARGEST_PAGE", len(text) - 10)
    content = toy_content(paper)
    shorter = page(content)
    assert len(shorter) <= len(text) - 10 and "too long for this page" in shorter
    assert [bool(part.mathml) for part in content.systems] == [True, False]
    assert escape(content.systems[1].latex) in shorter


def test_index_without_papers() -> None:
    Reader(index([]))


def test_a_paper_has_formulas_of_its_own(toy_content: MakeContent) -> None:
    own = [Formula("output & more", r"f = \langle v, x\rangle")]
    text = page(toy_content(replace(toy(), formulas=lambda parameters: own)))
    assert "output &amp; more" in text and mathml(own[0].tex, True) in text


def test_badges_count_the_claims_by_colour(toy_content: MakeContent) -> None:
    text = page(toy_content())
    shown = re.findall(r'<li class="([^"]*)">[^<]*: (\d+)</li>', text.split("<nav")[0])
    assert shown == [("v-fails", "1"), ("v-undecided", "1"), ("v-unrun", "1")]


def test_nested_data_is_a_list_of_terms(toy_content: MakeContent) -> None:
    seen = Reader(page(toy_content()))
    terms = [tag for tag, _ in seen.elements if tag == "dt"]
    assert "<i> = 1, 2.5, None" in seen.text and "1, 2.5, none" in seen.text and len(terms) > 10


def test_the_index_names_each_paper_once() -> None:
    claims = {"holds": 3, "fails": 2}
    text = index([{"name": "a<b", "title": "T & U", "claims": claims, "exponent": "-0.5", "page": "a.html"}])
    seen = Reader(text)
    assert seen.links.count("a.html") == 1 and "a<b" in seen.text and "T & U" in seen.text
    assert re.findall(r'<td class="number[^"]*">([^<]*)</td>', text) == ["3", "2", "0", "0", "-0.5"]
