"""Mutation runs: what counts as noticing, what needs a reason, and what is found by program."""

from __future__ import annotations

from typing import Any

import pytest

from odesys.errors import IntegrationError, SymmetryError
from odesys.papers.claims import ClaimBook, ClaimError
from odesys.papers.laboratory import BaseLaboratory, laboratory_part
from odesys.papers.mutation import Mutation
from odesys.papers.mutation_runs import (
    KILLED,
    NO_REASON,
    REFUSED,
    SURVIVED,
    UNREAD,
    Mutant,
    mutation_lines,
    mutation_runs,
    mutation_summary,
)
from odesys.papers.verification import verify
from odesys.terminal import silent
from odesys.verdicts import Verdict, measured, proved, refuted


class Lab(BaseLaboratory):
    """Two numbers, of which a mutation may change one."""

    mutations = (
        Mutation("left", "a sentence", model=lambda x: 2 * x),
        Mutation("right", "a sentence", start=lambda x: x + 3),
        Mutation("same", "a sentence"),
    )

    @laboratory_part
    def left(self) -> int:
        return self.mutation.model(1)

    @laboratory_part
    def right(self) -> int:
        return self.mutation.start(0)


def small_book() -> ClaimBook:
    book = ClaimBook("toy", Lab)

    @book.claim("one", "left is one", kind="identity", statement="l = 1", reading="l is 1")
    def one(lab: Lab) -> Verdict:
        return proved() if lab.left() == 1 else refuted({"l": lab.left()})

    @book.claim("positive", "left is positive", kind="inequality", statement="l > 0", reading="l > 0")
    def positive(lab: Lab) -> Verdict:
        return measured(lab.left() > 0)

    @book.claim("runs", "there is a run", kind="existence", statement="r < 2", reading="a run with r")
    def runs(lab: Lab) -> Verdict:
        if lab.right() > 2:
            raise IntegrationError("the run stops", time=0.0)
        if lab.left() > 1:
            raise SymmetryError("no symmetry")
        return measured(True)

    @book.claim("print", "misprint", kind="identity", statement="0 = r + 1", reading="r + 1 is 0", expect="fails")
    def misprint(lab: Lab) -> Verdict:
        right = proved() if lab.right() == 0 else refuted({"r": 3})
        return refuted({"r": lab.right()}).correcting("0 = r", right, "one too many")

    @book.claim(
        "number", "a number", kind="definition", statement="1 = 1", reading="1 is 1", insensitive="only a number"
    )
    def number(lab: Lab) -> Verdict:
        return proved()

    return book


def states(book: ClaimBook) -> tuple[dict[str, dict[str, str]], list[Mutant]]:
    mutants = mutation_runs("toy", book, verify(book, list(book), silent), book.mutations, silent)
    return mutation_summary(book, mutants)["table"], mutants


def test_killed_survived_unread_refused() -> None:
    table, mutants = states(small_book())
    assert table == {
        "one": {"left": KILLED, "right": UNREAD, "same": UNREAD},
        "positive": {"left": SURVIVED, "right": UNREAD, "same": UNREAD},
        "runs": {"left": REFUSED, "right": KILLED, "same": UNREAD},
        "print": {"left": UNREAD, "right": KILLED, "same": UNREAD},
        "number": {"left": UNREAD, "right": UNREAD, "same": UNREAD},
    }
    how = {(m.claim, m.mutation): m.how for m in mutants}
    assert how["one", "left"] == "holds -> fails"
    assert how["print", "right"] == "fails, corrected holds -> fails, corrected fails", "a broken correction is noticed"
    assert how["runs", "right"] == "no such run: the run stops" and how["runs", "left"] == "refused: no symmetry"
    assert how["one", "right"] == "it reads left" and how["number", "left"] == "it reads nothing of the system"


def test_a_survivor_needs_a_reason() -> None:
    book = small_book()
    summary = mutation_summary(book, states(book)[1])
    assert not summary["explained"] and summary["blind"] == {"positive": NO_REASON, "number": "only a number"}
    assert summary["survivors"] == [{"claim": "positive", "mutation": "left", "reason": NO_REASON}]
    assert (summary["noticing"], summary["claims"], summary["score"]) == (3, 5, 3 / 4)
    assert summary["killed_without_a_run"] == 1
    book.unaffected("left", "positive", "two is positive as well")
    summary = mutation_summary(book, states(book)[1])
    assert summary["survivors"][0]["reason"] == "two is positive as well"
    assert not summary["explained"], "it notices no mutation at all, and does not say why"
    lines = "\n".join(mutation_lines(summary))
    assert "3 of 5 claims notice a broken system; score 3/4 = 0.750" in lines
    assert "    two is positive as well\n        left: positive" in lines and f"positive: {NO_REASON}" in lines


