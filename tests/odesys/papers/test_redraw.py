"""Measured claims drawn again: flips are counted, proofs are not drawn, what does not run is a flip."""

from __future__ import annotations

from dataclasses import replace

from odesys.errors import OdesysError
from odesys.papers.claims import ClaimBook, Outcome
from odesys.papers.draw import Draw
from odesys.papers.laboratory import BaseLaboratory
from odesys.papers.measurement import measure
from odesys.papers.redraw import _changes, _seen, _why, measured_claims, redraw, redraw_lines
from odesys.papers.workers import Answer
from odesys.terminal import silent
from odesys.verdicts import Evidence, Seeds, Verdict, Witness, certified, measured, proved, refuted, undecided


def book() -> ClaimBook:
    made = ClaimBook("toy", BaseLaboratory)

    def point(lab: BaseLaboratory) -> dict[str, float]:
        (found,) = lab.draw.points("x", [{"x": 1.0}], {"x": (0.5, 2.0)})
        return found

    @made.claim("proof", "Exact", kind="identity", statement="x", reading="x")
    def exact(lab: BaseLaboratory) -> Verdict:
        return proved()

    @made.claim("robust", "Everywhere", kind="inequality", statement="x < 3", reading="x")
    def robust(lab: BaseLaboratory) -> Verdict:
        return measure("x", [point(lab)], lambda p: p["x"]).between(0, 3, "the range ends at 2")

    @made.claim("lucky", "Only at the book's point", kind="inequality", statement="x < 1.01", reading="x")
    def lucky(lab: BaseLaboratory) -> Verdict:
        return measure("x", [point(lab)], lambda p: p["x"]).between(0, 1.01, "seen at x = 1")

    @made.claim("fragile", "Runs only at the book's point", kind="order", statement="x", reading="x")
    def fragile(lab: BaseLaboratory) -> Verdict:
        if not lab.draw.own:
            raise OdesysError("there is no such run")
        return measure("x", [point(lab)], lambda p: p["x"]).between(0, 3, "")

    @made.claim("partly", "A part changes below one that fails", kind="order", statement="x", reading="x")
    def partly(lab: BaseLaboratory) -> dict[str, Verdict]:
        seen = measure("x", [point(lab)], lambda p: p["x"])
        return {"wrong": seen.between(5, 6, "wrong"), "lucky": seen.between(0, 1.01, "seen at x = 1")}

    @made.claim("fixed", "Names its own point", kind="order", statement="x", reading="x")
    def fixed(lab: BaseLaboratory) -> Verdict:
        return measure("x", [{"x": 1.0}], lambda p: p["x"]).between(0, 3, "")

    return made


def test_flips() -> None:
    made = book()
    outcomes = [made.run(claim) for claim in made]
    assert [o.verdict.as_stated for o in outcomes] == [*["holds"] * 4, "fails", "holds"]
    assert [claim.id for claim in measured_claims(outcomes)] == ["robust", "lucky", "fragile", "partly", "fixed"]
    found = redraw("toy", made, outcomes, 20, 7, silent)
    assert found["draws"] == 80 and found["same"] == ["fixed"] and found == redraw("toy", made, outcomes, 20, 7, silent)
    flipped = [flip["id"] for flip in found["flips"]]
    assert flipped.count("fragile") == 20 and 3 < flipped.count("lucky") < 17 and "robust" not in flipped
    first = next(flip for flip in found["flips"] if flip["id"] == "lucky")
    assert (first["from"], first["to"], first["seed"]) == ("holds", "fails", 7) and "x is" in first["why"]
    part = next(flip for flip in found["flips"] if flip["id"] == "partly")
    assert (part["from"], part["to"]) == ("lucky: holds", "lucky: fails")
    lines = redraw_lines(found)
    assert lines[0].startswith("drawn again with seed 7: 80 draws, flips") and len(lines) == len(flipped) + 2
    assert lines[1] == "    the same points and seeds each time, so not counted: fixed"


def test_nothing_to_draw() -> None:
    made = book()
    found = redraw("toy", made, [made.run(made["proof"])], 5, 0, silent)
    assert found["draws"] == 0 and redraw_lines(found) == ["nothing was measured, so there is nothing to draw again"]


NONE = Answer("lucky", "", None, problem="no such run", sentence="it stops", draw=Draw(7, 3))


def answer(verdict: Verdict) -> Answer:
    """What a new draw of a claim gave."""
    return Answer("lucky", "", verdict, 0.0, draw=Draw(7, 3))


