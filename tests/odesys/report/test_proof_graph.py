"""The proof graph of a page: the theorem it opens on, and what it says about it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import networkx as nx
import pytest

from odesys.papers import registry
from odesys.papers.claims import ClaimBook, Outcome
from odesys.report.claim_entry import claim_entries
from odesys.report.content import Content
from odesys.report.proof_graph import proof_graph
from odesys.verdicts import proved, refuted
from tests.report_pages import stand_in, toy


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


@pytest.mark.parametrize(
    ("failing", "said"),
    [
        ("", "T rests on 3 claims, none of which needs a change."),
        ("A", "T rests on 3 claims, 1 of which needs a change."),
        ("AB", "T rests on 3 claims, 2 of which need a change."),
        ("Z", "T rests on 3 claims, none of which needs a change."),
    ],
)
def test_it_says_how_many_of_the_claims_below_need_a_change(failing: str, said: str) -> None:
    book = ClaimBook("toy", laboratory=dict)
    uses = {"A": [], "B": ["A"], "S": ["A"], "M": ["B"], "T": ["M"], "Z": []}
    for id, used in uses.items():
        fields = {"uses": used, "main": id in "SMTZ", "kind": "identity", "statement": "s", "reading": "r"}
        book.claim(id, id, **fields)(lambda lab: proved())
    content = Content(toy(book=lambda: book), "quick", {}, Path("pages"), book=book)
    answers = {id: refuted({"x": 1}) if id in failing else proved() for id in uses}
    content.outcomes = [Outcome(book[id], verdict, 0.0) for id, verdict in answers.items()]
    entries = {entry.claim.id: entry for entry in claim_entries(content)}
    found = proof_graph(book, entries)
    assert (found.main, found.says) == ("T", said) and list(found.theorems) == ["T", "S", "Z", "M"]
    assert {entry.claim.id: (entry.above, entry.theorems, entry.used_by) for entry in entries.values()} == {
        "A": (4, ("S", "M", "T"), ("B", "S")),
        "B": (2, ("M", "T"), ("M",)),
        "S": (0, (), ()),
        "M": (1, ("T",), ("T",)),
        "T": (0, (), ()),
        "Z": (0, (), ()),
    }
    if not failing:
        assert found.curves[0][:2] == found.layout.edges[0] and found.curves[0][2:] == found.layout.curves()[0]