def test_an_explained_book() -> None:
    book = ClaimBook("toy", Lab)
    book.claim("sum", "sum", kind="order", statement="s", reading="l + r <= 2")(
        lambda lab: measured(lab.left() + lab.right() <= 2)
    )
    assert not mutation_summary(book, states(book)[1])["explained"]
    book.unaffected("left", "sum", "it is loose")
    assert mutation_summary(book, states(book)[1])["explained"]


def test_a_reason_for_what_is_noticed_is_out_of_date() -> None:
    book = small_book()
    book.unaffected("left", "one positive", "it does not matter")
    summary = mutation_summary(book, states(book)[1])
    assert summary["stale_reasons"] == ["one on left"] and not summary["explained"]
    assert "did not survive: one on left" in mutation_lines(summary)[-1]


def test_reasons_name_what_there_is() -> None:
    book = small_book()
    with pytest.raises(ClaimError, match="no mutation 'up'"):
        book.unaffected("up", "one", "r")
    with pytest.raises(ClaimError, match="no claim 'two'"):
        book.unaffected("left", "two", "r")
    book.unaffected("left", "one", "r")
    with pytest.raises(ClaimError, match="stated twice"):
        book.unaffected("left", "one", "again")


def test_without_a_record_every_pair_is_run() -> None:
    book = ClaimBook("toy", lambda mutation="": mutation, mutations=[Mutation("broken", "a sentence")])
    book.claim("a", "a", kind="identity", statement="s", reading="r")(lambda lab: proved())
    assert states(book)[0] == {"a": {"broken": SURVIVED}}


def test_a_part_that_notices_is_seen() -> None:
    """The whole fails on every system because of its first part; the second part notices."""
    book = ClaimBook("toy", Lab)

    @book.claim(
        "both", "both", kind="identity", statement="s", reading="r", expect="fails", parts=["never", "left is one"]
    )
    def both(lab: Lab) -> dict[str, Verdict]:
        return {"never": refuted({"l": 1}), "left is one": measured(lab.left() == 1)}

    table, mutants = states(book)
    assert table["both"]["left"] == KILLED and mutants[0].how == "left is one: holds -> fails"
    assert mutation_summary(book, mutants)["explained"]
    book.unaffected("left", "both", "the first part decides the whole")
    table, mutants = states(book)
    assert table["both"]["left"] == SURVIVED and mutants[0].how == "the first part decides the whole"


def single(verdicts: list[Verdict], **fields: Any) -> tuple[ClaimBook, list[Mutant], dict[str, Any]]:
    """A claim that gives the first verdict on the plain system and the second on the broken one."""
    book = ClaimBook("toy", lambda mutation="": mutation, mutations=[Mutation("broken", "a sentence")])
    known = {"kind": "identity", "statement": "s", "reading": "r"}
    book.claim("a", "a", **{**known, **fields})(lambda lab: verdicts[lab == "broken"])
    mutants = mutation_runs("toy", book, verify(book, list(book), silent), book.mutations, silent)
    return book, mutants, mutation_summary(book, mutants)


HOLDS, FAILS = measured(True), measured(False)


def parted(*answers: Verdict) -> dict[str, Verdict]:
    """Parts a, b, ... of a failing claim."""
    return {**dict(zip("abc", answers, strict=False)), "z": refuted({"x": 1})}


