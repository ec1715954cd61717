"""Proofs on a page: each step in full once, what the whole says not again for its parts."""

from __future__ import annotations

from odesys.papers.claims import ClaimBook, Outcome
from odesys.report.claim_entry import ClaimEntry
from odesys.report.proof_steps import SHORT, Block, part_answer, proof_steps, says_where, short_answer
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
