"""What a notebook shows: short texts for every object, formulas where they are short, and a cap on all of it."""

from __future__ import annotations

import re
import types
from dataclasses import replace
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
    graph,
    integrate,
    logistic,
    maps,
    proved,
    refuted,
    softmax,
    sym,
    undecided,
    untested,
)
from odesys.papers.hypotheses import Hypothesis
from odesys.report import cards
from odesys.report.mathml import mathml, text_with_formulas
from odesys.sentences import say_constants
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


# ---- rows ------------------------------------------------------------------------------------------------------------


def test_a_card_is_cut_where_it_is_too_long() -> None:
    """First what is below the rows goes, then the rows."""
    short = cards.card("a < b", [("one", "x & y"), ("none", None), ("empty", ""), ("zero", 0)], "<p/>")
    assert "<strong>a &lt; b</strong>" in short and "x &amp; y" in short and "<p/>" in short
    assert short.count("<tr") == 2 and ">none<" not in short and ">empty<" not in short and ">0<" in short
    assert (
        "<table" not in cards.card("title")
        and cards.card("title") == '<div class="odesys-card"><strong>title</strong></div>'
    )
    bare = cards.card("title", [("one", "x")])
    room = cards.MOST_HTML - len(bare)
    assert len(cards.card("title", [("one", "x")], "y" * room)) == cards.MOST_HTML
    assert cards.card("title", [("one", "x")], "y" * (room + 1)) == bare
    huge = [("one", cards.Html("y" * cards.MOST_HTML))]
    assert cards.card("title", huge) == cards.card("title", huge, "below") == "<div><strong>title</strong></div>"


def test_numbers_have_their_nouns() -> None:
    assert [cards._count(n, "state") for n in (0, 1, 2, 1860)] == ["0 states", "1 state", "2 states", "1,860 states"]


@pytest.mark.parametrize(("count", "short"), [(1, True), (12, True), (13, False)])
def test_up_to_twelve_equations_are_written_out(count: int, short: bool) -> None:
    system = System.from_equations({f"x{k}": -sym(f"x{k}") for k in range(count)})
    assert cards.is_short(system) is short and ("<math" in cards.system_card(system)) is short
    assert (cards.system_tex(system) is not None) is short
    assert f"<strong>System of {count} state{'s' * (count > 1)}</strong>" in cards.system_card(system)


def test_equations_with_many_nodes_are_not_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    system = System.from_equations({"x": -sym("x")})
    nodes = len(list(graph.topological(system.nodes)))
    for most, short in ((nodes, True), (nodes - 1, False)):
        monkeypatch.setattr(cards, "MOST_NODES", most)
        assert cards.is_short(system) is short
    monkeypatch.undo()
    length = len(cards.system_tex(system) or "")
    for most, shown in ((length, True), (length - 1, False)):
        monkeypatch.setattr(cards, "MOST_TEX", most)
        assert (cards.system_tex(system) is not None) is shown
    integral = OBJECTS["integral"]
    length = len("$\\displaystyle x^{2} + y^{2}$")
    for most, shown in ((length, True), (length - 1, False)):
        monkeypatch.setattr(cards, "MOST_TEX", most)
        assert (cards.integral_tex(integral) is not None) is shown
        assert ("too long to show" in OBJECTS["integrals"]._repr_html_()) is not shown


def rows(found: list[tuple[str, Any]]) -> dict[str, Any]:
    return {word: what for word, what in found if what}


def test_a_system_says_its_kind_states_parameters_and_observables() -> None:
    flow_ = System.from_equations({"x": sym("k") * sym("x")}, ["k"], observables={"loss": sym("x")})
    step = System.from_equations({"x": sym("x") / 2, "y": sym("x")}, kind="map")
    assert rows(cards.system_rows(flow_)) == {
        "kind": "flow, in time t",
        "states": "1 state: x",
        "parameters": "k",
        "observables": "loss",
    }
    assert rows(cards.system_rows(step)) == {"kind": "map, in steps", "states": "2 states: x, y"}
    large = rows(cards.system_rows(OBJECTS["large system"]))
    counts = [int(part.split()[0]) for part in large["by path"].split(", ")]
    assert sum(counts) == OBJECTS["large system"].dimension and "KQ" in large["by path"]


