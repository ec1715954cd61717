"""Running a book: outcomes in the order asked for, what an interrupt keeps, certificates; errata in two languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from odesys import terminal
from odesys.papers.claims import CheckError, ClaimBook, ClaimError, Outcome
from odesys.papers.hypotheses import Symbol
from odesys.papers.rule import LATER
from odesys.papers.verification import errata_latex, errata_markdown, show, verify, write_certificates
from odesys.terminal import silent
from odesys.verdicts import Verdict, Witness, certified, measured, proved, refuted, undecided
from tests.report_pages import toy

FIRST, SECOND, THIRD = toy().book()  # type: ignore[misc]
OUTCOMES = [
    Outcome(FIRST, undecided("x"), 0.1, ()),
    Outcome(
        SECOND, refuted({"a_b": 1}).correcting("1 = 1", proved(), "a typo & more").blaming("misprint", "typo"), 0.1
    ),
    Outcome(THIRD, refuted({"x": 2}), 0.1, ()),
]


def test_errata_in_markdown() -> None:
    assert (
        errata_markdown(OUTCOMES)
        == """# Errata found by computation

## Misprints

### typo

**A.2**: Second.

Printed: $1 = 2$

Fails (proof): a_b = 1.

What remains true (holds, proof): $1 = 1$; a typo & more.

## Fails as printed, fault not yet named

### A.3

**A.3**: Third.

Printed: $x$

