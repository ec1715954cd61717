"""The page of a paper and the index: HTML with everything inside, readable without a script and without a network."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..papers.verification import FAULT_WORDS, errata_markdown
from ..sentences import say_answer, say_constants, say_number, say_where, say_witness
from ..tex.documents import html_templates
from . import values
from .claim_entry import EVIDENCE, LEGEND, anchor, claim_entries, seal_count
from .content import Content, provenance
from .explorer import math_font, page_file, policy_of
from .formula_lines import formula_lines
from .mathml import mathml, text_with_formulas
from .opening import Change, bar_legend, changes, headline, numbers, verdict_bar
from .packing import Packing
from .proof_graph import proof_graph
from .proof_steps import part_answer, proof_steps, says_where, short_answer
from .prose import letters, plain_names, says_more, strong, with_symbols
from .svg import LARGEST_SVG, WIDEST, InlineFigure, inline, share_glyphs, without_glyphs

if TYPE_CHECKING:
    from jinja2 import Environment

LARGEST_PAGE = 1_400_000  # bytes
LONG_SYSTEM = 100_000  # characters of a system that is left out before figures become pictures
OPEN_CHANGES = 2  # cards that are open at first
SHARED = 8  # claims with the same hypothesis: then its formula stands in one place, and cards name it
PARTS = {
    "setting": "model and data",
    "systems": "systems",
    "claims": "claims",
    "run": "run",
    "comparison": "comparison",
    "figures": "figures",
    "explorer": "try it",
}
TITLES = {  # in the order of the page
    "changes": "Changes",
    "try": "Try it",
    "equations": "Equations",
    "claims": "All claims",
    "graph": "What rests on what",
    "networks": "Networks",
    "figures": "Figures",
    "provenance": "How this was made",
}
HEADINGS = {"changes": "Changes, most serious first", "networks": "Theory against networks of finite width"}


def page(content: Content) -> str:
    """The page of one paper.

    While it is too large, what is folded in cards is kept compressed, the longest systems are left out, figures become
    pictures, pictures become small, and all systems are left out.
    """
    look = Look()
    text = _page(content, look)
    for shorten in (_packed, _fewer_lines, _pictures, _small_pictures, _no_systems):
        if _size(text) <= LARGEST_PAGE:
            break
        before = look, list(content.systems)
        look = shorten(content, look, _size(text) - LARGEST_PAGE)
        if before != (look, content.systems):
            text = _page(content, look)
    return text


@dataclass(frozen=True)
class Look:
    """How things are shown: what is folded, in place or packed; figures as SVG or as pictures of so many pixels."""

    packed: bool = False
    pictures: frozenset[Path] = frozenset()
    width: int = WIDEST

    def draw(self, files: Sequence[Path], prefix: str, title: str) -> list[InlineFigure]:
        """Figures as text of a page."""
        limit = 0 if self.pictures.issuperset(files) else LARGEST_SVG
        return inline(files, prefix, title, limit, self.width)


def _packed(content: Content, look: Look, excess: int) -> Look:
    """Keep what is folded in cards compressed."""
    return replace(look, packed=True)


def _fewer_lines(content: Content, look: Look, excess: int, kept: int = LONG_SYSTEM) -> Look:
    """Leave out equations, those of the longest systems first, until as many bytes are saved; short ones are kept."""
    for part in sorted(content.systems, key=lambda part: len(part.mathml), reverse=True):
        if excess > 0 and len(part.mathml) > kept:
            excess -= _size(part.mathml)
            file = f"{content.paper.name}/system_{part.name}.tex"
            short = replace(part, mathml="", note=f"too long for this page; its LaTeX is in {file}")
            content.systems[content.systems.index(part)] = short
    return look


def _pictures(content: Content, look: Look, excess: int) -> Look:
    """Turn figures into pictures, those that save most first, until as many bytes are saved."""
    shown = [*(figure.files for figure in content.figures), content.run_files, content.comparison_files]
    saved = {
        files: _bytes(look.draw(files, "", "")) - _bytes(replace(look, pictures=frozenset(files)).draw(files, "", ""))
        for files in shown
    }
    chosen: list[Path] = []
    for files in sorted(saved, key=lambda files: -saved[files]):
        if excess > 0 and saved[files] > 0:
            excess -= saved[files]
            chosen += files
    return replace(look, pictures=frozenset(chosen))


def _small_pictures(content: Content, look: Look, excess: int) -> Look:
    files = [file for figure in content.figures for file in figure.files]
    return replace(look, pictures=frozenset((*files, *content.run_files, *content.comparison_files)), width=800)


def _no_systems(content: Content, look: Look, excess: int) -> Look:
    return replace(_fewer_lines(content, look, excess, 0), width=600)


def _bytes(figures: Sequence[InlineFigure]) -> int:
    """Of figures by themselves: letters are shared with others."""
    return sum(len(without_glyphs(figure.svg)) + len(figure.data) for figure in figures)


def index(papers: Sequence[Mapping[str, Any]]) -> str:
    """The list of all papers in a folder of reports."""
    kinds = {segment["kind"] for paper in papers for segment in paper["bar"]}
    given = {"papers": papers, "legend": bar_legend(kinds), "print_all": False}
    return _templates().get_template("index.html").render(**given, **_frame([]))


def _size(text: str) -> int:
    return len(text.encode())


def _page(content: Content, look: Look) -> str:
    entries = {entry.claim.id: entry for entry in claim_entries(content)}
    found = changes(content)
    graph = proof_graph(content.book, entries) if content.book else None
    made = provenance(content)
    sections = _sections(content, found)
    first = next((figure for figure in content.figures if figure.id == content.main_figure), None)
    return share_glyphs(
        _templates()
        .get_template("page.html")
        .render(
            content=content,
            paper=content.paper,
            print_all=content.print_all,
            headline=headline(content),
            segments=verdict_bar(list(entries.values())),
            numbers=numbers(content),
            main_figure=next(iter(look.draw(first.files, "main", first.title)), None) if first else None,
            changes=found,
            changed={entry.claim.id for change in found for entry in change.entries},
            opened={change.first.claim.id for change in found[:OPEN_CHANGES]},
            errata=base64.b64encode(errata_markdown(content.outcomes).encode()).decode("ascii") if found else "",
            sections=sections,
            headings=HEADINGS,
            counts=Counter(changes=len(found), claims=len(entries), figures=len(content.figures) - bool(first)),
            words=Counter(entry.word for entry in entries.values()),
            faults=FAULT_WORDS,
            entries=entries,
            proofs=proof_steps(entries),
            sealed=seal_count(entries.values()),
            symbols=content.book.symbols if content.book else {},
            shared=_shared(content),
            graph=graph,
            layout=graph.layout if graph else None,
            gallery=[figure for figure in content.figures if figure is not first],
            left_out=content.figures_left_out(),
            provenance=made,
            date=made["date"].split(" ")[0],
            version=__version__,
            seconds={PARTS[part]: round(seconds, 1) for part, seconds in content.seconds.items()},
            inline=look.draw,
            live=content.explorer,
            packing=Packing(look.packed),
            **_frame([content.explorer.script] if content.explorer else []),
        )
    )


def _shared(content: Content) -> dict[tuple[str, str], str]:
    """Hypotheses of many claims, name and formula, with the place where the page says them."""
    found = Counter((h.name, h.tex) for claim in content.book or () for h in claim.hypotheses or ())
    many = [hypothesis for hypothesis, count in found.items() if count >= SHARED]
    return {hypothesis: f"hypothesis-{k}" for k, hypothesis in enumerate(many, 1)}


def _sections(content: Content, found: Sequence[Change]) -> dict[str, str]:
    """What there is something to say about, in the order of the page."""
    checked = content.book is not None and bool(content.outcomes)
    there = {
        "changes": bool(found),
        "try": content.explorer is not None or "explorer" in content.problems,
        "equations": True,
        "claims": checked,
        "graph": checked,
        "networks": content.comparison is not None or content.simulation is not None,
        "figures": len(content.figures) > bool(content.main_figure) or "figures" in content.problems,
        "provenance": True,
    }
    return {key: title for key, title in TITLES.items() if there[key]}


def _frame(scripts: Sequence[str]) -> dict[str, Any]:
    """What every page has: the font, its scripts, and a policy that runs these scripts and no other."""
    used = [page_file("page.js"), *scripts]
    return {"scripts": used, "policy": " ".join(map(policy_of, used)), "font": math_font()}


@cache
def _templates() -> Environment:
    made = html_templates(
        "odesys.report",
        "templates/html",
        anchor=anchor,
        line=values.text,
        say_answer=say_answer,
        say_witness=say_witness,
        say_constants=say_constants,
        short_answer=short_answer,
        part_answer=part_answer,
        says_where=says_where,
        say_number=say_number,
        say_where=say_where,
        mathml=mathml,
        text_with_formulas=text_with_formulas,
        strong=strong,
        letters=letters,
        says_more=says_more,
        plain_names=plain_names,
        formula_lines=formula_lines,
        with_symbols=with_symbols,
        whole="{:.0f}".format,
    )
    made.globals |= {"parts": PARTS, "legend": LEGEND, "evidence": EVIDENCE}
    return made