def test_a_flow_and_a_reduction_say_what_they_are_made_of() -> None:
    text = OBJECTS["flow"]._repr_html_()
    assert "Flow, closed with" in text and "w, W_K, W_Q" in text and "2 samples" in text and ">flow, in time t<" in text
    quotient = OBJECTS["quotient"]._repr_html_()
    assert "→" in quotient and "only starts" in quotient and "flow, in time" not in quotient


def test_a_run_says_where_it_ended_and_what_it_cost() -> None:
    text = OBJECTS["run"]._repr_html_()
    run = OBJECTS["run"]
    assert f"0 to 1, {len(run.times)} rows; stopped: {run.stop}" in text and "2 states: x, y" in text
    assert f"{run.cost.field_evaluations:,} evaluations of the field" in text and "at the end" in text
    assert (
        f"x = {run.end_state[0]:.6g}, y = {run.end_state[1]:.6g}" in text
        and "stiff" not in text
        and "Taylor" not in text
    )
    event = types.SimpleNamespace
    made = event(
        events=[event(kind=kind) for kind in ("switch", "slide", "switch")],
        final={"x": 2.0, **{f"o{k}": float(k) for k in range(9)}},
        names=("x",),
        start_time=0.0,
        end_time=1.5,
        times=[0, 1],
        stop="end",
        stiff_from=0.25,
        series_from=0.75,
        cost=event(field_evaluations=0),
    )
    text = cards.run_card(made)
    assert "2 switch, 1 slide" in text and "o0 = 0, o1 = 1" in text and "o7 = 7" in text and "o8" not in text
    assert (
        "x = 2" not in text and "from t = 0.25 on" in text and "from t = 0.75 on" in text and "evaluations" not in text
    )


def test_a_claim_says_what_is_printed_and_what_the_book_expects() -> None:
    plain = book()["1"]
    text = cards.claim_card(plain)
    assert "identity, statement; the book expects that it holds" in text and "rests on" not in text
    for expect, said in (("fails", "it fails"), ("undecided", "it is undecided"), ("untested", "it is untested")):
        assert f"the book expects that {said}" in cards.claim_card(replace(plain, expect=expect))
    rich = replace(plain, uses=("A", "B"), where="Lemma 1", hypotheses=(Hypothesis("small", "x < 1", len),))
    text = cards.claim_card(rich)
    assert "A, B" in text and "Lemma 1" in text and text_with_formulas("small: $x < 1$") in text
    assert f"<strong>{plain.id} {plain.title}</strong>" in text and mathml(plain.statement) in text


def test_a_book_counts_its_claims_by_origin() -> None:
    found = book()
    found.claim("2", "Ours", kind="identity", statement="x", reading="y", origin="ours")(proved)
    text = cards.book_card(found)
    assert "2: 1 statement, 1 ours" in text and ">1 Square<" in text and ">1, 2<" in text
    assert "not yet under the verdict rule" in text
    empty = cards.book_card(ClaimBook("toy", dict, rule=True))
    assert ">under the verdict rule<" in empty and "theorems" not in empty


def test_a_verdict_says_what_it_knows_and_no_more() -> None:
    assert "✓ holds" in cards.verdict_card(proved()) and "? undecided" in cards.verdict_card(undecided("x"))
    assert "· untested" in cards.verdict_card(untested("x"))
    bare = cards.verdict_card(proved())
    assert not any(f">{word}<" in bare for word in ("fault", "instead", "constants", "parts"))
    rich = proved().with_constants(C=2)
    text = cards.verdict_card(replace(rich, parts={"a": proved(), "b": undecided("x")}))
    assert "a: holds, b: undecided" in text and say_constants({"C": 2}) in text


def test_an_analysis_shows_its_lines_up_to_forty() -> None:
    for count in (3, 40, 41):
        lines = [types.SimpleNamespace(evidence="proof", text=f"line {k}.") for k in range(count)]
        text = cards.analysis_card(types.SimpleNamespace(sentence="a system", findings=lines))
        assert text.count("<tr") == min(count, 40) and "line 0." in text and "<strong>a system</strong>" in text


def test_of_many_integrals_the_first_twenty_are_shown() -> None:
    one = OBJECTS["integral"]

    class Found(list):
        ansatz, complete = "polynomials", False

    for count in (1, 20, 21):
        text = cards.integrals_card(Found([one] * count))
        assert text.count("<math") == min(count, 20) and "polynomials; there may be more" in text
        assert f"<strong>{count} first integral{'s' * (count > 1)}</strong>" in text
