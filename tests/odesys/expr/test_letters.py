"""Greek letters and words of Python as plain names."""

from __future__ import annotations

import pytest

from odesys.errors import EquationError
from odesys.expr.letters import free_name, letter_tex, plain_name, refuse_merged


def test_every_letter_has_its_name() -> None:
    assert plain_name("α") == "alpha" and plain_name("Ω") == "Omega" and plain_name("Δx") == "Deltax"
    assert plain_name("lambda") == plain_name("λ") == "lambda_" and plain_name("class") == "class_"
    assert plain_name("alpha") == "alpha"


def test_what_was_changed_keeps_its_letter_in_print() -> None:
    assert letter_tex("λ") == letter_tex("lambda") == "\\lambda" and letter_tex("Γ") == "\\Gamma"
    assert letter_tex("class") is None and letter_tex("mu") is None


def test_two_names_never_become_one() -> None:
    refuse_merged(["lambda", "x", "lambda", "lambda_1"])
    for pair in (["lambda", "lambda_"], ["λ", "lambda"], ["μ", "mu"]):
        with pytest.raises(EquationError, match=f"the names {pair[0]} and {pair[1]} would both be"):
            refuse_merged(pair)
    assert free_name("lambda", {"lambda_", "lambda__2"}) == "lambda__3" and free_name("x", {"y"}) == "x"
