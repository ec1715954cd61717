"""Do the theorems stand: every answer, and what brings it about."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from odesys.papers.claims import ClaimBook, ClaimError, Outcome, in_parts
from odesys.papers.survival import (
    SoFar,
    causes,
    few_open,
    score,
    standing_so_far,
    theorem_answers,
    theorem_lines,
    with_survival,
)
from odesys.verdicts import Verdict, measured, proved, refuted, undecided

HOLDS = proved()


def fails(fault: str, mended: bool = True, cause: str = "slip") -> Verdict:
    verdict = refuted({"x": 1}).blaming(fault, cause)
    return verdict.correcting("y", proved(), "because") if mended else verdict


def outcomes(
    answers: Mapping[str, Verdict], repairs: Mapping[str, str] | None = None
) -> tuple[ClaimBook, list[Outcome]]:
    """A theorem T that uses the lemma B that uses the display A; R may repair one of them."""
    book = ClaimBook("toy", laboratory=dict)
    uses = {"B": ["A"], "T": ["B"]}
    for id in ("A", "B", "R", "T"):
        fields = {"uses": uses.get(id, []), "main": id == "T", "origin": "ours" if id == "R" else "statement"}
        repaired = [other for other, by in (repairs or {}).items() if by == id]
        book.claim(id, f"claim {id}", kind="identity", statement="x", reading="x", repairs=repaired, **fields)(
            lambda lab: HOLDS
        )
    found = [Outcome(claim, answers.get(claim.id, HOLDS), 0.0) for claim in book]
    return book, with_survival(book, found)


@pytest.mark.parametrize(
    ("answers", "repairs", "stands"),
    [
        ({}, {}, "as printed"),
        ({"A": fails("misprint")}, {}, "as printed"),
        ({"A": fails("misprint", mended=False)}, {}, "open"),
        ({"A": fails("constant")}, {"A": "R"}, "with corrected constants"),
        ({"A": fails("constant")}, {}, "open"),
        ({"B": fails("proof")}, {"B": "R"}, "given a repaired step"),
        ({"B": fails("proof")}, {}, "open"),
        ({"B": fails("false", mended=False)}, {"B": "R"}, "given a repaired step"),
        ({"A": fails("constant"), "B": fails("proof")}, {"A": "R", "B": "R"}, "given a repaired step"),
        ({"A": fails("constant"), "R": measured(False)}, {"A": "R"}, "open"),  # the repair itself fails
        ({"B": undecided("x")}, {}, "open"),
        ({"T": fails("false", mended=False)}, {}, "falls"),
        ({"T": fails("constant")}, {}, "with corrected constants"),
        ({"T": fails("misprint")}, {}, "as printed"),
    ],
)
def test_stands(answers: dict[str, Verdict], repairs: dict[str, str], stands: str) -> None:
    _, found = outcomes(answers, repairs)
    by_id = {outcome.claim.id: outcome for outcome in found}
    assert by_id["T"].stands == stands
    assert by_id["A"].stands is None  # not a theorem
    failing = [id for id in ("A", "B") if id in answers and answers[id].as_stated == "fails"]
    assert list(by_id["T"].rests_on_failed) == failing


def test_a_repair_of_ours_counts_with_what_it_rests_on() -> None:
    def stands(below: Verdict, origin: str) -> str | None:
        book = ClaimBook("toy", laboratory=dict)
        fields = {"kind": "identity", "statement": "x", "reading": "x"}
        book.claim("A", "display", **fields)(lambda lab: HOLDS)
        book.claim("S", "what the repair rests on", **fields)(lambda lab: HOLDS)
        book.claim("R", "repair", uses=["S"], repairs=["A"], origin=origin, **fields)(lambda lab: HOLDS)
        book.claim("T", "theorem", uses=["A"], main=True, **fields)(lambda lab: HOLDS)
        answers = {"A": fails("constant"), "S": below}
        return with_survival(book, [Outcome(claim, answers.get(claim.id, HOLDS), 0.0) for claim in book])[-1].stands

    assert stands(HOLDS, "ours") == "with corrected constants"
    assert stands(undecided("x"), "ours") == "open"
    assert stands(undecided("x"), "statement") == "with corrected constants"  # checked by itself; `uses` is the paper's


@pytest.mark.parametrize(
    ("repairs", "uses", "sentence"),
    [(["B"], [], "repairs 'B', which is not registered"), (["A"], ["A"], "repairs A and rests on it")],
)
def test_a_repair_stands_on_its_own(repairs: list[str], uses: list[str], sentence: str) -> None:
    book = ClaimBook("toy", laboratory=dict)
    fields = {"kind": "identity", "statement": "x", "reading": "x"}
    book.claim("A", "display", **fields)(lambda lab: HOLDS)
    book.claim("R", "repair", repairs=repairs, uses=uses, origin="ours", **fields)(lambda lab: HOLDS)
    with pytest.raises(ClaimError, match=sentence):
        book.proof_graph()


def test_a_theorem_whose_lemma_did_not_run_has_no_answer() -> None:
    book, found = outcomes({})
    some = with_survival(book, [outcome for outcome in found if outcome.claim.id != "A"])
    assert some[-1].stands is None
    assert theorem_lines(book, some) == ["T claim T: not known, A did not run"]


def test_lines_name_what_is_repaired() -> None:
    book, found = outcomes({"A": fails("constant"), "B": fails("misprint")}, {"A": "R"})
    assert theorem_lines(book, found) == [
        "T claim T: stands with corrected constants; below it fail A (repaired by R), B (misprint)"
    ]


def test_what_holds_in_place_of_a_theorem_is_said_beside_it_part_by_part() -> None:
    both = in_parts({"time": fails("false"), "error": fails("false", mended=False), "sign": proved()})
    for verdict, instead in ((fails("false"), ["instead (proof): y"]), (both, ["time, instead (proof): y"])):
        ((stands, _, lines),) = theorem_answers(*outcomes({"T": verdict}))
        assert stands == "falls" and lines == instead
    assert theorem_answers(*outcomes({"A": fails("constant")}))[0][2] == [], "it does not fail itself"


def test_a_book_with_a_tenth_left_open_is_not_done() -> None:
    book = ClaimBook("toy", laboratory=dict)
    for k in range(11):
        book.claim(str(k), "claim", kind="identity", statement="x", reading="x")(lambda lab: HOLDS)
    found = [Outcome(claim, undecided("x") if claim.id == "0" else HOLDS, 0.0) for claim in book]
    assert few_open(found) and not few_open(found[:10])


def test_the_score_counts_causes_and_leaves_out_what_is_ours() -> None:
    _, found = outcomes({"A": fails("misprint"), "B": fails("misprint"), "T": fails("false", cause="gap")})
    assert {fault: list(by) for fault, by in causes(found).items()} == {"false": ["gap"], "misprint": ["slip"]}
    assert score(found) == {"claims": 3, "fails": 3, "causes": 2}
    both = in_parts({"display": fails("constant", cause="two"), "stray factor": fails("misprint", cause="m")})
    _, found = outcomes({"A": both})
    assert {fault: list(by) for fault, by in causes(found).items()} == {"constant": ["two"], "misprint": ["m"]}
    assert causes(found)["misprint"]["m"][0].verdict == both.parts["stray factor"]
    _, found = outcomes({"A": fails("proof", cause="eta"), "T": fails("false", cause="eta")})
    ((fault, by_cause),) = causes(found).items()  # one slip under its severest fault, each display with its own
    assert fault == "false" and [o.verdict.fault for o in by_cause["eta"]] == ["false", "proof"]
    _, found = outcomes({"R": measured(False)})
    assert causes(found) == {} and score(found) == {"claims": 3, "holds": 3, "causes": 0}


def test_what_was_run_so_far_says_how_far_a_theorem_stands() -> None:
    book, found = outcomes({"A": fails("constant")}, {"A": "R"})
    assert standing_so_far(book, found)["T"] == SoFar("with corrected constants", ())
    some = [outcome for outcome in found if outcome.claim.id in ("A", "T")]  # the lemma and the repair did not run
    assert standing_so_far(book, some)["T"] == SoFar("as printed", ("B", "R"))
    book, found = outcomes({"A": fails("constant")})
    some = [outcome for outcome in found if outcome.claim.id == "A"]  # nothing repairs it
    assert standing_so_far(book, some)["T"] == SoFar("open", ("B", "T"))
