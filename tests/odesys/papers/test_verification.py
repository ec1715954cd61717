"""The errata of a claim book, in Markdown and LaTeX."""

from __future__ import annotations

from odesys.papers.claims import Outcome
from odesys.papers.verification import errata_latex, errata_markdown
from odesys.verdicts import proved, refuted, undecided
from tests.report_pages import toy

FIRST, SECOND, THIRD = toy().book()  # type: ignore[misc]
OUTCOMES = [
    Outcome(FIRST, undecided("x"), 0.1, ()),
    Outcome(SECOND, refuted({"a_b": 1}).correcting("1 = 1", proved(), "a typo & more"), 0.1, ()),
    Outcome(THIRD, refuted({"x": 2}), 0.1, ()),
]


def test_errata_in_markdown() -> None:
    assert (
        errata_markdown(OUTCOMES)
        == """# Errata found by computation

## A.2: Second

Printed: $1 = 2$

Fails (proof). Witness: `{'a_b': 1}`

Instead: $1 = 1$ (holds, proof); a typo & more.

## A.3: Third

Printed: $x$

Fails (proof). Witness: `{'x': 2}`
"""
    )


def test_errata_in_latex() -> None:
    text = errata_latex(OUTCOMES)
    items = [line for line in text.splitlines() if line.startswith(r"\item")]
    assert items == [
        r"\item[A.2] Second. Printed: \( 1 = 2 \). It fails (proof); witness: \texttt{\{'a\_b': 1\}}."
        r" Instead: \( 1 = 1 \) (proof; a typo \& more).",
        r"\item[A.3] Third. Printed: \( x \). It fails (proof); witness: \texttt{\{'x': 2\}}.",
    ]
    assert text.startswith(r"\documentclass") and text.endswith("\\end{document}\n")


def test_no_errata() -> None:
    assert errata_markdown(OUTCOMES[:1]) == "# Errata found by computation\n\nNothing fails as printed.\n"
    assert "Nothing fails as printed." in errata_latex([]) and "description" not in errata_latex([])
