"""Do the theorems stand: every answer, and what brings it about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

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
from odesys.verdicts import Verdict, measured, proved, refuted, undecided, untested

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


UNDECIDED, UNTESTED = undecided("x"), untested("y")
MEASURED = measured(True)


def free(fields: Mapping[str, Mapping[str, Any]], answers: Mapping[str, Verdict | None]) -> Any:
    """A book with these fields by id, and outcomes of all that is not None."""
    book = ClaimBook("toy", laboratory=dict)
    for id, more in fields.items():
        known = {"kind": "identity", "statement": "x", "reading": "x"}
        book.claim(id, f"claim {id}", **{**known, **more})(lambda lab: HOLDS)
    verdicts = {**dict.fromkeys(fields, HOLDS), **answers}
    found = [Outcome(book[id], verdict, 0.0) for id, verdict in verdicts.items() if verdict is not None]
    return book, with_survival(book, found)


THEOREM: dict[str, Any] = {"main": True, "uses": ["A"]}
ONE_BELOW: dict[str, dict[str, Any]] = {"A": {}, "T": THEOREM}
REPAIRED: dict[str, dict[str, Any]] = {"A": {}, "T": THEOREM, "R": {"origin": "ours", "repairs": ["A"]}}


@pytest.mark.parametrize(
    ("fields", "answers", "stands"),
    [
        (ONE_BELOW, {"A": UNTESTED}, "open"),
        (REPAIRED, {"A": UNTESTED}, "given a repaired step"),
        (REPAIRED, {"A": UNDECIDED}, "given a repaired step"),
        (REPAIRED, {"A": fails("misprint")}, "as printed"),
        (REPAIRED, {"A": fails("misprint", mended=False)}, "given a repaired step"),
        (REPAIRED, {"A": fails("constant"), "R": UNDECIDED}, "open"),
        (REPAIRED, {"A": fails("constant"), "R": fails("false")}, "open"),
        (REPAIRED, {"A": fails("constant"), "R": MEASURED}, "with corrected constants"),
        ({"A": {"kind": "definition"}, "T": THEOREM}, {"A": fails("false")}, "as printed"),
        (ONE_BELOW, {"T": fails("constant", mended=False)}, "open"),
        (ONE_BELOW, {"T": fails("proof")}, "open"),
        (ONE_BELOW, {"T": fails("false")}, "falls"),
        (ONE_BELOW, {"T": UNDECIDED}, "open"),
        (ONE_BELOW, {"A": fails("constant"), "T": fails("false")}, "falls"),
        (ONE_BELOW, {"A": fails("false")}, "open"),
        ({"A": {}, "T": {**THEOREM, "repairs": ["T2"]}, "T2": {"main": True}}, {"T2": fails("false")}, "as printed"),
    ],
)
def test_how_a_theorem_stands(fields: Any, answers: Any, stands: str) -> None:
    _, found = free(fields, answers)
    assert {o.claim.id: o.stands for o in found}["T"] == stands


def test_a_theorem_that_fails_and_is_repaired_stands() -> None:
    for fault, stands in (("constant", "with corrected constants"), ("false", "given a repaired step")):
        fields = {"T": {"main": True}, "R": {"repairs": ["T"]}}
        assert free(fields, {"T": fails(fault, mended=False)})[1][0].stands == stands


def test_what_is_not_run_leaves_no_answer_only_above_it() -> None:
    fields = {"A": {}, "B": {}, "T": THEOREM, "U": {"main": True, "uses": ["B"]}}
    _, found = free(fields, {"A": None})
    assert {o.claim.id: o.stands for o in found} == {"B": None, "T": None, "U": "as printed"}
    below = {"S": {}, "A": {}, "T": THEOREM, "R": {"origin": "ours", "repairs": ["A"], "uses": ["S"]}}
    for failing, stands in ((fails("constant"), None), (HOLDS, "as printed")):
        _, found = free(below, {"A": failing, "S": None})
        assert found[1].stands == stands, "what a repair rests on counts where the repair is needed"


def test_only_failures_below_are_named_in_the_order_of_the_book() -> None:
    fields = {"B": {}, "A": {}, "C": {"uses": ["A", "B"]}, "T": {"main": True, "uses": ["C"]}, "Z": {}}
    _, found = free(fields, {"A": fails("constant"), "B": fails("misprint"), "C": UNDECIDED, "Z": fails("false")})
    assert {o.claim.id: o.rests_on_failed for o in found} == {
        "B": (),
        "A": (),
        "C": ("B", "A"),
        "T": ("B", "A"),
        "Z": (),
    }


def test_so_far_a_theorem_is_as_good_as_the_worst_that_was_run() -> None:
    fields = {"A": {}, "B": {}, "T": {"main": True, "uses": ["A", "B"]}, "S": {}}
    fields |= {"R": {"origin": "ours", "repairs": ["A"], "uses": ["S"]}, "Q": {}}

    def so_far(answers: dict[str, Verdict | None]) -> SoFar:
        return standing_so_far(*free(fields, answers))["T"]

    assert so_far({}) == SoFar("as printed", ())
    assert so_far({"Q": None, "S": None, "R": None}) == SoFar("as printed", ()), "nothing of that is needed"
    assert so_far({"A": None, "B": UNDECIDED}) == SoFar("open", ("A",))
    assert so_far({"B": None, "T": fails("false")}) == SoFar("falls", ("B",))
    assert so_far({"A": None, "B": None, "T": None}) == SoFar("as printed", ("A", "B", "T"))
    assert so_far({"A": fails("constant")}) == SoFar("with corrected constants", ())
    assert so_far({"A": fails("constant"), "S": None}) == SoFar("with corrected constants", ("S",))
    assert so_far({"A": fails("constant"), "R": None}) == SoFar("as printed", ("R",)), "it waits for the repair"
    assert so_far({"A": fails("constant"), "R": UNDECIDED}) == SoFar("open", ()), "which does not repair it"
    assert so_far({"A": fails("constant"), "R": None, "T": fails("false")}) == SoFar("falls", ("R",))


def test_a_line_says_what_did_not_run_and_what_fails_below() -> None:
    fields = {"B": {}, "A": {}, "T": {"main": True, "uses": ["A", "B"]}, "U": {"main": True, "uses": ["T"]}}
    assert theorem_lines(*free(fields, {"A": None, "B": None})) == [
        "U claim U: not known, A, B did not run",
        "T claim T: not known, A, B did not run",
    ]
    found = theorem_answers(*free(fields, {"A": fails("constant"), "T": fails("false", mended=False)}))
    assert [(word, line) for word, line, _ in found] == [
        ("falls", "U claim U: falls; below it fail A (constant), T (false)"),
        ("falls", "T claim T: falls; below it fail A (constant)"),
    ]
    assert theorem_answers(*free(fields, {})) == [
        ("as printed", "U claim U: stands as printed", []),
        ("as printed", "T claim T: stands as printed", []),
    ]
    assert theorem_lines(*free(fields, {"B": UNDECIDED}))[0] == "U claim U: open"


def test_what_holds_instead_is_said_of_parts_that_fail_and_are_mended() -> None:
    unsure = refuted({"x": 1}).correcting("z", undecided("who knows"), "because").blaming("false", "a")
    parts = {"a": fails("false"), "b": unsure, "c": fails("false", mended=False), "d": HOLDS}
    both = in_parts(parts)
    ((_, _, lines),) = theorem_answers(*free({"T": {"main": True}}, {"T": both}))
    assert lines == ["a, instead (proof): y"]
    ((_, _, lines),) = theorem_answers(*free({"T": {"main": True}}, {"T": unsure}))
    assert lines == []


def test_a_slip_is_listed_once_with_each_claim_once() -> None:
    two = in_parts(
        {"a": fails("constant", cause="c"), "b": fails("misprint", cause="c"), "d": fails("misprint", cause="m")}
    )
    fields: dict[str, Any] = {"A": {}, "B": {}, "C": {}, "O": {"origin": "ours"}, "D": {}}
    nameless = replace(fails("constant"), cause="")
    answers = {"A": two, "B": fails("misprint", cause="c"), "C": nameless, "O": fails("false"), "D": refuted({"x": 1})}
    _, found = free(fields, answers)
    listed = {f: {cause: [o.claim.id for o in some] for cause, some in by.items()} for f, by in causes(found).items()}
    assert listed == {"constant": {"c": ["A", "B"], "C": ["C"]}, "misprint": {"m": ["A"]}}
    assert score(found) == {"claims": 4, "fails": 4, "causes": 3}


@pytest.mark.parametrize(("count", "open_ones", "few"), [(10, 1, False), (11, 1, True), (20, 2, False), (21, 2, True)])
def test_few_are_open_if_less_than_a_tenth_are(count: int, open_ones: int, few: bool) -> None:
    fields: dict[str, Any] = {str(k): {} for k in range(count)} | {"O": {"origin": "ours"}}
    for answer in (UNDECIDED, UNTESTED):
        _, found = free(fields, {str(k): answer for k in range(open_ones)} | {"O": answer})
        assert few_open(found) is few
    mixed = free(fields, {"0": UNDECIDED, "1": UNTESTED})[1]
    assert few_open(mixed) is (0.1 * count > 2) and few_open([])
