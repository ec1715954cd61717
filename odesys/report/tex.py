r"""The same content as a LaTeX bundle: a body to ``\input``, figures as PDF, labels by claim id, and a main file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..sentences import say_constants, say_parts, say_proof, say_where, say_witness
from ..tex.documents import plain, tex_templates
from . import values
from .claim_entry import NOT_JUDGED, NOT_RUN, ClaimEntry, claim_entries, seal_count
from .content import Content, provenance
from .proof_graph_layout import NODE_HEIGHT, GraphLayout, layered_layout

if TYPE_CHECKING:
    from jinja2 import Environment

EVENTS_SHOWN = 12
GRAPH_WIDTH, GRAPH_HEIGHT = 16.0, 22.0  # centimetres at most
SMALLEST_NODE = 0.42  # centimetres high; in smaller ones the text is tiny
COLOURS = {  # of the xcolor package
    "proof": "green!25",
    "certificate": "cyan!25",
    "measurement": "yellow!35",
    "fails": "red!25",
    "undecided": "gray!40",
    "untested": "gray!20",
    NOT_JUDGED: "white",
    NOT_RUN: "white",
}


def main(names: Sequence[str], title: str) -> str:
    """A document that compiles alone."""
    return _templates().get_template("main.tex").render(names=names, title=title)


def body(content: Content) -> str:
    """Sections of one paper, without a preamble."""
    layout = layered_layout(content.book.proof_graph()) if content.book else GraphLayout({}, (), 1.0, 1.0)
    number = {id: k for k, id in enumerate(layout.boxes)}
    scale = min(GRAPH_WIDTH / layout.width, GRAPH_HEIGHT / layout.height)
    template = _templates().get_template("body.tex")
    return template.render(
        content=content,
        paper=content.paper,
        sections=content.sections(),
        entries={entry.claim.id: entry for entry in claim_entries(content)},
        sealed=seal_count(claim_entries(content)),
        colours=COLOURS,
        layout=layout,
        edges=[(number[start], number[end]) for start, end in layout.edges],
        scale=f"{scale:.5f}",
        font="tiny" if scale * NODE_HEIGHT < SMALLEST_NODE else "scriptsize",
        events_shown=EVENTS_SHOWN,
        label=partial(label, content.paper.name),
        pictures=partial(_pictures, content),
        provenance=provenance(content),
    )


def label(paper: str, id: str) -> str:
    r"""The name of a claim for ``\ref``: paper and id, without what TeX can not have in a label."""
    return f"{paper}:{id}".translate({ord(c): "-" for c in "\\{}%#~^$& "})


@cache
def _templates() -> Environment:
    return tex_templates(
        "odesys.report",
        "templates/tex",
        colour=_colour,
        line=values.text,
        say_witness=say_witness,
        say_constants=say_constants,
        say_parts=say_parts,
        say_proof=say_proof,
        say_where=say_where,
        plain_around_formulas=_plain_around_formulas,
        whole="{:.0f}".format,
    )


def _colour(entry: ClaimEntry) -> str:
    return COLOURS[entry.evidence if entry.word == "holds" else entry.word]


def _plain_around_formulas(text: str) -> str:
    """Text with formulas between dollar signs as it is, other text made harmless."""
    return text if text.count("$") % 2 == 0 and "$" in text else plain(text)


def _pictures(content: Content, files: Sequence[Path]) -> list[str]:
    """One file per picture, PDF where there is one, as seen from the folder of the bundle."""
    by_stem: dict[str, Path] = {}
    for file in sorted(files, key=lambda file: file.suffix == ".pdf"):
        if file.suffix in (".pdf", ".png"):
            by_stem[file.stem] = file
    return [f"{content.paper.name}/{file.relative_to(content.folder).as_posix()}" for file in by_stem.values()]
