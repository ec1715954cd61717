"""The proof graph of a page: the theorem it opens on, and what it says about it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import networkx as nx

from odesys.papers import registry
from odesys.report.claim_entry import claim_entries
from odesys.report.content import Content
from odesys.report.proof_graph import proof_graph
from tests.report_pages import stand_in


def test_it_opens_on_the_theorem_at_the_end_and_counts_what_is_below(tmp_path: Path) -> None:
    content = stand_in(registry.find_paper("two_mixture"), tmp_path)
    entries = {entry.claim.id: entry for entry in claim_entries(content)}
    assert content.book is not None
    found = proof_graph(content.book, entries)
    below = nx.ancestors(content.book.proof_graph(), "Thm.4.1")
    bad = sum(entries[id].word == "fails" for id in below)
    assert found.main == "Thm.4.1" and next(iter(found.theorems.values())) == "Theorem 4.1" and bad > 2
    assert found.says == f"Thm.4.1 rests on {len(below)} claims, {bad} of which need a change."
    assert nx.ancestors(nx.DiGraph(found.layout.edges), "Thm.4.1") == below  # the edges that are left lead everywhere
    assert [curve[:2] for curve in found.curves] == list(found.layout.edges)


def test_a_book_without_theorems(toy_content: Callable[..., Content]) -> None:
    content = toy_content()
    assert content.book is not None
    found = proof_graph(content.book, {entry.claim.id: entry for entry in claim_entries(content)})
    assert found.main == "" and not found.theorems and found.says.startswith("Choose a claim")
