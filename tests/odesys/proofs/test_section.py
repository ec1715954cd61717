"""Hypotheses and lemmas of a section."""

import random
import re
from fractions import Fraction
from pathlib import Path

import pytest

from odesys import graph, num, sym
from odesys.proofs.section import Section
from odesys.proofs.strategy import Outline
from odesys.proofs.terms import Writer
from odesys.proofs.theory import theory
from tests.coq import needs_coq, said, said_of, same

X, Y = sym("x"), sym("y")


def section() -> Section:
    return Section(Writer({"x": "x", "y": "y"}), ["x"], [])


def test_a_divisor_of_known_sign_is_a_lemma_and_any_other_a_hypothesis() -> None:
    made = section()
    assert made.nonzero(X + graph.exp(Y)).startswith("z")
    assert not made.hypotheses
    made.nonzero(X + Y)
    assert list(made.hypotheses.values()) == ["(x + y) <> 0"]


def test_a_lemma_that_is_known_is_not_written_twice() -> None:
    made = section()
    first = made.equality((X + Y) * (X - Y), X * X - Y * Y)
    second = made.equality((X + Y) * (X - Y), X * X - Y * Y)
    assert first == second
    assert len(made.lemmas) == 1


def test_what_is_false_gets_no_lemma() -> None:
    made = section()
    assert made.equality((X + Y) ** 2, X * X + Y * Y) is None
    assert made.lemmas == []


FACTORED, WRITTEN_OUT = X * (Y + 1), X * Y + X
TWINS = {
    "equal": same(Y * graph.step(FACTORED), graph.step(WRITTEN_OUT) * Y),
    "opposite": same(graph.call("sigmoid", FACTORED) + graph.call("sigmoid", -WRITTEN_OUT), graph.ONE),
    "a multiple": same(graph.step(FACTORED) * Y, Y * graph.step(2 * X * Y + 2 * X)),
    "below another function": same(graph.exp(graph.step(FACTORED)), graph.exp(graph.step(WRITTEN_OUT))),
}


@needs_coq
def test_functions_at_equal_arguments_are_one(tmp_path: Path) -> None:
    answer = said(list(TWINS.values()), tmp_path)
    assert answer.ok, answer.why


@needs_coq
def test_functions_at_other_arguments_are_not(tmp_path: Path) -> None:
    wrong = same(Y * graph.step(FACTORED), graph.step(WRITTEN_OUT + X) * Y)
    made = theory(["t"], [wrong])
    assert not made.statements or not said_of(made.text, tmp_path).ok


def test_gates_that_clash_are_in_modules_of_their_own() -> None:
    gate = graph.step(X - Y)
    on = same(gate * X, X, values=((gate, graph.ONE),))
    off = same(gate * X, graph.ZERO, values=((gate, graph.ZERO),))
    text = theory(["t"], [on, off, on]).text
    assert text.count("Module phase_") == 2
    for module in text.split("Module phase_")[1:]:
        assert module.count("Hypothesis given_") == 1
    assert "Module" not in theory(["t"], [on, on]).text


def test_twins_are_equal_opposite_or_multiples_and_no_others() -> None:
    made, other = section(), X * Y + X + 1
    nodes = [
        *(graph.call(name, node) for name in ("sigmoid", "step", "tanh") for node in (FACTORED, other)),
        graph.call("sigmoid", WRITTEN_OUT),
        graph.call("sigmoid", -WRITTEN_OUT),
        graph.step(3 * X * Y + 3 * X),
        graph.step(-WRITTEN_OUT),
        graph.call("tanh", WRITTEN_OUT),
        graph.call("tanh", -WRITTEN_OUT),
    ]
    found = {node: (twin.node, twin.opposite) for node, twin in made.twins(nodes).items()}
    sigmoid, gate, tanh = (graph.call(name, FACTORED) for name in ("sigmoid", "step", "tanh"))
    assert found == {
        graph.call("sigmoid", WRITTEN_OUT): (sigmoid, False),
        graph.call("sigmoid", -WRITTEN_OUT): (sigmoid, True),
        graph.step(WRITTEN_OUT): (gate, False),
        graph.call("tanh", WRITTEN_OUT): (tanh, False),
    }


def test_a_lemma_divides_by_what_its_statement_says_and_by_nothing_that_it_does_not_quantify() -> None:
    """Roots are closed parts: that the root is not zero is what is needed, not that what is below it is none."""
    root = graph.sqrt(X)
    for divisor, count in ((root * Y, 2), (root, 1), (X * Y**2, 2), (X + Y, 1), (graph.num(3) * X, 1)):
        made = section()
        outline = Outline((divisor * (Y + 1),), (root,))
        made.algebra(outline, lambda texts: f"{texts[0]} = {texts[0]}", divided_by=[divisor])
        lemma = next(text for text in map(str, made.lemmas) if "forall" in text)
        statement = lemma[lemma.index("forall") :]
        names = set(re.findall(r"c\d+", statement.split(":")[0]))
        conditions = re.findall(r"(\S+|\([^()]*\)) <> 0", statement)
        assert len(conditions) == count
        for condition in conditions:
            words = set(re.findall(r"[a-z]\w*", condition))
            assert words <= names, statement


