"""Proofs on a page: each step in full once, what the whole says not again for its parts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from odesys.papers.claims import ClaimBook, Outcome
from odesys.report.claim_entry import ClaimEntry
from odesys.report.proof_steps import (
    SHORT,
    WORTH,
    Block,
    _grouped,
    _say_numbers,
    _used_first,
    part_answer,
    proof_steps,
    says_where,
    short_answer,
)
from odesys.sentences import say_answer, say_proof
from odesys.verdicts import Verdict, measured, proved, refuted

LONG = tuple(f"step {k}, which takes {'many ' * 20}words" for k in range(6))


def verdict(*steps: str, **sizes: str) -> Verdict:
    made = proved()
    for step in steps:
        made = made & proved().proving(step, **sizes)
    return made


def entries(**steps: tuple[str, ...]) -> dict[str, ClaimEntry]:
    """Claims that rest on all before them, in the reverse order of the book."""
    book, ids = ClaimBook("p", laboratory=lambda mutation="": mutation), list(steps)
    for k in reversed(range(len(ids))):
        book.claim(ids[k], "", kind="identity", statement="x", reading="y", uses=ids[:k])(lambda lab: proved())
    return {claim.id: ClaimEntry(claim, Outcome(claim, verdict(*steps[claim.id]), 0.1)) for claim in book}


def test_steps_that_stand_in_another_card_are_said_by_their_numbers() -> None:
    made = proof_steps(entries(A=LONG[:3], B=(*LONG[:3], LONG[3]), C=(LONG[4], *LONG[1:4])))
    assert made["A"].blocks == (Block(1, LONG[:3]),)
    assert made["B"].blocks == (Block(1, LONG[:3], "A", 1), Block(4, LONG[3:4]))
    assert made["B"].blocks[0].says == "1 to 3: steps 1 to 3 of"
    assert made["C"].blocks == (Block(1, LONG[4:5]), Block(2, LONG[1:3], "A", 2), Block(4, LONG[3:4], "B", 4))
    assert made["C"].blocks[2].says == "4: step 4 of"


def test_short_steps_are_said_again_and_short_proofs_where_they_are_open() -> None:
    made = proof_steps(entries(A=(*LONG[:3], "by parts"), B=("by parts", *LONG[3:6]), C=("by parts",)))
    assert made["B"].blocks == (Block(1, ("by parts", *LONG[3:6])),)
    assert "C" not in made and short_answer(verdict("by parts", K="every")) == "by parts; for every K"


def test_a_long_proof_is_counted_where_a_card_is_open() -> None:
    said = short_answer(verdict(*LONG, K="every"))
    assert said == "by proof, in 6 steps, which stand below; for every K" and len(said) < SHORT
    assert says_where(verdict(*LONG, K="every"))  # there is nothing to say


def test_a_part_names_its_steps_and_does_not_repeat_the_whole() -> None:
    whole = verdict(*LONG, K="every")
    (proof,) = proof_steps(entries(A=LONG)).values()
    assert part_answer(verdict(*LONG[:3], LONG[5], K="every"), whole, proof) == "by steps 1 to 3 and 6 below"
    assert part_answer(verdict("by parts", K="2"), whole, proof) == "by parts; for K = 2"
    assert part_answer(verdict(*LONG, "unknown", K="2"), whole, None).startswith(LONG[0])


def test_only_what_holds_says_where_it_was_seen() -> None:
    assert says_where(measured(True, mean=0.3).averaging(range(20)))
    assert says_where(measured(True, x=[1, 2])) and says_where(verdict("by parts", K="every"))
    assert not says_where(refuted("x = 1 gives 2"))


# ---- ends ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [SHORT - 1, SHORT, SHORT + 1])
def test_an_answer_is_said_in_full_up_to_its_limit(length: int) -> None:
    said = verdict("s" * length)
    assert (short_answer(said) == "s" * length) is (length <= SHORT)
    (proof,) = proof_steps(entries(A=("s" * (SHORT + 5), "s" * length))).values()
    part = part_answer(said, verdict("other"), proof)
    assert part == ("s" * length if length <= SHORT else "by step 2 below")
    one, two = short_answer(verdict("s" * 400)), short_answer(verdict("s" * 400, "t"))
    assert one == "by proof, as said below" and two == "by proof, in 2 steps, which stand below"


@pytest.mark.parametrize("length", [WORTH - 1, WORTH])
def test_steps_are_said_by_their_numbers_where_they_are_long_enough(length: int) -> None:
    """Together, as far as they stand in a row there."""
    steps = ("a" * (length // 2), "b" * (length - length // 2))
    more = ("c" * 300, "d" * 300)
    blocks = proof_steps(entries(A=(*steps, more[0]), B=(*steps, more[1])))["B"].blocks
    alone = Block(1, (*steps, more[1]))
    assert blocks == ((Block(1, steps, "A", 1), Block(3, more[1:])) if length >= WORTH else (alone,))
    apart = proof_steps(entries(A=(steps[1], steps[0], more[0]), B=(*steps, more[1])))["B"].blocks
    assert apart == (alone,), "the other way round they are two rows"


def test_a_part_that_proves_other_steps_says_them() -> None:
    whole = verdict(*LONG, K="every")
    (proof,) = proof_steps(entries(A=LONG)).values()
    assert part_answer(verdict(*LONG, K="every"), whole, proof) == "by steps 1 to 6 below"
    assert part_answer(verdict(*LONG[1:3], K="2"), whole, proof) == "by steps 2 and 3 below; for K = 2"
    mixed = part_answer(verdict(*LONG[:2], "something else", K="every"), whole, proof)
    assert mixed == "; ".join((*LONG[:2], "something else")) + "; seen where the whole was"
    assert part_answer(refuted("x" * 400), whole, proof) == say_answer(refuted("x" * 400))


def test_a_proof_has_the_steps_of_its_parts_each_once_and_its_end_without_them() -> None:
    book = entries(A=LONG[:2])
    part, done = verdict(LONG[1], LONG[2]), verdict(*LONG[:2], K="every").assuming("m > 0", "n > 0")
    outcome = book["A"].outcome
    assert outcome is not None
    made = proof_steps({"A": replace(book["A"], outcome=replace(outcome, verdict=replace(done, parts={"p": part})))})[
        "A"
    ]
    assert made.blocks == (Block(1, LONG[:3]),) and dict(made.numbers) == {
        step: k + 1 for k, step in enumerate(LONG[:3])
    }
    plain = replace(done.proof, steps=(), assumed=("m, n > 0",))
    assert made.end == say_proof(replace(done, proof=plain)) and "m, n > 0" in made.end


def test_what_the_short_answer_says_needs_no_proof_below() -> None:
    book = entries(A=("by parts",), B=("by parts",))
    outcome = book["A"].outcome
    assert outcome is not None and proof_steps(book) == {}
    for done, there in (
        (replace(verdict("by parts"), parts={"p": verdict("by parts")}), False),
        (replace(verdict("by parts"), parts={"p": verdict("by symmetry")}), True),
        (replace(measured(True), parts={"p": verdict("by symmetry")}), True),
        (measured(True), False),
        (refuted({"x": 1}), False),
        (refuted({"x": 1}).proving("by parts"), True),
    ):
        entry = replace(book["A"], outcome=replace(outcome, verdict=done))
        assert ("A" in proof_steps({"A": entry})) is there
    bare = replace(book["A"], outcome=None)
    assert proof_steps({"A": bare}) == {}


def test_what_is_used_is_said_before_what_uses_it_else_the_order_of_the_book_is_kept() -> None:
    """A step stands in full in the card of the claim that is used, wherever that is in the book."""

    def order(uses: dict[str, list[str]]) -> list[str]:
        book = ClaimBook("p", laboratory=dict)
        for id, used in uses.items():
            book.claim(id, "", kind="identity", statement="x", reading="y", uses=used)(lambda lab: proved())
        return _used_first({claim.id: ClaimEntry(claim, None) for claim in book})

    assert order({"A": [], "B": [], "C": []}) == ["A", "B", "C"]
    assert order({"A": ["C"], "B": [], "C": []}) == ["C", "A", "B"]
    assert order({"A": ["B", "C"], "B": ["C"], "C": ["D"], "D": []}) == ["D", "C", "B", "A"]
    assert order({"A": ["missing"], "B": ["A"]}) == ["A", "B"]


@pytest.mark.parametrize(
    ("block", "said"),
    [
        (Block(1, ("a",), "E", 4), "1: step 4 of"),
        (Block(2, ("a", "b"), "E", 4), "2 and 3: steps 4 and 5 of"),
        (Block(7, ("a", "b", "c", "d"), "E", 1), "7 to 10: steps 1 to 4 of"),
    ],
)
def test_steps_of_another_card_are_named_here_and_there(block: Block, said: str) -> None:
    assert block.says == said


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ([1], "step 1"),
        ([2, 2], "step 2"),
        ([1, 2], "steps 1 and 2"),
        ([1, 3], "steps 1 and 3"),
        ([3, 1, 2], "steps 1 to 3"),
        ([5, 1, 2, 9, 6, 7], "steps 1 and 2, 5 to 7 and 9"),
    ],
)
def test_numbers_of_steps_in_words(numbers: list[int], said: str) -> None:
    assert _say_numbers(numbers) == said


def test_assumptions_of_one_sign_stand_together() -> None:
    given = ["a > 0", "b >= 0", "c > 0", "d < 0", "e < 0", "f >= 0", "g > 1", "a < b", "x is real"]
    assert _grouped(given) == ("a, c > 0", "b, f >= 0", "d, e < 0", "g > 1", "a < b", "x is real")
    assert _grouped([]) == ()
