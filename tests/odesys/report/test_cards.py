"""What a notebook shows: short texts for every object, formulas where they are short, and a cap on all of it."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from odesys import (
    BaseLaboratory,
    ClaimBook,
    CompiledFlow,
    Data,
    Explorer,
    Slider,
    Space,
    System,
    Verdict,
    Witness,
    Words,
    gradient_flow,
    integrate,
    logistic,
    maps,
    proved,
    refuted,
    softmax,
    sym,
    undecided,
)
from odesys.report import cards
from odesys.shortening import LONGEST

LONG = "a_very_long_name_of_a_state_that_goes_on_and_on_and_on_and_on_and_on"


def flow(count: int = 2) -> Any:
    words, m = Words([f"word{k}" for k in range(count)]), Space("m")
    w, (W_K, W_Q) = maps("w", 1, words), maps("W_K W_Q", m, words)
    data = Data(words, [([f"word{k}", "word0"], 1 if k % 2 else -1) for k in range(count)])
    return gradient_flow(lambda X: (w @ X @ softmax(X.T @ W_K.T @ W_Q @ X)).sum(), data, logistic)


def book() -> ClaimBook:
    found = ClaimBook("toy & co", BaseLaboratory, reference="nobody < never")
    found.claim("1", "Square", kind="identity", statement="(a+b)^2 = a^2 + b^2", reading="all $a$", main=True)(proved)
    return found


def objects() -> dict[str, Any]:
    small = System.from_equations({"x": sym("y"), "y": -sym("x")})
    many = System.from_equations({f"{LONG}_{k}": sym(f"{LONG}_{k}") ** 2 for k in range(40)})
    derived = flow()
    claims = book()
    failing = refuted(Witness("at a = 1 it is " + "very " * 100 + "wrong", {"a": 1})).blaming("false", "square")
    return {
        "small": small,
        "many": many,
        "flow": derived,
        "large flow": flow(30),
        "large system": flow(30).system,
        "quotient": derived.quotient(),
        "run": integrate(small, [1.0, 0.0], (0.0, 1.0)),
        "many states": integrate(many, [0.0] * 40, (0.0, 1.0)),
        "integrals": small.first_integrals(),
        "integral": small.first_integrals()[0],
        "book": claims,
        "claim": claims["1"],
        "holds": proved(),
        "fails": failing.correcting("(a+b)^2", proved(), "a term is missing"),
        "undecided": undecided("x " * 5000),
    }


OBJECTS = objects()
LARGE = OBJECTS["large flow"]
WITHOUT_CARD = {
    "layout": LARGE.layout,
    "closure": LARGE.closure,
    "data": LARGE.data,
    "expression": LARGE.loss,
    "symmetries": OBJECTS["flow"].symmetries(),
    "compiled flow": CompiledFlow(OBJECTS["many"]),
    "explorer": Explorer("many", [Slider(f"{LONG}_{k}", 1, 0, 2) for k in range(40)], []),
}


@pytest.mark.parametrize("name", [*OBJECTS, *WITHOUT_CARD])
def test_a_repr_is_short_and_says_what_it_is(name: str) -> None:
    thing = (OBJECTS | WITHOUT_CARD)[name]
    text = repr(thing)
    assert 10 < len(text) <= LONGEST and "\n" not in text and "object at 0x" not in text
    assert type(thing).__name__ in text


@pytest.mark.parametrize("name", sorted(set(OBJECTS) - {"integral"}))
def test_a_card_is_well_formed_and_capped(name: str) -> None:
    text = OBJECTS[name]._repr_html_()
    root = ElementTree.fromstring(text.replace("<br>", "<br/>").replace("&nbsp;", " "))
    assert root.tag == "div" and len(text) <= cards.MOST_HTML and root.find("strong") is not None
    assert "script" not in text and "http" not in text.replace("http://www.w3.org/1998/Math/MathML", "")
    assert not re.search(r"color|#[0-9a-f]{3}", text), "a card reads on light and dark pages"


def test_short_systems_show_their_equations_and_long_ones_their_sizes() -> None:
    assert "<math" in OBJECTS["small"]._repr_html_() and "\\dot{x}" in OBJECTS["small"]._repr_latex_()
    for name in ("many", "large system"):
        assert "<math" not in OBJECTS[name]._repr_html_() and OBJECTS[name]._repr_latex_() is None
    assert "1,860 states" in OBJECTS["large system"]._repr_html_()
    assert OBJECTS["integral"]._repr_latex_() == "$\\displaystyle x^{2} + y^{2}$"
    assert "these are all" in OBJECTS["integrals"]._repr_html_()


def test_answer_evidence_witness_and_texts_of_others_are_escaped() -> None:
    assert "nobody &lt; never" in OBJECTS["book"]._repr_html_() and "toy &amp; co" in OBJECTS["book"]._repr_html_()
    fails = OBJECTS["fails"]._repr_html_()
    assert "✗ fails" in fails and "false, square" in fails and "(holds, proof)" in fails
    assert repr(proved()) == "<Verdict: holds, proof>"
    with pytest.raises(TypeError, match="no truth value"):
        bool(Verdict("holds", proved().evidence))


def test_the_equations_can_be_shown_by_math() -> None:
    """One block of math mode: nothing outside of it, and no environment that starts a paragraph of its own."""
    tex = flow().quotient().system.latex()
    assert tex.startswith("\\begin{aligned}") and tex.endswith("\\end{aligned}")
    assert tex.count("\\begin{aligned}") == 1 and tex.count("\\text{where}") == 1 and "$" not in tex
    assert "\\begin{align}" in flow().system.latex(environment="align")
    assert flow().system.latex(document=True).startswith("\\documentclass")