Fails (proof): x = 2.
"""
    )


def test_errata_in_latex() -> None:
    text = errata_latex(OUTCOMES)
    items = [line for line in text.splitlines() if line.startswith(r"\item")]
    assert items == [
        r"\item[{A.2}] Second; cause: typo. Printed: \( 1 = 2 \). It fails (proof): a\_b = 1."
        r" What remains true: \( 1 = 1 \) (proof; a typo \& more).",
        r"\item[{A.3}] Third; cause: A.3. Printed: \( x \). It fails (proof): x = 2.",
    ]
    assert text.startswith(r"\documentclass") and text.endswith("\\end{document}\n")


def test_no_errata() -> None:
    assert errata_markdown(OUTCOMES[:1]) == "# Errata found by computation\n\nNothing fails as printed.\n"
    assert "Nothing fails as printed." in errata_latex([]) and "description" not in errata_latex([])


def book() -> ClaimBook:
    made = ClaimBook("toy", laboratory=lambda: None)

    @made.claim("A.1", "first & last", kind="identity", statement="x_1 = 1", reading="one")
    def first(lab: None) -> Verdict:
        return proved()

    @made.claim("A.2", "second", kind="inequality", statement="x < 1", reading="below one", expect="fails")
    def second(lab: None) -> Verdict:
        wrong = refuted({"x_1": 2})
        return wrong.correcting("x < 3", certified(), "the sum has three terms")

    @made.claim("A.3", "third", kind="inequality", statement="y < 1", reading="below one")
    def third(lab: None) -> Verdict:
        return certified(boxes=3)

    @made.certificate("third.json", "A.3")
    def write(path: Path) -> None:
        path.write_text("{}")

    return made


def outcomes(*ids: str) -> list[Outcome]:
    made = book()
    return verify(made, made.select(ids), silent)


def test_outcomes_come_in_the_order_asked_for() -> None:
    found = outcomes("A.3", "A.1")
    assert [o.claim.id for o in found] == ["A.3", "A.1"] and all(o.as_expected for o in found)


def test_an_interrupt_hands_over_what_is_there() -> None:
    made, kept = book(), []

    @made.claim("A.9", "stopped", kind="identity", statement="s", reading="r")
    def stopped(lab: None) -> Verdict:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verify(made, list(made), silent, rescue=kept.extend)
    assert [o.claim.id for o in kept] == ["A.1", "A.2", "A.3"]


def test_certificates_are_written_for_certified_claims_only(tmp_path: Path) -> None:
    made = book()
    assert write_certificates(made, outcomes(), tmp_path / "all", silent) == [tmp_path / "all" / "third.json"]
    assert (tmp_path / "all" / "third.json").exists()
    weak = [Outcome(made["A.3"], measured(True), 0.0)]
    assert write_certificates(made, weak, tmp_path / "weak", silent) == [] and not (tmp_path / "weak").exists()


# ---- what a person sees ----------------------------------------------------------------------------------------------


def judged_book(rule: bool = True) -> ClaimBook:
    """A theorem on a lemma with a wrong constant, which is repaired; a claim of ours; a definition."""
    symbols = [Symbol("x", "x", "a number")]
    book = ClaimBook("judged", laboratory=dict, reference="nobody, never", rule=rule, symbols=symbols)
    common = {"statement": "x", "reading": "as printed", "hypotheses": (), "parts": ("all",)}

    @book.claim("Def.1", "A definition", kind="definition", where="Definition 1", **{**common, "parts": ()})
    def definition(lab: object) -> Verdict:
        return certified()

    @book.claim("L.1", "A lemma", kind="identity", where="Lemma 1", expect="fails", **common)
    def lemma(lab: object) -> Verdict:
        verdict = refuted(Witness("at x = 1 the left side is 2 and the right side 1", {"x": 1}))
        fixed = proved().proving("expansion")
        return verdict.correcting("2 x", fixed, "a factor is missing").blaming("constant", "factor-two")

    @book.claim("R.1", "The lemma with its factor", kind="identity", origin="ours", repairs=["L.1"], **common)
    def repair(lab: object) -> Verdict:
        return proved().proving("expansion")

    @book.claim("T.1", "A theorem", kind="order", where="Theorem 1", uses=["L.1", "Def.1"], main=True, **common)
    def theorem(lab: object) -> Verdict:
        return proved().proving("by the lemma")

    return book


def test_theorems_come_first_then_causes_then_failures(capsys: pytest.CaptureFixture[str]) -> None:
    book = judged_book()
    show("judged", book, verify(book, list(book), silent))
    said = capsys.readouterr().out
    places = [
        said.index(text)
        for text in (
            "judged: nobody, never",
            "Do the main theorems stand?",
            "T.1 A theorem: stands with corrected constants; below it fail L.1 (repaired by R.1)",
            "The order is right, a constant is not, 1 cause:",
            "factor-two: L.1",
            "Fails as printed:",
            "L.1 A lemma [Lemma 1], proof",
            "at x = 1 the left side is 2 and the right side 1",
            "instead (holds, proof): 2 x",
            "2 claims of the paper: 1 holds, 1 fails (1 cause); 2 by proof or certificate. "
            "Not counted: 1 definition or condition, 1 of ours.",
        )
    ]
    assert places == sorted(places) and "as printed   evidence" not in said
    show("judged", book, verify(book, [book["Def.1"], book["R.1"]], silent))
    assert "No claim of the paper: 1 definition or condition, 1 of ours." in capsys.readouterr().out
    show("judged", book, verify(book, list(book), silent), show_all=True)
    assert "as printed" in capsys.readouterr().out


def test_what_a_book_does_not_keep_yet_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    def told(**fields: object) -> str:
        book = ClaimBook("young", laboratory=dict, rule=True, **fields)  # type: ignore[arg-type]
        common = {"statement": "x", "reading": "x", "hypotheses": (), "parts": ("all",), "where": "Lemma 1"}

        @book.claim("L.1", "A lemma", kind="identity", expect="fails", **common)
        def lemma(lab: object) -> Verdict:
            verdict = refuted(Witness("at q = 1 it is 2", {"q": 1}))
            return verdict.correcting("2 x", measured(True), "a factor is missing").blaming("constant", "two")

        show("young", book, verify(book, list(book), silent))
        return capsys.readouterr().out

    assert f"of the verdict rule not yet kept: {'; '.join(LATER)}" in told(not_yet=LATER)
    with pytest.raises(CheckError, match="not in the table of symbols"):
        told(not_yet=LATER[1:])
    with pytest.raises(CheckError, match="the corrected form: a measurement says where it was made"):
        told(not_yet=[LATER[0], LATER[2]])
    with pytest.raises(ClaimError, match="is none of"):
        told(not_yet=["everything"])


def test_a_book_without_the_rule_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    book = judged_book(rule=False)
    show("judged", book, verify(book, list(book), silent))
    assert "not yet under the verdict rule" in capsys.readouterr().out


def test_fields_of_the_result() -> None:
    book = judged_book()
    found = {o.claim.id: o.as_json() for o in verify(book, list(book), silent)}
    assert found["Def.1"]["as_stated"] is None and found["T.1"]["stands"] == "with corrected constants"
    assert found["T.1"]["rests_on_failed"] == ["L.1"] and found["L.1"]["stands"] is None
    lemma = found["L.1"]
    assert (lemma["fault"], lemma["cause"], lemma["where"], lemma["origin"]) == (
        "constant",
        "factor-two",
        "Lemma 1",
        "statement",
    )
    assert lemma["witness"] == {"sentence": "at x = 1 the left side is 2 and the right side 1", "point": {"x": 1}}
    documented = (
        "paper id title kind origin where source statement parts hypotheses reading same_as uses repairs main expected "
        "as_stated fault cause evidence corrected sharpened constants witness scope tolerance seeds regime "
        "rests_on_failed stands residual details seconds"
    )
    assert set(documented.split()) <= set(lemma)


def test_theorems_that_did_not_run_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    book = ClaimBook("toy", laboratory=dict)
    for id, level in (("L", "quick"), ("T", "full")):
        fields = {"uses": ["L"] if id == "T" else [], "main": id == "T", "level": level}
        book.claim(id, f"claim {id}", kind="identity", statement="x", reading="x", **fields)(lambda lab: proved())
    show("toy", book, verify(book, book.select(level="quick"), silent))
    assert "T: not known, level full decides" in capsys.readouterr().out
    show("toy", book, verify(book, [book["L"]], silent), chosen=True)
    assert "level full" not in capsys.readouterr().out


def test_sentences_about_the_whole_book_begin_at_the_margin(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "line_width", lambda: 60)
    book = judged_book(rule=False)
    book.not_yet = tuple(f"{LATER[0]} {k} of a long list that does not fit into one line" for k in range(4))  # type: ignore[misc]
    show("judged", book, verify(book, list(book), silent))
    above = capsys.readouterr().out.split("Do the main theorems stand?")[0].strip().splitlines()
    assert len(above) > 4 and not any(line.startswith(" ") for line in above)
    assert all(f"{k} of a long list" in " ".join(above) for k in range(4))