U, V = sym("u"), sym("v")
EXP, ROOT = graph.exp, graph.sqrt
POSITIVE, WEAK, NEITHER = (True, True), (False, True), (False, False)


@pytest.mark.parametrize(
    ("node", "signs"),
    [
        (num(1), POSITIVE),
        (num(0), NEITHER),
        (num(-1), NEITHER),
        (X, POSITIVE),
        (U, WEAK),
        (Y, NEITHER),
        (X + 1, POSITIVE),
        (X + U, POSITIVE),
        (U + V, WEAK),
        (U + 2 * V, WEAK),
        (U - V, NEITHER),
        (X - 1, NEITHER),
        (X + Y, NEITHER),
        (X + Y**2, POSITIVE),
        (X * EXP(Y), POSITIVE),
        (X * U, WEAK),
        (U * V**2, WEAK),
        (X * Y, NEITHER),
        (-X, NEITHER),
        (Y**2, WEAK),
        (Y**3, NEITHER),
        (U**3, WEAK),
        (Y**-2, NEITHER),
        (1 / U, NEITHER),
        (X / U, NEITHER),
        (1 / X, POSITIVE),
        (ROOT(Y), WEAK),
        (ROOT(X), POSITIVE),
        (EXP(Y), POSITIVE),
        (graph.call("sigmoid", Y), POSITIVE),
        (graph.step(Y), WEAK),
        (graph.step(Y) * X, WEAK),
        (graph.step(Y) + X, POSITIVE),
        (graph.call("tanh", X), NEITHER),
        (graph.power(Y, Fraction(1, 3)), NEITHER),
    ],
)
def test_signs_that_can_be_read_off(node: graph.Node, signs: tuple[bool, bool]) -> None:
    """Of x > 0, u and v >= 0 and any y; what is read off is true at random values."""
    made = Section(Writer({name: name for name in "xyuv"}), ["x"], ["u", "v"])
    assert (made.is_positive(node), made.is_nonnegative(node)) == signs
    rng = random.Random(3)
    for _ in range(20):
        point = {
            "x": rng.uniform(0.1, 3),
            "u": rng.choice([0.0, 1.5]),
            "v": rng.choice([0.0, 0.7]),
            "y": rng.uniform(-2, 2),
        }
        if signs == NEITHER or (point["y"] < 0 and "sqrt" in repr(node)):
            continue
        value = float(graph.evaluate([node], point, graph.FLOAT_FUNCTIONS, float)[0])
        assert value > 0 if signs[0] else value >= 0


def test_algebra_is_proved_for_all_values_and_nothing_else_is() -> None:
    made = section()
    made.equality((X + Y) * (X - Y), X * X - Y * Y)
    made.nonzero(X + graph.exp(Y))
    assert ["Proof using." in lemma for lemma in made.lemmas] == [lemma.startswith("Lemma a") for lemma in made.lemmas]
    assert {lemma.split()[1][0] for lemma in made.lemmas} == {"a", "z"}
    assert made.lemma("0 = 0", "ring.") == "h3" and made.lemma("0 = 0", "lra.") == "h3"
    assert made.equality(X, X) == "eq_refl"


def test_definitions_that_are_opened_are_those_of_a_part_or_of_all_below_it() -> None:
    inner = X * Y + 1
    writer = Writer({"x": "x", "y": "y"}, {inner: "(part_1 x y)", graph.exp(inner): "part_2"})
    made = Section(writer, ["x"], [])
    assert made.opened(graph.exp(inner) + X) == "cbv beta delta [part_1 part_2]; "
    assert made.opened(graph.exp(inner), only=True) == "cbv beta delta [part_2]; "
    assert made.opened(X, Y) == "" and made.opened(inner, inner, only=True) == "cbv beta delta [part_1]; "


def test_hypotheses_have_numbers_and_each_is_said_once() -> None:
    made = section()
    assert (made.given("p = 1"), made.given("q = 1"), made.given("p = 1")) == ("given_1", "given_2", "given_1")
    assert made.nonzero(Y) == "defined_3" == made.nonzero(Y)
    assert made.hypotheses == {"given_1": "p = 1", "given_2": "q = 1", "defined_3": "y <> 0"}
    assert made.nonzero(graph.call("sigmoid", Y)) == "defined_4"
    assert (made.fresh("k"), made.fresh("k")) == ("k1", "k2")