def test_what_rests_on_floats_is_measured_whole_or_in_a_part_and_not_untested() -> None:
    made = ClaimBook("toy", BaseLaboratory)
    float_part, exact = {"a": proved(), "b": measured(True)}, {"a": proved(), "b": certified()}
    out = replace(measured(True), as_stated="untested", residual="too large")
    cases = {"m": measured(True), "f": measured(False), "p": proved(), "c": certified(), "u": out}
    cases |= {"parts": replace(proved(), parts=float_part), "exact": replace(proved(), parts=exact)}
    cases |= {"undecided": undecided("x")}
    outcomes = []
    for id, verdict in cases.items():
        made.claim(id, "t", kind="order", statement="s", reading="r")(lambda lab: proved())
        outcomes.append(Outcome(made[id], verdict, 0.0))
    made.claim("D", "t", kind="definition", statement="s", reading="r")(lambda lab: proved())
    outcomes.append(Outcome(made["D"], measured(True), 0.0))
    floats = [id for id in cases if cases[id].evidence == Evidence.MEASUREMENT and id != "u"]
    assert [claim.id for claim in measured_claims(outcomes)] == [*floats[:2], "parts", *floats[2:]]
    assert floats[:2] == ["m", "f"]


def test_a_verdict_was_drawn_again_if_a_measured_part_was_somewhere_else() -> None:
    here, there = measured(True).at({"x": 1}), measured(True).at({"x": 2})
    proof, seeds = proved().at({"x": 3}), replace(here, seeds=Seeds((0, 1)))
    other = replace(here, seeds=Seeds((0, 2)))
    beside = replace(here, seeds=Seeds((0, 1), beside=(5,)))
    distinct = [here, there, seeds, other, beside, proof]
    assert all((_seen(a) == _seen(b)) is (a is b) for a in distinct for b in distinct)
    whole = replace(here, parts={"exact": proof, "seen": there})
    assert _seen(whole) == _seen(there), "proofs are drawn no more than the whole"
    assert _seen(replace(proof, parts={"a": proof})) == _seen(proof)
    assert len(_seen(replace(here, parts={"a": here, "b": there}))) == 2


def test_a_change_is_of_the_answer_or_of_the_first_part_that_changed() -> None:
    holds, fails = measured(True), measured(False)
    one, other = (replace(holds, parts={"a": x, "b": y, "c": z}) for x, y, z in ((holds,) * 3, (holds, fails, fails)))
    assert _changes(holds, answer(holds)) == [] and _changes(one, answer(one)) == []
    assert _changes(holds, answer(fails)) == [("holds", "fails")]
    assert _changes(one, answer(other)) == [("b: holds", "b: fails")]
    assert _changes(one, answer(replace(holds, parts={"a": holds}))) == [], "a part that is not there says nothing"
    assert _changes(holds, NONE) == [("holds", "no such run")]


def test_why_a_verdict_flipped_is_what_it_says_itself() -> None:
    sentence = Witness("at x = 2 it is 3", {"x": 2})
    assert _why(NONE) == "it stops" and _why(answer(undecided("who knows"))) == "who knows"
    assert _why(answer(refuted(sentence))) == "at x = 2 it is 3" and _why(answer(refuted({"x": 2}))) == "{'x': 2}"
    assert _why(answer(measured(True))) == ""


def test_a_summary_tells_how_many_of_the_draws_flipped() -> None:
    flip = {"id": "lucky", "seed": 7, "draw": 3, "from": "holds", "to": "fails", "why": "x is 2"}
    assert redraw_lines({"seed": 7, "draws": 8, "flips": [flip], "same": []}) == [
        "drawn again with seed 7: 8 draws, flips 1/8 = 0.1250",
        "    lucky in draw 3: holds -> fails; x is 2",
    ]
    assert redraw_lines({"seed": 7, "draws": 8, "flips": [], "same": []}) == [
        "drawn again with seed 7: 8 draws, flips 0/8"
    ]
    assert redraw_lines({"seed": 1, "draws": 0, "flips": [], "same": ["a", "b"]}) == [
        "drawn again with seed 1: 0 draws, flips 0/0",
        "    the same points and seeds each time, so not counted: a, b",
    ]


def test_each_draw_has_its_number_from_one() -> None:
    made = book()
    found = redraw("toy", made, [made.run(made["fragile"])], 3, 7, silent)
    assert [(f["draw"], f["from"], f["to"], f["why"]) for f in found["flips"]] == [
        (k, "holds", "refused", "there is no such run") for k in (1, 2, 3)
    ]
    assert (found["draws"], found["same"], found["seed"]) == (3, [], 7)
