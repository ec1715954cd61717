"""The page of a paper and the index: HTML with everything inside, readable without a script and without a network."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib import resources
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..papers.verification import FAULT_WORDS, errata_markdown
from ..sentences import say_answer, say_constants, say_number, say_proof, say_where, say_witness
from ..tex.documents import html_templates
from . import values
from .claim_entry import EVIDENCE, LEGEND, anchor, claim_entries, seal_count
from .content import Content, provenance
from .explorer import page_file, policy_of
from .formula_lines import formula_lines
from .mathml import mathml, text_with_formulas
from .opening import Change, changes, headline, numbers, verdict_bar
from .proof_graph import proof_graph
from .prose import letters, plain_names, says_more, strong, with_symbols
from .svg import LARGEST_SVG, WIDEST, inline

if TYPE_CHECKING:
    from jinja2 import Environment

LARGEST_PAGE = 1_500_000  # bytes
LONG_SYSTEM = 100_000  # characters of a system that is left out before figures become pictures
SHORTER = ((LONG_SYSTEM, LARGEST_SVG, WIDEST), (LONG_SYSTEM, 0, WIDEST), (LONG_SYSTEM, 0, 800), (0, 0, 600))  # in turn:
# characters of a system and of a figure that are kept, pixels of pictures
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
    """The page of one paper; if it is too large, the longest systems are left out, then figures become pictures."""
    text = _page(content, LARGEST_SVG, WIDEST)
    for kept, limit, width in SHORTER:
        if _size(text) <= LARGEST_PAGE:
            break
        _shorten(content, _size(text) - LARGEST_PAGE, kept)
        text = _page(content, limit, width)
    return text


def _shorten(content: Content, excess: int, kept: int) -> None:
    """Leave out equations, those of the longest systems first, until as many bytes are saved; short ones are kept."""
    for part in sorted(content.systems, key=lambda part: len(part.mathml), reverse=True):
        if excess > 0 and len(part.mathml) > kept:
            excess -= _size(part.mathml)
            file = f"{content.paper.name}/system_{part.name}.tex"
            short = replace(part, mathml="", note=f"too long for this page; its LaTeX is in {file}")
            content.systems[content.systems.index(part)] = short


def index(papers: Sequence[Mapping[str, Any]]) -> str:
    """The list of all papers in a folder of reports."""
    return _templates().get_template("index.html").render(papers=papers, print_all=False, **_frame([]))


def _size(text: str) -> int:
    return len(text.encode())


def _page(content: Content, largest_svg: int, widest: int) -> str:
    entries = {entry.claim.id: entry for entry in claim_entries(content)}
    found = changes(content)
    graph = proof_graph(content.book, entries) if content.book else None
    made = provenance(content)
    sections = _sections(content, found)
    drawn = partial(inline, limit=largest_svg, width=widest)
    first = next((figure for figure in content.figures if figure.id == content.main_figure), None)
    return (
        _templates()
        .get_template("page.html")
        .render(
            content=content,
            paper=content.paper,
            print_all=content.print_all,
            headline=headline(content),
            segments=verdict_bar(list(entries.values())),
            numbers=numbers(content),
            main_figure=next(iter(drawn(first.files, "main", first.title)), None) if first else None,
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
            inline=drawn,
            live=content.explorer,
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
    return {"scripts": used, "policy": " ".join(map(policy_of, used)), "font": _font()}


@cache
def _font() -> str:
    """Part of STIX Two Math, as tools/math_font.py makes it."""
    return base64.b64encode((resources.files("odesys.report") / "fonts" / "math.woff2").read_bytes()).decode("ascii")


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
        say_proof=say_proof,
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