@pytest.mark.parametrize(
    ("before", "after", "fields", "state", "how"),
    [
        (HOLDS, FAILS, {}, KILLED, "holds -> fails"),
        (HOLDS, proved(), {}, SURVIVED, NO_REASON),
        (HOLDS, proved(), {"insensitive": "a number"}, SURVIVED, "a number"),
        (HOLDS, FAILS, {"insensitive": "a number"}, KILLED, "holds -> fails"),
        (parted(HOLDS, HOLDS), parted(HOLDS, HOLDS), {}, SURVIVED, NO_REASON),
        (parted(HOLDS, HOLDS), parted(FAILS, HOLDS), {}, KILLED, "a: holds -> fails"),
        (parted(HOLDS, HOLDS), parted(FAILS, FAILS), {}, KILLED, "a: holds -> fails; b: holds -> fails"),
        (parted(HOLDS, HOLDS), parted(FAILS, FAILS), {"insensitive": "a number"}, SURVIVED, "a number"),
        (parted(HOLDS, HOLDS), parted(HOLDS), {}, SURVIVED, NO_REASON),
    ],
)
def test_what_becomes_of_a_pair(before: Any, after: Any, fields: dict[str, Any], state: str, how: str) -> None:
    book, (mutant,), summary = single([before, after], **fields)
    assert (mutant.claim, mutant.mutation, mutant.state, mutant.how) == ("a", "broken", state, how)
    assert mutant.unexplained is (state == SURVIVED and how == NO_REASON)
    stale = state == KILLED and "insensitive" in fields
    assert summary["stale_reasons"] == ["a on broken"] * stale and summary["mutations"] == {"broken": "a sentence"}
    assert summary["blind"] == ({} if state == KILLED else {"a": fields.get("insensitive", NO_REASON)})
    assert summary["explained"] is (not stale and not mutant.unexplained)
    assert summary["score"] == float(state == KILLED) and summary["killed_without_a_run"] == 0
    assert summary["pairs"] == {s: int(s == state) for s in (KILLED, SURVIVED, UNREAD, REFUSED)}
    assert mutation_runs("toy", book, [], ["broken"], silent) == []


def test_a_reason_for_what_was_not_run_is_out_of_date_and_one_for_what_was_not_asked_is_not() -> None:
    book = small_book()
    book.unaffected("left", "number", "it is about numbers")
    book.unaffected("right", "positive", "it is about the left")
    every = states(book)[1]
    assert mutation_summary(book, every)["stale_reasons"] == ["number on left", "positive on right"]
    some = [m for m in every if m.mutation != "right"]
    assert mutation_summary(book, some)["stale_reasons"] == ["number on left"]
    assert mutation_summary(book, [m for m in some if m.claim != "number"])["stale_reasons"] == []
    assert list(mutation_summary(book, some)["mutations"]) == ["left", "same"]


def test_the_lines_of_a_summary_are_these() -> None:
    def rows(*of: tuple[str, str, str]) -> list[dict[str, str]]:
        return [{"claim": claim, "mutation": mutation, "reason": reason} for claim, mutation, reason in of]

    summary = {
        "pairs": {KILLED: 6, SURVIVED: 3, UNREAD: 2, REFUSED: 1},
        "noticing": 4,
        "claims": 5,
        "score": 6 / 9,
        "killed_without_a_run": 2,
        "blind": {"D": "a number"},
        "survivors": rows(("A", "m", "it is loose"), ("B", "m", NO_REASON), ("C", "m", "it is loose"), ("A", "k", "b")),
        "stale_reasons": ["E on m", "F on k"],
    }
    assert mutation_lines(summary) == [
        "mutations: 4 of 5 claims notice a broken system; score 6/9 = 0.667 (killed / killed and survived); "
        "2 pairs do not read what was broken, 1 could not be run; in 2 of the killed the run a claim speaks of no "
        "longer exists",
        "notice nothing:",
        "    D: a number",
        "keep their verdict:",
        f"    {NO_REASON}",
        "        m: B",
        "    it is loose",
        "        m: A, C",
        "    b",
        "        k: A",
        "a reason is given, but they did not survive: E on m; F on k",
    ]
    assert len(mutation_lines({**summary, "blind": {}, "survivors": [], "stale_reasons": []})) == 1


def test_a_score_without_a_pair_is_zero() -> None:
    book = small_book()
    summary = mutation_summary(book, [Mutant("number", "left", UNREAD, "it reads nothing of the system")])
    assert (summary["score"], summary["claims"], summary["noticing"]) == (0, 1, 0)
    both = [Mutant("one", "left", KILLED, "no such run: x"), Mutant("one", "right", REFUSED, "no such run: y")]
    assert mutation_summary(book, both)["killed_without_a_run"] == 1
