"""Sentences as HTML: symbols become formulas where they are symbols, and texts are never markup."""

from __future__ import annotations

from odesys.papers.hypotheses import Symbol
from odesys.report.mathml import mathml
from odesys.report.prose import strong, with_symbols

SYMBOLS = {
    s.name: s for s in (Symbol("a", "a", "a number", "positive"), Symbol("omega", r"\omega", "scale", "positive"))
}


def test_short_names_are_symbols_in_front_of_a_relation_only() -> None:
    said = with_symbols("at a = 1 a large <b> omega fits", SYMBOLS)
    assert said == f"at {mathml('a')} = 1 a large &lt;b&gt; {mathml(chr(92) + 'omega')} fits"


def test_formulas_between_dollar_signs_stay_formulas() -> None:
    assert with_symbols("where $x_1$ is", {}) == f"where {mathml('x_1')} is"


def test_strong() -> None:
    assert strong("**<x>** & y") == "<b>&lt;x&gt;</b> &amp; y"
