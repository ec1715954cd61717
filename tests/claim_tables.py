"""Tables of expected verdicts, one per paper: what is compared with them, and what every claim that fails must have."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Collection, Iterable, Mapping

from odesys.papers.claims import ClaimBook, Outcome
from odesys.papers.verification import errata_latex, errata_markdown, say_outcome

Table = Mapping[str, tuple[str, str]]


def check_outcomes(outcomes: Collection[Outcome], expected: Table, ids: Iterable[str]) -> None:
    """The claims `ids` come out as the table says; what fails was expected to, and has a form that holds."""
    found = {o.claim.id: (o.verdict.as_stated, str(o.verdict.evidence)) for o in outcomes}
    assert found == {id: expected[id] for id in ids}
    for outcome in outcomes:
        if outcome.verdict.as_stated == "fails":
            fixed = outcome.verdict.corrected
            assert fixed is not None and fixed.as_stated == "holds", outcome.claim
            assert outcome.claim.expect == "fails", outcome.claim
    check_words(outcomes)


def check_words(outcomes: Collection[Outcome]) -> None:
    """Errata and terminal are sentences: no value is printed as Python writes a dictionary."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for outcome in outcomes:
            say_outcome(outcome)
    texts = [printed.getvalue(), errata_markdown([*outcomes]), errata_latex([*outcomes])]
    assert texts[0] and not any("{'" in text or "['" in text for text in texts)


def check_book(book: ClaimBook, expected: Table, full: Collection[str]) -> None:
    """The table lists every claim in the order of the book, `full` those of the full level; no proof is circular."""
    assert [claim.id for claim in book] == list(expected) and len(book.proof_graph()) == len(expected)
    wrong = {id for id, (answer, _) in expected.items() if answer == "fails"}
    assert {c.id for c in book if c.expect == "fails"} == wrong
    assert {c.id for c in book if c.level == "full"} == set(full)
