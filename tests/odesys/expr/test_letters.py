"""Greek letters and words of Python as plain names."""

from __future__ import annotations

from odesys.expr.letters import letter_tex, plain_name


def test_every_letter_has_its_name() -> None:
    assert plain_name("α") == "alpha" and plain_name("Ω") == "Omega" and plain_name("Δx") == "Deltax"
    assert plain_name("lambda") == plain_name("λ") == "lambda_" and plain_name("class") == "class_"
    assert plain_name("alpha") == "alpha"


def test_what_was_changed_keeps_its_letter_in_print() -> None:
    assert letter_tex("λ") == letter_tex("lambda") == "\\lambda" and letter_tex("Γ") == "\\Gamma"
    assert letter_tex("class") is None and letter_tex("mu") is None
