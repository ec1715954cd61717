"""The proof graph of a page: where its claims stand, on which theorem it opens, and what it says about that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..papers.claims import ClaimBook
from .claim_entry import ClaimEntry
from .opening import counted, place
from .proof_graph_layout import GraphLayout, layered_layout


@dataclass(frozen=True)
class ProofGraph:
    """A layout, the main theorems by what a reader calls them, the one it opens on, and a sentence about it."""

    layout: GraphLayout
    theorems: Mapping[str, str]
    main: str
    says: str

    @property
    def curves(self) -> list[tuple[str, str, float, float, float, float]]:
        """Each edge with the names of its ends."""
        return [(*ends, *curve) for ends, curve in zip(self.layout.edges, self.layout.curves(), strict=True)]


def proof_graph(book: ClaimBook, entries: Mapping[str, ClaimEntry]) -> ProofGraph:
    """The graph of a book; it opens on the theorem at the end of the proof."""
    import networkx as nx

    graph = book.proof_graph()
    mains = sorted((c for c in book if c.main), key=lambda c: (entries[c.id].above, -len(nx.ancestors(graph, c.id))))
    main = mains[0].id if mains else ""
    says = "Choose a claim to see what it rests on."
    if main:
        below = nx.ancestors(graph, main)
        bad = sum(entries[id].word == "fails" for id in below)
        needs = f"{bad} of which need{'s' if bad == 1 else ''} a change" if bad else "none of which needs a change"
        says = f"{main} rests on {counted(len(below), 'claim')}, {needs}."
    return ProofGraph(layered_layout(graph), {claim.id: place(claim) for claim in mains}, main, says)
