"""Claims with what was found about them, as pages show them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from odesys.papers.proof_files import ProofCheck
from odesys.report.claim_entry import anchor, claim_entries, seal_count
from odesys.report.content import Content
from odesys.verdicts import Verdict, certified, measured, proved, undecided, untested


def test_anchors_are_distinct() -> None:
    ids = ["E.1(11)", "E.1_11", "E.1 11", "E.1/11", "E.1-11"]
    assert len({anchor(id) for id in ids}) == len(ids)


def test_entries_say_what_was_found(toy_content: Callable[..., Content]) -> None:
    first, second, third = claim_entries(toy_content())
    assert (first.word, first.mark, first.used_by) == ("undecided", "?", ("A.2",))
    assert second.css_class == "v-fails" and second.summary == f"fails, {second.evidence}" and second.mark == "✗"
    assert (third.outcome, third.word, third.evidence, third.css_class) == (None, "not run", "", "v-unrun")
    assert third.summary == "not run" and third.verdict is None


def test_a_paper_without_claims_has_no_entries(toy_content: Callable[..., Content]) -> None:
    content = toy_content()
    content.book = None
    assert claim_entries(content) == []


def test_only_what_was_checked_whole_is_sealed(toy_content: Callable[..., Content]) -> None:
    first = claim_entries(toy_content())[0]
    assert first.seal == "" and first.outcome is not None
    checked = ProofCheck("proofs/claim_A.v", "8.16.1", 1.0, (), 2, 0, "")
    for found, file in ((checked, "proofs/claim_A.v"), (replace(checked, why="in part: more"), "")):
        assert replace(first, outcome=replace(first.outcome, proof_check=found)).seal == file


def test_the_number_of_sealed_proofs_is_told(toy_content: Callable[..., Content]) -> None:
    first, second, _ = claim_entries(toy_content())
    assert seal_count([first, second]) == ""
    assert first.outcome is not None and second.outcome is not None
    checked = ProofCheck("proofs/claim_A.v", "8.16.1", 1.0, (), 2, 0, "")
    left = replace(checked, why="in part: more")
    both = [
        replace(first, outcome=replace(first.outcome, proof_check=checked)),
        replace(second, outcome=replace(second.outcome, proof_check=left)),
    ]
    assert seal_count(both).startswith("1 of 2 proofs are sealed")


@pytest.mark.parametrize(
    ("verdict", "word", "mark", "css", "summary"),
    [
        (proved(), "holds", "P", "v-proof", "holds, proof"),
        (certified(), "holds", "C", "v-certificate", "holds, certificate"),
        (measured(True), "holds", "M", "v-measurement", "holds, measurement"),
        (measured(False), "fails", "✗", "v-fails", "fails, measurement"),
        (undecided("x"), "undecided", "?", "v-undecided", None),
        (untested("x"), "untested", "–", "v-untested", None),
    ],
)
def test_an_entry_is_a_word_a_mark_and_a_colour(
    toy_content: Callable[..., Content], verdict: Verdict, word: str, mark: str, css: str, summary: str | None
) -> None:
    first = claim_entries(toy_content())[0]
    assert first.outcome is not None
    entry = replace(first, outcome=replace(first.outcome, verdict=verdict))
    assert (entry.word, entry.mark, entry.css_class) == (word, mark, css)
    assert entry.summary == (summary or f"{word}, {verdict.evidence}") and entry.verdict is verdict
    assert entry.fault == "" and replace(entry, outcome=None).fault == ""
    definition = replace(entry, claim=replace(entry.claim, kind="definition"))
    assert (definition.word, definition.mark, definition.css_class) == ("not judged", "=", "v-unjudged")
    assert definition.evidence == "" and definition.summary == "not judged"
    wrong = replace(entry, outcome=replace(first.outcome, verdict=measured(False).blaming("false", "a")))
    assert wrong.fault == "false"


def test_anchors_keep_letters_digits_dots_and_hyphens() -> None:
    assert anchor("E.1-a9") == "claim-E.1-a9" and anchor("a(b)_c") == "claim-a_28_b_29__5f_c"
