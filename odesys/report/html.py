"""The page of a paper and the index: HTML with everything inside, readable without a script and without a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from ..papers.survival import causes
from ..papers.verification import FAULT_WORDS
from ..sentences import say_constants, say_proof, say_where, say_witness
from ..tex.documents import html_templates
from . import values
from .claim_entry import EVIDENCE, LEGEND, ClaimEntry, anchor, claim_entries
from .content import Content, provenance
from .explorer import fragment, page_file, policy_of
from .mathml import mathml, text_with_formulas
from .proof_graph_layout import layered_layout
from .svg import LARGEST_SVG, inline

if TYPE_CHECKING:
    from jinja2 import Environment

LARGEST_PAGE = 4_500_000  # characters
PARTS = {
    "setting": "model and data",
    "systems": "systems",
    "claims": "claims",
    "run": "run",
    "comparison": "comparison",
    "figures": "figures",
    "explorer": "try it",
}
TITLES = {
    "try": "Try it",
    "setting": "Model and data",
    "systems": "Closed systems",
    "graph": "What rests on what",
    "claims": "Claims",
    "errata": "Errata",
    "run": "A run",
    "comparison": "Theory against finite width",
    "figures": "Figures",
    "provenance": "How this page was made",
}


def page(content: Content) -> str:
    """The page of one paper; if it is too large, the longest systems are left out, then figures become pictures."""
    text = _page(content)
    while len(text) > LARGEST_PAGE and any(part.mathml for part in content.systems):
        longest = max(content.systems, key=lambda part: len(part.mathml))
        short = replace(longest, mathml="", note="too long for this page; its LaTeX is here")
        content.systems[content.systems.index(longest)] = short
        text = _page(content)
    return text if len(text) <= LARGEST_PAGE else _page(content, 0)


def index(papers: Sequence[Mapping[str, Any]]) -> str:
    """The list of all papers in a folder of reports."""
    return _templates().get_template("index.html").render(papers=papers)


def _page(content: Content, largest_svg: int = LARGEST_SVG) -> str:
    entries = claim_entries(content)
    template = _templates().get_template("page.html")
    live = fragment(content.explorer) if content.explorer else None
    return template.render(
        content=content,
        paper=content.paper,
        sections={key: TITLES[key] for key in content.sections()},
        badges=_badges(entries),
        causes=causes(content.outcomes),
        faults=FAULT_WORDS,
        entries={entry.claim.id: entry for entry in entries},
        layout=layered_layout(content.book.proof_graph()) if content.book else None,
        left_out=content.figures_left_out(),
        provenance=provenance(content),
        seconds={PARTS[part]: round(seconds, 1) for part, seconds in content.seconds.items()},
        inline=partial(inline, limit=largest_svg),
        live=live,
        policy=" ".join([policy_of(_page_script()), *([live.policy] if live else [])]),
    )


@cache
def _templates() -> Environment:
    made = html_templates(
        "odesys.report",
        "templates/html",
        anchor=anchor,
        line=values.text,
        say_witness=say_witness,
        say_constants=say_constants,
        say_proof=say_proof,
        say_where=say_where,
        mathml=mathml,
        text_with_formulas=text_with_formulas,
        whole="{:.0f}".format,
    )
    made.globals |= {"parts": PARTS, "legend": LEGEND, "evidence": EVIDENCE}
    made.globals |= {"script": _page_script(), "policy": policy_of(_page_script())}
    return made


def _page_script() -> str:
    return "\n" + page_file("page.js")


def _badges(entries: Sequence[ClaimEntry]) -> list[tuple[str, str, int]]:
    """How many claims have each colour of the legend; nothing where no claim was run."""
    if not any(entry.outcome for entry in entries):
        return []
    counted = [(kind, text, sum(entry.css_class.startswith(kind) for entry in entries)) for kind, text in LEGEND]
    return [badge for badge in counted if badge[2]]
