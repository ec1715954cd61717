"""Measured claims drawn again: flips are counted, proofs are not drawn, what does not run is a flip."""

from __future__ import annotations

from odesys.errors import OdesysError
from odesys.papers.claims import ClaimBook
from odesys.papers.laboratory import BaseLaboratory
from odesys.papers.measurement import measure
from odesys.papers.redraw import measured_claims, redraw, redraw_lines
from odesys.terminal import silent
from odesys.verdicts import Verdict, proved


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
