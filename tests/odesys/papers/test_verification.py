"""Running a book: outcomes in the order asked for, what an interrupt keeps, certificates; errata in two languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from odesys.papers.claims import ClaimBook, Outcome
from odesys.papers.verification import errata_latex, errata_markdown, verify, write_certificates
from odesys.terminal import silent
from odesys.verdicts import Verdict, certified, measured, proved, refuted, undecided
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
        r"\item[A.2] Second; cause: typo. Printed: \( 1 = 2 \). It fails (proof): a\_b = 1."
        r" What remains true: \( 1 = 1 \) (proof; a typo \& more).",
        r"\item[A.3] Third; cause: A.3. Printed: \( x \). It fails (proof): x = 2.",
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
